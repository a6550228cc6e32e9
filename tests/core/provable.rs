//! Tests that the blocks and the examples are on the list of what may be proved.

use cosim::blocks::dll::Dll;
use cosim::blocks::qp::Qp;
use cosim::blocks::recv::Recv;
use cosim::blocks::rx::Rx;
use cosim::blocks::thread2::Thread2;
use cosim_block::rtl::Rtl;
use cosim_core::harness::BlockInfo;
use cosim_rtl::models::{Examined, verilator};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verilated_build::{Design, Unprovable};

fn unprovable(design: &Design) -> Vec<Unprovable> {
    let folder = TempDir::new().unwrap();
    design.unprovable(&verilator().unwrap(), folder.path()).unwrap()
}

#[test]
fn each_block_is_on_the_list_in_each_profile() {
    let blocks = [
        BlockInfo::from_block::<Thread2>(),
        BlockInfo::from_block::<Dll>(),
        BlockInfo::from_block::<Qp>(),
        BlockInfo::from_block::<Recv>(),
        BlockInfo::from_block::<Rx>(),
    ];
    for info in blocks {
        let examined = Examined::new(info, &Rtl::default()).unwrap();
        let folder = TempDir::new().unwrap();
        for file in &examined.texts {
            let path = folder.path().join(&file.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
        for profile in info.profiles {
            let design = Design {
                folder: Some(folder.path().to_owned()),
                parameters: info.verilog(&profile.parameters, &examined.parameters),
                ..examined.design.clone()
            };
            let found = unprovable(&design);
            assert_eq!(found, [], "{} {}", info.name, profile.name);
        }
    }
}

/// The clocks of a wrapper with several clocks come from a latch: no answer about it is certain.
#[test]
fn each_example_with_one_clock_is_on_the_list() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (top, files, is_listed) in [
        ("Arbiter", &["arbiter/rtl/Arbiter.v", "arbiter/rtl/arbiter_sva.sv"][..], true),
        ("AxiLiteMemory", &["blocks/rtl/AxiLiteMemory.sv"], true),
        ("ApbMemory", &["blocks/rtl/Memories.sv"], true),
        ("Axi4Memory", &["blocks/rtl/Memories.sv"], true),
        ("Fifo", &["fifo/rtl/Fifo.sv"], true),
        ("Timer", &["blocks/rtl/Timer.sv"], true),
        ("UartRx", &["blocks/rtl/UartRx.sv"], true),
        ("AsyncFifo", &["blocks/rtl/AsyncFifo.sv"], true),
        (
            "AsyncFifo_wrapper",
            &["blocks/rtl/AsyncFifo_wrapper.sv", "blocks/rtl/AsyncFifo.sv"],
            false,
        ),
    ] {
        let sources: Vec<PathBuf> = files.iter().map(|file| examples.join(file)).collect();
        let design = Design { top: top.to_owned(), sources, ..Design::default() };
        let found = unprovable(&design);
        assert_eq!(found.is_empty(), is_listed, "{top}: {found:#?}");
    }
}

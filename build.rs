//! Builds the RTL of the blocks into the program.

use cosim_build::Block;
use std::process::ExitCode;

fn main() -> ExitCode {
    let block = |name: &str, top: &str| Block::new(name, top).folder(format!("rtl/{name}"));
    let thread2 = block("thread2", "ReqRecvCore_Thread_2").mask("FIXES");
    let dll = block("dll", "PcieAckNak").mask("FIXES").source("dll_pkg.sv").source("PcieAckNak.sv");
    let recv = block("recv", "RecvSideFsm").mask("FIXES");
    let recv = recv.source("recv_pkg.sv").source("RecvSideFsm.sv");
    let buffers =
        |fixes, low, high, keep| [("FIXES", fixes), ("LOW", low), ("HIGH", high), ("KEEP", keep)];
    let timing = |fixes, depth, limit, latency| {
        [
            ("FIXES", fixes),
            ("REPLAY_DEPTH", depth),
            ("REPLAY_LIMIT", limit),
            ("ACKNAK_LATENCY", latency),
        ]
    };
    let qp = block("qp", "QpStateCtrl").source("qp_pkg.sv").source("QpStateCtrl.sv");
    let inside = ["dll", "qp", "thread2", "recv"];
    let rx = block("rx", "RxSystem").mask("FIXES");
    let rx = inside.into_iter().fold(rx, |rx, name| rx.include(format!("rtl/{name}")));
    // Verilator finds modules by their names, but no packages.
    let packages = ["dll_pkg.sv", "qp_pkg.sv", "recv_pkg.sv", "rx_pkg.sv"];
    let rx = packages.into_iter().fold(rx, Block::source).source("RxSystem.sv");
    let whole = |[fixes, depth, limit, latency, low, high, keep]: [u64; 7]| {
        [
            ("FIXES", fixes),
            ("REPLAY_DEPTH", depth),
            ("REPLAY_LIMIT", limit),
            ("ACKNAK_LATENCY", latency),
            ("LOW", low),
            ("HIGH", high),
            ("KEEP", keep),
        ]
    };
    // `cosim` is built from this crate, so it cannot be asked.
    cosim_models::build(&[
        thread2.model([("FIXES", 0)]).model([("FIXES", 0xff)]),
        dll.model(timing(0, 16, 64, 16))
            .model(timing(0xff, 16, 64, 16))
            .model(timing(0xfe, 2, 12, 2))
            .model(timing(0x01, 128, 500, 120)),
        qp,
        recv.model(buffers(0, 4, 16, 8))
            .model(buffers(0xff, 4, 16, 8))
            .model(buffers(0xfe, 1, 2, 3))
            .model(buffers(0x01, 120, 200, 40))
            .model(buffers(0x01, 9, 5, 6)),
        rx.model(whole([0, 16, 64, 16, 4, 16, 8]))
            .model(whole([0xff, 16, 64, 16, 4, 16, 8]))
            .model(whole([0xab, 2, 12, 2, 1, 2, 3])),
    ])
}

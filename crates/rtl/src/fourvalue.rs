//! Writes the testbench for simulators with four values.
//!
//! The harness feeds it a list of inputs and expected outputs, as in [`export`](crate::export).
//! Registers are X until the RTL sets them. So is the payload of an input channel without its
//! valid, which a block must not read. Every output that a consumer may read must be known: valids,
//! readies, enables, payload with its valid, all other outputs, and the state register.

use crate::export::{PortText, render};
use crate::models::{Copies, Examined, ports, verilator};
use cosim_base::error::Error;
use cosim_block::words::Words;
use cosim_harness::harness::{BlockInfo, Parameters};
use minijinja::context;
use std::path::Path;
use tempfile::TempDir;
use verilated::Port;
use verilated_build::{Design, Error as BuildError, Simulation, SourceFile};
use verilated_files::foreign::lay_out;

/// Module name of the simulated top.
const TOP: &str = "cosim_icarus";
const FILE: &str = "cosim_icarus.v";
const TEMPLATE: &str = include_str!("../templates/icarus/cosim_icarus.v.j2");
/// Folder of the copies of the RTL files.
const RTL: &str = "rtl";

/// The RTL inside its testbench, for the compiler of a simulator.
///
/// # Errors
/// [`Error::File`] if the RTL files cannot be copied to one folder. [`Error::Build`] if its ports
/// differ from those that the program was built with.
pub fn simulation(
    info: &'static BlockInfo,
    examined: &Examined,
    parameters: &Parameters,
) -> Result<Simulation, Error> {
    let copies = Copies::new(examined)?;
    let values = info.verilog(parameters, &examined.parameters);
    check_ports(info, examined, &values)?;
    let (inputs, outputs) = (Words::from_ports(info.inputs), Words::from_ports(info.outputs));
    let compared = info.naming.in_order(&info.outputs.iter().collect::<Vec<_>>());
    let compared: Vec<PortText> = compared
        .into_iter()
        .map(|port| PortText {
            governor: info
                .naming
                .governor(port, info.outputs, true)
                .map(|governor| outputs.lowest_bit(governor.name)),
            ..PortText::new(port, &outputs)
        })
        .collect();
    let texts = |ports: &'static [Port], words: &Words| -> Vec<PortText> {
        ports.iter().map(|port| PortText::new(port, words)).collect()
    };
    let context = context! {
        masked => info.has_dont_cares,
        top => examined.design.top,
        clock => info.rtl.clock,
        parameters => values,
        inputs => texts(info.inputs, &inputs),
        outputs => texts(info.outputs, &outputs),
        compared,
        input_bits => inputs.bits(),
        output_bits => outputs.bits(),
        power_up => inputs.digits(&info.power_up, "", |_| false),
        state => info.state_register,
    };
    let text = render([(FILE, TEMPLATE)], &context)?.remove(0).1;
    let folder = copies.searched(RTL);
    let mut files = vec![SourceFile { name: folder.join(FILE), text: text.into_bytes().into() }];
    files.extend(
        copies
            .files
            .into_iter()
            .map(|(name, text)| SourceFile { name: Path::new(RTL).join(name), text: text.into() }),
    );
    let mut sources = copies.sources;
    sources.push(FILE.into());
    Ok(Simulation {
        top: TOP.to_owned(),
        files,
        folder,
        sources,
        defines: examined.design.defines.clone(),
        extensions: examined.design.extensions.clone(),
        data: examined.design.data.clone(),
    })
}

/// Checks that the RTL has the ports that the program was built with. Icarus leaves another port
/// open, and cuts one of another width.
fn check_ports(
    info: &'static BlockInfo,
    examined: &Examined,
    parameters: &[(String, String)],
) -> Result<(), Error> {
    let temporary = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    let named = examined.texts.iter().map(SourceFile::named);
    let folder = lay_out(&temporary.path().join("files"), named)?;
    let design = Design {
        clock: info.rtl.clock.into(),
        parameters: parameters.to_vec(),
        folder: Some(folder),
        ..examined.design.clone()
    };
    let found = design
        .described_ports(&verilator()?, &temporary.path().join("described"))
        .map_err(|error| examined.plain(error))?;
    let differences = ports(info).differences(&found);
    match differences.is_empty() {
        true => Ok(()),
        false => Err(BuildError::Ports { top: design.top, differences }.into()),
    }
}

//! Exports a case as a testbench in plain Verilog, for other simulators.
//!
//! The golden model never looks at the RTL, so its side of a case is a list: inputs and expected outputs of every
//! cycle, and how the case ends if no output differs. That is all a testbench needs. Its files are templates in
//! `templates/export`; inputs change, outputs are compared and registers begin in it as in the harness.

mod before_reset;
mod words;

use crate::models::{Copies, Examined, copied_data, verilator};
use before_reset::BeforeResetText;
use cosim_base::error::{Error, codes};
use cosim_base::files::write_below;
use cosim_base::text;
use cosim_harness::harness::{
    Block, Golden, Profile, Recording, Stimulus, Verdict, follows_dut, power_up_inputs,
};
use minijinja::context;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verilated::{Pins, Port};
use verilated_build::{Design, Register};
pub use words::Words;
use zerocopy::IntoBytes;

/// The folder of the copies of the RTL.
const RTL: &str = "rtl";

/// The templates, by the files they make.
const TEMPLATES: [(&str, &str); 4] = [
    ("README.md", include_str!("../templates/export/README.md.j2")),
    ("before_reset.vh", include_str!("../templates/export/before_reset.vh.j2")),
    ("cosim_tb.v", include_str!("../templates/export/cosim_tb.v.j2")),
    ("files.f", include_str!("../templates/export/files.f.j2")),
];

/// The files of a testbench.
#[derive(Debug, Clone)]
pub struct Testbench {
    /// Their names below the testbench's folder, and what is in them.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Cycles that it drives.
    pub cycles: u64,
    /// The module that it drives.
    pub top: &'static str,
    /// How the case ends if no output differs.
    pub ends: Verdict,
}

/// A port, for templates.
#[derive(Debug, Clone, Serialize)]
pub struct PortText {
    /// Its name.
    pub name: &'static str,
    /// Its width in bits.
    pub width: u32,
    /// The range of its declaration, with a blank behind it; nothing for one bit.
    pub range: String,
    /// Its bits in a word.
    pub bits: String,
    /// The bit that says whether it counts, if there is one.
    pub governor: Option<u32>,
}

impl PortText {
    /// A port whose value lies in `words`.
    pub fn new(port: &Port, words: &Words) -> Self {
        let Port { name, width, .. } = *port;
        let low = words.lowest_bit(name);
        let range = if width > 1 { format!("[{}:0] ", width - 1) } else { String::new() };
        let bits = match width {
            1 => low.to_string(),
            _ => format!("{}:{low}", low + width - 1),
        };
        Self { name, width, range, bits, governor: None }
    }
}

impl Testbench {
    /// The testbench of a stimulus for an RTL; `title` says where the case comes from.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no golden model; [`Error::File`] if the RTL's files cannot lie in one folder;
    /// [`Error::Build`] with Verilator's words.
    pub fn new<B: Block>(
        title: &str,
        stimulus: &Stimulus<B>,
        profile: &Profile,
        examined: &Examined,
    ) -> Result<Self, Error> {
        if !B::Golden::IS_WRITTEN {
            let message = format!(
                "block {} has no golden model yet, so there are no expected \
                 outputs; write its `Golden` first",
                B::NAME
            );
            return Err(Error::Usage(codes::NO_GOLDEN_MODEL, message));
        }
        check_cycle_exact::<B>("export")?;
        let copies = Copies::new(examined)?;
        check_names(&copies, examined)?;
        let mut parameters = profile.parameters.verilog(B::RTL.rtl.mask_parameter);
        parameters.retain(|(name, _)| examined.parameters.contains(name));
        let registers = registers(&copies, examined, &parameters)?;
        let recording = Recording::new(stimulus, &profile.parameters);
        let (inputs, outputs) = (Words::of::<B::Inputs>(), Words::of::<B::Outputs>());
        let texts = |ports: &[&'static Port], words: &Words| -> Vec<PortText> {
            ports.iter().map(|port| PortText::new(port, words)).collect()
        };
        let (input_ports, output_ports): (Vec<_>, Vec<_>) =
            (B::Inputs::PORTS.iter().collect(), B::Outputs::PORTS.iter().collect());
        let before_reset = BeforeResetText::new(stimulus.before_reset, &registers);
        let cycles = recording.inputs().len();
        let ends = recording.outcome().verdict.clone();
        let context = context! {
            masked => recording.open().is_some(),
            title => text::verilog_comment(title),
            title_markdown => text::markdown(title),
            cycles,
            top => examined.design.top,
            clock => B::RTL.rtl.clock,
            identity => examined.identity,
            parameters,
            inputs => texts(&input_ports, &inputs),
            outputs => texts(&output_ports, &outputs),
            compared => texts(&B::NAMING.in_order(&output_ports), &outputs),
            input_bits => inputs.bits(),
            output_bits => outputs.bits(),
            power_up => inputs.digits(power_up_inputs::<B>().as_bytes(), "", |_| false),
            ends => (ends != Verdict::Match).then(|| text::verilog_string(&ends.to_string())),
            words => before_reset.words,
            fill => before_reset.fill,
            loops => before_reset.loops,
            registers => before_reset.registers,
            defines => examined.design.defines,
            extensions => examined.design.extensions.iter().map(|ending| ending.trim_start_matches('.'))
                .map(|ending| format!(".{ending}")).collect::<Vec<_>>(),
            sources => copies.sources,
        };
        let mut files = vec![
            ("stimulus.hex".into(), inputs.file(recording.inputs())),
            ("expected.hex".into(), outputs.file(recording.expected())),
        ];
        if let Some(open) = recording.open() {
            files.push(("open.hex".into(), outputs.file(open)));
        }
        for (name, text) in render(TEMPLATES, &context)? {
            files.push((name.into(), text.into_bytes()));
        }
        for (name, text) in copies.files {
            files.push((Path::new(RTL).join(name), text));
        }
        // The simulation runs in the testbench's folder, and the RTL looks for its files there.
        for (name, text) in copied_data(examined)? {
            if files.iter().any(|(other, _)| *other == name) {
                let message = "the RTL reads this file, and the testbench has a file of the same name; \
                     rename it";
                return Err(Error::File {
                    code: codes::CANNOT_COPY,
                    path: name,
                    message: message.to_owned(),
                });
            }
            files.push((name, text.to_vec()));
        }
        Ok(Self { files, cycles: cycles as u64, top: B::RTL.rtl.top, ends })
    }
}

/// Checks that the stimulus of a block does not follow the DUT.
///
/// # Errors
/// [`Error::Usage`] if it does.
pub fn check_cycle_exact<B: Block>(what: &str) -> Result<(), Error> {
    if !follows_dut::<B>() {
        return Ok(());
    }
    let outputs = B::TRANSACTION_OUTPUTS.join(", ");
    let message = format!(
        "{what} needs a stimulus that does not depend on the RTL, and block {} checks {outputs} as \
         transactions",
        B::NAME
    );
    Err(Error::Usage(codes::NOT_CYCLE_EXACT, message))
}

/// The texts of templates, by the files they make.
pub fn render<const N: usize>(
    templates: [(&'static str, &str); N],
    context: &minijinja::Value,
) -> Result<Vec<(&'static str, String)>, Error> {
    let render = |(name, template)| {
        let text = verilated_build::render(name, template, context)?;
        Ok((name, text))
    };
    templates.into_iter().map(render).collect()
}

/// A file list has no quotes: names in it are plain.
fn check_names(copies: &Copies, examined: &Examined) -> Result<(), Error> {
    let is_plain = |text: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+=~,:'".contains(letter))
    };
    if let Some(source) = copies.sources.iter().find(|name| !is_plain(&name.to_string_lossy())) {
        let message = "its name does not work in file lists of all simulators; rename it, with \
             letters, digits, `.`, `-` and `_` only";
        return Err(Error::File {
            code: codes::CANNOT_COPY,
            path: source.clone(),
            message: message.to_owned(),
        });
    }
    if let Some(define) = examined.design.defines.iter().find(|define| !is_plain(define)) {
        return Err(Error::Usage(
            codes::CANNOT_COPY,
            format!(
                "-D {define} does not work in file lists of all simulators; define the macro in \
                 the RTL"
            ),
        ));
    }
    Ok(())
}

/// The registers of the RTL with these parameters, in the copies.
fn registers(
    copies: &Copies,
    examined: &Examined,
    parameters: &[(String, String)],
) -> Result<Vec<Register>, Error> {
    let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    for (name, text) in &copies.files {
        write_below(&folder.path().join(RTL).join(name), text)?;
    }
    let design = Design {
        top: examined.design.top.clone(),
        sources: copies.sources.iter().map(|name| Path::new(RTL).join(name)).collect(),
        include: vec![RTL.into()],
        extensions: examined.design.extensions.clone(),
        defines: examined.design.defines.clone(),
        parameters: parameters.to_vec(),
        folder: Some(folder.path().to_owned()),
        ..Design::default()
    };
    Ok(design.registers(&verilator()?, &folder.path().join("answer"))?)
}

//! Exports a test case as a testbench in plain Verilog, for other simulators.
//!
//! The golden model does not depend on the RTL, so a testbench needs only a list: the inputs and
//! expected outputs of each cycle, and the verdict if no output differs. Its files are templates in
//! `templates/export`. Inputs change, outputs are compared and registers are initialised as in the
//! harness.

mod before_reset;

use crate::models::{Copies, Examined, copied_data, verilator};
use before_reset::BeforeResetText;
use cosim_base::error::{Error, codes};
use cosim_base::text;
use cosim_block::driven::DrivenPins;
use cosim_block::words::Words;
use cosim_harness::harness::{BlockInfo, Profile, Verdict};
use minijinja::context;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verilated::Port;
use verilated_build::{Design, Register};
use verilated_files::foreign::lay_out;

/// Folder of the copies of the RTL files.
const RTL: &str = "rtl";

/// The templates, by the names of the files that they produce.
const TEMPLATES: [(&str, &str); 4] = [
    ("README.md", include_str!("../templates/export/README.md.j2")),
    ("before_reset.vh", include_str!("../templates/export/before_reset.vh.j2")),
    ("cosim_tb.v", include_str!("../templates/export/cosim_tb.v.j2")),
    ("files.f", include_str!("../templates/export/files.f.j2")),
];

/// The templates of a cocotb test, which has no testbench in Verilog.
const COCOTB: [(&str, &str); 5] = [
    ("README.md", include_str!("../templates/export/README_cocotb.md.j2")),
    ("before_reset.vh", include_str!("../templates/export/before_reset.vh.j2")),
    ("cosim_cocotb.v", include_str!("../templates/export/cosim_cocotb.v.j2")),
    ("run.py", include_str!("../templates/export/run.py.j2")),
    ("test_vector.py", include_str!("../templates/export/test_vector.py.j2")),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Verilog,
    Cocotb,
}

#[derive(Debug, Clone)]
pub struct Testbench {
    /// File names relative to the testbench's folder, and their contents.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    pub cycles: u64,
    pub top: &'static str,
    /// The verdict if no output differs.
    pub ends: Verdict,
}

#[derive(Debug, Clone, Serialize)]
pub struct PortText {
    pub name: &'static str,
    /// Width in bits.
    pub width: u32,
    /// The range in its declaration with a trailing blank; empty for one bit.
    pub range: String,
    /// The bits of the port in a word of the memory file.
    pub bits: String,
    /// The lowest of them.
    pub low: u32,
    /// The bit of the port's valid or enable in the word, if it has one.
    pub governor: Option<u32>,
}

impl PortText {
    pub fn new(port: &Port, words: &Words) -> Self {
        let Port { name, width, .. } = *port;
        let low = words.lowest_bit(name);
        let range = if width > 1 { format!("[{}:0] ", width - 1) } else { String::new() };
        let bits = match width {
            1 => low.to_string(),
            _ => format!("{}:{low}", low + width - 1),
        };
        Self { name, width, range, bits, low, governor: None }
    }
}

impl Testbench {
    /// Makes the testbench of a case for an RTL. `title` says where the case comes from. `pins`
    /// come with whether they were recorded.
    ///
    /// # Errors
    /// [`Error::File`] if the RTL files cannot be copied to one folder. [`Error::Build`] with
    /// Verilator's message.
    pub fn new(
        title: &str,
        info: &'static BlockInfo,
        profile: &Profile,
        examined: &Examined,
        language: Language,
        pins: &DrivenPins,
        is_recorded: bool,
    ) -> Result<Self, Error> {
        let copies = Copies::new(examined)?;
        check_names(&copies, examined)?;
        let mut parameters = profile.parameters.verilog(info.rtl.mask_parameter);
        parameters.retain(|(name, _)| examined.parameters.contains(name));
        let registers = registers(&copies, examined, &parameters)?;
        let (inputs, outputs) = (Words::from_ports(info.inputs), Words::from_ports(info.outputs));
        let texts = |ports: &[&'static Port], words: &Words| -> Vec<PortText> {
            ports.iter().map(|port| PortText::new(port, words)).collect()
        };
        let (input_ports, output_ports): (Vec<_>, Vec<_>) =
            (info.inputs.iter().collect(), info.outputs.iter().collect());
        let before_reset = BeforeResetText::new(pins.before_reset, &registers);
        let cycles = pins.inputs.len();
        let ends = &pins.ends;
        let context = context! {
            masked => pins.open.is_some(),
            recorded => is_recorded,
            title => text::verilog_comment(title),
            title_markdown => text::markdown(title),
            cycles,
            top => examined.design.top,
            clock => info.rtl.clock,
            identity => examined.identity,
            parameters,
            inputs => texts(&input_ports, &inputs),
            outputs => texts(&output_ports, &outputs),
            compared => texts(&info.naming.in_order(&output_ports), &outputs),
            input_bits => inputs.bits(),
            output_bits => outputs.bits(),
            power_up => inputs.digits(&info.power_up, "", |_| false),
            ends => (*ends != Verdict::Match).then(|| text::verilog_string(&ends.to_string())),
            ends_python => python(&ends.to_string()),
            defines_python => examined.design.defines.iter().map(|define| {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                [python(name), python(value)]
            }).collect::<Vec<_>>(),
            words => before_reset.words,
            fill => before_reset.fill,
            loops => before_reset.loops,
            registers => before_reset.registers,
            defines => examined.design.defines,
            extensions => examined.design.extensions.iter().map(|ending| ending.trim_start_matches('.'))
                .map(|ending| format!(".{ending}")).collect::<Vec<_>>(),
            folder => copies.searched(RTL),
            sources => copies.sources,
        };
        let mut files = vec![
            ("stimulus.hex".into(), inputs.file(&pins.inputs)),
            ("expected.hex".into(), outputs.file(&pins.outputs)),
        ];
        if let Some(open) = &pins.open {
            files.push(("open.hex".into(), outputs.file(open)));
        }
        let texts = match language {
            Language::Verilog => render(TEMPLATES, &context)?,
            Language::Cocotb => render(COCOTB, &context)?,
        };
        for (name, text) in texts {
            files.push((name.into(), text.into_bytes()));
        }
        for (name, text) in copies.files {
            files.push((Path::new(RTL).join(name), text));
        }
        // The simulation runs in the testbench's folder, and the RTL opens its data files there.
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
        Ok(Self { files, cycles: cycles as u64, top: info.rtl.top, ends: ends.clone() })
    }
}

/// A string literal of Python. JSON's is one, too.
fn python(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Renders templates, by the names of the files that they produce.
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

/// File lists have no portable quoting, so names must not need any.
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

/// The registers of the copied RTL under these parameters.
fn registers(
    copies: &Copies,
    examined: &Examined,
    parameters: &[(String, String)],
) -> Result<Vec<Register>, Error> {
    let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    let files = copies.files.iter().map(|(name, text)| (name.as_path(), text.as_slice()));
    lay_out(&folder.path().join(RTL), files)?;
    let rtl = copies.searched(RTL);
    let design = Design {
        top: examined.design.top.clone(),
        sources: copies.sources.iter().map(|name| rtl.join(name)).collect(),
        include: vec![rtl],
        extensions: examined.design.extensions.clone(),
        defines: examined.design.defines.clone(),
        options: examined.design.options.clone(),
        parameters: parameters.to_vec(),
        folder: Some(folder.path().to_owned()),
        ..Design::default()
    };
    Ok(design.registers(&verilator()?, &folder.path().join("answer"))?)
}

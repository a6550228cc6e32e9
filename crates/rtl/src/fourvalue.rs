//! Runs cases in Icarus Verilog with four values.
//!
//! The harness feeds Icarus a list of inputs and expected outputs, as in [`export`](crate::export).
//! Registers are X until the RTL sets them. So is the payload of an input channel without its
//! valid, which a block must not read. Every output that a consumer may read must be known: valids,
//! readies, enables, payload with its valid, all other outputs, and the state register.

use crate::export::check_cycle_exact;
use crate::export::{PortText, Words, render};
use crate::models::{Copies, Examined, Rtl, ports, verilator};
use cosim_base::error::Error;
use cosim_harness::harness::{
    Block, BlockInfo, Golden, Mismatch, Outcome, Parameters, Recording, RuleSet, Stimulus, Verdict,
    Watch,
};
use minijinja::context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use verilated::{Pins, Port};
use verilated_build::foreign::lay_out;
use verilated_build::{
    Design, EXCEEDED, Error as BuildError, Icarus, Kept, Simulation, SourceFile, simulate,
};
use zerocopy::IntoBytes;

/// Module name of the simulated top.
const TOP: &str = "cosim_icarus";
const FILE: &str = "cosim_icarus.v";
const TEMPLATE: &str = include_str!("../templates/icarus/cosim_icarus.v.j2");
/// Folder of the copies of the RTL files.
const RTL: &str = "rtl";
/// Cycles between two signs of progress. At each one the simulation appends a byte to a file.
const PULSE: u64 = 4096;
/// Interval at which that file is polled.
const LOOKED_AT: Duration = Duration::from_millis(500);
/// Limit of processor time per case, in seconds.
const SECONDS: u64 = 600;

/// Compiles an RTL with these parameters, or finds it in the cache. Returns the file for [`run`].
///
/// # Errors
/// [`Error::File`] if the RTL files cannot be copied to one folder. [`Error::Build`] if its ports
/// differ from those that the program was built with, or with Icarus's message.
pub fn compile(
    info: &'static BlockInfo,
    rtl: &Rtl,
    parameters: &Parameters,
    kept: &Kept,
) -> Result<PathBuf, Error> {
    check_cycle_exact(info.name, info.transaction_outputs, "simulation with four values")?;
    let examined = rtl.simulated(info, parameters, kept)?;
    let copies = Copies::new(&examined)?;
    let values = info.verilog(parameters, &examined.parameters);
    check_ports(info, &examined, &values)?;
    let (inputs, outputs) = (Words::of_ports(info.inputs), Words::of_ports(info.outputs));
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
        pulse => PULSE,
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
    let simulation = Simulation {
        top: TOP.to_owned(),
        files,
        folder,
        sources,
        defines: examined.design.defines.clone(),
        extensions: examined.design.extensions.clone(),
        data: examined.design.data.clone(),
    };
    Ok(Icarus::find()?.compiled(&simulation, kept)?)
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

/// Runs a case from reset to its end. `waves` is a VCD or FST file to write.
///
/// # Errors
/// [`Error::Write`] if a file cannot be written. [`Error::Environment`] if Icarus is missing.
pub fn run<B: Block>(
    compiled: &Path,
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    waves: Option<&Path>,
    watch: &Watch,
) -> Result<Outcome, Error> {
    watch.during(|| {
        let recording = Recording::new(stimulus, parameters);
        let golden = recording.outcome();
        if !B::Golden::IS_WRITTEN || golden.verdict == Verdict::Cancelled {
            return Ok(golden.clone());
        }
        let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let case = folder.path().join("case");
        write_case(&recording, &case).map_err(Error::write(&case))?;
        let pulse = folder.path().join("pulse");
        let mut arguments =
            vec![format!("+case={}", case.display()), format!("+pulse={}", pulse.display())];
        if let Some(waves) = waves {
            let is_fst = waves.extension().is_some_and(|ending| ending == "fst");
            arguments.extend(is_fst.then(|| "-fst".to_owned()));
            let waves = std::path::absolute(waves).map_err(Error::write(waves))?;
            arguments.push(format!("+waves={}", waves.display()));
        }
        let simulated =
            alive(&pulse, watch, || simulate(compiled, &arguments, SECONDS, folder.path()));
        let said = simulated.map_err(|error| match error {
            BuildError::Interrupted => Error::Interrupted,
            other => Error::from(other),
        })?;
        Ok(outcome(&recording, parameters, &said))
    })
}

/// Runs `work` and reports the simulation's progress to `watch`, so that a long case is not a hang.
fn alive<T>(pulse: &Path, watch: &Watch, work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let looker = scope.spawn(|| {
            let mut known = 0;
            while !is_done.load(Ordering::Relaxed) {
                let pulses = pulse.metadata().map_or(0, |pulse| pulse.len());
                if pulses > known {
                    known = pulses;
                    watch.reached(pulses * PULSE);
                }
                thread::park_timeout(LOOKED_AT);
            }
        });
        let result = panic::catch_unwind(AssertUnwindSafe(work));
        is_done.store(true, Ordering::Relaxed);
        looker.thread().unpark();
        result.unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

/// Writes inputs and expected outputs. Input payload without its valid is X.
fn write_case<B: Block>(recording: &Recording<'_, B>, path: &Path) -> std::io::Result<()> {
    let (inputs, outputs) = (Words::of_ports(B::Inputs::PORTS), Words::of_ports(B::Outputs::PORTS));
    let governors: Vec<Option<&Port>> = B::Inputs::PORTS
        .iter()
        .map(|port| B::NAMING.governor(port, B::Inputs::PORTS, false))
        .collect();
    let mut file = BufWriter::new(File::create(path)?);
    let cycles = recording.inputs().iter().zip(recording.expected()).enumerate();
    for (cycle, (driven, expected)) in cycles {
        let pins = driven.as_bytes();
        let is_idle =
            |place: usize| governors[place].is_some_and(|governor| governor.bytes(pins)[0] == 0);
        write!(
            file,
            "{} {}",
            inputs.digits(pins, "", is_idle),
            outputs.digits(expected.as_bytes(), "", |_| false)
        )?;
        if let Some(open) = recording.open() {
            write!(file, " {}", outputs.digits(open[cycle].as_bytes(), "", |_| false))?;
        }
        writeln!(file)?;
    }
    file.flush()
}

/// A message of the simulation: an output differs or is unknown.
struct Line<'a> {
    is_unknown: bool,
    cycle: u64,
    port: &'a str,
    width: &'a str,
    actual: &'a str,
    expected: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.strip_prefix("cosim ")?.split(' ');
        let mut word = || words.next();
        let is_unknown = match word()? {
            "unknown" => true,
            "mismatch" => false,
            _ => return None,
        };
        let cycle = word()?.parse().ok()?;
        let line = Self {
            is_unknown,
            cycle,
            port: word()?,
            width: word()?,
            actual: word()?,
            expected: word()?,
        };
        Some(line)
    }

    /// A value as a Verilog literal.
    fn literal(&self, digits: &str) -> String {
        let digits = match digits.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        format!("{}'h{digits}", self.width)
    }
}

/// The outcome of a simulation from its messages.
fn outcome<B: Block>(
    recording: &Recording<'_, B>,
    parameters: &Parameters,
    said: &Output,
) -> Outcome {
    let text = String::from_utf8_lossy(&said.stdout);
    let mut lines = text.lines().filter_map(Line::parse).peekable();
    let Some(cycle) = lines.peek().map(|line| line.cycle) else {
        return match text.lines().any(|line| line.starts_with("cosim end ")) {
            true => recording.outcome().clone(),
            false => Outcome::without_cycles(ended(said)),
        };
    };
    let lines: Vec<Line<'_>> = lines.take_while(|line| line.cycle == cycle).collect();
    let first = &lines[0];
    let ports: Vec<&'static Port> = B::Outputs::PORTS
        .iter()
        .filter(|port| lines.iter().any(|line| line.port == port.name))
        .collect();
    let leading = B::NAMING.leading(&ports);
    let is_output = leading.iter().any(|port| port.name == first.port);
    let differs = match is_output {
        true => leading.iter().map(|port| port.name.to_owned()).collect(),
        // A mismatch of the state register explains the others.
        false => vec![first.port.to_owned()],
    };
    let (state, rules) = golden_at(recording, parameters, cycle);
    let rules: Vec<&str> = rules.iter().map(|rule| B::Golden::RULES[rule].name).collect();
    let expected = match first.expected {
        "?" => "a known value".to_owned(),
        digits => first.literal(digits),
    };
    let mismatch = Mismatch {
        cycle,
        port: first.port.to_owned(),
        expected,
        actual: first.literal(first.actual),
        state: state.to_owned(),
        rule: rules.join("+"),
        differs,
    };
    let verdict = match first.is_unknown {
        true => Verdict::Unknown(mismatch),
        false => Verdict::Mismatch(mismatch),
    };
    let packets = recording.outcome().packets;
    Outcome { cycles: cycle, packets, ..Outcome::without_cycles(verdict) }
}

/// The golden model's state in a cycle and the rules that apply at its end.
fn golden_at<B: Block>(
    recording: &Recording<'_, B>,
    parameters: &Parameters,
    cycle: u64,
) -> (&'static str, RuleSet) {
    let mut golden = B::Golden::new(parameters);
    let mut at = (golden.state(), RuleSet::EMPTY);
    for inputs in recording.inputs().iter().take(cycle as usize + 1) {
        at.0 = golden.state();
        at.1 = golden.edge(inputs);
    }
    at
}

/// The verdict for a simulation that did not finish.
fn ended(said: &Output) -> Verdict {
    if said.status.signal() == Some(EXCEEDED) {
        return Verdict::Hang { cycle: None, state: "unknown".to_owned() };
    }
    let text = [&said.stdout, &said.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    let words = text.iter().flat_map(|text| text.lines()).find(|line| !line.trim().is_empty());
    let message = match words {
        Some(words) => format!("the RTL ended the simulation: {words}"),
        None => "the RTL ended the simulation".to_owned(),
    };
    Verdict::Crashed { cycle: None, message }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn a_line_of_the_simulation_is_read() {
        let line = Line::parse("cosim unknown 7 wqe_resp_ready 1 x 0").unwrap();
        assert!(line.is_unknown);
        assert_eq!((line.cycle, line.port), (7, "wqe_resp_ready"));
        assert_eq!([line.actual, line.expected].map(|value| line.literal(value)), ["1'hx", "1'h0"]);
        assert!(Line::parse("cosim end 7").is_none());
        assert!(Line::parse("what the RTL says").is_none());
    }
}

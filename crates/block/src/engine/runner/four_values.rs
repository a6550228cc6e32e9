//! What all simulators of four values share: the file with the pins of a case, which the testbench
//! of the tool reads, the messages of that testbench, and the blame.
//!
//! The module of each simulator runs its program.

use crate::driven::DrivenPins;
use crate::words::Words;
use cosim_harness::harness::{
    self, Blame, Block, BlockInfo, Culprit, Golden, Mismatch, Outcome, Parameters, Profile,
    Recording, RuleSet, Stimulus, Verdict, Watch,
};
use rustix::process::Signal;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;
use verilated::Port;

/// The golden side of a case, without the types of its block.
pub struct GoldenSide<'a> {
    pub info: &'static BlockInfo,
    /// The outcome if no output differs.
    pub outcome: &'a Outcome,
    pub pins: DrivenPins,
    /// The state in a cycle and the rules that apply at its end.
    pub at: &'a dyn Fn(u64) -> (&'static str, RuleSet),
}

/// Writes inputs and expected outputs. Input payload without its valid is X.
pub fn write_case(golden: &GoldenSide<'_>, path: &Path) -> std::io::Result<()> {
    let BlockInfo { inputs: ports, outputs, naming, .. } = golden.info;
    let governors: Vec<Option<&Port>> =
        ports.iter().map(|port| naming.governor(port, ports, false)).collect();
    let (inputs, outputs) = (Words::from_ports(ports), Words::from_ports(outputs));
    let mut file = BufWriter::new(File::create(path)?);
    let DrivenPins { inputs: driven, outputs: expected, open, .. } = &golden.pins;
    for (cycle, (pins, expected)) in driven.iter().zip(expected).enumerate() {
        let is_idle =
            |place: usize| governors[place].is_some_and(|governor| governor.bytes(pins)[0] == 0);
        write!(
            file,
            "{} {}",
            inputs.digits(pins, "", is_idle),
            outputs.digits(expected, "", |_| false)
        )?;
        if let Some(open) = open {
            write!(file, " {}", outputs.digits(&open[cycle], "", |_| false))?;
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

    fn literal(&self, digits: &str) -> String {
        let digits = match digits.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        format!("{}'h{digits}", self.width)
    }
}

/// The outcome of a simulation from its messages.
pub fn outcome(golden: &GoldenSide<'_>, output: &Output) -> Outcome {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().filter_map(Line::parse).peekable();
    let Some(cycle) = lines.peek().map(|line| line.cycle) else {
        return match text.lines().any(|line| line.starts_with("cosim end ")) {
            true => golden.outcome.clone(),
            false => Outcome::without_cycles(ended(output)),
        };
    };
    let lines: Vec<Line<'_>> = lines.take_while(|line| line.cycle == cycle).collect();
    let first = &lines[0];
    let outputs = golden.info.outputs.iter();
    let ports: Vec<&'static Port> =
        outputs.filter(|port| lines.iter().any(|line| line.port == port.name)).collect();
    let leading = golden.info.naming.leading(&ports);
    let is_output = leading.iter().any(|port| port.name == first.port);
    let differs = match is_output {
        true => leading.iter().map(|port| port.name.to_owned()).collect(),
        // A mismatch of the state register explains the others.
        false => vec![first.port.to_owned()],
    };
    let (state, rules) = (golden.at)(cycle);
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
        rule: rules.names(golden.info.rules),
        differs,
    };
    let verdict = match first.is_unknown {
        true => Verdict::Unknown(mismatch),
        false => Verdict::Mismatch(mismatch),
    };
    Outcome { cycles: cycle, packets: golden.outcome.packets, ..Outcome::without_cycles(verdict) }
}

/// The blame if the RTL drives an X: the RTL, unless the golden model's side fails, too.
pub fn blame<B: Block>(stimulus: &Stimulus<B>, profile: &Profile, watch: &Watch) -> Blame {
    let golden = harness::run_golden(stimulus, &profile.parameters, watch);
    let broken_by = match golden.verdict {
        Verdict::Match => Culprit::Rtl,
        _ => Culprit::Undecided,
    };
    Blame { broken_by, rtl: None, golden: None }
}

/// The golden model's state in a cycle and the rules that apply at its end.
pub fn golden_at<B: Block>(
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
fn ended(output: &Output) -> Verdict {
    if output.status.signal() == Some(Signal::XCPU.as_raw()) {
        return Verdict::Hang { cycle: None, state: "unknown".to_owned() };
    }
    let text =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
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

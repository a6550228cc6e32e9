//! Test kit of the blocks, generic over the contract: a golden model cycle by cycle ([`Bench`]), a
//! case of golden model and environment ([`Story`]), a scoreboard on faulty pins ([`Judge`]).
//!
//! Pins are text: `"pkt_valid pkt_id=9"`. A pin without a value is 1, `!pin` is 0, `port.field` is
//! a field of [`Block::fields`], and `port[7:4]` are bits.

use cosim_core::checks;
use cosim_core::harness::{
    Block, Environment as _, Golden as _, Parameters, Scoreboard as _, Traffic as _, Violation,
};
use cosim_core::verilated::{Field, Pins, Port};
use std::collections::BTreeSet;

/// The mask of profile `spec`, without fixes.
pub const SPEC: u8 = 0x00;
/// The mask of profile `repaired`, with all fixes.
pub const REPAIRED: u8 = 0xff;

/// A legal traffic.
#[track_caller]
pub fn traffic<B: Block>(json: &str) -> B::Traffic {
    let traffic: B::Traffic = serde_json::from_str(json).expect(json);
    assert_eq!(traffic.check(), Ok(()), "{json}");
    traffic
}

/// A port or a field of it.
#[derive(Clone, Copy)]
struct Pin {
    is_input: bool,
    port: &'static Port,
    /// Its bits. Of more than 64, the low ones are compared, and the others written as 0.
    lsb: u32,
    width: u32,
}

impl Pin {
    #[track_caller]
    fn named<B: Block>(name: &str) -> Self {
        let port_name = name.split(['.', '[']).next().unwrap_or(name);
        let find = |ports: &'static [Port]| ports.iter().find(|port| port.name == port_name);
        let input = find(B::Inputs::PORTS);
        let port = input.or_else(|| find(B::Outputs::PORTS));
        let port = port.unwrap_or_else(|| panic!("{} has no pin {name:?}", B::NAME));
        let (lsb, width) = if let Some((_, field)) = name.split_once('.') {
            let known = B::fields(port_name).iter().find(|(known, _)| *known == field);
            let field = known.unwrap_or_else(|| panic!("{port_name} has no field {field}")).1;
            (field.lsb, field.width)
        } else if let Some((_, bits)) = name.split_once('[') {
            let (msb, lsb) = bits.trim_end_matches(']').split_once(':').expect("[msb:lsb]");
            let (msb, lsb): (u32, u32) = (msb.parse().expect(name), lsb.parse().expect(name));
            (lsb, msb + 1 - lsb)
        } else {
            (0, port.width)
        };
        Self { is_input: input.is_some(), port, lsb, width }
    }

    fn get<B: Block>(&self, inputs: &B::Inputs, outputs: &B::Outputs) -> u64 {
        let pins = if self.is_input { inputs.as_bytes() } else { outputs.as_bytes() };
        self.port.field(pins, Field { lsb: self.lsb, width: self.width.min(64) })
    }

    fn write<P: Pins>(&self, pins: &mut P, value: u64) {
        let mut bytes = pins.as_bytes().to_vec();
        for bit in 0..self.width {
            let place = self.lsb + bit;
            let byte = &mut bytes[self.port.offset + place as usize / 8];
            let is_high = value.checked_shr(bit).unwrap_or(0) & 1 == 1;
            *byte = *byte & !(1 << (place % 8)) | u8::from(is_high) << (place % 8);
        }
        *pins = P::from_bytes(&bytes);
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.parse().ok(),
    }
}

/// `pin=4`, `pin`, or `!pin`.
struct Term {
    pin: Pin,
    value: u64,
}

#[track_caller]
fn terms<B: Block>(text: &str) -> Vec<Term> {
    let term = |word: &str| {
        let (pin, value) = match (word.split_once('='), word.strip_prefix('!')) {
            (Some((pin, value)), _) => (pin, number(value).unwrap_or_else(|| panic!("{word}"))),
            (None, Some(pin)) => (pin, 0),
            (None, None) => (word, 1),
        };
        let pin = Pin::named::<B>(pin);
        assert!(value.checked_shr(pin.width).unwrap_or(0) == 0, "{word} is too wide");
        Term { pin, value }
    };
    text.split_whitespace().map(term).collect()
}

/// A golden model, cycle by cycle.
#[derive(Clone)]
pub struct Bench<B: Block> {
    pub golden: B::Golden,
    /// Short names of pins: `("ack", "a_dllp_valid a_dllp_seq=$1")` for `ack(7)`.
    short: &'static [(&'static str, &'static str)],
    /// A rule that applies in every cycle, which scripts leave out.
    always: &'static str,
}

impl<B: Block> Bench<B> {
    /// A model after reset.
    pub fn new(
        parameters: &Parameters,
        short: &'static [(&'static str, &'static str)],
        always: &'static str,
    ) -> Self {
        Self { golden: B::Golden::new(parameters), short, always }
    }

    /// The text with its short names replaced.
    fn full(&self, text: &str) -> String {
        let full = |word: &str| {
            let (name, arguments) = word.split_once('(').unwrap_or((word, ""));
            let Some((_, pins)) = self.short.iter().find(|(short, _)| *short == name) else {
                return word.to_owned();
            };
            let arguments = arguments.trim_end_matches(')').split(',').enumerate();
            arguments.fold((*pins).to_owned(), |pins, (index, argument)| {
                pins.replace(&format!("${}", index + 1), argument)
            })
        };
        text.split_whitespace().map(full).collect::<Vec<_>>().join(" ")
    }

    /// These inputs; all others are 0.
    #[track_caller]
    pub fn inputs(&self, text: &str) -> B::Inputs {
        let mut inputs = B::Inputs::default();
        for Term { pin, value } in terms::<B>(&self.full(text)) {
            assert!(pin.is_input, "{} is no input", pin.port.name);
            pin.write(&mut inputs, value);
        }
        inputs
    }

    /// The outputs under these inputs.
    #[track_caller]
    pub fn outputs(&self, inputs: &str) -> B::Outputs {
        let mut outputs = B::Outputs::default();
        self.golden.show(&self.inputs(inputs), &mut outputs);
        outputs
    }

    /// Takes the rising edge. Returns the rules that applied.
    #[track_caller]
    pub fn edge(&mut self, inputs: &str) -> Vec<&'static str> {
        let rules = self.golden.edge(&self.inputs(inputs));
        let names = rules.iter().map(|rule| B::Golden::RULES[rule].name);
        names.filter(|name| *name != self.always).collect()
    }

    /// Runs a script, one cycle in each line: `INPUTS | OUTPUTS | RULES`. Inputs that are not named
    /// are 0; `-` stands for none, and `9*` before them for nine cycles. A line that begins with
    /// `.` only looks at the outputs. `=` before outputs says that all others are 0, `=` before
    /// rules that no other applies, and `!` that a rule does not.
    #[track_caller]
    pub fn run(&mut self, script: &str) -> &mut Self {
        for line in script.lines() {
            let text = line.split("//").next().unwrap_or_default();
            let mut parts = text.split('|').map(str::trim);
            let mut part = || parts.next().unwrap_or_default();
            let (inputs, outputs, rules) = (part(), part(), part());
            let (times, inputs) = inputs.split_once('*').unwrap_or(("1", inputs));
            let (looks, inputs) =
                inputs.strip_prefix('.').map_or((false, inputs), |rest| (true, rest));
            let inputs = inputs.trim_matches([' ', '-']);
            if text.trim().is_empty() {
                continue;
            }
            for _ in 0..times.parse().expect(line) {
                self.compare(line, inputs, outputs);
                if looks {
                    continue;
                }
                let fired = self.edge(inputs);
                if let Some(exactly) = rules.strip_prefix('=') {
                    let expected: Vec<&str> = exactly.split_whitespace().collect();
                    assert_eq!(fired, expected, "{line}");
                } else {
                    for rule in rules.split_whitespace() {
                        let name = rule.trim_start_matches('!');
                        assert_eq!(fired.contains(&name), rule == name, "{fired:?}: {line}");
                    }
                }
            }
        }
        self
    }

    #[track_caller]
    fn compare(&self, line: &str, inputs: &str, expected: &str) {
        let (driven, outputs) = (self.inputs(inputs), self.outputs(inputs));
        let (exactly, expected) =
            expected.strip_prefix('=').map_or((false, expected), |rest| (true, rest));
        let terms = terms::<B>(&self.full(expected));
        for Term { pin, value } in &terms {
            assert_eq!(pin.get::<B>(&driven, &outputs), *value, "{outputs:#?}: {line}");
        }
        if exactly {
            let mut all = B::Outputs::default();
            terms.iter().for_each(|term| term.pin.write(&mut all, term.value));
            let difference = Pins::first_difference(&outputs, &all);
            assert!(difference.is_none(), "{difference:?}: {line}");
        }
    }
}

/// The pins of each cycle of a case of environment and golden model.
pub struct Story<B: Block> {
    pub cycles: Vec<(B::Inputs, B::Outputs)>,
    /// The environment ended it; else it hangs.
    pub finished: bool,
}

/// Runs a case until it ends or hangs.
#[track_caller]
pub fn story<B: Block>(mask: u8, json: &str) -> Story<B> {
    let (traffic, parameters) = (traffic::<B>(json), Parameters::with_fixes::<B>(mask));
    let mut environment = B::Environment::new(&traffic, &parameters);
    let mut golden = B::Golden::new(&parameters);
    let (mut inputs, mut outputs) = (B::Inputs::default(), B::Outputs::default());
    let (mut cycles, mut handshakes, mut last) = (Vec::new(), 0, 0);
    while !environment.finished() {
        environment.drive(&mut inputs);
        golden.show(&inputs, &mut outputs);
        cycles.push((inputs, outputs));
        golden.edge(&inputs);
        environment.clock(&inputs, &outputs);
        if environment.handshakes() != handshakes {
            (handshakes, last) = (environment.handshakes(), cycles.len());
        }
        if (cycles.len() - last) as u64 > environment.progress_timeout() {
            return Story { cycles, finished: false };
        }
    }
    Story { cycles, finished: true }
}

/// A scoreboard on the pins of a golden model, which may have faults.
pub struct Judge {
    model: u8,
    judged: u8,
}

impl Judge {
    /// Model and scoreboard with a mask of fixes.
    pub fn new(mask: u8) -> Self {
        Self { model: mask, judged: mask }
    }

    /// The scoreboard has another mask.
    pub fn judged_as(self, judged: u8) -> Self {
        Self { judged, ..self }
    }

    /// The scoreboard's counters, or the check that fires. The cycle in reset is not tampered with;
    /// cycles are counted after it.
    pub fn counts<B: Block>(
        &self,
        traffic: &B::Traffic,
        mut tamper: impl FnMut(u64, &mut B::Inputs, &mut B::Outputs),
    ) -> Result<Vec<u64>, Violation> {
        let (model, judged) =
            (Parameters::with_fixes::<B>(self.model), Parameters::with_fixes::<B>(self.judged));
        let environment = B::Environment::new(traffic, &model);
        let scoreboard = B::Scoreboard::new(traffic, &judged);
        let golden = B::Golden::new(&model);
        checks::observe_golden::<B, _, _>(
            golden,
            environment,
            scoreboard,
            |cycle, inputs, outputs| {
                if let Some(cycle) = cycle.checked_sub(1) {
                    tamper(cycle, inputs, outputs);
                }
            },
        )
    }

    /// The counters of a case without faults that are not 0.
    #[track_caller]
    pub fn counted<B: Block>(&self, traffic: &B::Traffic) -> Vec<(&'static str, u64)> {
        named::<B>(self.counts::<B>(traffic, |_, _, _| {}).expect("no check fires"))
    }

    /// Expects a check to fire. Returns its message.
    #[track_caller]
    pub fn fires<B: Block>(
        &self,
        check: &str,
        traffic: &B::Traffic,
        tamper: impl FnMut(u64, &mut B::Inputs, &mut B::Outputs),
    ) -> String {
        let violation = self.counts::<B>(traffic, tamper).expect_err(check);
        assert_eq!(violation.check, check, "{}", violation.message);
        violation.message
    }

    /// The check that fires if a case ends after a number of cycles.
    pub fn cut<B: Block>(&self, json: &str, cycles: usize) -> Option<(String, String)> {
        let traffic = traffic::<B>(json);
        let mut scoreboard =
            B::Scoreboard::new(&traffic, &Parameters::with_fixes::<B>(self.judged));
        for (inputs, outputs) in &story::<B>(self.model, json).cycles[..cycles] {
            scoreboard.observe(inputs, outputs).expect("no check fires");
        }
        scoreboard.finish().err().map(|violation| (violation.check, violation.message))
    }
}

/// Counters with their names, without those that are 0.
pub fn named<B: Block>(counts: Vec<u64>) -> Vec<(&'static str, u64)> {
    let names = <B::Scoreboard<'_>>::counters().into_iter().map(|counter| counter.name);
    names.zip(counts).filter(|(_, count)| *count > 0).collect()
}

/// The bins that a case hits, but those of groups that begin with one of `without`.
#[track_caller]
pub fn bins<B: Block>(mask: u8, json: &str, without: &[&str]) -> BTreeSet<String> {
    let hit =
        checks::bins_hit::<B>(traffic::<B>(json), &Parameters::with_fixes::<B>(mask)).expect(json);
    let is_left_out = |bin: &String| without.iter().any(|group| bin.starts_with(group));
    hit.into_keys().filter(|bin| !is_left_out(bin)).collect()
}

/// The cells of the rows of the specification's tables.
pub fn rows<B: Block>() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = B::SPECIFICATION.expect("a specification").text.lines();
    let rows = lines.filter(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

/// The golden model has the rules of the specification's tables, whose names are a letter and a
/// number, and those that are `elsewhere` in it.
#[track_caller]
pub fn rules_are_those_of_the_specification<B: Block>(letters: &str, elsewhere: &[&'static str]) {
    let rule = |row: Vec<&'static str>| {
        let name = row[0].trim_start_matches('*').split(['*', ' ']).next()?;
        let (letter, number) = name.split_at_checked(1)?;
        let is_rule = letters.contains(letter) && number.parse::<u32>().is_ok();
        is_rule.then_some((row[0].starts_with("**"), name))
    };
    let rules: Vec<(bool, &str)> = rows::<B>().filter_map(rule).collect();
    // They are bold where other tables begin with rules, too.
    let marked = rules.iter().any(|(is_bold, _)| *is_bold);
    let specified = rules.into_iter().filter(|(is_bold, _)| *is_bold == marked);
    let mut specified: Vec<&str> = specified.map(|(_, name)| name).collect();
    specified.extend(elsewhere);
    let mut listed: Vec<&str> = B::Golden::RULES.iter().map(|rule| rule.name).collect();
    specified.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, specified);
    let text = B::SPECIFICATION.expect("a specification").text;
    assert!(elsewhere.iter().all(|rule| text.contains(rule)));
}

mod tests {
    use super::*;
    use crate::blocks::recv::Recv;

    fn bench() -> Bench<Recv> {
        Bench::new(&Parameters::with_fixes::<Recv>(SPEC), &[("level", "ring_level=$1")], "")
    }

    #[test]
    fn what_a_script_does_not_expect_fails_it() {
        bench().run("2* - | = level(16) | = P1 \n .pkt_valid | level(16)");
        for wrong in [
            "- | level(15)",
            "- | = state=0",
            "- | | P2",
            "- | | !P1",
            "- | | = P1 P2",
            ". | pkt_ready",
        ] {
            let ran = std::panic::catch_unwind(|| bench().run(wrong).outputs(""));
            assert!(ran.is_err(), "{wrong}");
        }
    }
}

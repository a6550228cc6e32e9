//! A block as plain data, for code that needs none of its types.

use super::comparison::{Comparison, is_transaction_output};
use super::contract::{
    Block, Document, Explain, Golden, ResetPin, Rule, Scoreboard, Total, power_up_inputs,
};
use super::coverage::{Coverage, Covergroup, WaiverFile, unreachable_in};
use super::naming::Naming;
use super::parameters::{Parameter, Parameters, Profile};
use super::properties::Properties;
use std::collections::BTreeMap;
use verilated::{Field, Pins, Port};
use zerocopy::IntoBytes;

/// The largest state code that is looked up.
const STATE_CODES: u64 = 0xff;

/// A block without its types. Code that reads only this is compiled once and not again for each
/// block.
#[derive(Debug)]
pub struct BlockInfo {
    /// [`Block::NAME`].
    pub name: &'static str,
    /// [`Block::TITLE`].
    pub title: &'static str,
    /// [`Block::RTL`] without the linked models.
    pub rtl: BuiltInRtl,
    /// [`Block::PARAMETERS`].
    pub parameters: &'static [Parameter],
    /// [`Block::PROFILES`].
    pub profiles: &'static [Profile],
    /// [`Block::CASES`].
    pub cases: u64,
    /// [`Block::RESET`].
    pub reset: Option<ResetPin>,
    /// [`Block::CLOCKS`].
    pub clocks: &'static [&'static str],
    /// [`Block::EXHAUSTIVE`].
    pub exhaustive: Option<u32>,
    /// [`Block::STATE_REGISTER`].
    pub state_register: Option<&'static str>,
    /// [`Block::NAMING`].
    pub naming: Naming,
    /// Every input but the clock.
    pub inputs: &'static [Port],
    /// Every output.
    pub outputs: &'static [Port],
    /// [`Block::TRANSACTION_OUTPUTS`].
    pub transaction_outputs: &'static [&'static str],
    /// [`Golden::HAS_DONT_CARES`].
    pub has_dont_cares: bool,
    /// [`Golden::RULES`].
    pub rules: &'static [Rule],
    /// [`Golden::unreachable`].
    pub unreachable_rule: fn(usize, &Parameters) -> Option<String>,
    /// [`Coverage::GROUPS`].
    pub groups: &'static [Covergroup],
    /// [`Coverage::WAIVERS`].
    pub waivers: Option<WaiverFile>,
    /// [`Coverage::SOURCE`].
    pub groups_source: Option<Document>,
    /// [`Block::SPECIFICATION`].
    pub specification: Option<Document>,
    /// Names of [`Scoreboard::counters`], and how the numbers of cases are added up.
    pub counters: fn() -> Vec<(&'static str, Total)>,
    /// Names and purposes of [`Block::scenarios`].
    pub scenarios: fn() -> Vec<(String, String)>,
    /// [`Block::properties`].
    pub properties: fn(&Parameters) -> Properties,
    /// [`Block::fields`].
    pub fields: fn(&str) -> &'static [(&'static str, Field)],
    /// [`Explain::state_name`].
    pub state_name: fn(u64) -> Option<&'static str>,
    /// [`Explain::rules_between`].
    pub rules_between: fn(&str, &str) -> Vec<&'static str>,
    /// [`Explain::meaning`].
    pub meaning: fn(&str, u64) -> Option<String>,
    /// The bytes of [`power_up_inputs`].
    pub power_up: fn() -> Vec<u8>,
}

/// The RTL that is built into the program.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInRtl {
    /// The top module.
    pub top: &'static str,
    /// Its clock, as the build script names it.
    pub clock: &'static str,
    /// The wrapper, if the top is one.
    pub wrapper: Option<Wrapper>,
    /// The 8-bit parameter for the mask of fixes; `None` for a block without errata.
    pub mask_parameter: Option<&'static str>,
    /// The files, as (name, text).
    pub sources: &'static [(&'static str, &'static str)],
    /// The files that the RTL reads while it runs, as (name in the RTL, text).
    pub data: &'static [(&'static str, &'static [u8])],
    /// The names of the sources on Verilator's command line, in that order. Verilator finds the
    /// others.
    pub roots: &'static [&'static str],
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: &'static [&'static str],
    /// The file with the properties as assertions, `NAME_sva.sv`, as (name, text). It is no part of the
    /// design.
    pub assertions: Option<(&'static str, &'static str)>,
    /// All parameters of each linked model by name, including the mask.
    pub embedded: &'static [&'static [(&'static str, u64)]],
}

/// A module around the one that a user may replace, with ports that the harness can drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapper {
    /// Its file among the sources, which has the name of the module.
    pub file: &'static str,
    /// The module inside.
    pub module: &'static str,
}

impl BuiltInRtl {
    /// The index in `embedded` of the linked model with these parameters, if there is one.
    pub fn linked(&self, parameters: &Parameters) -> Option<usize> {
        let mask = self.mask_parameter.map(|name| (name, u64::from(parameters.fixes())));
        let wanted = || mask.into_iter().chain(parameters.values());
        let is_it = |embedded: &&[(&str, u64)]| {
            embedded.len() == wanted().count() && wanted().all(|value| embedded.contains(&value))
        };
        self.embedded.iter().position(is_it)
    }
}

impl BlockInfo {
    /// Collects the data of a block.
    pub const fn of<B: Explain>() -> &'static Self {
        const {
            &Self {
                name: B::NAME,
                title: B::TITLE,
                rtl: B::RTL.rtl,
                parameters: B::PARAMETERS,
                profiles: B::PROFILES,
                cases: B::CASES,
                reset: B::RESET,
                clocks: B::CLOCKS,
                exhaustive: B::EXHAUSTIVE,
                state_register: B::STATE_REGISTER,
                naming: B::NAMING,
                inputs: B::Inputs::PORTS,
                outputs: B::Outputs::PORTS,
                transaction_outputs: B::TRANSACTION_OUTPUTS,
                has_dont_cares: B::Golden::HAS_DONT_CARES,
                rules: B::Golden::RULES,
                unreachable_rule: B::Golden::unreachable,
                groups: B::Coverage::GROUPS,
                waivers: B::Coverage::WAIVERS,
                groups_source: B::Coverage::SOURCE,
                specification: B::SPECIFICATION,
                counters: counters::<B>,
                scenarios: scenarios::<B>,
                properties: B::properties,
                fields: B::fields,
                state_name: B::state_name,
                rules_between: B::rules_between,
                meaning: B::meaning,
                power_up: power_up::<B>,
            }
        }
    }

    /// How an output is compared.
    pub fn comparison(&self, output: &str) -> Comparison {
        if is_transaction_output(self.transaction_outputs, output) {
            Comparison::Transactions
        } else if self.has_dont_cares {
            Comparison::DontCare
        } else {
            Comparison::CycleExact
        }
    }

    /// The kinds of comparison of the block, each with its outputs.
    pub fn comparisons(&self) -> BTreeMap<Comparison, Vec<&'static str>> {
        let mut all: BTreeMap<Comparison, Vec<&'static str>> = BTreeMap::new();
        for port in self.outputs {
            all.entry(self.comparison(port.name)).or_default().push(port.name);
        }
        all
    }

    /// The outputs whose compared bits are counted; none if every bit is always compared.
    pub fn counted_outputs(&self) -> impl Iterator<Item = &'static Port> {
        let is_counted = |port: &&Port| self.comparison(port.name) == Comparison::DontCare;
        self.outputs.iter().filter(is_counted)
    }

    /// The transitions that the block names: source state, target state and rule.
    pub fn transitions(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let states: Vec<&str> = (0..=STATE_CODES).filter_map(self.state_name).collect();
        let pairs = states.iter().flat_map(|from| states.iter().map(move |to| (*from, *to)));
        let rules = |(from, to)| {
            (self.rules_between)(from, to).into_iter().map(move |rule| (from, to, rule))
        };
        pairs.flat_map(rules).collect()
    }

    /// Why no legal stimulus hits a bin with these parameters, and whether `cosim prove` proves
    /// it or the reason is an argument. Bins are numbered through the rules and all groups.
    pub fn unreachable(&self, bin: usize, parameters: &Parameters) -> Option<String> {
        let rule = self.rules.get(bin).map(|rule| rule.name);
        let reason = match rule {
            Some(_) => (self.unreachable_rule)(bin, parameters)?,
            None => unreachable_in(self.groups, bin - self.rules.len(), parameters)?.to_owned(),
        };
        // `cosim prove` proves that a rule with a property never applies.
        let is_proved = rule.is_some_and(|rule| {
            (self.properties)(parameters).transitions.iter().any(|says| says.rule == rule)
        });
        let how = if is_proved { "proof: `cosim prove`" } else { "argued" };
        Some(format!("{reason} ({how})"))
    }

    /// The values of the RTL's parameters as Verilog literals, for those that `has` accepts.
    pub fn verilog(&self, parameters: &Parameters, has: &[String]) -> Vec<(String, String)> {
        let mut values = parameters.verilog(self.rtl.mask_parameter);
        values.retain(|(name, _)| has.contains(name));
        values
    }
}

fn counters<B: Block>() -> Vec<(&'static str, Total)> {
    let counters = B::Scoreboard::<'static>::counters();
    counters.iter().map(|counter| (counter.name, counter.total)).collect()
}

fn scenarios<B: Block>() -> Vec<(String, String)> {
    B::scenarios().into_iter().map(|scenario| (scenario.name, scenario.about)).collect()
}

fn power_up<B: Block>() -> Vec<u8> {
    power_up_inputs::<B>().as_bytes().to_vec()
}

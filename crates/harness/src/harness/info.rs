//! A block as plain data, for code that needs none of its types.

use super::block::{Block, Document, ResetPin, power_up_inputs};
use super::built_in::BuiltInRtl;
use super::comparison::Comparison;
use super::coverage::{Axis, Coverage, Covergroup};
use super::environment::Environment;
use super::explain::Explain;
use super::generator::Scenario;
use super::golden::Golden;
use super::leaked;
use super::naming::Naming;
use super::parameters::{Parameter, Parameters, Profile};
use super::properties::Properties;
use super::rule_set::Rule;
use super::same::has_name;
use super::sampler::unreachable;
use super::scoreboard::{Scoreboard, Total};
use serde::{Deserialize, Serialize};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
use verilated::{Field, Pins, Port};

/// The largest state code that is looked up.
const STATE_CODES: u64 = 0xff;

/// A block without its types. Code that reads only this is compiled once and not again for each
/// block.
#[derive(Debug, Serialize, Deserialize)]
pub struct BlockInfo {
    /// [`Block::NAME`].
    pub name: &'static str,
    /// [`Block::TITLE`].
    pub title: &'static str,
    /// [`Block::RTL`] without the linked models.
    pub rtl: BuiltInRtl,
    /// [`Block::PARAMETERS`].
    #[serde(deserialize_with = "leaked::list")]
    pub parameters: &'static [Parameter],
    /// [`Block::PROFILES`].
    #[serde(deserialize_with = "leaked::list")]
    pub profiles: &'static [Profile],
    /// [`Block::CASES`].
    pub cases: u64,
    /// [`Block::RESET`].
    pub reset: Option<ResetPin>,
    /// [`Block::CLOCKS`].
    #[serde(deserialize_with = "leaked::list")]
    pub clocks: &'static [&'static str],
    /// [`Block::EXHAUSTIVE`].
    pub exhaustive: Option<u32>,
    /// [`Block::STATE_REGISTER`].
    pub state_register: Option<&'static str>,
    /// [`Block::NAMING`].
    pub naming: Naming,
    /// Every input but the clock.
    #[serde(with = "leaked::ports")]
    pub inputs: &'static [Port],
    /// Every output.
    #[serde(with = "leaked::ports")]
    pub outputs: &'static [Port],
    /// [`Block::TRANSACTION_OUTPUTS`].
    #[serde(deserialize_with = "leaked::list")]
    pub transaction_outputs: &'static [&'static str],
    /// [`Environment::TIED`].
    pub tied: Vec<(&'static str, &'static str)>,
    /// Places of golden model and scoreboard that are to be written; see
    /// [`Unwritten`](super::Unwritten).
    pub unwritten: Vec<String>,
    /// [`Golden::HAS_DONT_CARES`].
    pub has_dont_cares: bool,
    /// [`Golden::RULES`].
    #[serde(deserialize_with = "leaked::list")]
    pub rules: &'static [Rule],
    /// [`Coverage::GROUPS`].
    pub groups: Vec<GroupInfo>,
    /// [`Coverage::WAIVERS`].
    pub waivers: Option<Document>,
    /// [`Coverage::SOURCE`].
    pub groups_source: Option<Document>,
    /// [`Block::SPECIFICATION`].
    pub specification: Option<Document>,
    /// Names of [`Scoreboard::counters`], and how the numbers of cases are added up.
    pub counters: Vec<(&'static str, Total)>,
    /// [`Block::scenarios`].
    pub scenarios: Vec<ScenarioInfo>,
    /// [`Block::fields`] of the ports that have named ones.
    #[serde(with = "leaked::fields")]
    pub fields: BTreeMap<&'static str, &'static [(&'static str, Field)]>,
    /// [`Explain::state_name`] by code.
    pub states: Vec<(u64, &'static str)>,
    /// [`Explain::rules_between`]: source state, target state and rule.
    pub transitions: Vec<(&'static str, &'static str, &'static str)>,
    /// The bytes of [`power_up_inputs`].
    pub power_up: Vec<u8>,
    /// The size of [`Block::Outputs`] in bytes.
    pub output_size: usize,
    /// Answers what is no data.
    #[serde(skip, default = "no_answers")]
    pub answers: &'static dyn Answers,
}

/// Answers questions about a block for which its program must run: the block's own types in that
/// program, and a connection to it elsewhere.
pub trait Answers: Debug + Sync {
    /// What the block says of these parameters.
    ///
    /// # Errors
    /// Why the program does not answer.
    fn facts(&self, parameters: &Parameters) -> Result<Facts, String>;

    /// [`Explain::meaning`].
    ///
    /// # Errors
    /// Why the program does not answer.
    fn meaning(&self, port: &str, value: u64) -> Result<Option<String>, String>;
}

/// The answers of a block's types.
#[derive(Debug)]
struct Own<B>(PhantomData<fn() -> B>);

impl<B: Explain> Answers for Own<B> {
    fn facts(&self, parameters: &Parameters) -> Result<Facts, String> {
        Ok(Facts::from_block::<B>(parameters))
    }

    fn meaning(&self, port: &str, value: u64) -> Result<Option<String>, String> {
        Ok(B::meaning(port, value))
    }
}

/// A description that has no connection yet.
#[derive(Debug)]
struct NoAnswers;

impl Answers for NoAnswers {
    fn facts(&self, _: &Parameters) -> Result<Facts, String> {
        Err("the description of the block has no connection to its program".to_owned())
    }

    fn meaning(&self, _: &str, _: u64) -> Result<Option<String>, String> {
        Err("the description of the block has no connection to its program".to_owned())
    }
}

fn no_answers() -> &'static dyn Answers {
    &NoAnswers
}

/// The blocks of a program, in the order of lists.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a>(pub &'a [&'static BlockInfo]);

impl Blocks<'_> {
    /// The block with this name.
    pub fn find(self, name: &str) -> Option<&'static BlockInfo> {
        self.0.iter().copied().find(|block| block.name == name)
    }
}

/// A [`Covergroup`](super::Covergroup) without its function.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupInfo {
    /// The name in reports.
    pub name: String,
    /// What it counts, and when.
    pub about: &'static str,
    /// The axes; a cross has several.
    #[serde(deserialize_with = "leaked::list")]
    pub axes: &'static [Axis],
}

/// A built-in scenario.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScenarioInfo {
    /// The name on the command line.
    pub name: String,
    /// What it is for, in one line.
    pub about: String,
    /// The whole scenario, as JSON.
    pub text: String,
}

impl ScenarioInfo {
    fn from_scenario<W: Serialize>(scenario: Scenario<W>) -> Self {
        // Weights are numbers, texts and structs of them, which JSON can hold.
        let text = serde_json::to_string(&scenario).unwrap_or_default();
        Self { name: scenario.name, about: scenario.about, text }
    }
}

/// What a block says of one set of parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Facts {
    /// Why legal stimulus cannot hit a bin, by the number of the bin; bins that it can hit are
    /// missing. Bins are numbered through the rules and all groups.
    pub unreachable: BTreeMap<usize, String>,
    /// [`Block::properties`].
    pub properties: Properties,
}

impl Facts {
    /// What a block says of these parameters.
    pub fn from_block<B: Explain>(parameters: &Parameters) -> Self {
        Self { unreachable: unreachable::<B>(parameters), properties: B::properties(parameters) }
    }
}

impl BlockInfo {
    /// Whether golden model and scoreboard are written.
    pub fn is_written(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// What the user has to write.
    pub fn to_write(&self) -> String {
        format!(
            "say what the block owes at {}, and remove `UNWRITTEN`",
            self.unwritten.join(" and ")
        )
    }

    /// The data of a block, which is collected once.
    pub fn from_block<B: Explain>() -> &'static Self {
        static KNOWN: Mutex<BTreeMap<TypeId, &'static BlockInfo>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(TypeId::of::<B>()).or_insert_with(|| Box::leak(Box::new(Self::collect::<B>())))
    }

    fn collect<B: Explain>() -> Self {
        let states = states(B::state_name);
        let mut scenarios = Vec::new();
        for scenario in B::scenarios() {
            scenarios.push(ScenarioInfo::from_scenario(scenario));
        }
        Self {
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
            tied: B::Environment::<'static>::TIED.to_vec(),
            unwritten: [B::Golden::UNWRITTEN, B::Scoreboard::<'static>::UNWRITTEN]
                .into_iter()
                .flatten()
                .map(|place| format!("{}:{}", place.file(), place.line()))
                .collect(),
            has_dont_cares: B::Golden::HAS_DONT_CARES,
            rules: B::Golden::RULES,
            groups: B::Coverage::GROUPS.iter().map(GroupInfo::from_group).collect(),
            waivers: B::Coverage::WAIVERS,
            groups_source: B::Coverage::SOURCE,
            specification: B::SPECIFICATION,
            counters: counters::<B>(),
            scenarios,
            fields: fields([B::Inputs::PORTS, B::Outputs::PORTS], B::fields),
            transitions: transitions(&states, B::rules_between),
            states,
            power_up: power_up_inputs::<B>().as_bytes().to_vec(),
            output_size: size_of::<B::Outputs>(),
            answers: &Own::<B>(PhantomData),
        }
    }

    /// How an output is compared.
    pub fn comparison(&self, output: &str) -> Comparison {
        if has_name(self.transaction_outputs, output) {
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

    /// Why no legal stimulus hits a bin, by the number of the bin, and whether `cosim prove` proves
    /// it or the reason is an argument.
    ///
    /// # Errors
    /// As [`Answers::facts`].
    pub fn unreachable(&self, parameters: &Parameters) -> Result<BTreeMap<usize, String>, String> {
        let Facts { unreachable, properties } = self.answers.facts(parameters)?;
        // `cosim prove` proves that a rule with a property never applies.
        let is_proved = |bin: usize| {
            let rule = self.rules.get(bin).map(|rule| rule.name);
            properties.transitions.iter().any(|property| Some(property.rule) == rule)
        };
        let argued = |(bin, reason): (usize, String)| {
            let how = if is_proved(bin) { "proof: `cosim prove`" } else { "argued" };
            (bin, format!("{reason} ({how})"))
        };
        Ok(unreachable.into_iter().map(argued).collect())
    }

    /// The values of the RTL's parameters as Verilog literals, for those that `has` accepts.
    pub fn verilog(&self, parameters: &Parameters, has: &[String]) -> Vec<(String, String)> {
        let mut values = parameters.verilog(self.rtl.mask_parameter);
        values.retain(|(name, _)| has.contains(name));
        values
    }
}

fn counters<B: Block>() -> Vec<(&'static str, Total)> {
    let mut counters = Vec::new();
    for counter in B::Scoreboard::<'static>::counters() {
        counters.push((counter.name, counter.total));
    }
    counters
}

fn fields(
    ports: [&'static [Port]; 2],
    of: fn(&str) -> &'static [(&'static str, Field)],
) -> BTreeMap<&'static str, &'static [(&'static str, Field)]> {
    let fields = ports.into_iter().flatten().map(|port| (port.name, of(port.name)));
    fields.filter(|(_, fields)| !fields.is_empty()).collect()
}

fn states(name: fn(u64) -> Option<&'static str>) -> Vec<(u64, &'static str)> {
    (0..=STATE_CODES).filter_map(|code| Some((code, name(code)?))).collect()
}

fn transitions(
    states: &[(u64, &'static str)],
    rules_between: fn(&str, &str) -> Vec<&'static str>,
) -> Vec<(&'static str, &'static str, &'static str)> {
    let pairs = states.iter().flat_map(|(_, from)| states.iter().map(move |(_, to)| (*from, *to)));
    let rules = |(from, to)| rules_between(from, to).into_iter().map(move |rule| (from, to, rule));
    pairs.flat_map(rules).collect()
}

impl GroupInfo {
    fn from_group(group: &Covergroup) -> Self {
        Self { name: group.full_name(), about: group.about, axes: group.axes }
    }
}

//! Decides whether any input reaches a code coverage point of the RTL.
//!
//! Each point becomes outputs of the netlist ([`instrument`]). A line or a side of a branch is
//! reached in a cycle in which such an output is 1; a bit toggles only if it has another value than
//! the one that it had in simulated cases. A proof counts with its certificate, and inputs that
//! reach a point count after a simulation.

mod code;
mod instrument;

use crate::answer::{Answer, NamedQuery, Traffic, Undecidable};
use crate::circuit::Circuit;
use crate::cut::{cut_with_latches, enabled};
use crate::diff::{Contents, OFFER, TO_NETLIST};
use crate::engine::Attempt;
use crate::graph::UndefinedBits;
use crate::invariants::{HELP, Observer, observer};
use crate::monitor::{AROUND, MONITOR};
use crate::open;
use cosim_aig::{Aig, Freed, Goal, Interface, Seen};
use cosim_base::error::Error;
use cosim_block::agreement::RecordedInputs;
use cosim_block::points::{Kind, Point};
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::answers::Answers;
use cosim_rtl::models::Examined;
use cosim_rtl::rtlil::{
    Cell, Instance, Line, cells_and_connections, instances, plain, rest_of_cell,
};
use cosim_rtl::yosys::{Reader, YosysSession};
use instrument::{Instrumented, MARK, instrument, point_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Instant;

/// The RTL with processes; the same with a wire for each point; the flat RTL; the RTL with its
/// monitor.
const FILES: [&str; 4] = ["raw.il", "covered.il", "rtl.il", "both.il"];

/// Bits of memories that are mapped to registers for a search, at most. Yosys takes minutes for
/// more.
const EXACT: u64 = 1 << 13;

/// An RTL with fixed parameters, and an output for each of its points.
#[derive(Debug)]
pub struct Closure {
    session: YosysSession,
    reset: Option<(&'static str, bool)>,
    circuit: Circuit,
    /// The graph with memories that return any data, equal at equal addresses of one cycle.
    shared: Aig,
    /// What the outputs of [`OFFER`] mean.
    offers: Vec<String>,
    kinds: Vec<Kind>,
    /// The outputs of each point, or why there are none.
    outputs: Vec<Result<Vec<String>, String>>,
    /// The goal of each point, once cases are known.
    goals: Vec<Result<Goal, String>>,
    instances: Vec<Instance>,
    /// The graphs in which any values drive an instance, by its place, each with the assertions
    /// about that instance alone.
    alone: Vec<OnceLock<(Freed, Vec<String>)>>,
    /// The path of the cell of each register, by the name of its signal.
    places: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A proof that none of the points is reached.
    Proof,
    /// A proof that none of the points is reached and no assertion of the block fails.
    Assertions,
    /// A proof about the instance at this place, whatever drives its inputs. A trace shows nothing.
    Alone(usize),
    /// Such a proof, also that no assertion about the instance alone fails.
    AloneAssertions(usize),
    /// A proof that none of the [held](Closure::find_held_registers) bits changes, whatever they
    /// are at first.
    Held,
    /// A search: registers without an initial value begin with zeros or ones.
    Search,
    /// A search for changes of bits, instead of other values than those in simulated cases.
    Change,
}

impl Purpose {
    fn is_search(self) -> bool {
        matches!(self, Self::Search | Self::Change)
    }
}

impl Closure {
    /// Reads an RTL with these points of Verilator. At the deadline Yosys is ended.
    ///
    /// # Errors
    /// [`Undecidable`]: nothing can be decided about the RTL, or Yosys fails or cannot read it.
    pub fn new(
        info: &'static BlockInfo,
        examined: &Examined,
        parameters: &Parameters,
        points: &[Point],
        answers: &Answers,
        deadline: Instant,
    ) -> Result<Self, Undecidable> {
        if !info.clocks.is_empty() {
            return Err("the block has several clocks, and a proof needs one".into());
        }
        let [raw, ..] = FILES;
        let session =
            YosysSession::new(examined)?.with_answers(answers.clone()).with_deadline(deadline);
        let values = info.verilog(parameters, &examined.parameters);
        let path = session.path(raw);
        let reader =
            session.read_processes(&values, &format!("write_rtlil \"{}\"", path.display()))?;
        if let Some(because) = session.find_doubt()? {
            return Err(because.into());
        }
        let texts: BTreeMap<String, Vec<String>> = examined
            .texts
            .iter()
            .map(|file| {
                let text = String::from_utf8_lossy(&file.text);
                let name = file.name.to_string_lossy().into_owned();
                (name, text.lines().map(str::to_owned).collect())
            })
            .collect();
        let line_of = |file: &str, line: u32| -> Option<&str> {
            let lines = texts.get(file)?;
            lines.get((line as usize).checked_sub(1)?).map(String::as_str)
        };
        let reset = info.reset.map(|pin| pin.name_and_level());
        let instrumented = covered(&session, points, &line_of, reader, reset)?;
        let netlist = session.text(raw)?;
        let observer = observer(&session, info, parameters, &netlist, [OFFER, HELP])?;
        let observer = observer.unwrap_or_else(|| Observer::from_protocol(info, OFFER));
        Self::from_session(session, points, &instrumented, observer, info.rtl.clock, reset)
    }

    fn from_session(
        session: YosysSession,
        points: &[Point],
        instrumented: &Instrumented,
        Observer { monitor, offers, commands }: Observer,
        clock: &str,
        reset: Option<(&'static str, bool)>,
    ) -> Result<Self, Undecidable> {
        let [raw, _, rtl, both] = FILES;
        session.write(MONITOR, &monitor.text)?;
        let instances = instances(&session.text(raw)?);
        // Brackets in names are no patterns.
        let edge = |name: String| format!("w:{}", name.replace(['[', ']'], "?"));
        let edges: Vec<String> = instances.iter().flat_map(InFlat::edges).map(edge).collect();
        let edges = edges.join(" ");
        session.script(&format!(
            "read_rtlil {rtl}\n{commands}{AROUND}\nexpose w:*{MARK}* {edges}\nwrite_rtlil {both}\n"
        ))?;
        let circuit = Circuit::new(&session, both, UndefinedBits::Zero, |netlist| {
            cut_with_latches(netlist, clock)
        })?;
        let shared = circuit.aig.clone().with_equal_reads(&Interface::OURS);
        let mut all: Vec<Vec<String>> = vec![Vec::new(); points.len()];
        for name in shared.outputs() {
            if let Some(outputs) = point_of(name).and_then(|point| all.get_mut(point)) {
                outputs.push(name.to_owned());
            }
        }
        let outputs: Vec<Result<Vec<String>, String>> = all
            .into_iter()
            .zip(instrumented.without.iter().enumerate())
            .map(|(outputs, (number, without))| match without {
                Some(because) => Err((*because).to_owned()),
                None if outputs.is_empty() && !instrumented.never.contains(&number) => {
                    Err("the netlist has no such wire".to_owned())
                }
                None => Ok(outputs),
            })
            .collect();
        let kinds: Vec<Kind> = points.iter().map(|point| point.kind).collect();
        let goals = Vec::new();
        let alone = instances.iter().map(|_| OnceLock::new()).collect();
        let places = places_of_registers(&session.text(both)?);
        let mut closure = Self {
            session,
            reset,
            circuit,
            shared,
            offers,
            kinds,
            outputs,
            goals,
            instances,
            alone,
            places,
        };
        closure.set_goals(&[]);
        Ok(closure)
    }

    /// Why no proof counts, if Verilator's model did something else in these cases (see
    /// [`find_doubt`](crate::judge::find_doubt)).
    pub fn find_doubt(&self, info: &BlockInfo, cases: &[RecordedInputs]) -> Option<String> {
        self.circuit.find_doubt(info, cases, OFFER)
    }

    /// Whether one of the blocks' channels restricts legal traffic.
    pub fn has_offers(&self) -> bool {
        !self.offers.is_empty()
    }

    /// Why nothing can be decided about a point.
    pub fn without(&self, point: usize) -> Option<&str> {
        self.goals[point].as_ref().err().map(String::as_str)
    }

    /// Compares the netlist with cases in which Verilator counted points, and learns which value
    /// each bit has that never toggles. Returns the points, with the number of the case, that
    /// Verilator counted although the netlist shows that they are not reached.
    pub fn learn(
        &mut self,
        ports: &[verilated::Port],
        size: usize,
        cases: &[RecordedInputs],
        reached: &[Vec<usize>],
    ) -> Vec<(usize, usize)> {
        let seen = self.shared.seen_values(ports, size, cases);
        let place: BTreeMap<&str, usize> = self.shared.outputs().zip(0..).collect();
        let mut wrong = Vec::new();
        for (case, (seen, reached)) in seen.iter().zip(reached).enumerate() {
            for point in reached {
                let Some(Ok(outputs)) = self.outputs.get(*point) else { continue };
                let may = outputs.iter().filter_map(|name| seen.get(*place.get(name.as_str())?));
                let mut may = may.copied();
                let is_possible = match self.kinds[*point] {
                    Kind::Toggle => may.any(|seen| seen.zero && seen.one),
                    _ => may.any(|seen| seen.one),
                };
                if !is_possible {
                    wrong.push((*point, case));
                }
            }
        }
        self.set_goals(&seen);
        wrong
    }

    fn set_goals(&mut self, seen: &[Vec<Seen>]) {
        let place: BTreeMap<&str, usize> = self.shared.outputs().zip(0..).collect();
        // The values of an output in all cases.
        let values = |name: &String| {
            let place = place.get(name.as_str()).copied();
            let of = |of: fn(&Seen) -> bool| {
                seen.iter().any(|case| place.and_then(|place| case.get(place)).is_some_and(of))
            };
            [of(|seen| seen.is_zero), of(|seen| seen.is_one)]
        };
        let goal = |outputs: &Vec<String>, kind: Kind| -> Result<Goal, String> {
            let value = |name: &String| match (kind, values(name)) {
                (Kind::Toggle, [false, true]) => (name.clone(), false),
                _ => (name.clone(), true),
            };
            let changes =
                kind == Kind::Toggle && outputs.iter().any(|name| values(name) == [true; 2]);
            Ok(Goal { outputs: outputs.iter().map(value).collect(), changes })
        };
        let of = |(outputs, kind): (&Result<Vec<String>, String>, &Kind)| match outputs {
            Ok(outputs) => goal(outputs, *kind),
            Err(because) => Err(because.clone()),
        };
        self.goals = self.outputs.iter().zip(&self.kinds).map(of).collect();
    }

    /// Whether a proof may be tried: the bit of a toggle had one value in all cases.
    pub fn is_provable(&self, point: usize) -> bool {
        self.goals[point].as_ref().is_ok_and(|goal| !goal.changes)
    }

    /// Those of the points that the structure of the netlist shows to be unreachable.
    pub fn constants(&self, points: &[usize]) -> Vec<usize> {
        let Ok(goals) = self.goals(points, Purpose::Proof) else { return Vec::new() };
        let goals: Vec<&Goal> = goals.iter().collect();
        let constants = self.shared.constants(&self.interface(Purpose::Proof), &goals);
        points.iter().zip(constants).filter_map(|(point, is)| is.then_some(*point)).collect()
    }

    /// Those of the points that are toggles of registers which never change, by the structure of
    /// the netlist. Unlike other bits, they do not change between two evaluations of a cycle.
    pub fn find_held_registers(&self, points: &[usize]) -> Vec<usize> {
        let interface = self.interface(Purpose::Held);
        let is_held = |point: &&usize| {
            let Ok(outputs) = &self.outputs[**point] else { return false };
            let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
            self.kinds[**point] == Kind::Toggle
                && !names.is_empty()
                && self.shared.find_held_outputs(&interface, &names).iter().all(|is_held| *is_held)
        };
        points.iter().filter(is_held).copied().collect()
    }

    /// Asks whether one of the points is reached. `Never` says that none of them is.
    ///
    /// # Errors
    /// [`Error`] if Yosys fails or ABC is missing, or [`Error::Interrupted`].
    pub fn query_points(
        &self,
        points: &[usize],
        contents: Contents,
        traffic: Traffic,
        purpose: Purpose,
        attempt: Attempt,
    ) -> Result<Answer, Error> {
        match self.named_query(points, contents, traffic, purpose) {
            Ok(named_query) => named_query.run_attempt(&self.session, attempt),
            Err(reason) => Ok(Answer::open(reason.because()?)),
        }
    }

    fn named_query(
        &self,
        points: &[usize],
        contents: Contents,
        traffic: Traffic,
        purpose: Purpose,
    ) -> Result<NamedQuery, Undecidable> {
        let (aig, goals) = (self.graph(contents, purpose)?, self.goals(points, purpose)?);
        let goals: Vec<&Goal> = goals.iter().collect();
        let illegal = (traffic == Traffic::Legal).then_some(OFFER);
        let query = aig.reaches(&self.interface(purpose), &goals, illegal);
        let first = points.first().copied().unwrap_or_default();
        let name = format!("close-{first}-{}-{contents:?}-{traffic:?}-{purpose:?}", points.len());
        Ok(NamedQuery { name, query })
    }

    /// What keeps it open that a point is never reached, as [`open::because`].
    ///
    /// # Errors
    /// As [`Closure::query_points`].
    pub fn because(&self, point: usize, traffic: Traffic) -> Result<Option<String>, Error> {
        match self.named_query(&[point], Contents::Shared, traffic, Purpose::Proof) {
            Ok(named_query) => open::because(&self.session, &named_query, &self.circuit.words),
            Err(reason) => reason.because().map(|_| None),
        }
    }

    /// The points that a trace of the engine reaches.
    pub fn reached_by(
        &self,
        points: &[usize],
        contents: Contents,
        purpose: Purpose,
        trace: &[Vec<String>],
    ) -> Result<Vec<usize>, Error> {
        let aig = match self.graph(contents, purpose) {
            Err(Undecidable::Failed(error)) => return Err(error),
            aig => aig,
        };
        let (Ok(aig), Ok(goals)) = (aig, self.goals(points, purpose)) else {
            return Ok(Vec::new());
        };
        let goals: Vec<&Goal> = goals.iter().collect();
        let interface = self.interface(purpose);
        let by_fill = [false, true].map(|fill| aig.reached_by(&interface, &goals, trace, fill));
        let is_reached = |place: &usize| by_fill.iter().any(|reached| reached[*place]);
        let places = (0..points.len()).filter(is_reached);
        Ok(places.map(|place| points[place]).collect())
    }

    fn interface(&self, purpose: Purpose) -> Interface<'static> {
        let filled = purpose.is_search();
        Interface { reset: self.reset, filled, never: &[OFFER], ..Interface::OURS }
    }

    fn goals(&self, points: &[usize], purpose: Purpose) -> Result<Vec<Goal>, String> {
        let goal = |point: &usize| -> Result<Goal, String> {
            let mut goal = self.goals[*point].clone()?;
            if !purpose.is_search() && purpose != Purpose::Held && goal.changes {
                return Err("the bit has both values, so that only a search can decide".to_owned());
            }
            goal.changes |= matches!(purpose, Purpose::Change | Purpose::Held)
                && self.kinds[*point] == Kind::Toggle;
            Ok(goal)
        };
        let mut goals: Vec<Goal> = points.iter().map(goal).collect::<Result<_, String>>()?;
        if matches!(purpose, Purpose::Assertions | Purpose::AloneAssertions(_)) {
            let outputs = self.assertions(purpose)?;
            if outputs.is_empty() {
                return Err("there are no assertions".to_owned());
            }
            goals.push(Goal { outputs, changes: false });
        }
        Ok(goals)
    }

    /// The outputs that are 1 while an assertion fails.
    fn assertions(&self, purpose: Purpose) -> Result<Vec<(String, bool)>, String> {
        let fails = |name: &str| (name.to_owned(), true);
        if let Purpose::AloneAssertions(place) = purpose {
            let (_, own) = self.free_instance(place)?;
            return Ok(own.iter().map(|name| fails(name)).collect());
        }
        let all = self.shared.outputs().filter(|name| name.starts_with(HELP));
        Ok(all.map(fails).collect())
    }

    /// The exact model of memories, if they are small.
    pub fn exact(&self) -> Contents {
        match self.circuit.memory_bits {
            1..=EXACT => Contents::Exact,
            _ => Contents::Shared,
        }
    }

    /// The places of the instances of modules; one inside of others comes before them.
    pub fn instances(&self) -> impl Iterator<Item = usize> {
        (0..self.instances.len()).rev()
    }

    /// Those of the points that only an instance can reach: their wires are inside of it, or depend
    /// on no register outside.
    pub fn inside(&self, place: usize, points: &[usize]) -> Vec<usize> {
        let Ok((freed, _)) = self.free_instance(place) else { return Vec::new() };
        let path = self.instances[place].prefix();
        let goals = points.iter().filter_map(|point| self.goals[*point].as_ref().ok());
        let outputs = goals.flat_map(|goal| &goal.outputs).map(|(name, _)| name.as_str());
        let own = freed.own_outputs(&outputs.collect());
        let is_own =
            |(name, _): &(String, bool)| name.starts_with(&path) || own.contains(name.as_str());
        self.only(points, is_own)
    }

    /// Those of the points that are in the module around an instance.
    pub fn around(&self, place: usize, points: &[usize]) -> Vec<usize> {
        let path = self.instances[place].prefix();
        let around = path.trim_end_matches('.').rsplit_once('.').map_or("", |(around, _)| around);
        let is_there = |(name, _): &(String, bool)| {
            name.rsplit_once('.').is_some_and(|(module, _)| module == around)
        };
        self.only(points, is_there)
    }

    /// Those of the points whose wires are all such.
    fn only(&self, points: &[usize], is_one: impl Fn(&(String, bool)) -> bool) -> Vec<usize> {
        let is_only = |point: &&usize| {
            let goal = self.goals[**point].as_ref();
            goal.is_ok_and(|goal| !goal.outputs.is_empty() && goal.outputs.iter().all(&is_one))
        };
        points.iter().filter(is_only).copied().collect()
    }

    pub fn instance(&self, place: usize) -> &str {
        &self.instances[place].path
    }

    fn free_instance(&self, place: usize) -> Result<&(Freed, Vec<String>), String> {
        let (Some(instance), Some(graph)) = (self.instances.get(place), self.alone.get(place))
        else {
            return Err("there is no such instance".to_owned());
        };
        Ok(graph.get_or_init(|| {
            let edges: BTreeSet<String> = instance.edges().collect();
            let path = instance.prefix();
            let is_own =
                |name: &str| self.places.get(name).is_some_and(|place| place.starts_with(&path));
            let freed = self.shared.freed(|name| edges.contains(name), &self.circuit.words, is_own);
            let all = self.shared.outputs().filter(|name| name.starts_with(HELP)).collect();
            let mut own: Vec<String> =
                freed.own_outputs(&all).into_iter().map(str::to_owned).collect();
            own.sort_unstable();
            (freed, own)
        }))
    }

    fn graph(&self, contents: Contents, purpose: Purpose) -> Result<&Aig, Undecidable> {
        if let Purpose::Alone(place) | Purpose::AloneAssertions(place) = purpose {
            return Ok(self.free_instance(place)?.0.aig());
        }
        if contents == Contents::Shared || self.exact() == Contents::Shared {
            return Ok(&self.shared);
        }
        let [.., both] = FILES;
        self.circuit.exact(&self.session, both)
    }

    /// Whether a trace of the engine withdraws or changes no offer.
    pub fn is_legal(
        &self,
        contents: Contents,
        purpose: Purpose,
        trace: &[Vec<String>],
    ) -> Result<bool, Error> {
        let aig = match self.graph(contents, purpose) {
            Ok(aig) => aig,
            Err(reason) => return reason.because().map(|_| false),
        };
        let offers = aig.outputs().filter(|name| name.starts_with(OFFER));
        let outputs = offers.map(|name| (name.to_owned(), true)).collect();
        let broken = Goal { outputs, changes: false };
        let interface = self.interface(purpose);
        let by_fill = [false, true].map(|fill| aig.reached_by(&interface, &[&broken], trace, fill));
        Ok(by_fill.iter().flatten().all(|broken| !broken))
    }
}

/// The path of the cell of each register in a flat netlist, by the name of its signal.
fn places_of_registers(netlist: &str) -> BTreeMap<String, String> {
    let mut places = BTreeMap::new();
    for cell in cells_and_connections(netlist).0 {
        // Flattening writes the path before the name of a cell.
        let path = cell.name.replace("$flatten", "").replace('\\', "");
        let signal = cell.port("\\Q").unwrap_or_default();
        for name in signal.split_whitespace().filter(|word| word.starts_with(['\\', '$'])) {
            places.insert(plain(name).to_owned(), path.clone());
        }
    }
    places
}

/// The names of an instance in the flat RTL with its monitor.
trait InFlat {
    /// How the names of its signals begin.
    fn prefix(&self) -> String;
    /// Its input ports.
    fn edges(&self) -> impl Iterator<Item = String>;
}

impl InFlat for Instance {
    fn prefix(&self) -> String {
        format!("dut.{}.", self.path)
    }

    fn edges(&self) -> impl Iterator<Item = String> {
        self.inputs.iter().map(|port| self.prefix() + port)
    }
}

/// Writes the flat RTL with a wire for each point.
fn covered<'t>(
    session: &YosysSession,
    points: &[Point],
    line_of: &instrument::LineOf<'t>,
    reader: Reader,
    reset: Option<(&'static str, bool)>,
) -> Result<Instrumented, Error> {
    let [raw, covered, rtl, ..] = FILES;
    let mut instrumented = instrument(&session.text(raw)?, points, line_of, reader);
    session.write(covered, &instrumented.text)?;
    session.script(&format!("read_rtlil {covered}\n{TO_NETLIST}\nwrite_rtlil {rtl}\n"))?;
    let netlist = enabled(&session.text(rtl)?);
    let changed = synchronous(&netlist, reset);
    if changed.is_none() {
        instrumented
            .without
            .fill(Some("an asynchronous reset loads a signal, or has another level"));
    }
    session.write(rtl, &changed.unwrap_or(netlist))?;
    Ok(instrumented)
}

/// The name of what chooses, in a cycle of the reset, between the values that registers had before
/// and those that the reset gives them.
const SEEN: &str = "\\cosim_reset_seen";

/// Makes asynchronous resets by the reset of the block synchronous, with a choice in each cycle of
/// the reset: registers show the values that they had before, or those that the reset gives them. A
/// simulator evaluates the RTL with the reset before registers follow it, counts what it executes
/// then, and evaluates it again. The choice is what a latch holds, which is free in proofs.
/// `None` if such a reset loads a signal or has the other level.
fn synchronous(netlist: &str, reset: Option<(&str, bool)>) -> Option<String> {
    const KINDS: [(&str, &str); 4] =
        [("$adff", "$sdff"), ("$adffe", "$sdffe"), ("$aldff", "$sdff"), ("$aldffe", "$sdffe")];
    let Some((reset, level)) = reset else { return Some(netlist.to_owned()) };
    let mut text = String::with_capacity(netlist.len());
    let mut lines = netlist.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let kinds = match Line::parse_line(line) {
            Line::Cell { kind, name } => {
                KINDS.into_iter().find(|(of, _)| *of == kind).map(|kinds| (kinds, name))
            }
            _ => None,
        };
        let Some(((kind, synchronous), name)) = kinds else {
            text = text + line + "\n";
            continue;
        };
        let cell = Cell { module: "", kind, name, inside: rest_of_cell(&mut lines) };
        let own = cell.port("\\ARST").or(cell.port("\\ALOAD"));
        if own.is_none_or(|signal| plain(signal) != reset) {
            text = text + line + "\n" + &cell.inside.join("\n") + "\n  end\n";
            continue;
        }
        // The front end writes a reset as the load of a constant.
        let value = cell.parameter("\\ARST_VALUE").or(cell.port("\\AD"))?;
        let polarity = cell.parameter("\\ARST_POLARITY").or(cell.parameter("\\ALOAD_POLARITY"));
        let is_constant = value.starts_with(|sign: char| sign.is_ascii_digit());
        if !is_constant || polarity?.ends_with('1') != level {
            return None;
        }
        let (width, signal) = (cell.parameter("\\WIDTH")?, cell.port("\\Q")?);
        if count == 0 {
            let (latch, held) = (format!("{SEEN}_latch"), format!("{SEEN}_held"));
            text += &format!("  wire {SEEN}\n  wire {held}\n");
            text += &cell_text("$ff", &latch, "1", &[("D", "1'0"), ("Q", &held)]);
            let [low, high] = if level { ["1'0", held.as_str()] } else { [held.as_str(), "1'0"] };
            text += &choice_text(&format!("{SEEN}_mux"), "1", [low, high, own.unwrap_or(""), SEEN]);
        }
        count += 1;
        // Messages name registers.
        let held = match signal.strip_prefix('\\').filter(|name| !name.contains(' ')) {
            Some(name) => format!("\\{name}.held"),
            None => format!("{SEEN}_held_{count}"),
        };
        text += &format!("  wire width {width} {held}\n{}\n", line.replacen(kind, synchronous, 1));
        text += &format!("    parameter \\SRST_VALUE {value}\n    connect \\SRST \\{reset}\n");
        text += &format!("    parameter \\SRST_POLARITY 1'{}\n", u8::from(level));
        for line in &cell.inside {
            match Line::parse_line(line) {
                Line::Connect { left: "\\AD" | "\\ARST" | "\\ALOAD", .. }
                | Line::Parameter {
                    name: "\\ARST_VALUE" | "\\ARST_POLARITY" | "\\ALOAD_POLARITY",
                    ..
                } => {}
                Line::Connect { left: "\\Q", .. } => {
                    text += &format!("    connect \\Q {held}\n");
                }
                _ => text = text + line + "\n",
            }
        }
        let choice = choice_text(&format!("{SEEN}_{count}"), width, [&held, value, SEEN, signal]);
        text = text + "  end\n" + &choice;
    }
    Some(text)
}

fn cell_text(kind: &str, name: &str, width: &str, ports: &[(&str, &str)]) -> String {
    let connect = |(port, signal): &(&str, &str)| format!("    connect \\{port} {signal}\n");
    let ports: String = ports.iter().map(connect).collect();
    format!("  cell {kind} {name}\n    parameter \\WIDTH {width}\n{ports}  end\n")
}

/// The text of a cell that chooses the second signal where the third is 1, and else the first.
fn choice_text(name: &str, width: &str, [low, high, choice, chosen]: [&str; 4]) -> String {
    let ports = [("A", low), ("B", high), ("S", choice), ("Y", chosen)];
    cell_text("$mux", name, width, &ports)
}

#[cfg(test)]
mod tests;

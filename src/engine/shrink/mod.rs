//! The smallest stimulus that still fails with the same signature.
//!
//! Works on the stimulus's JSON, so it needs no code from a block: first elements of the outer lists
//! go (packets, cycles), then those of inner lists (beats, stalls), then waits, then optional parts,
//! then every other number becomes 0 or at least smaller. Candidates that the block's types or checks
//! refuse are not run.
//!
//! All this is done in large pieces first. What then is left may still be far from the smallest, so the
//! block's own scenarios are asked for stimuli of one packet, two, three and more, until one fails with the
//! same signature. The small steps come last.
//!
//! Everything is deterministic: the budget is counted in cycles.

mod json;

use crate::error::Error;
use crate::harness::{
    self, Block, CaseRng, Echo, Outcome, Parameters, Signature, Stimulus, Verdict, Watch, case_seed,
};
use json::{
    Depth, find_lists, find_objects, find_values, is_wait, joined, number, size, with_number,
};
use rand::SeedableRng;
use serde_json::Value;
use verilated::{BeforeReset, ModelKind};

/// What a candidate's number adds to its costs, in cycles.
const COST_OF_A_NUMBER: u64 = 1;
/// The longest list of which all pairs are tried.
const SHORT: usize = 16;
/// Into how many pieces lists are divided before the other ways to make a stimulus smaller were tried.
const FINEST_AT_FIRST: usize = 16;
/// The largest number that is lowered to the last step.
const COUNTABLE: u64 = 1 << 13;
/// Packets of the small stimuli that are looked for.
const FEW: [u64; 7] = [1, 2, 3, 4, 8, 16, 32];
/// Packets that are drawn of each size up to three; larger stimuli are fewer and take as long.
const DRAWS: u64 = 48_000;

/// Told of progress: candidates run, and the size of the smallest so far.
pub trait ShrinkProgress {
    /// A candidate was judged.
    fn candidate(&mut self, tried: u64, kept: u64);
}

impl ShrinkProgress for () {
    fn candidate(&mut self, _: u64, _: u64) {}
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Shrunk<B: Block> {
    /// The smallest stimulus found.
    pub stimulus: Stimulus<B>,
    /// What it does.
    pub outcome: Outcome,
    /// Candidates tried.
    pub tried: u64,
    /// Whether the budget ended the search.
    pub out_of_budget: bool,
}

/// Shrinks `stimulus`, which fails as `outcome` says. At most about `budget` cycles are run.
pub fn shrink<B: Block>(
    stimulus: &Stimulus<B>,
    outcome: &Outcome,
    parameters: &Parameters,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    budget: u64,
    watch: &Watch,
    progress: &mut dyn ShrinkProgress,
) -> Result<Shrunk<B>, Error> {
    let signature = Signature::of(&outcome.verdict)
        .ok_or_else(|| Error::Usage("there is no failure to shrink".to_owned()))?;
    let mut search = Search::<B> {
        json: to_json(stimulus)?,
        best: stimulus.clone(),
        outcome: outcome.clone(),
        signature,
        parameters: *parameters,
        keeps_legal: is_legal(stimulus, parameters),
        kind,
        left: budget,
        tried: 0,
        kept: 0,
        finest: usize::MAX,
        watch,
        progress,
    };
    search.cut_tails();
    search.reduce(FINEST_AT_FIRST);
    if search.draw() {
        search.reduce(FINEST_AT_FIRST);
    }
    search.reduce(usize::MAX);
    Ok(Shrunk {
        stimulus: search.best,
        outcome: search.outcome,
        tried: search.tried,
        out_of_budget: search.left == 0,
    })
}

struct Search<'a, B: Block> {
    json: Value,
    best: Stimulus<B>,
    outcome: Outcome,
    signature: Signature,
    parameters: Parameters,
    /// Nothing is wrong with the stimulus itself, and that is to stay so.
    keeps_legal: bool,
    kind: &'a ModelKind<B::Inputs, B::Outputs>,
    /// Cycles that may still be run.
    left: u64,
    tried: u64,
    kept: u64,
    /// Into how many pieces a list or a set of numbers is divided at most.
    finest: usize,
    watch: &'a Watch,
    progress: &'a mut dyn ShrinkProgress,
}

impl<B: Block> Search<'_, B> {
    /// Drops what comes after the failure: at most as many elements of a list were used as there were
    /// packets, or cycles.
    fn cut_tails(&mut self) {
        let used = match self.best {
            Stimulus::Traffic(_) => self.outcome.packets,
            Stimulus::Cycles(_) => self.outcome.cycles,
        };
        let mut pointers = Vec::new();
        find_lists(&self.json, String::new(), 0, Depth::Outer, &mut pointers);
        for pointer in pointers {
            let Some(mut candidate) = self.candidate() else { return };
            if let Some(list) = candidate.pointer_mut(&pointer).and_then(Value::as_array_mut) {
                list.truncate(used as usize + 1);
            }
            self.attempt(candidate);
        }
    }

    /// Makes the stimulus smaller until nothing helps any more, with lists divided into `finest` pieces at
    /// most; what takes many small steps is left out unless all sizes are allowed.
    fn reduce(&mut self, finest: usize) {
        self.finest = finest;
        let small_steps = finest == usize::MAX;
        loop {
            let before = self.kept;
            self.outer_lists();
            if small_steps {
                self.pairs();
                self.merge();
            }
            self.lists(Depth::Inner);
            self.values(is_wait);
            self.options();
            self.values(|_| true);
            if small_steps {
                self.lower();
            }
            if self.kept == before || self.left == 0 {
                return;
            }
        }
    }

    /// Removes elements of the outer lists until none can go: each makes all that follows cheaper.
    fn outer_lists(&mut self) {
        loop {
            let before = self.kept;
            self.lists(Depth::Outer);
            if self.kept == before || self.left == 0 {
                return;
            }
        }
    }

    /// Draws stimuli of fewer packets, the fewest first; true if one fails in the same way. Takes half of
    /// the budget at most.
    fn draw(&mut self) -> bool {
        let scenarios = B::scenarios();
        let reserve = self.left / 2;
        for packets in FEW {
            if packets >= self.outcome.packets {
                return false;
            }
            for index in 0..DRAWS / packets.max(3) {
                if self.left <= reserve {
                    return false;
                }
                let scenario = &scenarios[index as usize % scenarios.len()];
                let name = format!("shrink/{}/{packets}/{index}", scenario.name);
                let mut rng = CaseRng::seed_from_u64(case_seed(0, &name));
                let stimulus =
                    B::generate(&scenario.weights, &self.parameters, packets as u32, &mut rng);
                let is_traffic = matches!(stimulus, Stimulus::Traffic(_));
                if is_traffic && self.judge(stimulus, None) {
                    return true;
                }
            }
        }
        false
    }

    /// A copy of the smallest stimulus, to be made smaller; `None` once the budget is used up.
    fn candidate(&self) -> Option<Value> {
        (self.left > 0).then(|| self.json.clone())
    }

    /// Runs a candidate; keeps it if it fails in the same way.
    fn attempt(&mut self, json: Value) -> bool {
        if self.left == 0 || json == self.json {
            return false;
        }
        let Ok(stimulus) = serde_json::from_value::<Stimulus<B>>(json.clone()) else {
            return false;
        };
        // Reading a large candidate takes longer than running it.
        self.left = self.left.saturating_sub(COST_OF_A_NUMBER * size(&json));
        self.judge(stimulus, Some(json))
    }

    /// Runs a stimulus, given as JSON, too, if that is at hand; keeps it if it fails in the same way.
    fn judge(&mut self, stimulus: Stimulus<B>, json: Option<Value>) -> bool {
        let legal = match &stimulus {
            Stimulus::Traffic(traffic) => B::check(traffic).is_ok(),
            Stimulus::Cycles(cycles) => !cycles.is_empty(),
        };
        if !legal || self.left == 0 {
            return false;
        }
        let Ok(mut model) = self.kind.create(BeforeReset::Ones) else { return false };
        let outcome = harness::run(&stimulus, &self.parameters, &mut model, self.watch);
        self.tried += 1;
        if self.watch.is_cancelled() {
            self.left = 0;
            return false;
        }
        // A candidate costs something even if it fails at once.
        self.left = self.left.saturating_sub(outcome.cycles + 100);
        let same = Signature::of(&outcome.verdict).as_ref() == Some(&self.signature)
            && (!self.keeps_legal || is_legal(&stimulus, &self.parameters));
        // What was drawn anew does not come from the present one by taking away: it must be smaller.
        let same = same && (json.is_some() || outcome.packets < self.outcome.packets);
        let kept = same.then(|| json.map_or_else(|| to_json(&stimulus), Ok));
        let kept = if let Some(Ok(json)) = kept {
            self.kept += 1;
            (self.json, self.best, self.outcome) = (json, stimulus, outcome);
            true
        } else {
            false
        };
        self.progress.candidate(self.tried, self.kept);
        kept
    }

    /// Removes elements of lists: long runs first, then shorter ones, down to single elements.
    fn lists(&mut self, depth: Depth) {
        let mut pointers = Vec::new();
        find_lists(&self.json, String::new(), 0, depth, &mut pointers);
        for pointer in pointers.iter().rev() {
            let length =
                |json: &Value| json.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
            let mut run = length(&self.json);
            let finest = run / self.finest;
            while run > finest {
                let mut end = length(&self.json);
                while end > 0 {
                    let start = end.saturating_sub(run);
                    let Some(mut candidate) = self.candidate() else { return };
                    if let Some(list) = candidate.pointer_mut(pointer).and_then(Value::as_array_mut)
                    {
                        list.drain(start..end.min(list.len()));
                    }
                    self.attempt(candidate);
                    end = start;
                }
                run /= 2;
            }
        }
    }

    /// Removes two elements of a short list that are not neighbours, as the two ends of a detour.
    fn pairs(&mut self) {
        let mut pointers = Vec::new();
        find_lists(&self.json, String::new(), 0, Depth::Outer, &mut pointers);
        for pointer in pointers {
            let length =
                |json: &Value| json.pointer(&pointer).and_then(Value::as_array).map_or(0, Vec::len);
            let mut first = 0;
            while length(&self.json) <= SHORT && first < length(&self.json) {
                let mut second = first + 1;
                while second < length(&self.json) {
                    let Some(mut candidate) = self.candidate() else { return };
                    if let Some(list) =
                        candidate.pointer_mut(&pointer).and_then(Value::as_array_mut)
                    {
                        list.remove(second);
                        list.remove(first);
                    }
                    if !self.attempt(candidate) {
                        second += 1;
                    }
                }
                first += 1;
            }
        }
    }

    /// Removes an element of a short list and adds one of its numbers to the same one of a neighbour: one
    /// long packet may do what two did.
    fn merge(&mut self) {
        let mut pointers = Vec::new();
        find_lists(&self.json, String::new(), 0, Depth::Outer, &mut pointers);
        for pointer in pointers {
            let mut index = 1;
            loop {
                let list = self.json.pointer(&pointer).and_then(Value::as_array);
                let Some(list) = list.filter(|list| index < list.len() && list.len() <= SHORT)
                else {
                    break;
                };
                let mut kept = false;
                for merged in joined(&list[index - 1], &list[index]) {
                    let Some(mut candidate) = self.candidate() else { return };
                    if let Some(list) =
                        candidate.pointer_mut(&pointer).and_then(Value::as_array_mut)
                    {
                        list.remove(index);
                        list[index - 1] = merged;
                    }
                    kept = self.attempt(candidate);
                    if kept {
                        break;
                    }
                }
                index += usize::from(!kept);
            }
        }
    }

    /// Sets numbers to 0: many at once first, then fewer, down to single ones.
    fn values(&mut self, wanted: fn(&str) -> bool) {
        let mut pointers = Vec::new();
        find_values(&self.json, String::new(), "", wanted, &mut pointers);
        self.clear(&pointers, |value| match value {
            Value::Number(_) => *value = Value::from(0),
            Value::String(_) => *value = Value::from("0x0"),
            _ => {}
        });
    }

    /// Lowers numbers as far as that goes: a smaller ring wraps sooner and needs fewer packets. Large ones
    /// are halved only, small ones are brought down to the last step.
    fn lower(&mut self) {
        let mut pointers = Vec::new();
        find_values(&self.json, String::new(), "", |_| true, &mut pointers);
        for pointer in pointers {
            let Some(mut value) = self.json.pointer(&pointer).and_then(number) else { continue };
            let mut step = value.div_ceil(2);
            while step > 0 && self.left > 0 {
                let Some(mut candidate) = self.candidate() else { return };
                if let Some(place) = candidate.pointer_mut(&pointer) {
                    *place = with_number(place, value - step);
                }
                if self.attempt(candidate) {
                    value -= step;
                    step = step.min(value);
                } else if value > COUNTABLE {
                    break;
                } else {
                    step /= 2;
                }
            }
        }
    }

    /// Sets optional objects to null; those that are not optional are refused by the types.
    fn options(&mut self) {
        let mut pointers = Vec::new();
        find_objects(&self.json, String::new(), &mut pointers);
        for pointer in pointers {
            self.clear(&[pointer], |value| *value = Value::Null);
        }
    }

    fn clear(&mut self, pointers: &[String], clear: fn(&mut Value)) {
        let mut run = pointers.len();
        let finest = run / self.finest;
        while run > finest {
            for group in pointers.chunks(run) {
                let Some(mut candidate) = self.candidate() else { return };
                for pointer in group {
                    if let Some(value) = candidate.pointer_mut(pointer) {
                        clear(value);
                    }
                }
                self.attempt(candidate);
            }
            run /= 2;
        }
    }
}

fn to_json<B: Block>(stimulus: &Stimulus<B>) -> Result<Value, Error> {
    serde_json::to_value(stimulus).map_err(|error| Error::Environment(error.to_string()))
}

/// Whether the golden model alone comes to a good end: a smaller stimulus must not hang by itself.
fn is_legal<B: Block>(stimulus: &Stimulus<B>, parameters: &Parameters) -> bool {
    let mut echo = Echo::<B>::new(parameters);
    let outcome = harness::run::<B>(stimulus, parameters, &mut echo, &Watch::default());
    outcome.verdict == Verdict::Match
}

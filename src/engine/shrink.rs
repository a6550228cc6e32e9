//! The smallest stimulus that still fails with the same signature.
//!
//! Works on the stimulus's JSON, so it needs no code from a block: first elements of the outer lists
//! go (packets, cycles), then those of inner lists (beats, stalls), then waits, then optional parts,
//! then every other number becomes 0 or at least smaller. Candidates that the block's types or checks refuse are not run.
//! Everything is deterministic: the budget is counted in cycles.

use crate::error::Error;
use crate::harness::{self, Block, Echo, Outcome, Signature, Stimulus, Verdict, Watch};
use serde_json::Value;
use verilated::{BeforeReset, ModelKind};

/// Names of numbers that are waits, in cycles; they go before other numbers.
const WAITS: [&str; 5] = ["gap", "stall", "delay", "after", "cycles"];

/// The longest list of which all pairs are tried.
const SHORT: usize = 16;

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
    mask: u8,
    kind: &ModelKind<B::Inputs, B::Outputs>,
    budget: u64,
    progress: &mut dyn ShrinkProgress,
) -> Result<Shrunk<B>, Error> {
    let to_json = |stimulus: &Stimulus<B>| {
        serde_json::to_value(stimulus).map_err(|error| Error::Environment(error.to_string()))
    };
    let signature = Signature::of(&outcome.verdict)
        .ok_or_else(|| Error::Usage("there is no failure to shrink".to_owned()))?;
    let mut search = Search::<B> {
        json: to_json(stimulus)?,
        best: stimulus.clone(),
        outcome: outcome.clone(),
        signature,
        mask,
        keeps_legal: is_legal(stimulus, mask),
        kind,
        left: budget,
        tried: 0,
        kept: 0,
        progress,
    };
    loop {
        let before = search.kept;
        search.lists(Depth::Outer);
        search.pairs();
        search.lists(Depth::Inner);
        search.values(is_wait);
        search.options();
        search.values(|_| true);
        search.halve();
        if search.kept == before || search.left == 0 {
            break;
        }
    }
    Ok(Shrunk {
        stimulus: search.best,
        outcome: search.outcome,
        tried: search.tried,
        out_of_budget: search.left == 0,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Lists not inside another list.
    Outer,
    /// Lists inside lists.
    Inner,
}

struct Search<'a, B: Block> {
    json: Value,
    best: Stimulus<B>,
    outcome: Outcome,
    signature: Signature,
    mask: u8,
    /// Nothing is wrong with the stimulus itself, and that is to stay so.
    keeps_legal: bool,
    kind: &'a ModelKind<B::Inputs, B::Outputs>,
    /// Cycles that may still be run.
    left: u64,
    tried: u64,
    kept: u64,
    progress: &'a mut dyn ShrinkProgress,
}

impl<B: Block> Search<'_, B> {
    /// Runs a candidate; keeps it if it fails in the same way.
    fn attempt(&mut self, json: Value) -> bool {
        if self.left == 0 || json == self.json {
            return false;
        }
        let Ok(stimulus) = serde_json::from_value::<Stimulus<B>>(json.clone()) else {
            return false;
        };
        let legal = match &stimulus {
            Stimulus::Traffic(traffic) => B::check(traffic).is_ok(),
            Stimulus::Cycles(cycles) => !cycles.is_empty(),
        };
        if !legal {
            return false;
        }
        let Ok(mut model) = self.kind.create(BeforeReset::Ones) else { return false };
        let outcome = harness::run(&stimulus, self.mask, &mut model, &Watch::default());
        self.tried += 1;
        // A candidate costs something even if it fails at once.
        self.left = self.left.saturating_sub(outcome.cycles + 100);
        let same = Signature::of(&outcome.verdict).as_ref() == Some(&self.signature)
            && (!self.keeps_legal || is_legal(&stimulus, self.mask));
        if same {
            self.kept += 1;
            (self.json, self.best, self.outcome) = (json, stimulus, outcome);
        }
        self.progress.candidate(self.tried, self.kept);
        same
    }

    /// Removes elements of lists: long runs first, then shorter ones, down to single elements.
    fn lists(&mut self, depth: Depth) {
        let mut pointers = Vec::new();
        find_lists(&self.json, String::new(), 0, depth, &mut pointers);
        for pointer in pointers.iter().rev() {
            let length =
                |json: &Value| json.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
            let mut run = length(&self.json);
            while run > 0 {
                let mut end = length(&self.json);
                while end > 0 {
                    let start = end.saturating_sub(run);
                    let mut candidate = self.json.clone();
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
                    let mut candidate = self.json.clone();
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

    /// Halves numbers as long as that goes: a smaller ring wraps sooner and needs fewer packets.
    fn halve(&mut self) {
        let mut pointers = Vec::new();
        find_values(&self.json, String::new(), "", |_| true, &mut pointers);
        for pointer in pointers {
            loop {
                let mut candidate = self.json.clone();
                match candidate.pointer_mut(&pointer).and_then(|value| Some((half(value)?, value)))
                {
                    Some((half, value)) => *value = half,
                    None => break,
                }
                if !self.attempt(candidate) {
                    break;
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
        while run > 0 {
            for group in pointers.chunks(run) {
                let mut candidate = self.json.clone();
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

/// Half of a number above 1, in the form it was written in.
fn half(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) => number.as_u64().filter(|n| *n > 1).map(|n| Value::from(n / 2)),
        Value::String(text) => {
            let number = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
            (number > 1).then(|| Value::from(format!("{:#x}", number / 2)))
        }
        _ => None,
    }
}

/// Whether the golden model alone comes to a good end: a smaller stimulus must not hang by itself.
fn is_legal<B: Block>(stimulus: &Stimulus<B>, mask: u8) -> bool {
    let outcome = harness::run::<B>(stimulus, mask, &mut Echo::<B>::new(mask), &Watch::default());
    outcome.verdict == Verdict::Match
}

fn is_wait(name: &str) -> bool {
    WAITS.iter().any(|wait| name.contains(wait))
}

fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        _ => Vec::new(),
    }
}

fn find_lists(value: &Value, at: String, inside: u32, depth: Depth, found: &mut Vec<String>) {
    let is_list = value.is_array();
    if is_list && (inside > 0) == (depth == Depth::Inner) {
        found.push(at.clone());
    }
    for (name, child) in children(value) {
        find_lists(child, format!("{at}/{name}"), inside + u32::from(is_list), depth, found);
    }
}

/// Numbers and hex strings; `name` is that of the nearest object's field.
fn find_values(
    value: &Value,
    at: String,
    name: &str,
    wanted: fn(&str) -> bool,
    found: &mut Vec<String>,
) {
    let is_zero = matches!(value.as_u64(), Some(0)) || value.as_str() == Some("0x0");
    if (value.is_number() || value.is_string()) && !is_zero && wanted(name) {
        found.push(at.clone());
    }
    for (key, child) in children(value) {
        let name = if value.is_object() { &key } else { name };
        find_values(child, format!("{at}/{key}"), name, wanted, found);
    }
}

fn find_objects(value: &Value, at: String, found: &mut Vec<String>) {
    for (name, child) in children(value) {
        let place = format!("{at}/{name}");
        if value.is_object() && !child.is_array() {
            found.push(place.clone());
        }
        find_objects(child, place, found);
    }
}

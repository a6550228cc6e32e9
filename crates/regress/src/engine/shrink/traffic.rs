//! Shrinks transactions as JSON.
//!
//! It removes elements of outer lists (packets), then of inner lists (beats, stalls), then
//! delays, then optional parts, and reduces every other number. It does not run candidates that
//! the block's types or checks reject.
//!
//! It works in large pieces first. Then it tries new stimuli of the block's scenarios with one
//! packet, two, three and more until one fails in the same way. The small steps come last.

use super::ShrinkSearch;
use super::json::{
    Depth, find_lists, find_objects, find_values, is_wait, joined, number, size, with_number,
};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{Block, CaseRng, Drive, Stimulus, Traffic as _, case_seed};
use rand::SeedableRng;
use serde::Deserialize;
use serde_json::Value;
use std::ops::{Deref, DerefMut};

/// What a candidate's number adds to its costs, in cycles: it is copied, read and dropped.
const COST_OF_A_NUMBER: u64 = 2;
/// The longest list of which all pairs are tried.
const SHORT: usize = 16;
/// Into how many pieces lists are divided before the other ways to make a stimulus smaller were tried.
const FINEST_AT_FIRST: usize = 16;
/// The most numbers of which pairs are lowered.
const PAIRED: usize = 64;
/// The largest number that is lowered to the last step.
const COUNTABLE: u64 = 1 << 13;
/// Packets of the small stimuli that are looked for.
const FEW: [u64; 7] = [1, 2, 3, 4, 8, 16, 32];
/// Packets that are drawn of each size; larger stimuli are fewer and take as long.
const DRAWS: u64 = 48_000;
/// Packets of each size that are drawn before it is the next one's turn.
const ROUND: u64 = 96;
/// With more numbers than that it is cheaper to draw small stimuli than to try all pieces.
const LARGE: u64 = 1 << 15;

/// Makes the search's best stimulus smaller.
pub fn shrink<B: Block>(search: &mut ShrinkSearch<'_, B>) -> Result<(), Error> {
    if search.is_over() {
        return Ok(());
    }
    let json = to_json(&search.best)?;
    let mut work = TrafficShrinker { json, search, finest: usize::MAX };
    let numbers = size(&work.json);
    work.pay(COST_OF_A_NUMBER * numbers);
    work.allow(4);
    work.window();
    work.cut_tails();
    if size(&work.json) <= LARGE {
        work.allow(4);
        work.reduce(FINEST_AT_FIRST);
    }
    work.allow(2);
    if work.draw() {
        work.allow(4);
        work.reduce(FINEST_AT_FIRST);
    }
    work.reserve = 0;
    work.reduce(usize::MAX);
    Ok(())
}

struct TrafficShrinker<'a, 'b, B: Block> {
    /// The best stimulus as JSON.
    json: Value,
    search: &'a mut ShrinkSearch<'b, B>,
    /// Into how many pieces a list or a set of numbers is divided at most.
    finest: usize,
}

impl<'b, B: Block> Deref for TrafficShrinker<'_, 'b, B> {
    type Target = ShrinkSearch<'b, B>;

    fn deref(&self) -> &Self::Target {
        self.search
    }
}

impl<B: Block> DerefMut for TrafficShrinker<'_, '_, B> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.search
    }
}

impl<B: Block> TrafficShrinker<'_, '_, B> {
    /// Looks for the few elements before the failure that fail by themselves: one, two, three and more. The
    /// costs grow with the window, so they are those of the last one tried, not of the whole.
    fn window(&mut self) {
        let length = |json: &Value, pointer: &String| {
            json.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len)
        };
        let long: Vec<String> = self
            .lists_of(Depth::Outer)
            .into_iter()
            .filter(|pointer| length(&self.json, pointer) > SHORT)
            .collect();
        let Some(main) = long.iter().max_by_key(|pointer| length(&self.json, pointer)).cloned()
        else {
            return;
        };
        // The element that was taken last, and the one that waits behind it.
        let end = length(&self.json, &main).min(self.outcome.packets as usize + 1);
        let others: Vec<String> = long.into_iter().filter(|pointer| *pointer != main).collect();
        let mut whole = self.json.take();
        // The rest of the stimulus, with the long lists apart.
        let mut take = |pointer: &String| match whole.pointer_mut(pointer).map(Value::take) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let elements = take(&main);
        let other_lists: Vec<Vec<Value>> = others.iter().map(&mut take).collect();
        let mut found = false;
        let mut width = 1;
        'search: while width < end && !self.is_over() {
            for with_others in [false, true] {
                if with_others && others.is_empty() {
                    continue;
                }
                let mut candidate = whole.clone();
                put(&mut candidate, &main, elements[end - width..end].to_vec());
                for (pointer, list) in others.iter().zip(&other_lists) {
                    put(
                        &mut candidate,
                        pointer,
                        if with_others { list.clone() } else { Vec::new() },
                    );
                }
                if self.attempt(candidate) {
                    found = true;
                    break 'search;
                }
            }
            width += 1 + width / 3;
        }
        if !found {
            put(&mut whole, &main, elements);
            for (pointer, list) in others.iter().zip(other_lists) {
                put(&mut whole, pointer, list);
            }
            self.json = whole;
        }
    }

    /// Drops what comes after the failure: at most as many elements of a list were used as there were
    /// packets; where that is no bound, the shortest beginning that fails is looked for.
    fn cut_tails(&mut self) {
        for pointer in self.lists_of(Depth::Outer) {
            let used = self.outcome.packets as usize + 1;
            let length = self.length(&pointer);
            if length > used && self.keep(&pointer, |list| list[..used].to_vec()) {
                continue;
            }
            let (mut fails, mut passes) = (self.length(&pointer), 0);
            while fails - passes > 1 + fails / FINEST_AT_FIRST && !self.is_over() {
                let middle = passes + (fails - passes) / 2;
                if self.keep(&pointer, |list| list[..middle].to_vec()) {
                    fails = middle;
                } else {
                    passes = middle;
                }
            }
        }
    }

    fn lists_of(&self, depth: Depth) -> Vec<String> {
        let mut pointers = Vec::new();
        find_lists(&self.json, String::new(), 0, depth, &mut pointers);
        pointers
    }

    fn length(&self, pointer: &str) -> usize {
        self.json.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Tries a stimulus in which a list has only the elements that `choose` gives; the others are not copied.
    fn keep(&mut self, pointer: &str, choose: impl Fn(&[Value]) -> Vec<Value>) -> bool {
        let Some(Value::Array(list)) = self.json.pointer_mut(pointer).map(Value::take) else {
            return false;
        };
        let mut candidate = self.json.clone();
        put(&mut candidate, pointer, choose(&list));
        put(&mut self.json, pointer, list);
        self.attempt(candidate)
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
            self.values(is_wait_of::<B>);
            self.options();
            self.values(|_| true);
            if small_steps {
                self.lower();
                self.lower_together();
            }
            if self.kept == before || self.is_over() {
                return;
            }
        }
    }

    /// Removes elements of the outer lists until none can go: each makes all that follows cheaper.
    fn outer_lists(&mut self) {
        loop {
            let before = self.kept;
            self.lists(Depth::Outer);
            if self.kept == before || self.is_over() {
                return;
            }
        }
    }

    /// Draws stimuli of fewer packets, of each size in turn: how many a failure needs is not known, and must not
    /// decide whether that size is come to at all. True if one fails in the same way.
    fn draw(&mut self) -> bool {
        let scenarios = B::scenarios();
        let begin = self.left;
        let mut found_at = None;
        for index in 0..DRAWS / ROUND {
            for packets in FEW {
                // Larger ones are fewer, as they take as long.
                for draw in 0..(ROUND / packets.max(3)) {
                    // After the first it is worth to look for a smaller one, but not for ever.
                    let spent = begin - self.left;
                    if self.is_over() || found_at.is_some_and(|first| spent > 2 * first) {
                        return found_at.is_some();
                    }
                    if packets >= self.outcome.packets {
                        break;
                    }
                    let number = index * (ROUND / packets.max(3)) + draw;
                    let scenario = &scenarios[number as usize % scenarios.len()];
                    let name = format!("shrink/{}/{packets}/{number}", scenario.name);
                    let mut rng = CaseRng::seed_from_u64(case_seed(0, &name));
                    let drawn =
                        B::stimulus(&scenario.weights, &self.parameters, packets as u32, &mut rng);
                    let most = self.outcome.packets;
                    // What is drawn anew does not come from the present one by taking away: it must be
                    // smaller.
                    if matches!(drawn.drive, Drive::Traffic(_))
                        && self.judge_drive(drawn.drive, |outcome| outcome.packets < most)
                        && let Ok(json) = to_json(&self.best)
                    {
                        self.json = json;
                        found_at = found_at.or(Some(begin - self.left));
                    }
                }
            }
        }
        found_at.is_some()
    }

    /// A copy of the smallest stimulus, to be made smaller; `None` once the budget is used up.
    fn candidate(&self) -> Option<Value> {
        (!self.is_over()).then(|| self.json.clone())
    }

    /// Runs a candidate; keeps it if it fails in the same way.
    fn attempt(&mut self, json: Value) -> bool {
        // Copying and reading a large candidate takes longer than running it, also if it is refused.
        let numbers = size(&json);
        self.pay(super::COST_OF_A_TRY + COST_OF_A_NUMBER * numbers);
        if self.is_over() || json == self.json {
            return false;
        }
        let Ok(traffic) = B::Traffic::deserialize(&json) else { return false };
        let kept = self.judge_drive(Drive::Traffic(traffic), |_| true);
        if kept {
            self.json = json;
        }
        kept
    }

    /// Removes elements of lists: long runs first, then shorter ones, down to single elements.
    fn lists(&mut self, depth: Depth) {
        for pointer in self.lists_of(depth).iter().rev() {
            let mut run = self.length(pointer);
            let finest = run / self.finest;
            while run > finest {
                let mut end = self.length(pointer);
                while end > 0 {
                    let start = end.saturating_sub(run);
                    if self.is_over() {
                        return;
                    }
                    self.keep(pointer, |list| {
                        let end = end.min(list.len());
                        [&list[..start.min(end)], &list[end..]].concat()
                    });
                    end = start;
                }
                run /= 2;
            }
        }
    }

    /// Removes two elements of a short list that are not neighbours, as the two ends of a detour.
    fn pairs(&mut self) {
        for pointer in self.lists_of(Depth::Outer) {
            let mut first = 0;
            while self.length(&pointer) <= SHORT && first < self.length(&pointer) {
                let mut second = first + 1;
                while second < self.length(&pointer) {
                    if self.is_over() {
                        return;
                    }
                    let removed = self.keep(&pointer, |list| {
                        let mut list = list.to_vec();
                        list.remove(second);
                        list.remove(first);
                        list
                    });
                    second += usize::from(!removed);
                }
                first += 1;
            }
        }
    }

    /// Removes an element of a short list and adds one of its numbers to the same one of a neighbour: one
    /// long packet may do what two did.
    fn merge(&mut self) {
        for pointer in self.lists_of(Depth::Outer) {
            let mut index = 1;
            loop {
                let list = self.json.pointer(&pointer).and_then(Value::as_array);
                let Some(list) = list.filter(|list| index < list.len() && list.len() <= SHORT)
                else {
                    break;
                };
                let mut kept = false;
                for merged in joined(&list[index - 1], &list[index], B::Traffic::WAITS) {
                    if self.is_over() {
                        return;
                    }
                    kept = self.keep(&pointer, |list| {
                        let mut list = list.to_vec();
                        list.remove(index);
                        list[index - 1] = merged.clone();
                        list
                    });
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
        let pointers = self.values_of(wanted);
        self.clear(&pointers, |value| match value {
            Value::Number(_) => *value = Value::from(0),
            Value::String(_) => *value = Value::from("0x0"),
            _ => {}
        });
    }

    fn values_of(&mut self, wanted: fn(&str) -> bool) -> Vec<String> {
        let mut pointers = Vec::new();
        if !self.is_over() {
            let numbers = size(&self.json);
            self.pay(COST_OF_A_NUMBER * numbers);
            find_values(&self.json, String::new(), "", &wanted, &mut pointers);
        }
        pointers
    }

    /// Lowers numbers as far as that goes: a smaller ring wraps sooner and needs fewer packets. Large ones
    /// are halved only, small ones are brought down to the last step.
    fn lower(&mut self) {
        for pointer in self.values_of(|_| true) {
            let Some(mut value) = self.json.pointer(&pointer).and_then(number) else { continue };
            let mut step = value.div_ceil(2);
            while step > 0 {
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

    /// Lowers two numbers of one name in different short lists by as much: where one list says what comes and
    /// another one what becomes of it, neither gets smaller alone.
    fn lower_together(&mut self) {
        let pointers: Vec<String> = self
            .values_of(|name| !is_wait_of::<B>(name))
            .into_iter()
            .filter(|pointer| pointer[1..].contains('/'))
            .collect();
        if pointers.len() > PAIRED {
            return;
        }
        for (index, first) in pointers.iter().enumerate() {
            for second in pointers[index + 1..].iter().filter(|other| are_alike(first, other)) {
                let value = |json: &Value, at: &str| json.pointer(at).and_then(number).unwrap_or(0);
                let both = |json: &Value| [first, second].map(|at| value(json, at));
                let mut step = both(&self.json).into_iter().min().unwrap_or(0);
                while step > 0 {
                    let Some(mut candidate) = self.candidate() else { return };
                    for (at, value) in [first, second].into_iter().zip(both(&self.json)) {
                        if let Some(place) = candidate.pointer_mut(at) {
                            *place = with_number(place, value.saturating_sub(step));
                        }
                    }
                    if self.attempt(candidate) {
                        step = both(&self.json).into_iter().min().unwrap_or(0).min(step);
                    } else {
                        step /= 2;
                    }
                }
            }
        }
    }

    /// Sets optional objects to null; those that are not optional are refused by the types.
    fn options(&mut self) {
        let mut pointers = Vec::new();
        if !self.is_over() {
            find_objects(&self.json, String::new(), &mut pointers);
        }
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

/// Whether a number of that name is a wait.
fn is_wait_of<B: Block>(name: &str) -> bool {
    is_wait(B::Traffic::WAITS, name)
}

/// Whether two pointers lead to numbers of one name in different lists of the stimulus.
fn are_alike(first: &str, second: &str) -> bool {
    let name = |pointer: &str| pointer.rsplit('/').next().map(str::to_owned);
    let list = |pointer: &str| pointer[1..].split('/').next().map(str::to_owned);
    name(first) == name(second) && list(first) != list(second)
}

/// Puts a list where a pointer says.
fn put(json: &mut Value, pointer: &str, list: Vec<Value>) {
    if let Some(place) = json.pointer_mut(pointer) {
        *place = Value::Array(list);
    }
}

fn to_json<B: Block>(stimulus: &Stimulus<B>) -> Result<Value, Error> {
    let json = match &stimulus.drive {
        Drive::Traffic(traffic) => serde_json::to_value(traffic),
        Drive::Cycles(_) => Ok(Value::Null),
    };
    json.map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))
}

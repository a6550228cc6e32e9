//! Shrinks transactions as JSON.
//!
//! It removes elements of outer lists (packets), then of inner lists (beats, stalls), then delays,
//! then optional parts, and reduces every other number. Candidates that the block's types or checks
//! reject do not run.
//!
//! Coarse steps come first. Then it tries random stimuli of the block's scenarios with few packets,
//! in increasing number, until one fails in the same way. Fine steps come last.

use super::json::{Depth, drawn, find, is_wait, joined, number, size, with_number};
use super::{PlainDrive, ShrinkSearch};
use cosim_base::error::Error;
use cosim_harness::harness::{CaseRng, case_seed};
use rand::{Rng as _, SeedableRng};
use serde_json::Value;

/// Cost of a number in a candidate for copying, parsing and dropping, in cycles.
const COST_OF_A_NUMBER: u64 = 2;
/// Maximum length of a list whose pairs are all tried.
const SHORT: usize = 16;
/// Number of parts into which lists are divided in the coarse phase.
const FINEST_AT_FIRST: usize = 16;
/// Maximum count of numbers that are lowered in pairs.
const PAIRED: usize = 64;
/// Numbers above this limit are only halved, not lowered in single steps.
const COUNTABLE: u64 = 1 << 13;
/// Numbers of packets of random stimuli.
const FEW: [u64; 7] = [1, 2, 3, 4, 8, 16, 32];
/// Number of packets to generate per size. Larger stimuli are fewer, so that each size takes
/// equally long.
const DRAWS: u64 = 48_000;
/// Packets to generate per size before trying the next size.
const ROUND: u64 = 96;
/// Above this number of leaves, generating small stimuli is cheaper than trying all parts.
const LARGE: u64 = 1 << 15;

/// Maximum count of numbers that are drawn again, and the bits of each draw.
const DRAWN_NUMBERS: usize = 64;
const WIDTHS: [u32; 12] = [1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64];

/// Shrinks the search's best stimulus.
pub fn shrink(search: &mut ShrinkSearch<'_>) {
    if search.is_over() {
        return;
    }
    search.pay(COST_OF_A_NUMBER * size(search.json()));
    search.allow(4);
    search.window();
    search.cut_tails();
    if size(search.json()) <= LARGE {
        search.allow(4);
        search.reduce(FINEST_AT_FIRST);
    }
    search.allow(2);
    if search.draw() {
        search.allow(4);
        search.reduce(FINEST_AT_FIRST);
    }
    search.reserve = 0;
    search.reduce(usize::MAX);
}

/// JSON pointers to the numbers of the best stimulus that do not matter: other legal values, drawn
/// again, fail in the same way. The draws depend on the pointer only.
pub fn any(search: &mut ShrinkSearch<'_>) -> Result<Vec<String>, Error> {
    // A vector leaves out fields that a candidate may hold.
    search.typed.replace(search.before_reset, &search.best);
    let PlainDrive::Traffic(json) = search.typed.drive()? else { return Ok(Vec::new()) };
    let mut pointers =
        find(&json, &|place| place.value.is_boolean() || number(place.value).is_some());
    pointers.truncate(DRAWN_NUMBERS);
    pointers.retain(|pointer| is_any(search, &json, pointer));
    Ok(pointers)
}

fn is_any(search: &mut ShrinkSearch<'_>, json: &Value, pointer: &str) -> bool {
    let Some(value) = json.pointer(pointer) else { return false };
    let mut rng = CaseRng::seed_from_u64(case_seed(0, pointer));
    let mut alike: Vec<Value> = Vec::new();
    for width in WIDTHS {
        let other = drawn(value, width, rng.next_u64());
        if other == *value || alike.contains(&other) {
            continue;
        }
        search.pay(super::COST_OF_A_TRY + COST_OF_A_NUMBER * size(json));
        let mut candidate = json.clone();
        replace_value(&mut candidate, pointer, other.clone());
        match search.fails_alike(&PlainDrive::Traffic(candidate)) {
            None => {}
            Some(false) => return false,
            Some(true) => alike.push(other),
        }
    }
    // A bit has one other value.
    let is_bit = value.is_boolean() || number(value).is_some_and(|number| number < 2);
    alike.len() > 1 || (is_bit && alike.len() == 1)
}

impl ShrinkSearch<'_> {
    /// The best traffic.
    fn json(&self) -> &Value {
        match &self.best {
            PlainDrive::Traffic(json) => json,
            PlainDrive::Cycles(_) => &Value::Null,
        }
    }

    /// Looks for 1, 2, 3 or more elements before the failure that fail alone. The cost depends on
    /// the last window tried, not on the whole stimulus.
    fn window(&mut self) {
        let mut others = self.lists_of(Depth::Outer);
        others.retain(|pointer| self.length(pointer) > SHORT);
        let Some(main) = others.iter().max_by_key(|pointer| self.length(pointer)).cloned() else {
            return;
        };
        // The last element taken, and the one waiting after it.
        let end = self.length(&main).min(self.outcome.packets as usize + 1);
        others.retain(|pointer| *pointer != main);
        let PlainDrive::Traffic(json) = &mut self.best else { return };
        let mut whole = json.take();
        // Separate the long lists from the rest of the stimulus.
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
                replace_value(&mut candidate, &main, elements[end - width..end].into());
                for (pointer, list) in others.iter().zip(&other_lists) {
                    let list = if with_others { list.clone() } else { Vec::new() };
                    replace_value(&mut candidate, pointer, Value::Array(list));
                }
                if self.attempt(candidate) {
                    found = true;
                    break 'search;
                }
            }
            width += 1 + width / 3;
        }
        if !found {
            replace_value(&mut whole, &main, Value::Array(elements));
            for (pointer, list) in others.iter().zip(other_lists) {
                replace_value(&mut whole, pointer, Value::Array(list));
            }
            self.best = PlainDrive::Traffic(whole);
        }
    }

    /// Removes elements after the failure. A case uses at most as many elements of a list as it has
    /// packets. Where that is no bound, searches for the shortest failing prefix.
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
        find(self.json(), &|place| place.is_list(depth))
    }

    fn length(&self, pointer: &str) -> usize {
        self.json().pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Tries a stimulus in which a list has only the elements from `choose`, without copying the
    /// others.
    fn keep(&mut self, pointer: &str, choose: impl Fn(&[Value]) -> Vec<Value>) -> bool {
        let PlainDrive::Traffic(json) = &mut self.best else { return false };
        let Some(Value::Array(list)) = json.pointer_mut(pointer).map(Value::take) else {
            return false;
        };
        let mut candidate = json.clone();
        replace_value(&mut candidate, pointer, Value::Array(choose(&list)));
        replace_value(json, pointer, Value::Array(list));
        self.attempt(candidate)
    }

    /// Shrinks the stimulus until no step helps. Lists are divided into at most `finest` parts.
    /// Fine steps run only if `finest` is unlimited.
    fn reduce(&mut self, finest: usize) {
        self.finest = finest;
        let small_steps = finest == usize::MAX;
        let waits = self.request.waits;
        loop {
            let before = self.kept;
            self.outer_lists();
            if small_steps {
                self.pairs();
                self.merge();
            }
            self.lists(Depth::Inner);
            self.values(&|name| is_wait(waits, name));
            self.options();
            self.values(&|_| true);
            if small_steps {
                self.lower();
                self.lower_together();
            }
            if self.kept == before || self.is_over() {
                return;
            }
        }
    }

    /// Removes elements of the outer lists until none can be removed, which makes all later steps
    /// cheaper.
    fn outer_lists(&mut self) {
        loop {
            let before = self.kept;
            self.lists(Depth::Outer);
            if self.kept == before || self.is_over() {
                return;
            }
        }
    }

    /// Generates stimuli with fewer packets, of each size in turn, because the necessary number is
    /// unknown. Returns whether one fails in the same way.
    fn draw(&mut self) -> bool {
        let scenarios = &self.request.info.scenarios;
        let begin = self.left;
        let mut found_at = None;
        for index in 0..DRAWS / ROUND {
            for packets in FEW {
                // Fewer larger ones, so that each size takes equally long.
                for draw in 0..(ROUND / packets.max(3)) {
                    // After the first hit, search for a smaller one for a limited time.
                    let spent = begin - self.left;
                    if self.is_over() || found_at.is_some_and(|first| spent > 2 * first) {
                        return found_at.is_some();
                    }
                    if packets >= self.outcome.packets {
                        break;
                    }
                    let number = index * (ROUND / packets.max(3)) + draw;
                    let scenario = number as usize % scenarios.len();
                    let name = format!("shrink/{}/{packets}/{number}", scenarios[scenario].name);
                    let mut rng = CaseRng::seed_from_u64(case_seed(0, &name));
                    let drawn = self.typed.draw(scenario, packets as u32, &mut rng);
                    let most = self.outcome.packets;
                    // A generated stimulus is not derived from the current one, so check that it is
                    // smaller.
                    if let Some(drawn) = drawn.map(PlainDrive::Traffic)
                        && self.judge_drive(drawn, |outcome| outcome.packets < most)
                    {
                        found_at = found_at.or(Some(begin - self.left));
                    }
                }
            }
        }
        found_at.is_some()
    }

    /// A copy of the smallest stimulus to modify, or `None` once the budget is used up.
    fn candidate(&self) -> Option<Value> {
        (!self.is_over()).then(|| self.json().clone())
    }

    /// Runs a candidate. Keeps it if it fails in the same way.
    fn attempt(&mut self, json: Value) -> bool {
        // Copying and parsing a large candidate takes longer than running it, even if it is
        // rejected.
        let numbers = size(&json);
        self.pay(super::COST_OF_A_TRY + COST_OF_A_NUMBER * numbers);
        if self.is_over() || json == *self.json() {
            return false;
        }
        self.judge_drive(PlainDrive::Traffic(json), |_| true)
    }

    /// Removes elements of lists: long runs first, down to single elements.
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

    /// Removes two non-adjacent elements of a short list, such as the two ends of a detour.
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

    /// Merges two neighbours in a short list by adding one of their numbers: one long packet may
    /// replace two.
    fn merge(&mut self) {
        for pointer in self.lists_of(Depth::Outer) {
            let mut index = 1;
            loop {
                let list = self.json().pointer(&pointer).and_then(Value::as_array);
                let Some(list) = list.filter(|list| index < list.len() && list.len() <= SHORT)
                else {
                    break;
                };
                let mut kept = false;
                for merged in joined(&list[index - 1], &list[index], self.request.waits) {
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

    /// Sets numbers to 0: many at once first, down to single ones.
    fn values(&mut self, wanted: &dyn Fn(&str) -> bool) {
        let pointers = self.values_of(wanted);
        self.clear(&pointers, |value| match value {
            Value::Number(_) => *value = Value::from(0),
            Value::String(_) => *value = Value::from("0x0"),
            _ => {}
        });
    }

    fn values_of(&mut self, wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
        if self.is_over() {
            return Vec::new();
        }
        self.pay(COST_OF_A_NUMBER * size(self.json()));
        find(self.json(), &|place| place.is_above_zero() && wanted(place.name))
    }

    /// Lowers numbers: a smaller ring wraps sooner and needs fewer packets. Small numbers are
    /// lowered to the last step, large ones only halved.
    fn lower(&mut self) {
        for pointer in self.values_of(&|_| true) {
            let Some(mut value) = self.json().pointer(&pointer).and_then(number) else { continue };
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

    /// Lowers two numbers with the same name in different short lists by the same amount. If one
    /// list defines the inputs and another the expected effect, neither can be lowered alone.
    fn lower_together(&mut self) {
        let waits = self.request.waits;
        let mut pointers = self.values_of(&|name| !is_wait(waits, name));
        pointers.retain(|pointer| pointer[1..].contains('/'));
        if pointers.len() > PAIRED {
            return;
        }
        for (index, first) in pointers.iter().enumerate() {
            for second in pointers[index + 1..].iter().filter(|other| are_alike(first, other)) {
                let value = |json: &Value, at: &str| json.pointer(at).and_then(number).unwrap_or(0);
                let both = |json: &Value| [first, second].map(|at| value(json, at));
                let mut step = both(self.json()).into_iter().min().unwrap_or(0);
                while step > 0 {
                    let Some(mut candidate) = self.candidate() else { return };
                    for (at, value) in [first, second].into_iter().zip(both(self.json())) {
                        if let Some(place) = candidate.pointer_mut(at) {
                            *place = with_number(place, value.saturating_sub(step));
                        }
                    }
                    if self.attempt(candidate) {
                        step = both(self.json()).into_iter().min().unwrap_or(0).min(step);
                    } else {
                        step /= 2;
                    }
                }
            }
        }
    }

    /// Sets optional objects to null. The types reject this for other objects.
    fn options(&mut self) {
        if self.is_over() {
            return;
        }
        for pointer in find(self.json(), &|place| place.is_field && !place.value.is_array()) {
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

/// Whether two pointers refer to numbers with the same name in different lists.
fn are_alike(first: &str, second: &str) -> bool {
    let name = |pointer: &str| pointer.rsplit('/').next().map(str::to_owned);
    let list = |pointer: &str| pointer[1..].split('/').next().map(str::to_owned);
    name(first) == name(second) && list(first) != list(second)
}

fn replace_value(json: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = json.pointer_mut(pointer) {
        *place = value;
    }
}

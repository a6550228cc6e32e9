//! Adds a wire for each code coverage point to a netlist of Yosys that still has processes.
//!
//! A copy of each process assigns the wires alone: 0 at first, and 1 in the case that the point
//! counts. A point is found by the place of its statement in the text. Verilator places `if` at its
//! keyword and an item of `case` at its first line; Yosys places `if` and `case`, and keeps the
//! order of items, with the default last.
//!
//! The [front end](Reader::FrontEnd) writes a process for each instance, and leaves out statements
//! that are decided in an instance or in a round of a loop. So a point counts only if each process
//! around it has its statement once, without a loop.

use super::code::{Code, Codes, LineAndColumn};
use cosim_block::points::{Kind, Point};
use cosim_rtl::rtlil::{Line, Wire, number, plain};
use cosim_rtl::yosys::Reader;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use verilated_lexer::{Token, tokens};

/// Part of the name of each wire, before the number of its point.
pub const MARK: &str = "cosim_cov_";

pub fn point_of(wire: &str) -> Option<usize> {
    let (_, rest) = wire.rsplit_once(MARK)?;
    rest.split('_').next()?.parse().ok()
}

/// A place: file, line and column.
type Place<'a> = (&'a str, u32, u32);

/// A signal: file, line and name.
type SignalAt<'a> = (&'a str, u32, &'a str);

/// The first and the last place of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range<'a> {
    file: &'a str,
    pub from: (u32, u32),
    pub to: (u32, u32),
}

impl<'a> Range<'a> {
    /// Parses `"file:1.2-3.4"` or `"file:1.2"`.
    fn parse_range(source: &'a str) -> Option<Self> {
        // Several sources are separated by `|`.
        let source = source.trim_matches('"').split('|').next()?;
        let (file, range) = source.rsplit_once(':')?;
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let place = |text: &str| {
            let (line, column) = text.split_once('.')?;
            Some((line.parse().ok()?, column.parse().ok()?))
        };
        Some(Self { file, from: place(from)?, to: place(to)? })
    }

    fn start_place(&self) -> Place<'a> {
        (self.file, self.from.0, self.from.1)
    }

    fn contains(&self, (file, line, column): Place<'_>) -> bool {
        self.file == file && self.from <= (line, column) && (line, column) <= self.to
    }
}

/// A decision in a process.
#[derive(Debug)]
struct Switch<'a> {
    range: Option<Range<'a>>,
    signal: &'a str,
    cases: Vec<CaseBody<'a>>,
}

#[derive(Debug)]
struct CaseBody<'a> {
    compare: &'a str,
    switches: Vec<Switch<'a>>,
}

/// The text of the RTL: file and line, from 1.
pub type LineOf<'a> = dyn Fn(&str, u32) -> Option<&'a str> + 'a;

/// A netlist with a wire for each occurrence of a point.
pub struct Instrumented {
    pub text: String,
    /// For each point, why nothing is known about it.
    pub without: Vec<Option<&'static str>>,
    /// Points without a wire that a constant rules out.
    pub never: BTreeSet<usize>,
}

pub fn instrument<'t>(
    netlist: &str,
    points: &[Point],
    line_of: &LineOf<'t>,
    reader: Reader,
) -> Instrumented {
    let codes = Codes::new(points.iter().map(|point| point.file.as_str()), line_of);
    let places = Places::new(netlist, points, &codes);
    let mut writer = Writer {
        places: &places,
        counts: vec![0; points.len()],
        is_unlike: vec![false; points.len()],
        constant: BTreeMap::new(),
        wires: Vec::new(),
        late: String::new(),
    };
    let mut text = String::with_capacity(netlist.len() * 2);
    let mut lines = netlist.lines();
    let (mut source, mut path) = (None, None);
    while let Some(line) = lines.next() {
        match Line::parse_line(line) {
            Line::Attribute { name: "\\src", value } => source = Some(value),
            Line::Attribute { name: "\\hdlname", value } => path = Some(value),
            Line::Attribute { .. } => {}
            Line::Wire(wire) => {
                let path = path.take().filter(|_| reader == Reader::FrontEnd);
                if let Some(range) = source.take().and_then(Range::parse_range) {
                    writer.toggles(range, line, wire, path.map(|path| (path, &codes)));
                }
            }
            Line::Cell { .. } => {
                source = None;
                text += line;
                text += "\n";
                for line in lines.by_ref() {
                    text += line;
                    text += "\n";
                    if Line::parse_line(line) == Line::End {
                        break;
                    }
                }
                continue;
            }
            Line::End => writer.finish(&mut text),
            _ if line.trim_start().starts_with("process ") => {
                let range = source.take().and_then(Range::parse_range);
                let mut inside = vec![line];
                let mut depth = 1;
                for line in lines.by_ref() {
                    inside.push(line);
                    let word = line.trim_start();
                    depth += usize::from(word.starts_with("switch "));
                    depth -= usize::from(word == "end");
                    if depth == 0 {
                        break;
                    }
                }
                inside.iter().for_each(|line| {
                    text += line;
                    text += "\n";
                });
                let mut body = inside[1..].iter().copied().peekable();
                let switches = switches(&mut body);
                let before = (reader == Reader::FrontEnd).then(|| writer.counts.clone());
                writer.process(&switches);
                if let Some(before) = before {
                    writer.check(range, &before, points, &codes);
                }
                continue;
            }
            _ => (source, path) = (None, None),
        }
        text += line;
        text += "\n";
    }
    // Yosys leaves out the statements of a side of an `if` that a constant rules out. The front end
    // also leaves out a decision that a constant takes, so that its side is not known.
    let dropped: Vec<Dropped<'_>> = match reader {
        Reader::Yosys => writer.dropped(&codes),
        Reader::FrontEnd => Vec::new(),
    };
    let is_never = |number: &usize| {
        writer.counts[*number] == 0
            && places.without[*number].is_none()
            && !writer.is_unlike[*number]
            && points[*number].kind != Kind::Toggle
            && dropped.iter().any(|dropped| dropped.contains(*number, &points[*number]))
    };
    let never: BTreeSet<usize> = (0..points.len()).filter(is_never).collect();
    let without = (0..points.len()).map(|point| match places.without[point] {
        None if writer.is_unlike[point] => {
            Some("the netlist has another statement or signal there")
        }
        None if writer.counts[point] == 0 && !never.contains(&point) => {
            Some("the netlist has no such statement or signal")
        }
        because => because,
    });
    Instrumented { without: without.collect(), never, text }
}

/// A side of an `if` that a constant rules out in each netlist of its module.
struct Dropped<'a> {
    range: Range<'a>,
    /// Where the side begins, and what is behind it.
    text: (LineAndColumn, LineAndColumn),
    /// The points of the side itself.
    points: &'a [usize],
}

impl Dropped<'_> {
    fn contains(&self, number: usize, point: &Point) -> bool {
        // The place of an `else` is that of its `if`, and 1.
        let column = point.column - u32::from(point.what == "else" && point.column > 0);
        let place = (point.file.as_str(), point.line, column);
        match place == self.range.start_place() {
            true => self.points.contains(&number),
            false => {
                let (from, to) = self.text;
                place.0 == self.range.file && from <= (place.1, place.2) && (place.1, place.2) < to
            }
        }
    }
}

/// The decisions of a body, up to its end.
fn switches<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Vec<Switch<'a>> {
    let (mut all, mut range) = (Vec::new(), None);
    while let Some(line) = lines.peek() {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "end" | "case" | "sync" => break,
            "attribute" => {
                if let Line::Attribute { name: "\\src", value } = Line::parse_line(line) {
                    // The attributes of the case that follows are behind the last decision.
                    range = Range::parse_range(value);
                }
                lines.next();
            }
            "switch" => {
                lines.next();
                let mut cases = Vec::new();
                while let Some(line) = lines.next() {
                    let line = line.trim();
                    let (word, compare) = line.split_once(' ').unwrap_or((line, ""));
                    match word {
                        "end" => break,
                        "case" => cases.push(CaseBody { compare, switches: switches(lines) }),
                        _ => {}
                    }
                }
                all.push(Switch { range: range.take(), signal: rest, cases });
            }
            _ => {
                range = None;
                lines.next();
            }
        }
    }
    all
}

/// What the text says of each point.
struct Places<'a> {
    /// The `if` at a place: the points of its first case and those of its default.
    ifs: BTreeMap<Place<'a>, [Vec<usize>; 2]>,
    /// The items of the `case` of a range: the points of each case, the default last. `None` if
    /// there are points of other items.
    cases: BTreeMap<Range<'a>, Vec<Option<usize>>>,
    /// The toggles of a signal: point and bit.
    toggles: BTreeMap<SignalAt<'a>, Vec<(usize, Option<i64>)>>,
    without: Vec<Option<&'static str>>,
}

impl<'a> Places<'a> {
    fn new(netlist: &'a str, points: &'a [Point], codes: &Codes) -> Self {
        let mut places = Self {
            ifs: BTreeMap::new(),
            cases: BTreeMap::new(),
            toggles: BTreeMap::new(),
            without: vec![None; points.len()],
        };
        let mut items: Vec<(usize, Place<'a>)> = Vec::new();
        let mut functions: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (number, point) in points.iter().enumerate() {
            let Point { file, line, column, kind, what, .. } = point;
            let is_code = *kind != Kind::Toggle;
            let in_function = functions.entry(file).or_insert_with(|| {
                codes.code_of_file(file).map(Code::lines_of_functions).unwrap_or_default()
            });
            if is_code && in_function.contains(line) {
                places.without[number] = Some("it is in a function or task");
                continue;
            }
            match (kind, what.as_str()) {
                (Kind::Line | Kind::Branch, "if" | "elsif") => {
                    places.ifs.entry((file, *line, *column)).or_default()[0].push(number);
                }
                // Verilator adds 1 to the column of the `if`.
                (Kind::Line | Kind::Branch, "else") => {
                    let place = (file.as_str(), *line, column.saturating_sub(1));
                    places.ifs.entry(place).or_default()[1].push(number);
                }
                (Kind::Line, "case") => items.push((number, (file, *line, *column))),
                (Kind::Toggle, what) => {
                    let bit = what.split(':').next().unwrap_or_default();
                    let (name, bit) =
                        match bit.strip_suffix(']').and_then(|bit| bit.split_once('[')) {
                            Some((name, bit)) => (name, bit.parse().ok()),
                            None => (bit, None),
                        };
                    let of = places.toggles.entry((file, *line, name)).or_default();
                    of.push((number, bit));
                }
                _ => places.without[number] = Some("it is no branch, item of a case or toggle"),
            }
        }
        places.items(netlist, &items, codes);
        places
    }

    /// Assigns items to the innermost `case` around them.
    fn items(&mut self, netlist: &'a str, items: &[(usize, Place<'a>)], codes: &Codes) {
        let mut ranges: BTreeSet<Range<'a>> = BTreeSet::new();
        let mut source = None;
        for line in netlist.lines() {
            match Line::parse_line(line) {
                Line::Attribute { name: "\\src", value } => source = Range::parse_range(value),
                _ if line.trim_start().starts_with("switch ") => {
                    let is_case = |range: &Range<'a>| !self.ifs.contains_key(&range.start_place());
                    ranges.extend(source.take().filter(is_case));
                }
                _ => source = None,
            }
        }
        let mut of_range: BTreeMap<Range<'a>, Vec<(Place<'a>, usize)>> = BTreeMap::new();
        for (number, place) in items {
            let around = ranges.iter().filter(|range| range.contains(*place));
            if let Some(range) = around.max_by_key(|range| (range.from, Reverse(range.to))) {
                of_range.entry(*range).or_default().push((*place, *number));
            }
        }
        for (range, mut items) in of_range {
            items.sort_unstable();
            let is_default = |(file, line, column): Place<'_>| {
                codes.line(file, line).is_some_and(|text| word_at(text, column) == "default")
            };
            let (defaults, others): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|(place, _)| is_default(*place));
            let mut all: Vec<Option<usize>> =
                others.into_iter().map(|(_, number)| Some(number)).collect();
            all.push(defaults.first().map(|(_, number)| *number));
            self.cases.insert(range, all);
        }
    }
}

fn word_at(text: &str, column: u32) -> &str {
    tokens(text).find(|token| token.column == column).map_or("", |token| token.text)
}

/// Whether the text declares the name at this column as a vector, with a type of the language: the
/// first bit of an array, and of a type that is one, is the highest of its wire.
fn is_vector(text: &str, column: u32, name: &str) -> bool {
    const BEFORE: [&str; 9] =
        ["input", "output", "inout", "wire", "tri", "var", "signed", "unsigned", "static"];
    const TYPES: [&str; 8] =
        ["logic", "reg", "bit", "byte", "shortint", "int", "longint", "integer"];
    let Some((before, from)) = text.split_at_checked(column.saturating_sub(1) as usize) else {
        return false;
    };
    let [mut before, mut from] = [before, from].map(|text| tokens(text).filter(Token::is_code));
    let is_type = |word: Token<'_>| word.text == "[" || TYPES.contains(&word.text);
    before.find(|word| !BEFORE.contains(&word.text)).is_some_and(is_type)
        && from.next().is_some_and(|first| first.text == name)
        && from.next().is_some_and(|next| [",", ";", "=", ")"].contains(&next.text))
}

/// The loops of a process, by its words; all of it if words do not show where they end.
fn loops<'a>(range: Range<'a>, codes: &Codes) -> Vec<Range<'a>> {
    // Where the outermost loop begins, and the blocks and parentheses that are open in it.
    let mut open: Option<((u32, u32), u32, u32)> = None;
    let (mut loops, mut has_header) = (Vec::new(), false);
    for line in range.from.0..=range.to.0 {
        let Some(code) = codes.line(range.file, line) else { return vec![range] };
        // A macro may hide a loop.
        if code.contains('`') {
            return vec![range];
        }
        for token in tokens(code).filter(Token::is_code) {
            let place = (line, token.column);
            match (&mut open, token.text) {
                (None, "for" | "foreach" | "while" | "repeat") => {
                    (open, has_header) = (Some((place, 0, 0)), false);
                }
                (None, "do" | "forever") => return vec![range],
                (Some((_, _, parentheses)), "(" | "(*") => *parentheses += 1,
                (Some((_, _, parentheses)), ")" | "*)") => {
                    *parentheses = parentheses.saturating_sub(1);
                    has_header |= *parentheses == 0;
                }
                (Some((_, blocks, 0)), "begin") if has_header => *blocks += 1,
                (Some((from, blocks, 0)), "end") if has_header => {
                    *blocks = blocks.saturating_sub(1);
                    if *blocks == 0 {
                        loops.push(Range { file: range.file, from: *from, to: place });
                        open = None;
                    }
                }
                // A loop of one statement.
                (Some((_, 0, 0)), _) if has_header => return vec![range],
                _ => {}
            }
        }
    }
    match open {
        None => loops,
        Some(_) => vec![range],
    }
}

struct Writer<'p, 'n> {
    places: &'p Places<'p>,
    /// The condition of each `if`, if it is the same constant in each of its netlists.
    constant: BTreeMap<Range<'n>, Option<u64>>,
    /// The number of wires of each point.
    counts: Vec<usize>,
    /// Whether the netlist has a statement of another form, or another signal, at a point.
    is_unlike: Vec<bool>,
    /// The wires of the module, which are declared before `late`.
    wires: Vec<String>,
    /// Their connections and processes.
    late: String,
}

impl<'p, 'n> Writer<'p, 'n> {
    /// The sides that constants rule out, where the text shows them.
    fn dropped<'a>(&self, codes: &Codes) -> Vec<Dropped<'a>>
    where
        'p: 'a,
        'n: 'a,
    {
        let of = |(range, constant): (&Range<'n>, &Option<u64>)| {
            let is_taken = (*constant)? != 0;
            let other = codes.code_of_file(range.file)?.other_side(range)?;
            let places: &'p Places<'p> = self.places;
            let sides = places.ifs.get(&range.start_place())?;
            let other = other.unwrap_or(range.to);
            let text = if is_taken { (other, range.to) } else { (range.from, other) };
            Some(Dropped { range: *range, text, points: &sides[usize::from(is_taken)] })
        };
        self.constant.iter().filter_map(of).collect()
    }

    /// Declares another wire of a point.
    fn wire(&mut self, point: usize) -> String {
        let name = format!("\\{MARK}{point}_{}", self.counts[point]);
        self.counts[point] += 1;
        self.wires.push(name.clone());
        name
    }

    /// Connects the bits of a signal that points count. In a netlist of the front end, its name is
    /// the last part of the path, and only the text says whether it is an array.
    fn toggles(
        &mut self,
        range: Range<'_>,
        line: &str,
        wire: Wire<'_>,
        path: Option<(&str, &Codes)>,
    ) {
        let (name, width) = (plain(wire.name), i64::from(wire.width));
        let last = path.map_or(name, |(path, _)| {
            let path = path.trim_matches('"');
            path.rsplit(' ').next().unwrap_or(path)
        });
        let key = (range.file, range.from.0, last);
        let Some(points) = self.places.toggles.get(&key) else { return };
        let mut words = line.split_whitespace();
        let is_upto = words.clone().any(|word| word == "upto");
        words.find(|word| *word == "offset");
        let offset: i64 = words.next().and_then(|offset| offset.parse().ok()).unwrap_or(0);
        let (line, column) = range.from;
        let is_vector = path.is_none_or(|(_, codes)| {
            codes.line(range.file, line).is_some_and(|text| is_vector(text, column, last))
        });
        for (point, bit) in points {
            let bit = match bit {
                Some(bit) => Some(bit - offset).filter(|bit| is_vector && (0..width).contains(bit)),
                None => (width == 1).then_some(0),
            };
            match bit.filter(|_| !is_upto) {
                Some(bit) => {
                    let wire = self.wire(*point);
                    let _ = writeln!(self.late, "  connect {wire} \\{name} [{bit}]");
                }
                None => self.is_unlike[*point] = true,
            }
        }
    }

    /// The copy of a process that assigns the wires of its points.
    fn process(&mut self, switches: &[Switch<'n>]) {
        let (mut body, before) = (String::new(), self.wires.len());
        for switch in switches {
            self.switch(switch, 2, &mut body);
        }
        if let Some(first) = self.wires.get(before) {
            let _ = writeln!(self.late, "  process $proc${}", plain(first));
            for wire in &self.wires[before..] {
                let _ = writeln!(self.late, "    assign {wire} 1'0");
            }
            let _ = writeln!(self.late, "{body}  end");
        }
    }

    /// Gives up the points of a process of the front end that it does not have once, those in a
    /// loop, and those from outside of its text, as of an included file.
    fn check(
        &mut self,
        range: Option<Range<'_>>,
        before: &[usize],
        points: &[Point],
        codes: &Codes,
    ) {
        let loops = range.map_or_else(Vec::new, |range| loops(range, codes));
        for (number, point) in points.iter().enumerate() {
            let place = (point.file.as_str(), point.line, point.column);
            let more = self.counts[number] - before[number];
            if point.kind == Kind::Toggle {
                continue;
            }
            self.is_unlike[number] |= match range.is_some_and(|range| range.contains(place)) {
                true => more != 1 || loops.iter().any(|range| range.contains(place)),
                false => more > 0,
            };
        }
    }

    fn switch(&mut self, switch: &Switch<'n>, depth: usize, text: &mut String) {
        let Switch { range, signal, cases } = switch;
        let of_if = range.and_then(|range| self.places.ifs.get(&range.start_place()));
        let items = range.and_then(|range| self.places.cases.get(&range));
        let constant = number(signal);
        if let (Some(range), Some(_)) = (range, of_if) {
            let known = self.constant.entry(*range).or_insert(constant);
            *known = known.filter(|known| constant == Some(*known));
        }
        let has_default = cases.last().is_some_and(|case| case.compare.is_empty());
        // The points of each case, and those of the default if there is none yet.
        let mut points: Vec<Vec<usize>> = vec![Vec::new(); cases.len() + usize::from(!has_default)];
        match (of_if, items) {
            (Some(sides), _) if points.len() == 2 && cases[0].compare == "1'1" => {
                points.clone_from_slice(sides);
            }
            (Some([_, default]), _) if cases.len() == 1 && has_default && constant == Some(0) => {
                points[0].clone_from(default);
            }
            (None, Some(items)) if items.len() == points.len() => {
                for (points, item) in points.iter_mut().zip(items) {
                    points.extend(item);
                }
            }
            (sides, items) => {
                let others = sides.into_iter().flatten().flatten();
                for point in others.chain(items.into_iter().flatten().flatten()) {
                    self.is_unlike[*point] = true;
                }
            }
        }
        let indent = "  ".repeat(depth);
        let _ = writeln!(text, "{indent}switch {signal}");
        for (place, points) in points.iter().enumerate() {
            let case = cases.get(place);
            let compare = case.map_or("", |case| case.compare);
            let _ = writeln!(text, "{indent}  case {compare}");
            for point in points {
                let wire = self.wire(*point);
                let _ = writeln!(text, "{indent}    assign {wire} 1'1");
            }
            for switch in case.map_or(&[][..], |case| &case.switches) {
                self.switch(switch, depth + 2, text);
            }
        }
        let _ = writeln!(text, "{indent}end");
    }

    /// Writes the wires of a module and what drives them, before the end of the module.
    fn finish(&mut self, text: &mut String) {
        for wire in self.wires.drain(..) {
            let _ = writeln!(text, "  attribute \\keep 1\n  wire {wire}");
        }
        text.push_str(&std::mem::take(&mut self.late));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert_eq!(word_at("  default: a = 1;", 3), "default");
        assert_eq!(word_at("  default_state: a = 1;", 3), "default_state");
        for (text, is_it) in [
            ("input logic [3:0] a = 0;", true),
            ("logic[3:0]a;", true),
            ("logic [3:0] a [2];", false),
            ("word_t a;", false),
            ("a;", false),
        ] {
            let column = text.rfind('a').unwrap() as u32 + 1;
            assert_eq!(is_vector(text, column, "a"), is_it, "{text}");
        }
    }
}

//! The points of code coverage that a model counts.

use cosim_base::error::Error;
use cosim_harness::harness::{Block, power_up_inputs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use verilated::BeforeReset::{self, Ones, Random, Zeros};
use verilated::{ModelKind, Point as Counter};

/// The stem of the generated wrapper of a model, which is not part of the RTL.
const AROUND: &str = "cosim_registered";

/// Register values used to find the points that are covered at power-up regardless of them.
const POWER_UPS: [BeforeReset; 8] =
    [Zeros, Ones, Random(1), Random(2), Random(3), Random(4), Random(5), Random(6)];

/// The kind of a point.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A line is executed.
    Line,
    /// A branch is taken.
    Branch,
    /// A bit toggles.
    Toggle,
    /// A combination of values decides an expression.
    Expression,
    /// A state machine is in a state.
    State,
    /// A state machine goes from a state to another.
    Arc,
    /// A `cover` statement of the RTL holds.
    Cover,
}

impl Kind {
    /// The name in reports and waivers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Branch => "branch",
            Self::Toggle => "toggle",
            Self::Expression => "expression",
            Self::State => "state",
            Self::Arc => "arc",
            Self::Cover => "cover",
        }
    }

    /// Whether lines execute with the point.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::Line | Self::Branch)
    }

    /// Parses Verilator's name of a kind. Verilator also counts things that are not code coverage.
    fn parse_kind(word: &str) -> Option<Self> {
        match word {
            "v_line" => Some(Self::Line),
            "v_branch" => Some(Self::Branch),
            "v_toggle" => Some(Self::Toggle),
            "v_expr" => Some(Self::Expression),
            "v_fsm_state" => Some(Self::State),
            "v_fsm_arc" => Some(Self::Arc),
            "v_user" => Some(Self::Cover),
            _ => None,
        }
    }
}

/// A counted place of the RTL; all instances of a module share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "PointText", into = "PointText")]
#[schemars(with = "PointText")]
pub struct Point {
    /// The file name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The kind of point.
    pub kind: Kind,
    /// Details in Verilator's words: `block`, `if`, `else`, `case`, a bit of a signal, the values
    /// of an expression, a state, or the label of a `cover` statement.
    pub what: String,
    /// The lines that execute together with the point, as in `117-120,122`.
    pub lines: String,
}

/// File, line, column, kind, details, lines.
type PointText = (String, u32, u32, Kind, String, String);

impl From<PointText> for Point {
    fn from((file, line, column, kind, what, lines): PointText) -> Self {
        Self { file, line, column, kind, what, lines }
    }
}

impl From<Point> for PointText {
    fn from(point: Point) -> Self {
        let Point { file, line, column, kind, what, lines } = point;
        (file, line, column, kind, what, lines)
    }
}

impl Point {
    /// As in `branch else`.
    pub fn name(&self) -> String {
        format!("{} {}", self.kind.name(), self.what)
    }

    /// As in `a.v:13, branch else`.
    pub fn place(&self) -> String {
        format!("{}:{}, {}", self.file, self.line, self.name())
    }

    /// All lines that execute with the point. The line of a branch executes with either side of it.
    pub fn all_lines(&self) -> impl Iterator<Item = u32> + '_ {
        let range = |range: &str| {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?)
        };
        std::iter::once(self.line).chain(self.lines.split(',').filter_map(range).flatten())
    }
}

/// The path of a state below the top module, as `timer.phase::REST`.
fn below_top(state: &str) -> &str {
    let path = state.strip_prefix(AROUND).and_then(|rest| rest.strip_prefix('.')).unwrap_or(state);
    match path.split_once('.') {
        Some((top, rest)) if !top.contains(':') => rest,
        _ => path,
    }
}

/// The points of a model and the mapping from its counters.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// The points in ascending order.
    pub all: Vec<Point>,
    of_counter: Vec<Option<u32>>,
    /// A bit for each point that every model reaches at power-up.
    always: Vec<u8>,
}

impl Points {
    pub(crate) fn from_model<B: Block>(
        kind: &mut ModelKind<B::Inputs, B::Outputs>,
    ) -> Result<Self, Error> {
        let counters = kind.points()?;
        let mut always = vec![true; counters.len()];
        for before_reset in POWER_UPS {
            let mut model = kind.create(before_reset)?;
            model.settle(&power_up_inputs::<B>(), &mut B::Outputs::default())?;
            for (always, count) in always.iter_mut().zip(model.counts()) {
                *always &= count > 0;
            }
        }
        Ok(Self::new(&counters, B::RTL.rtl.clock, &always))
    }

    /// The points of these counters. The clock of the top is not a point: the harness does not show
    /// its falling edges to a model that does not need them. `always` marks counters that every
    /// model reaches at power-up, such as `initial` blocks and logic of constants. They count in
    /// every case.
    pub fn new(counters: &[Counter], clock: &str, always: &[bool]) -> Self {
        let point = |counter: &Counter| {
            let Counter { file, line, column, kind, what, lines } = counter.clone();
            let is_around = Path::new(&file).file_stem().is_some_and(|stem| stem == AROUND);
            let kind = Kind::parse_kind(&kind).filter(|_| !is_around)?;
            let bit = what.split(':').next();
            if kind == Kind::Toggle && bit == Some(clock) {
                return None;
            }
            let what = match kind {
                Kind::State | Kind::Arc => below_top(&what).to_owned(),
                _ => what,
            };
            Some(Point { file, line, column, kind, what, lines })
        };
        let of_counter: Vec<Option<Point>> = counters.iter().map(point).collect();
        let mut all: Vec<Point> = of_counter.iter().flatten().cloned().collect();
        all.sort();
        all.dedup();
        let number = |point: &Point| all.binary_search(point).ok().map(|number| number as u32);
        let of_counter = of_counter.iter().map(|point| point.as_ref().and_then(number)).collect();
        let mut points = Self { always: vec![0; all.len().div_ceil(8)], all, of_counter };
        let counts: Vec<u32> = always.iter().map(|always| u32::from(*always)).collect();
        points.always = points.reached(&counts);
        points
    }

    /// A bit for each point that the counters reached.
    pub fn reached(&self, counts: &[u32]) -> Vec<u8> {
        let mut bits = self.always.clone();
        for (count, point) in counts.iter().zip(&self.of_counter) {
            if let Some(point) = point.filter(|_| *count > 0) {
                bits[point as usize / 8] |= 1 << (point % 8);
            }
        }
        bits
    }
}

//! The scoreboard of a block, its checks and its counters. `I` are the inputs of the block, `O` its
//! outputs, and `T` its traffic.

use super::golden::Unwritten;
use super::parameters::Parameters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Pins, Port};

/// Checks whole transactions of legal stimulus, in addition to the comparison of pins.
pub trait Scoreboard<'a, I, O, T>: Sized {
    /// Where the checks are to be written; see [`Unwritten`].
    const UNWRITTEN: Unwritten = None;

    /// The name of every check, as in [`Violation::check`]. A test with
    /// `cosim_core::checks::Checks` shows that each check can fail.
    fn checks() -> Vec<String> {
        Vec::new()
    }

    /// A scoreboard for `traffic` and a block with `parameters`.
    fn new(traffic: &'a T, parameters: &Parameters) -> Self;

    /// Observes one cycle before its rising edge. The first one is the harness's cycle in reset,
    /// which the environment does not observe.
    ///
    /// # Errors
    /// The first [`Violation`].
    fn observe(&mut self, inputs: &I, outputs: &O) -> Result<(), Violation>;

    /// Checks the end of the case.
    ///
    /// # Errors
    /// A [`Violation`] if something is still pending.
    fn finish(&mut self) -> Result<(), Violation>;

    /// The number of transactions that it compared so far. A run of a block with
    /// [`Block::TRANSACTION_OUTPUTS`](super::Block::TRANSACTION_OUTPUTS) fails if this is 0 in all
    /// cases of a profile.
    fn compared(&self) -> u64 {
        0
    }

    /// Names of values that it counts but does not check, as in "packets lost".
    fn counters() -> Vec<Counter<Self>> {
        Vec::new()
    }

    /// The numbers of [`Scoreboard::counters`].
    fn counts(&self) -> Vec<u64> {
        Self::counters().iter().map(|counter| (counter.value)(self)).collect()
    }
}

/// A counter of a scoreboard that the summary shows.
pub struct Counter<S: ?Sized> {
    /// What is counted.
    pub name: &'static str,
    /// How the numbers of several cases are combined.
    pub total: Total,
    /// The number of a case.
    pub value: fn(&S) -> u64,
}

impl<S> Counter<S> {
    /// A number that is added up over cases.
    pub fn sum(name: &'static str, value: fn(&S) -> u64) -> Self {
        Self { name, total: Total::Sum, value }
    }

    /// A counter that shows the largest value of all cases.
    pub fn max(name: &'static str, value: fn(&S) -> u64) -> Self {
        Self { name, total: Total::Max, value }
    }
}

/// How the numbers of several cases are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Total {
    /// They are added.
    Sum,
    /// The largest is used.
    Max,
}

impl Total {
    /// Combines two numbers.
    pub fn combine(self, left: u64, right: u64) -> u64 {
        match self {
            Self::Sum => left.saturating_add(right),
            Self::Max => left.max(right),
        }
    }
}

/// A failed check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The check's name.
    pub check: String,
    /// The port or the channel that is wrong; the name of the check if it is not of a single one.
    pub subject: String,
    /// The value or the item that was observed, if the check is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<Box<str>>,
    /// The value or the item that was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Box<str>>,
    /// The cycle since which it was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// What is wrong, in words.
    pub message: String,
}

/// `Ok(())` if a condition holds, else the violation of a check with a message as of [`format!`],
/// which only a violation makes. Values that `{:?}` shows lose the syntax of Rust. A macro, because
/// a closure would keep what it captures in memory in each cycle.
///
/// ```
/// use cosim_harness::harness::require;
///
/// let (level, next) = (3, Some(7));
/// assert!(require!(level <= 4, "room", "{level} items").is_ok());
/// let violation = require!(level <= 2, "room", "{level} items, next {next:?}").unwrap_err();
/// assert_eq!(violation.message, "3 items, next 7");
/// ```
#[macro_export]
macro_rules! require {
    ($holds:expr, $check:expr, $($message:tt)+) => {
        if $holds {
            Ok(())
        } else {
            Err($crate::harness::Violation::in_words($check, format_args!($($message)+)))
        }
    };
}

/// Violates a check unless what is observed is what is expected.
///
/// # Errors
/// The violation.
#[inline]
pub fn require_equal<T: PartialEq + fmt::Debug>(
    check: &str,
    what: &str,
    actual: T,
    expected: T,
) -> Result<(), Violation> {
    if actual == expected { Ok(()) } else { Err(unequal(check, what, actual, expected)) }
}

#[cold]
#[inline(never)]
fn unequal<T: fmt::Debug>(check: &str, what: &str, actual: T, expected: T) -> Violation {
    let [actual, expected] = [actual, expected].map(|value| without_syntax(&format!("{value:?}")));
    Violation::differs(check, actual, expected).inside(what)
}

/// Text of `Debug` without the syntax of Rust: names of structs with their braces, and `Some`.
fn without_syntax(text: &str) -> String {
    let (mut words, mut is_dropped, mut rest) = (String::new(), Vec::new(), text);
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '(' | '{' => {
                let start = words.trim_end().trim_end_matches(char::is_alphanumeric).len();
                let name = words[start..].trim_end();
                let drops = if next == '(' { name == "Some" } else { rest.starts_with(' ') };
                is_dropped.push(drops);
                if drops {
                    words.truncate(start);
                    rest = rest.trim_start();
                } else {
                    words.push(next);
                }
            }
            ')' | '}' if is_dropped.pop() == Some(true) => {
                words.truncate(words.trim_end().len());
            }
            _ => words.push(next),
        }
    }
    words.replace("None", "none")
}

/// Violates a check unless the payload of each channel is 0 while its valid is 0: name, whether it
/// is valid, payload. Only a violation needs the channels in memory, so it makes them once more.
///
/// # Errors
/// The violation.
#[inline]
pub fn require_idle<const N: usize>(
    check: &str,
    channels: impl Fn() -> [(&'static str, bool, u64); N],
) -> Result<(), Violation> {
    let is_loud = |(_, valid, payload): &(&str, bool, u64)| !valid & (*payload != 0);
    if !channels().iter().fold(false, |any, channel| any | is_loud(channel)) {
        return Ok(());
    }
    let loud: Vec<_> = channels().into_iter().filter(is_loud).map(|(name, ..)| name).collect();
    Err(Violation::new(check, format_args!("{} not 0 while valid is 0", loud.join(", "))))
}

impl Violation {
    /// A violation of `check`. Its subject is the port or channel of this name, if there is one.
    /// Cold and never inlined, because formatting code would keep the compiler from inlining the
    /// hot callers.
    #[cold]
    #[inline(never)]
    pub fn new(check: &str, message: impl fmt::Display) -> Self {
        let (check, message) = (check.to_owned(), message.to_string());
        let (actual, expected, since) = (None, None, None);
        Self { subject: check.clone(), check, actual, expected, since, message }
    }

    /// A violation of `check` whose message shows values in words. See [`require!`].
    #[cold]
    #[inline(never)]
    pub fn in_words(check: &str, message: fmt::Arguments<'_>) -> Self {
        Self::new(check, without_syntax(&message.to_string()))
    }

    /// A violation of `check` by a value. Reports show both values side by side.
    ///
    /// ```
    /// use cosim_harness::harness::Violation;
    ///
    /// let violation = Violation::differs("irq", 0, 1);
    /// assert_eq!(violation.message, "0, expected 1");
    /// ```
    #[cold]
    #[inline(never)]
    pub fn differs(check: &str, actual: impl fmt::Display, expected: impl fmt::Display) -> Self {
        let (actual, expected) = (actual.to_string(), expected.to_string());
        let message = format_args!("{actual}, expected {expected}").to_string();
        Self {
            actual: Some(actual.into()),
            expected: Some(expected.into()),
            ..Self::new(check, message)
        }
    }

    /// The same violation, with its place before the message.
    #[must_use]
    pub fn inside(self, place: impl fmt::Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// The same violation, of a port or of a channel.
    #[must_use]
    pub fn with_subject(self, subject: impl fmt::Display) -> Self {
        Self { subject: subject.to_string(), ..self }
    }
}

/// Declares the names of checks: a constant for each, and a constant with all of them, whose
/// [`check_list`] is for [`Scoreboard::checks`].
///
/// ```
/// cosim_harness::check_names! {
///     CHECKS;
///     /// Each item leaves once.
///     ONCE = "item-once";
///     /// The queue holds at most as many items as it has places.
///     OVERFLOW = "overflow";
/// }
/// assert_eq!(CHECKS, [ONCE, OVERFLOW]);
/// ```
#[macro_export]
macro_rules! check_names {
    ($all:ident; $( $(#[$meta:meta])* $name:ident = $text:literal; )*) => {
        $( $(#[$meta])* const $name: &str = $text; )*

        /// Every check.
        const $all: &[&str] = &[$( $name ),*];
    };
}

/// The names of checks in a list, for
/// [`Scoreboard::checks`](crate::harness::Scoreboard::checks).
pub fn check_list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Checks the outputs of a cycle in reset.
///
/// # Errors
/// A violation of `check` that names the first output that does not have its expected value.
#[inline]
pub fn in_reset<O: Pins>(check: &str, outputs: &O, expected: &O) -> Result<(), Violation> {
    match expected.first_difference(outputs) {
        Some(port) => Err(wrong_in_reset(check, port, outputs.as_bytes(), expected.as_bytes())),
        None => Ok(()),
    }
}

#[cold]
fn wrong_in_reset(check: &str, port: &Port, outputs: &[u8], expected: &[u8]) -> Violation {
    let violation = Violation::differs(check, port.show(outputs), port.show(expected));
    let message = format!("{} is {} in reset", port.name, violation.message);
    Violation { message, ..violation.with_subject(port.name) }
}

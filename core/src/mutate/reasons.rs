//! Mutations of which a person has written why they make no difference: a file for `cosim mutate --equivalents`.
//!
//! Words and lines do not tell mutations apart: many cells come from one `case`. So a reason names the cell, and with
//! it the RTL and the Yosys that have it. In another RTL the name may be that of another cell.

use super::mutation::{Mode, Mutation};
use crate::error::{Error, codes};
use crate::files::{LARGEST_INPUT, read_input_text};
use crate::harness::Profile;
use crate::program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use toml::Spanned;

/// The only value of `format`.
const FORMAT: &str = "cosim-equivalents";
/// The only version.
const VERSION: u64 = 1;

/// A file of reasons.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: String,
    version: u64,
    #[serde(default)]
    equivalent: Vec<Spanned<Reason>>,
}

/// Why a mutation makes no difference. All that says which it is stands in `mutate.json` under the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The block.
    pub block: String,
    /// The profile.
    pub profile: String,
    /// The hash of the RTL's text.
    pub rtl: String,
    /// The Yosys that names the cell.
    pub yosys: String,
    /// What the mutation does.
    pub mode: Mode,
    /// The module.
    pub module: String,
    /// The cell.
    pub cell: String,
    /// The cell's port.
    pub port: String,
    /// The port's bit.
    pub bit: u32,
    /// The bit that says when, for the modes that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<u32>,
    /// Why that makes no difference.
    pub reason: String,
}

/// The reasons of a file.
///
/// # Errors
/// [`Error::File`] or [`Error::Input`] if it is none, or speaks of a block or a profile that is not there.
pub fn read(path: &Path) -> Result<Vec<Reason>, Error> {
    let text = read_input_text(path, LARGEST_INPUT)?;
    let Text { format, version, equivalent } =
        toml::from_str(&text).map_err(|error| Error::toml(path, &text, None, &error))?;
    if format != FORMAT || version != VERSION {
        let message = format!("is {format} {version}, expected {FORMAT} {VERSION}");
        return Err(Error::File { code: codes::WRONG_FORMAT, path: path.to_owned(), message });
    }
    let reasons = equivalent.into_iter().map(|reason| {
        let start = reason.span().start;
        let reason = reason.into_inner();
        match reason.objection() {
            None => Ok(reason),
            Some(message) => Err(Error::at_offset(codes::BAD_WAIVER, path, &text, start, message)),
        }
    });
    reasons.collect()
}

impl Reason {
    /// What is wrong with it, by itself.
    fn objection(&self) -> Option<String> {
        let Self { block, profile, reason, .. } = self;
        if reason.trim().is_empty() {
            return Some("has no `reason`: say why the mutation makes no difference".to_owned());
        }
        let Some(known) = program::find(block) else {
            let name = program::name();
            return Some(format!(
                "unknown block `{block}`; `{name} list` prints the blocks of this program"
            ));
        };
        Profile::parse(profile, known.profiles()).err().map(|error| error.to_string())
    }

    /// Whether it is about a mutation of its RTL in its profile.
    pub fn is_about(&self, mutation: &Mutation) -> bool {
        let Self { mode, module, cell, port, bit, control, .. } = self;
        (mode, module, cell) == (&mutation.mode, &mutation.module, &mutation.cell)
            && (port, bit, control) == (&mutation.port, &mutation.bit, &mutation.control)
    }
}

//! What came of proofs: a table for people, and a file.

use super::{Assumed, Kind, Memories, Shown};
use crate::models::Rtl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The file.
pub const PROOF: &str = "proof.json";
/// The folder of what breaks properties.
pub const VECTORS: &str = "failures";

/// The proofs of a block.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// `cosim-proof`.
    pub format: String,
    /// 1.
    pub version: u64,
    /// The tool's version.
    pub tool: String,
    /// The tool's build.
    pub build: String,
    /// Yosys's version.
    pub yosys: String,
    /// A hash of the RTL's text.
    pub rtl: String,
    /// What was given instead of the built-in RTL.
    pub given: Rtl,
    /// The block.
    pub block: String,
    /// The words in the properties that were asked, if not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// By profile.
    pub profiles: Vec<ProfileProof>,
}

/// The proofs of a block under one set of parameters.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProfileProof {
    /// The profile.
    pub profile: String,
    /// The properties.
    pub properties: Vec<Proven>,
    /// Why nothing can be asked of this RTL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// A property, and what was shown of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Proven {
    /// What it is about.
    pub kind: Kind,
    /// The property in words.
    pub property: String,
    /// What was shown.
    #[serde(flatten)]
    pub shown: Shown,
}

impl Proof {
    /// Whether something was shown, and nothing that does not hold.
    pub fn holds(&self) -> bool {
        let mut all = self.profiles.iter().flat_map(|profile| &profile.properties).peekable();
        all.peek().is_some()
            && self.profiles.iter().all(|profile| profile.because.is_none())
            && all.all(|proven| proven.shown.holds())
    }

    /// The table.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let all = || self.profiles.iter().flat_map(|profile| &profile.properties);
        let count = |is: fn(&Shown) -> bool| all().filter(|proven| is(&proven.shown)).count();
        let proved = count(|shown| matches!(shown, Shown::Proved { .. }));
        let bounded = count(|shown| matches!(shown, Shown::Bounded { .. }));
        let known = count(|shown| matches!(shown, Shown::Reached { .. }));
        let result = if self.holds() { "PASS" } else { "FAIL" };
        let only = self.only.as_ref().map_or(String::new(), |only| format!(" with `{only}`"));
        let _ = writeln!(
            text,
            "{result}  {}: {} {}{only}: {proved} proved, {bounded} to a depth, {known} known hangs, {} not; RTL {}, {}",
            self.block,
            all().count(),
            if all().count() == 1 { "property" } else { "properties" },
            all().count() - proved - bounded - known,
            self.rtl,
            self.yosys
        );
        for ProfileProof { profile, properties, because } in &self.profiles {
            let _ = writeln!(text, "\nprofile {profile}");
            if let Some(because) = because {
                let _ = writeln!(text, "  nothing can be asked: {because}");
            }
            for Proven { property, shown, .. } in properties {
                let _ = writeln!(text, "  {:<10} {property}{}", shown.word(), shown.more());
            }
        }
        if all().count() == 0 {
            text += "\nthe block promises nothing: see Block::promises\n";
        }
        text.push('\n');
        text
    }
}

impl Shown {
    /// Whether nothing is known to break it, in some cycles at least.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Proved { .. } | Self::Bounded { .. } | Self::Reached { .. })
    }

    /// The result in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Proved { .. } => "proved",
            Self::Bounded { .. } => "to a depth",
            Self::Reached { .. } => "as known",
            Self::Refuted { .. } => "BROKEN",
            Self::Unconfirmed { .. } => "broken?",
            Self::Open { .. } => "open",
        }
    }

    /// What is to be said behind that.
    pub fn more(&self) -> String {
        let assuming = |assumed: &Assumed| match assumed {
            Assumed::Nothing => "",
            Assumed::OffersStay => "; assumes that what is offered stays until it is taken",
        };
        match self {
            Self::Proved { assumed, memories } => {
                let memories = match memories {
                    Memories::Whole => "; with memories as registers",
                    Memories::Kept => "; with memories that keep what they give",
                    Memories::Word => "; with one word of each memory, whichever it is",
                    Memories::Cut | Memories::None => "",
                };
                format!("{}{memories}", assuming(assumed))
            }
            Self::Bounded { cycles, assumed } => {
                format!(": in {cycles} cycles from reset{}", assuming(assumed))
            }
            Self::Reached { cycles, verdict, vector } => {
                format!(": {cycles} cycles from reset; {verdict}; {}", vector.display())
            }
            Self::Refuted { verdict, vector } => format!(": {verdict}; {}", vector.display()),
            Self::Unconfirmed { because, vector } => format!(": {because}; {}", vector.display()),
            Self::Open { because } => format!(": {because}"),
        }
    }
}

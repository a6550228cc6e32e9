//! Parameters of an RTL, and profiles, which are named parameter sets.

use super::leaked;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Limit of the random profiles of a block, because each needs a compiled model.
pub(super) const MOST_RANDOM: usize = 64;

/// A parameter of the top module, other than the mask of fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name in Verilog and on the command line.
    pub name: &'static str,
    /// What it sets, in one line.
    pub about: &'static str,
    /// The default value.
    pub default: u64,
    /// The smallest legal value.
    pub least: u64,
    /// The largest legal value.
    pub most: u64,
    /// Whether only powers of two are legal.
    pub power_of_two: bool,
}

impl Parameter {
    /// A parameter with its default and its legal values.
    pub const fn new(
        name: &'static str,
        default: u64,
        legal: RangeInclusive<u64>,
        about: &'static str,
    ) -> Self {
        let (least, most) = (*legal.start(), *legal.end());
        Self { name, default, least, most, power_of_two: false, about }
    }

    /// The same parameter, of whose values only powers of two are legal.
    #[must_use]
    pub const fn power_of_two(self) -> Self {
        Self { power_of_two: true, ..self }
    }

    /// Whether a value is legal.
    pub const fn allows(&self, value: u64) -> bool {
        self.least <= value && value <= self.most && (!self.power_of_two || value.is_power_of_two())
    }

    /// The legal values, in words.
    pub fn range(&self) -> String {
        let kind = if self.power_of_two { "a power of two" } else { "a number" };
        format!("{kind} from {} to {}", self.least, self.most)
    }
}

/// Why a text does not name a profile or parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is no such profile.
    #[error("unknown profile `{text}`; expected {expected}")]
    Unknown {
        /// The text.
        text: String,
        /// The profiles of the block.
        expected: String,
    },
    /// Not of the form `NAME=VALUE`.
    #[error("`{0}` is not NAME=VALUE with a number, as in NAME=2 or NAME=0x10")]
    Form(String),
    /// There is no such parameter.
    #[error("{}", unknown(.name, .known))]
    UnknownParameter {
        /// The text.
        name: String,
        /// The block's parameters.
        known: Vec<&'static str>,
    },
    /// Not `random:N`, or another N.
    #[error("`{0}` is not random:N with N from 1 to {MOST_RANDOM}")]
    Random(String),
    /// Two values of one parameter.
    #[error("parameter {0} is given twice")]
    Twice(String),
    /// A value that is not legal.
    #[error("parameter {name} is {value}: expected {range}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// The value.
        value: u64,
        /// The legal values, in words.
        range: String,
    },
}

fn unknown(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!(
            "unknown parameter `{name}`: the block has no parameters other than --fixes"
        );
    }
    let hint = if name == "FIXES" { "; --fixes chooses the mask of fixes" } else { "" };
    format!("unknown parameter `{name}`: expected {}{hint}", known.join(", "))
}

/// Parameter values by name, as the user set them.
pub type Overrides = BTreeMap<String, u64>;

/// The parameters of a model: the mask of fixes and the value of every other parameter. All are
/// legal.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Parameters {
    fixes: u8,
    #[serde(deserialize_with = "leaked::list")]
    pub(super) declared: &'static [Parameter],
    values: [u64; Self::CAPACITY],
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.fixes == other.fixes && self.values().eq(other.values())
    }
}

impl Eq for Parameters {}

impl Parameters {
    /// The largest number of parameters other than the mask.
    pub const CAPACITY: usize = 8;

    /// No parameters, and nothing fixed.
    pub const NONE: Self = Self::declared(&[], 0);

    pub(super) const fn declared(declared: &'static [Parameter], fixes: u8) -> Self {
        assert!(
            declared.len() <= Self::CAPACITY,
            "too many parameters: raise Parameters::CAPACITY in src/harness/parameters.rs"
        );
        let mut values = [0; Self::CAPACITY];
        let mut index = 0;
        while index < declared.len() {
            assert!(
                declared[index].allows(declared[index].default),
                "the default of a parameter must be legal"
            );
            values[index] = declared[index].default;
            index += 1;
        }
        Self { fixes, declared, values }
    }

    /// The same parameters with another value for the parameter of this index.
    ///
    /// # Panics
    /// If the value is not legal; at compile time in a constant.
    #[must_use]
    pub const fn with(mut self, index: usize, value: u64) -> Self {
        assert!(self.declared[index].allows(value), "a parameter's value must be legal");
        self.values[index] = value;
        self
    }

    /// The same with other values of some parameters.
    ///
    /// # Errors
    /// [`ProfileError`] if there is no such parameter, or if a value is not legal.
    pub fn with_overrides(mut self, overrides: &Overrides) -> Result<Self, ProfileError> {
        for (name, value) in overrides {
            let index = self.declared.iter().position(|parameter| parameter.name == name);
            let Some(index) = index else {
                let known = self.declared.iter().map(|parameter| parameter.name).collect();
                return Err(ProfileError::UnknownParameter { name: name.clone(), known });
            };
            let parameter = &self.declared[index];
            if !parameter.allows(*value) {
                let (name, range) = (parameter.name, parameter.range());
                return Err(ProfileError::Range { name, value: *value, range });
            }
            self.values[index] = *value;
        }
        Ok(self)
    }

    /// The mask of fixes: bit n switches fix Fn on.
    #[inline]
    pub const fn fixes(&self) -> u8 {
        self.fixes
    }

    /// The value of the parameter with an index into
    /// [`Block::PARAMETERS`](super::Block::PARAMETERS).
    #[inline]
    pub const fn get(&self, index: usize) -> u64 {
        self.values[index]
    }

    /// Every parameter but the mask, with its value.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let values = self.values;
        self.declared.iter().zip(values).map(|(parameter, value)| (parameter.name, value))
    }

    /// The values that differ from those of `other`.
    pub fn differing(&self, other: &Self) -> Overrides {
        let pairs = self.values().zip(other.values()).filter(|(here, there)| here != there);
        pairs.map(|((name, value), _)| (name.to_owned(), value)).collect()
    }

    /// Every parameter but the mask, by name.
    pub fn named(&self) -> Overrides {
        self.values().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The parameters for Verilator: every parameter with its value as a Verilog number. The mask
    /// has a fixed width; the others are integers, as in the RTL.
    pub fn verilog(&self, mask_parameter: Option<&str>) -> Vec<(String, String)> {
        let mask = mask_parameter.map(|name| (name.to_owned(), format!("8'h{:02x}", self.fixes)));
        let others = self.values().map(|(name, value)| (name.to_owned(), value.to_string()));
        mask.into_iter().chain(others).collect()
    }
}

/// A named set of parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Profile {
    /// `spec`, `repaired`, another profile of the block, or a mask like `0x5a`; followed by the
    /// parameters that differ from it, as in `spec+REPLAY_DEPTH=2`. [`Profile::parse`] reads it
    /// again.
    pub name: Cow<'static, str>,
    /// The parameters.
    pub parameters: Parameters,
}

impl Profile {
    /// A profile of a block.
    pub const fn new(name: &'static str, parameters: Parameters) -> Self {
        Self { name: Cow::Borrowed(name), parameters }
    }

    /// Reads the argument of `--fixes`: profiles separated by commas, `all`, or a mask like
    /// `0x5a`. Parameters may follow each, as in `spec+REPLAY_DEPTH=2`.
    ///
    /// # Errors
    /// The expected forms.
    pub fn parse(text: &str, profiles: &[Self]) -> Result<Vec<Self>, ProfileError> {
        Self::parse_beside(text, &Overrides::new(), profiles)
    }

    /// As [`Profile::parse`], with overrides. Their values become part of a profile's name only
    /// where `text` names them.
    ///
    /// # Errors
    /// As [`Profile::parse`].
    pub fn parse_beside(
        text: &str,
        named: &Overrides,
        profiles: &[Self],
    ) -> Result<Vec<Self>, ProfileError> {
        let mut found: Vec<Self> = Vec::new();
        for one in text.split(',') {
            let mut parts = one.split('+');
            let bases = Self::bases(parts.next().unwrap_or_default(), profiles)?;
            let mut all = named.clone();
            all.extend(overrides(parts)?);
            for profile in Self::with_overrides(&bases, &all, profiles)? {
                if !found.contains(&profile) {
                    found.push(profile);
                }
            }
        }
        Ok(found)
    }

    /// The profiles with overrides; equal parameter sets appear once.
    ///
    /// # Errors
    /// As [`Parameters::with_overrides`].
    pub fn with_overrides(
        chosen: &[Self],
        overrides: &Overrides,
        profiles: &[Self],
    ) -> Result<Vec<Self>, ProfileError> {
        let mut all: Vec<Self> = Vec::new();
        for profile in chosen {
            let parameters = profile.parameters.with_overrides(overrides)?;
            let named = Self::named(profile.base_name(), parameters, profiles)?;
            if !all.contains(&named) {
                all.push(named);
            }
        }
        Ok(all)
    }

    /// The name without the parameters that differ.
    pub fn base_name(&self) -> &str {
        self.name.split('+').next().unwrap_or_default()
    }

    /// Reads a name without parameters.
    ///
    /// # Errors
    /// The expected forms.
    pub fn bases(text: &str, profiles: &[Self]) -> Result<Vec<Self>, ProfileError> {
        if text == "all" {
            return Ok(profiles.to_vec());
        }
        if let Some(profile) = profiles.iter().find(|profile| profile.name == text) {
            return Ok(vec![profile.clone()]);
        }
        let has_mask = Self::has_mask(profiles);
        let mask = text.strip_prefix("0x").and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (mask, profiles.first()) {
            (Some(mask), Some(first)) if has_mask => {
                let parameters = Parameters::declared(first.parameters.declared, mask);
                let named = profiles.iter().find(|profile| profile.parameters == parameters);
                let unnamed = || Self { name: Cow::Owned(format!("0x{mask:02x}")), parameters };
                Ok(vec![named.cloned().unwrap_or_else(unnamed)])
            }
            _ => {
                let names: Vec<&str> = profiles.iter().map(|profile| &*profile.name).collect();
                let masks = if has_mask { ", or a mask from 0x00 to 0xff" } else { "" };
                let expected = format!("{}, all{masks}", names.join(", "));
                Err(ProfileError::Unknown { text: text.to_owned(), expected })
            }
        }
    }

    /// Whether a block with these profiles has a mask; a block without errata has none.
    pub(super) fn has_mask(profiles: &[Self]) -> bool {
        profiles.windows(2).any(|two| two[0].parameters.fixes != two[1].parameters.fixes)
    }

    /// Names parameters: by the profile that has them, else by the differences from `base`.
    fn named(base: &str, parameters: Parameters, profiles: &[Self]) -> Result<Self, ProfileError> {
        if let Some(same) = profiles.iter().find(|profile| profile.parameters == parameters) {
            return Ok(same.clone());
        }
        let mut name = base.to_owned();
        for base in Self::bases(base, profiles)? {
            for (parameter, value) in parameters.differing(&base.parameters) {
                name.push_str(&format!("+{parameter}={value}"));
            }
        }
        Ok(Self { name: Cow::Owned(name), parameters })
    }
}

/// Reads `NAME=VALUE`s.
///
/// # Errors
/// [`ProfileError`] if one is something else, or if a name comes twice.
pub fn overrides<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Overrides, ProfileError> {
    let mut overrides = Overrides::new();
    for text in texts {
        let number = |value: &str| match value.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => value.parse().ok(),
        };
        let parsed = text.split_once('=').and_then(|(name, value)| Some((name, number(value)?)));
        let (name, value) = parsed
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| ProfileError::Form(text.to_owned()))?;
        if overrides.insert(name.to_owned(), value).is_some() {
            return Err(ProfileError::Twice(name.to_owned()));
        }
    }
    Ok(overrides)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn parameter(name: &'static str, default: u64, power_of_two: bool) -> Parameter {
        Parameter { name, default, least: 2, most: 64, power_of_two, about: "" }
    }

    const DECLARED: &[Parameter] = &[parameter("DEPTH", 16, true), parameter("LIMIT", 20, false)];

    fn profiles() -> Vec<Profile> {
        let of = |fixes| Parameters::declared(DECLARED, fixes);
        vec![
            Profile::new("spec", of(0)),
            Profile::new("repaired", of(0xff)),
            Profile::new("small", of(0xff).with(0, 2)),
        ]
    }

    fn parse(text: &str) -> Result<Vec<Profile>, ProfileError> {
        Profile::parse(text, &profiles())
    }

    fn names(text: &str) -> Vec<String> {
        parse(text).unwrap().into_iter().map(|profile| profile.name.into_owned()).collect()
    }

    #[test]
    fn fixes_are_a_profile_all_or_a_mask() {
        assert_eq!(names("all"), ["spec", "repaired", "small"]);
        assert_eq!(names("0x5A"), ["0x5a"]);
        assert_eq!(names("0xff"), ["repaired"]);
        assert_eq!(names("small,spec,spec"), ["small", "spec"]);
        assert_eq!(names("0xff,repaired+DEPTH=2,0x5a"), ["repaired", "small", "0x5a"]);
        for bad in ["0x100", "5a", "none", "", "0x", "+DEPTH=2"] {
            assert!(matches!(parse(bad), Err(ProfileError::Unknown { .. })), "{bad}");
        }
    }

    #[test]
    fn parameters_follow_the_name_and_the_name_is_read_again() {
        for (text, name) in [
            ("spec+DEPTH=4", "spec+DEPTH=4"),
            ("spec+LIMIT=0x20+DEPTH=4", "spec+DEPTH=4+LIMIT=32"),
            ("0x01+LIMIT=2", "0x01+LIMIT=2"),
            // A value that the profile already has is not repeated, and a named profile keeps its
            // name.
            ("spec+DEPTH=16", "spec"),
            ("repaired+DEPTH=2", "small"),
            ("small+DEPTH=16", "repaired"),
            ("small+LIMIT=5", "small+LIMIT=5"),
        ] {
            assert_eq!(names(text), [name]);
            assert_eq!(parse(name), parse(text), "{text}");
        }
        assert_eq!(parse("spec+DEPTH=4").unwrap()[0].parameters.get(0), 4);
        assert_eq!(parse("spec+DEPTH=4").unwrap()[0].parameters.get(1), 20);
    }

    #[test]
    fn profiles_that_become_the_same_are_one() {
        assert_eq!(names("all+DEPTH=2"), ["spec+DEPTH=2", "small"]);
    }

    #[test]
    fn what_is_not_legal_is_refused_by_name_and_range() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert_eq!(
            message("spec+DEPTH=3"),
            "parameter DEPTH is 3: expected a power of two from 2 to 64"
        );
        assert_eq!(
            message("spec+DEPTH=128"),
            "parameter DEPTH is 128: expected a power of two from 2 to 64"
        );
        assert_eq!(message("spec+LIMIT=1"), "parameter LIMIT is 1: expected a number from 2 to 64");
        assert_eq!(message("spec+WIDTH=1"), "unknown parameter `WIDTH`: expected DEPTH, LIMIT");
        assert_eq!(message("spec+DEPTH=2+DEPTH=2"), "parameter DEPTH is given twice");
        assert_eq!(
            message("spec+FIXES=1"),
            "unknown parameter `FIXES`: expected DEPTH, LIMIT; --fixes chooses the mask of fixes"
        );
        assert!(message("spec,").starts_with("unknown profile ``; "));
        for bad in [
            "spec+",
            "spec+DEPTH",
            "spec+DEPTH=",
            "spec+=2",
            "spec+DEPTH=-2",
            "spec+DEPTH=1e3",
            "spec+DEPTH=99999999999999999999",
        ] {
            assert!(matches!(parse(bad), Err(ProfileError::Form(_))), "{bad}");
        }
    }

    #[test]
    fn a_block_without_errata_has_no_masks() {
        let one = [Profile::new("spec", Parameters::declared(DECLARED, 0))];
        let message = Profile::parse("0x01", &one).unwrap_err().to_string();
        assert_eq!(message, "unknown profile `0x01`; expected spec, all");
    }

    #[test]
    fn verilator_receives_every_value() {
        let parameters = parse("0x05+DEPTH=4").unwrap()[0].parameters;
        let verilog = |mask| {
            let verilog = parameters.verilog(mask).into_iter();
            verilog.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(verilog(Some("FIXES")), ["FIXES=8'h05", "DEPTH=4", "LIMIT=20"]);
        assert_eq!(verilog(None), ["DEPTH=4", "LIMIT=20"]);
    }
}

//! Vectors: a test case in a file, with everything that a replay needs and no random numbers.

use crate::rtl::Rtl;
use cosim_base::error::{Error, codes};
use cosim_base::files::read_input_text;
use cosim_harness::harness::raw_pins::{self, RawCycles};
use cosim_harness::harness::{
    BeforeResetText, Block, BlockInfo, Drive, Explain, Overrides, Parameter, Profile, ProfileError,
    Stimulus, Traffic as _, TrafficError, Verdict,
};
use cosim_harness::json::{self, MisreadText, Tree};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use verilated::BeforeReset;

/// The value of a vector's `format`.
pub const FORMAT: &str = "cosim-vector";
/// The only version. A vector is an input that users edit, so it has no checksum.
pub const VERSION: u64 = 1;
/// Maximum size of a vector in bytes, for reading and writing. Unconstrained random stimulus in the
/// longest case of the built-in scenarios needs half of it.
const LARGEST: u64 = 512 << 20;
/// Maximum number of values in a vector, for reading and writing. An object or a list takes far
/// more memory than its text, so their number has a limit of its own.
const MOST_VALUES: usize = 1 << 26;
/// Maximum number of objects and lists in a vector, for reading and writing.
const MOST_OBJECTS: usize = 1 << 23;

/// A vector of a block.
pub type Vector<B> = VectorOf<Stimulus<B>>;

/// What a vector says besides its stimulus.
pub type VectorHead = VectorOf<IgnoredAny>;

/// A vector whose stimulus is in some form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorOf<S> {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// The block's name.
    pub block: String,
    /// The fixes for the replay: a profile, `all` of them, or a mask.
    pub fixes: String,
    /// RTL parameters that differ from those of `fixes`.
    #[serde(default, skip_serializing_if = "Overrides::is_empty")]
    pub parameters: Overrides,
    /// The origin of the vector.
    pub origin: Origin,
    /// What drives the block.
    pub stimulus: S,
    /// The verdict when it was written; `null` if everything matched.
    #[serde(deserialize_with = "Option::deserialize")]
    pub recorded: Option<Verdict>,
}

/// The text of a stimulus that was read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StimulusText<'a> {
    #[serde(with = "BeforeResetText", default = "ones")]
    before_reset: BeforeReset,
    #[serde(borrow, default)]
    traffic: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cycles: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct WrittenStimulus<'a> {
    #[serde(with = "BeforeResetText", skip_serializing_if = "are_ones")]
    before_reset: BeforeReset,
    #[serde(flatten)]
    drive: WrittenDrive<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum WrittenDrive<'a> {
    Traffic(Tree),
    Cycles(RawCycles<'a>),
}

fn are_ones(before_reset: &BeforeReset) -> bool {
    *before_reset == BeforeReset::Ones
}

fn ones() -> BeforeReset {
    BeforeReset::Ones
}

/// The origin of a vector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What it demonstrates, in one line.
    pub about: String,
    /// The case that it was generated for, unless it was written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The build of the tool that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// JSON pointers to the numbers of the traffic that do not matter: other legal values, drawn
    /// again after shrinking, failed in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// The hash of the RTL that it was recorded with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtl: Option<String>,
    /// The user RTL, as typed; empty for the built-in RTL.
    #[serde(default, skip_serializing_if = "Rtl::is_usual")]
    pub given: Rtl,
}

/// A vector file whose block is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorFile {
    /// The file.
    #[serde(with = "cosim_base::path_bytes")]
    pub path: PathBuf,
    /// The block that it names.
    pub block: String,
    text: String,
}

/// The fields that determine how to parse the rest.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: Value,
    block: String,
    #[serde(rename = "stimulus", default)]
    _stimulus: IgnoredAny,
}

impl VectorFile {
    /// Reads a file and parses its head.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if it is not a vector.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = read_input_text(path, LARGEST)?;
        // In other text of a file of JSON, the error has a place.
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let text_begins = text.trim_start();
        if text_begins.is_empty() || !is_json && !text_begins.starts_with('{') {
            let message = "is not a vector, which is a JSON object".to_owned();
            return Err(Error::File { code: codes::NO_VECTORS, path: path.to_owned(), message });
        }
        Self::from_text(text, path)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parses the head of a text; `path` is for messages.
    ///
    /// # Errors
    /// As [`VectorFile::read`].
    pub fn from_text(text: String, path: &Path) -> Result<Self, Error> {
        let file_error =
            |code| move |message: String| Error::File { code, path: path.to_owned(), message };
        check_values(text.as_bytes()).map_err(file_error(codes::TOO_LARGE))?;
        let head: Head = serde_json::from_str(&text).map_err(|error| Error::json(path, &error))?;
        if head.format != FORMAT {
            let message = format!("format is `{}`, expected `{FORMAT}`", head.format);
            return Err(file_error(codes::WRONG_FORMAT)(message));
        }
        if head.version != VERSION {
            let message = format!("version is {}, this program reads {VERSION}", head.version);
            return Err(file_error(codes::WRONG_FORMAT)(message));
        }
        Ok(Self { path: path.to_owned(), block: head.block, text })
    }

    /// Parses everything but the stimulus.
    ///
    /// # Errors
    /// [`Error::Input`] with line and column.
    pub fn head(&self) -> Result<VectorHead, Error> {
        serde_json::from_str(&self.text).map_err(|error| Error::json(&self.path, &error))
    }

    /// Parses the vector.
    ///
    /// # Errors
    /// [`Error::Input`] with line, column and JSON path; [`Error::File`] for errors that the types
    /// cannot express, such as an impossible order.
    pub fn parse<B: Block>(&self) -> Result<Vector<B>, Error> {
        parse(&self.text, &self.path)
    }
}

/// Checks the number of values before any is in memory.
fn check_values(text: &[u8]) -> Result<(), String> {
    let (mut values, mut objects) = (0, 0);
    for byte in text {
        match byte {
            b',' => values += 1,
            b'{' | b'[' => objects += 1,
            _ => {}
        }
    }
    for (what, number, most) in
        [("values", values, MOST_VALUES), ("objects and lists", objects, MOST_OBJECTS)]
    {
        if number > most {
            return Err(format!("has {number} {what}, expected at most {most}"));
        }
    }
    Ok(())
}

/// A part of the text of a file.
#[derive(Clone, Copy)]
struct Part<'a> {
    path: &'a Path,
    whole: &'a str,
    part: &'a str,
    place: &'a str,
}

impl<'a> Part<'a> {
    fn inside(self, part: &'a RawValue, place: &'a str) -> Self {
        Self { part: part.get(), place, ..self }
    }

    /// Reads the text with line, column and place.
    fn parse<T: Deserialize<'a>>(self) -> Result<T, Error> {
        let mut from = serde_json::Deserializer::from_str(self.part);
        let read = serde_path_to_error::deserialize(&mut from).map_err(|error| {
            let place = error.path().to_string();
            self.error(&MisreadText { place, error: error.into_inner() })
        })?;
        from.end().map_err(|error| self.error(&MisreadText { place: ".".to_owned(), error }))?;
        Ok(read)
    }

    /// An error of the part, with its line and column in the file.
    fn error(self, misread: &MisreadText) -> Error {
        let place = match misread.place.as_str() {
            "." if self.place.is_empty() => ".".to_owned(),
            "." => self.place.to_owned(),
            place if self.place.is_empty() || place.starts_with('[') => {
                format!("{}{place}", self.place)
            }
            place => format!("{}.{place}", self.place),
        };
        let mut error = Error::json_at(self.path, &place, &misread.error);
        if let Error::Input { line, column, .. } = &mut error {
            let offset = self.part.as_ptr().addr() - self.whole.as_ptr().addr();
            let before = &self.whole[..offset];
            if *line <= 1 {
                *column += before.rsplit('\n').next().map_or(0, str::len);
            }
            *line = (*line).max(1) + before.matches('\n').count();
        }
        error
    }

    fn part_error(self, message: &str) -> Error {
        Error::File {
            code: codes::BAD_VECTOR,
            path: self.path.to_owned(),
            message: format!("{}: {message}", self.place),
        }
    }
}

/// A vector whose stimulus is still text.
type ReadVector<'a> = (VectorOf<&'a RawValue>, StimulusText<'a>);

/// Parses all of a vector but its traffic or its cycles.
fn parse_around<'a>(whole: Part<'a>, block: &str) -> Result<ReadVector<'a>, Error> {
    let read: VectorOf<&RawValue> = whole.parse()?;
    if read.block != block {
        let message = format!("is `{}`, expected `{block}`", read.block);
        return Err(Part { place: "block", ..whole }.part_error(&message));
    }
    let part = whole.inside(read.stimulus, "stimulus");
    let stimulus: StimulusText<'_> = part.parse()?;
    let message = match (stimulus.traffic, stimulus.cycles) {
        (None, None) => "missing field `traffic` or `cycles`",
        (Some(_), Some(_)) => "has both `traffic` and `cycles`, expected one of them",
        _ => return Ok((read, stimulus)),
    };
    let error = serde_json::Error::custom(message);
    Err(part.error(&MisreadText { place: ".".to_owned(), error }))
}

/// Parses the text of a vector; `path` is for messages.
///
/// # Errors
/// As [`VectorFile::parse`].
pub fn parse<B: Block>(text: &str, path: &Path) -> Result<Vector<B>, Error> {
    let whole = Part { path, whole: text, part: text, place: "" };
    let (read, StimulusText { before_reset, traffic, cycles }) = parse_around(whole, B::NAME)?;
    let mut drive = Drive::Cycles(Vec::new());
    if let Some(text) = traffic {
        let part = whole.inside(text, "stimulus.traffic");
        let traffic: B::Traffic = json::from_text(part.part).map_err(|wrong| part.error(&wrong))?;
        traffic.check().map_err(|TrafficError { path, message }| {
            Part { place: &format!("{}.{path}", part.place), ..part }.part_error(&message)
        })?;
        drive = Drive::Traffic(traffic);
    }
    if let Some(text) = cycles {
        let part = whole.inside(text, "stimulus.cycles");
        let cycles: Vec<B::Inputs> =
            raw_pins::from_text(part.part).map_err(|wrong| part.error(&wrong))?;
        if cycles.is_empty() {
            return Err(part.part_error("empty; expected at least one cycle"));
        }
        drive = Drive::Cycles(cycles);
    }
    Ok(read.with(Stimulus { before_reset, drive }))
}

/// The JSON schema of a block's vectors. Shared types are in `generator`.
pub fn schema<B: Explain>(generator: &mut SchemaGenerator) -> Value {
    let traffic = generator.subschema_for::<B::Traffic>().to_value();
    schema_around(BlockInfo::from_block::<B>(), traffic, generator)
}

fn schema_around(info: &BlockInfo, traffic: Value, generator: &mut SchemaGenerator) -> Value {
    let before_reset = generator.subschema_for::<BeforeResetText>().to_value();
    let object = |name: &str, schema: Value| {
        json!({
            "type": "object",
            "properties": { name: schema, "before_reset": before_reset },
            "required": [name],
            "additionalProperties": false,
        })
    };
    json!({
        "title": format!("Vector of block {}", info.name),
        "type": "object",
        "properties": {
            "format": { "const": FORMAT },
            "version": { "const": VERSION },
            "block": { "const": info.name },
            "fixes": { "type": "string", "pattern": "^([a-z]+|0x[0-9a-f]{1,2})$" },
            "parameters": parameters_schema(info.parameters),
            "origin": generator.subschema_for::<Origin>(),
            "stimulus": {
                "oneOf": [
                    object("traffic", traffic),
                    object("cycles", raw_pins::schema(info.inputs)),
                ],
            },
            "recorded": { "anyOf": [
                { "type": "null" },
                generator.subschema_for::<Verdict>(),
            ] },
        },
        "required": ["format", "version", "block", "fixes", "origin", "stimulus", "recorded"],
        "additionalProperties": false,
    })
}

fn parameters_schema(declared: &[Parameter]) -> Value {
    let property = |parameter: &Parameter| {
        let Parameter { least, most, power_of_two, .. } = *parameter;
        let schema = if power_of_two {
            let values =
                (0..u64::BITS).map(|bit| 1 << bit).filter(|value| parameter.allows(*value));
            json!({ "enum": values.collect::<Vec<u64>>() })
        } else {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        };
        (parameter.name.to_owned(), schema)
    };
    json!({
        "type": "object",
        "properties": declared.iter().map(property).collect::<serde_json::Map<_, _>>(),
        "additionalProperties": false,
    })
}

impl<S> VectorOf<S> {
    fn with<T>(&self, stimulus: T) -> VectorOf<T> {
        VectorOf {
            format: self.format.clone(),
            version: self.version,
            block: self.block.clone(),
            fixes: self.fixes.clone(),
            parameters: self.parameters.clone(),
            origin: self.origin.clone(),
            stimulus,
            recorded: self.recorded.clone(),
        }
    }
}

impl<B: Block> Vector<B> {
    /// A vector of a stimulus.
    pub fn new(
        profile: &Profile,
        origin: Origin,
        stimulus: Stimulus<B>,
        recorded: Option<Verdict>,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            block: B::NAME.to_owned(),
            fixes: profile.base_name().to_owned(),
            // All values are written: profiles and defaults may change, the vector must not.
            parameters: profile.parameters.named(),
            origin,
            stimulus,
            recorded,
        }
    }

    /// The vector's text.
    ///
    /// # Errors
    /// [`Error::VectorTooLarge`] if [`VectorFile::read`] would refuse it.
    pub fn to_text(&self) -> Result<String, Error> {
        let drive = match &self.stimulus.drive {
            Drive::Traffic(traffic) => {
                let text = json::to_text(traffic).map_err(internal)?;
                WrittenDrive::Traffic(Tree::from_text(&text).map_err(internal)?)
            }
            Drive::Cycles(cycles) => WrittenDrive::Cycles(RawCycles::new(cycles)),
        };
        write(&self.with(WrittenStimulus { before_reset: self.stimulus.before_reset, drive }))
    }
}

/// An error that no input can cause.
pub(crate) fn internal(error: impl ToString) -> Error {
    Error::Environment(codes::INTERNAL, error.to_string())
}

fn write(vector: &VectorOf<WrittenStimulus<'_>>) -> Result<String, Error> {
    let mut text = BoundedString { bytes: Vec::new(), most: LARGEST as usize };
    let result = serde_json::to_writer_pretty(&mut text, vector);
    match result.map_err(io::Error::from).and_then(|()| text.write_all(b"\n")) {
        Ok(()) if check_values(&text.bytes).is_ok() => {
            String::from_utf8(text.bytes).map_err(internal)
        }
        Err(error) if error.kind() != ErrorKind::FileTooLarge => Err(internal(error)),
        _ => Err(Error::VectorTooLarge { most: LARGEST >> 20 }),
    }
}

/// The profiles that a vector names.
///
/// # Errors
/// [`Error::File`] for an unknown profile or an illegal value.
pub fn own_profiles(
    file: &VectorFile,
    fixes: &str,
    parameters: &Overrides,
    known: &[Profile],
) -> Result<Vec<Profile>, Error> {
    let wrong = |place: &str, error: ProfileError| Error::File {
        code: codes::BAD_VECTOR,
        path: file.path.clone(),
        message: format!("{place}: {error}"),
    };
    let named = Profile::bases(fixes, known).map_err(|error| wrong("fixes", error))?;
    Profile::with_overrides(&named, parameters, known).map_err(|error| wrong("parameters", error))
}

/// The names and stimuli of those vectors that are for a profile of this block.
///
/// # Errors
/// As [`VectorFile::parse`].
pub fn stimuli_of<B: Block>(
    files: &[VectorFile],
    profile: &Profile,
) -> Result<Vec<(String, Stimulus<B>)>, Error> {
    let mut stimuli = Vec::new();
    for file in files.iter().filter(|file| file.block == B::NAME) {
        let vector = file.parse::<B>()?;
        let profiles = Profile::parse_beside(&vector.fixes, &vector.parameters, B::PROFILES);
        if profiles.is_ok_and(|profiles| profiles.contains(profile)) {
            stimuli.push((file.path.display().to_string(), vector.stimulus));
        }
    }
    Ok(stimuli)
}

struct BoundedString {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for BoundedString {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.most - self.bytes.len() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_values_is_bounded() {
        let path = Path::new("v.json");
        for item in ["1,", "{},", "[],"] {
            let most = if item == "1," { MOST_VALUES } else { MOST_OBJECTS };
            let text = format!("[{}", item.repeat(most + 1));
            let error = VectorFile::from_text(text, path).unwrap_err();
            assert_eq!(error.code(), codes::TOO_LARGE, "{error}");
            assert!(error.to_string().contains(&most.to_string()), "{error}");
        }
    }

    #[test]
    fn a_text_of_bounded_length_takes_no_byte_more() {
        let mut text = BoundedString { bytes: Vec::new(), most: 4 };
        text.write_all(b"1234").unwrap();
        assert_eq!(text.write_all(b"5").unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(text.bytes, b"1234");
    }
}

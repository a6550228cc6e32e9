//! Reads `cosim.toml`: defaults of options, from the nearest folder upwards that contains one.
//!
//! A key is the long name of an option. The table `[all]` applies to every command that has the
//! option, `[run]` to `cosim run`. The command line takes precedence: a default that conflicts with
//! it is ignored.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use cosim_base::error::{Code, Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input_text};
use cosim_regress::program;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The name of the file.
const FILE: &str = "cosim.toml";
/// The variable that names another file. Empty disables defaults.
const VARIABLE: &str = "COSIM_CONFIG";
/// The table for all commands.
const ALL: &str = "all";
/// Options that are specific to a single call and cannot have a default.
const WITHOUT_DEFAULT: [&str; 4] = ["force", "case", "out", "help"];

/// Options that the name of a case determines, so `--case` overrides their defaults.
const OF_A_CASE: [&str; 3] = ["block", "fixes", "parameter"];

/// Adds the defaults of the nearest `cosim.toml` to a command line, and returns a note that lists
/// them.
///
/// # Errors
/// An error in the file.
pub fn with_defaults(
    cli: &Command,
    words: Vec<OsString>,
) -> Result<(Vec<OsString>, Option<String>), Error> {
    // clap explains an invalid command line better without defaults.
    let Ok(matches) = cli.clone().try_get_matches_from(&words) else { return Ok((words, None)) };
    let Some((name, given)) = matches.subcommand() else { return Ok((words, None)) };
    let mut cli = cli.clone();
    cli.build();
    let Some(command) = cli.find_subcommand(name).filter(|command| !command.is_hide_set()) else {
        return Ok((words, None));
    };
    let Some(path) = file()? else { return Ok((words, None)) };
    let config = Config::read(path, &cli)?;
    let mut added = Vec::new();
    for (option, argument, value) in config.defaults(command) {
        let is_typed = |id: &str| {
            matches!(given.try_contains_id(id), Ok(true))
                && given.value_source(id) == Some(ValueSource::CommandLine)
        };
        if is_typed(argument.get_id().as_str()) || is_typed("case") && OF_A_CASE.contains(&option) {
            continue;
        }
        let new = config.words(option, argument, value)?;
        match cli.clone().try_get_matches_from(inserted(&words, added.iter().chain(&new))) {
            Ok(_) => added.extend(new),
            // The command line takes precedence.
            Err(error) if error.kind() == ErrorKind::ArgumentConflict => {}
            Err(error) => return Err(config.wrong(option, &error)),
        }
    }
    if added.is_empty() {
        return Ok((words, None));
    }
    let shown: Vec<String> = added.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let note = format!("{}: {}", config.path.display(), shown.join(" "));
    Ok((inserted(&words, &added), Some(note)))
}

/// Inserts options directly after the name of the command, because later words may follow `--`.
fn inserted<'a>(
    words: &'a [OsString],
    options: impl IntoIterator<Item = &'a OsString>,
) -> Vec<OsString> {
    let (command, others) = words.split_at(words.len().min(2));
    command.iter().chain(options).chain(others).cloned().collect()
}

/// The path of the nearest file.
fn file() -> Result<Option<PathBuf>, Error> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Ok((!named.is_empty()).then(|| named.into()));
    }
    let Ok(here) = env::current_dir() else { return Ok(None) };
    Ok(here.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file()))
}

/// A parsed `cosim.toml`.
struct Config {
    path: PathBuf,
    text: String,
    tables: Table,
}

impl Config {
    fn read(path: PathBuf, cli: &Command) -> Result<Self, Error> {
        let text = read_input_text(&path, LARGEST_INPUT)?;
        let tables: Table =
            toml::from_str(&text).map_err(|error| Error::toml(&path, &text, None, &error))?;
        let config = Self { path, text, tables };
        for (name, table) in &config.tables {
            let Value::Table(table) = table else {
                let message = format!("`{name}` is outside of a table: put it into `[{ALL}]`");
                return Err(config.at(codes::UNKNOWN_FIELD, name, message));
            };
            let commands: Vec<&Command> = match name.as_str() {
                ALL => cli.get_subcommands().collect(),
                name => cli.find_subcommand(name).into_iter().collect(),
            };
            if commands.is_empty() {
                let message = format!(
                    "unknown table `[{name}]`: tables are `[{ALL}]` and the names of commands"
                );
                return Err(config.at(codes::UNKNOWN_FIELD, name, message));
            }
            for option in table.keys() {
                let is_known = |command: &&Command| argument(command, option).is_some();
                if !commands.iter().any(is_known) {
                    let message = unknown(option, name, &commands);
                    return Err(config.at(codes::UNKNOWN_FIELD, option, message));
                }
            }
        }
        Ok(config)
    }

    /// The defaults for a command. Its own table takes precedence over `[all]`.
    fn defaults<'a>(&'a self, command: &'a Command) -> Vec<(&'a str, &'a Arg, &'a Value)> {
        let mut found = Vec::new();
        let mut names = BTreeSet::new();
        for table in [command.get_name(), ALL] {
            let table = self.tables.get(table).and_then(Value::as_table);
            for (option, value) in table.into_iter().flatten() {
                if let Some(argument) = argument(command, option)
                    && names.insert(option.as_str())
                {
                    found.push((option.as_str(), argument, value));
                }
            }
        }
        found
    }

    /// The command line words that set a default.
    fn words(&self, option: &str, argument: &Arg, value: &Value) -> Result<Vec<OsString>, Error> {
        let takes_value = argument.get_action().takes_values();
        let one = |value: &Value| -> Result<OsString, Error> {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                _ => {
                    let message = format!("`{option}` must be a string, a number or true");
                    return Err(self.at(codes::BAD_VALUE, option, message));
                }
            };
            let mut word = OsString::from(format!("--{option}="));
            word.push(self.resolved(argument, &text));
            Ok(word)
        };
        match (value, takes_value) {
            (Value::Boolean(true), false) => Ok(vec![format!("--{option}").into()]),
            (Value::Boolean(false), false) => Ok(Vec::new()),
            (Value::Array(values), true) if matches!(argument.get_action(), ArgAction::Append) => {
                values.iter().map(one).collect()
            }
            (value, true) => Ok(vec![one(value)?]),
            (_, false) => {
                let message = format!("`{option}` must be true or false");
                Err(self.at(codes::BAD_VALUE, option, message))
            }
        }
    }

    /// Resolves a path relative to the folder of the file.
    fn resolved(&self, argument: &Arg, text: &str) -> PathBuf {
        let names = argument.get_value_names().into_iter().flatten();
        let words: Vec<&str> =
            names.flat_map(|name| name.split(|c: char| !c.is_ascii_alphanumeric())).collect();
        let is_path = words.iter().any(|word| ["FILE", "DIR"].contains(word));
        let may_be_name = words.contains(&"NAME") || text == "built-in";
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let path = folder.join(text);
        if is_path && (!may_be_name || path.exists()) { path } else { text.into() }
    }

    fn wrong(&self, option: &str, error: &clap::Error) -> Error {
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default();
        self.at(codes::BAD_VALUE, option, text.strip_prefix("error: ").unwrap_or(text).to_owned())
    }

    /// An error at the line that begins with a word.
    fn at(&self, code: Code, word: &str, message: String) -> Error {
        let begins =
            |line: &str| line.trim_start().trim_start_matches(['[', '"']).starts_with(word);
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            if begins(line) {
                break;
            }
            offset += line.len();
        }
        let offset = if offset == self.text.len() { 0 } else { offset };
        Error::at_offset(code, &self.path, &self.text, offset, message)
    }
}

/// The option of a command, if it may have a default.
fn argument<'a>(command: &'a Command, option: &str) -> Option<&'a Arg> {
    let mut all = command.get_arguments();
    all.find(|argument| argument.get_long() == Some(option) && !WITHOUT_DEFAULT.contains(&option))
}

/// The message for an unknown option, with the most similar one.
fn unknown(option: &str, table: &str, commands: &[&Command]) -> String {
    if WITHOUT_DEFAULT.contains(&option) {
        return format!("unknown default `{option}`: --{option} must be given on the command line");
    }
    let known = commands.iter().flat_map(|command| command.get_arguments());
    let known: BTreeSet<&str> = known.filter_map(|argument| argument.get_long()).collect();
    let near = known.iter().max_by(|left, right| {
        let near = |name: &str| strsim::jaro_winkler(name, option);
        near(left).total_cmp(&near(right))
    });
    let near = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    format!("unknown option `{option}` in `[{table}]`{near}")
}

/// Prints where defaults come from, so that the file's influence is visible.
pub fn show(note: Option<&str>) {
    if let Some(note) = note {
        program::say(format_args!("defaults from {note}"));
    }
}

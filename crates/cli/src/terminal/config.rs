//! Reads `cosim.toml`: defaults of options, from the nearest folder upwards that contains one.
//!
//! A key is the long name of an option. The table `[all]` applies to every command that has the
//! option, `[run]` to `cosim run`. The command line takes precedence: a default that conflicts with
//! it is ignored.
//!
//! The file may come with the sources of other people. [`DEFAULTS`] lists the options that it may
//! set. It does not count if another user can write it, and the search ends at the root of the
//! repository. See ADR 0044.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use cosim_base::error::{Code, Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input_text};
use cosim_base::program;
use cosim_base::text;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use verilated_files::trust;

const FILE: &str = "cosim.toml";
/// The variable that names another file. Empty disables defaults.
const VARIABLE: &str = "COSIM_CONFIG";
/// The table for all commands.
const ALL: &str = "all";
/// The directory at the root of a repository, or the file in its place in a linked work tree.
const REPOSITORY: &str = ".git";

/// Every option, with the commands for which a file may set its default. An option that is missing
/// here has no default, and a test names it.
///
/// A default may select what new work covers, make a check stricter, or change what is printed. It
/// never switches off a check or the sandbox, names code to execute, a file to read as a record or
/// a place to write to, and it never changes what repeats recorded work.
const DEFAULTS: [(&str, &str); 72] = [
    ("accept-believed", ""),
    ("accept-bounded", ""),
    ("assertions", ""),
    ("baseline", ""),
    ("block", "run watch mutate prove diff bench list"),
    ("budget", ""),
    ("bugs", ""),
    ("build", ""),
    ("case", ""),
    ("cases", "run watch mutate"),
    ("checks-only", ""),
    ("clock", ""),
    ("closed", ""),
    ("cocotb", ""),
    ("cosim", ""),
    ("coverage", "run"),
    ("csv", ""),
    ("details", "run resume merge"),
    ("expect-recorded", ""),
    ("fixes", "run watch mutate prove diff bench"),
    ("force", ""),
    (
        "format",
        "run replay shrink explain bench cache list resume merge mutate prove diff compare signoff doctor",
    ),
    ("help", ""),
    ("history", ""),
    ("in-diff", ""),
    ("instructions", ""),
    ("legal-only", ""),
    ("max-failures", "run watch"),
    ("max-hangs", "run watch"),
    ("memory-limit", ""),
    ("min-coverage", "run"),
    ("min-score", "mutate"),
    ("mutants", "mutate"),
    ("no-cache", "mutate prove diff resume"),
    ("no-judge", ""),
    ("no-sandbox", ""),
    ("no-shrink", "run watch"),
    ("no-sources", "run watch"),
    ("no-waves", "run watch diff"),
    ("only", ""),
    ("out", ""),
    ("packets", "run watch mutate"),
    ("parameter", "run watch mutate prove diff bench"),
    ("pins", ""),
    ("plan", ""),
    ("print", ""),
    ("problems", "run watch"),
    ("quiet", "run replay shrink resume merge mutate"),
    ("recorded-rtl", ""),
    ("reset", ""),
    ("revoke", ""),
    ("rtl", ""),
    ("rtl-out", ""),
    ("run", ""),
    ("run-seed", "mutate"),
    ("save-vectors", ""),
    ("scenario", "run watch mutate"),
    ("seed", "run watch mutate"),
    ("shard", ""),
    ("simulator", ""),
    ("stuck-after", ""),
    ("threads", "run replay watch mutate resume"),
    ("time", "run watch diff"),
    ("top", ""),
    ("trace", ""),
    ("trace-all", ""),
    ("until-coverage", ""),
    ("vectors", ""),
    ("verilator-option", ""),
    ("viewer", "open"),
    ("waves", ""),
    ("x", ""),
];

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
    if !command.get_arguments().filter_map(Arg::get_long).any(|option| has_default(name, option)) {
        return Ok((words, None));
    }
    let Some(path) = file() else { return Ok((words, None)) };
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
            Err(error) => return Err(config.option_error(option, &error)),
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

/// The file that the environment names, or else the nearest one that only this user or root can
/// write. Warns of nearer files that others can write.
fn file() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return (!named.is_empty()).then(|| named.into());
    }
    nearest(&env::current_dir().ok()?, &mut |path, reason| {
        program::warn(format_args!(
            "{} sets no defaults, because {reason}; to use it, set {VARIABLE} to its path",
            text::path(path)
        ));
    })
}

/// The nearest file from a folder upwards, but not above its repository. `ignored` receives each
/// file that another user can write, with the reason.
fn nearest(from: &Path, ignored: &mut dyn FnMut(&Path, &str)) -> Option<PathBuf> {
    for folder in from.ancestors() {
        let path = folder.join(FILE);
        if path.is_file() {
            match trust::written_by_others(&path) {
                None => return Some(path),
                Some(reason) => ignored(&path, &reason),
            }
        }
        if folder.join(REPOSITORY).symlink_metadata().is_ok() {
            return None;
        }
    }
    None
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
                return Err(config.error_at(codes::UNKNOWN_FIELD, name, message));
            };
            let commands: Vec<&Command> = match name.as_str() {
                ALL => cli.get_subcommands().collect(),
                name => cli.find_subcommand(name).into_iter().collect(),
            };
            if commands.is_empty() {
                let message = format!(
                    "unknown table `[{name}]`: tables are `[{ALL}]` and the names of commands"
                );
                return Err(config.error_at(codes::UNKNOWN_FIELD, name, message));
            }
            for option in table.keys() {
                let is_known = |command: &&Command| argument(command, option).is_some();
                if !commands.iter().any(is_known) {
                    let message = unknown(option, name, &commands);
                    return Err(config.error_at(codes::UNKNOWN_FIELD, option, message));
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

    fn words(&self, option: &str, argument: &Arg, value: &Value) -> Result<Vec<OsString>, Error> {
        let takes_value = argument.get_action().takes_values();
        let one = |value: &Value| -> Result<OsString, Error> {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                _ => {
                    let message = format!("`{option}` must be a string, a number or true");
                    return Err(self.error_at(codes::BAD_VALUE, option, message));
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
                Err(self.error_at(codes::BAD_VALUE, option, message))
            }
        }
    }

    /// Resolves the name of a file relative to the folder of this one. Other names stay.
    fn resolved(&self, argument: &Arg, text: &str) -> PathBuf {
        let mut names = argument.get_value_names().into_iter().flatten();
        let path = self.path.parent().unwrap_or(Path::new("")).join(text);
        if names.any(|name| name.contains("FILE")) && path.exists() { path } else { text.into() }
    }

    fn option_error(&self, option: &str, error: &clap::Error) -> Error {
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default();
        self.error_at(
            codes::BAD_VALUE,
            option,
            text.strip_prefix("error: ").unwrap_or(text).to_owned(),
        )
    }

    /// An error at the line that begins with a word.
    fn error_at(&self, code: Code, word: &str, message: String) -> Error {
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

/// Whether a file may set the default of an option of a command.
fn has_default(command: &str, option: &str) -> bool {
    let known = DEFAULTS.iter().find(|(known, _)| *known == option);
    known.is_some_and(|(_, commands)| commands.split(' ').any(|known| known == command))
}

/// The option of a command, if it may have a default.
fn argument<'a>(command: &'a Command, option: &str) -> Option<&'a Arg> {
    let mut all = command.get_arguments();
    all.find(|argument| {
        argument.get_long() == Some(option) && has_default(command.get_name(), option)
    })
}

/// The message for an option that cannot be set, with the most similar one.
fn unknown(option: &str, table: &str, commands: &[&Command]) -> String {
    let all = commands.iter().flat_map(|command| {
        command.get_arguments().map(|argument| (command.get_name(), argument.get_long()))
    });
    let all: Vec<(&str, &str)> =
        all.filter_map(|(command, option)| Some((command, option?))).collect();
    if all.iter().any(|(_, known)| *known == option) {
        return format!("`{option}` cannot have a default: give --{option} on the command line");
    }
    let known = all.iter().filter(|(command, option)| has_default(command, option));
    let known: BTreeSet<&str> = known.map(|(_, option)| *option).collect();
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
        program::print_note(format_args!("defaults from {}", text::line(note)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// All commands, completed by clap.
    fn cli() -> Command {
        let mut cli = crate::Cli::command();
        cli.build();
        cli
    }

    #[test]
    fn each_option_of_each_command_is_in_the_table_of_defaults() {
        let cli = cli();
        let commands = || cli.get_subcommands().filter(|command| !command.is_hide_set());
        let mut options = BTreeSet::new();
        for command in commands() {
            options.extend(command.get_arguments().filter_map(Arg::get_long));
        }
        for option in &options {
            let is_listed = DEFAULTS.iter().any(|(known, _)| known == option);
            assert!(is_listed, "decide whether a file may set --{option}, and add it to DEFAULTS");
        }
        for (option, names) in DEFAULTS {
            assert!(options.contains(option), "no command has --{option}");
            for name in names.split(' ').filter(|name| !name.is_empty()) {
                let command = commands().find(|command| command.get_name() == name);
                let command = command.unwrap_or_else(|| panic!("no command {name}"));
                assert!(argument(command, option).is_some(), "{name} has no --{option}");
            }
        }
    }

    #[test]
    fn no_default_weakens_a_check_or_names_code_or_files() {
        for command in cli().get_subcommands() {
            for option in [
                "no-sandbox",
                "rtl",
                "recorded-rtl",
                "expect-recorded",
                "accept-believed",
                "accept-bounded",
                "memory-limit",
                "history",
                "stuck-after",
                "simulator",
                "plan",
                "out",
                "an-option-of-tomorrow",
            ] {
                assert!(!has_default(command.get_name(), option), "{option}");
            }
        }
        // Another profile than the recorded one may pass.
        for command in ["replay", "explain", "shrink", "export"] {
            assert!(!has_default(command, "fixes"), "{command}");
        }
    }

    /// The nearest file, and those that were ignored.
    fn find_file(from: &Path) -> (Option<PathBuf>, Vec<PathBuf>) {
        let mut ignored = Vec::new();
        let path = nearest(from, &mut |path, _| ignored.push(path.to_owned()));
        (path, ignored)
    }

    #[test]
    fn files_that_others_can_write_do_not_count() {
        let folder = TempDir::new().unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        let [outer, inner] = [folder.path(), below.as_path()].map(|folder| folder.join(FILE));
        let set = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        for path in [&outer, &inner] {
            fs::write(path, "").unwrap();
            set(path, 0o644);
        }
        set(&below, 0o755);
        assert_eq!(find_file(&below), (Some(inner.clone()), Vec::new()));
        set(&inner, 0o664);
        assert_eq!(find_file(&below), (Some(outer), vec![inner]));
    }

    #[test]
    fn the_search_ends_at_the_root_of_the_repository() {
        let folder = TempDir::new().unwrap();
        let below = folder.path().join("repository/below");
        fs::create_dir_all(&below).unwrap();
        let outer = folder.path().join(FILE);
        fs::write(&outer, "").unwrap();
        fs::set_permissions(&outer, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(find_file(&below).0, Some(outer));
        // The `.git` of a linked work tree is a file.
        fs::write(folder.path().join("repository/.git"), "gitdir: x").unwrap();
        assert_eq!(find_file(&below).0, None);
    }
}

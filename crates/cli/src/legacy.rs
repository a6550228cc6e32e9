//! Rewrites command lines of the previous version before clap parses them. Remove this module with
//! the next version.

use std::ffi::OsString;

/// The kinds of `cosim schema`. Each was an option of `cosim list`.
const SCHEMAS: [&str; 5] = ["vector", "results", "coverage", "mutate", "plan"];

/// Converts a command line to this version.
pub fn translated(words: Vec<OsString>) -> Vec<OsString> {
    match words.get(1).and_then(|word| word.to_str()) {
        Some("list") => schema(&words).unwrap_or(words),
        Some("run") => {
            let translated = command_of(&words, "resume").or_else(|| command_of(&words, "rerun"));
            translated.unwrap_or(words)
        }
        Some("mutate") => command_of(&words, "resume").unwrap_or(words),
        _ => words,
    }
}

/// Converts `list --vector-schema` to `schema vector`.
fn schema(words: &[OsString]) -> Option<Vec<OsString>> {
    let kind = |word: &OsString| {
        let kind = word.to_str()?.strip_prefix("--")?.strip_suffix("-schema")?;
        SCHEMAS.into_iter().find(|known| *known == kind)
    };
    let mut kinds = words.iter().filter_map(kind);
    let (kind, None) = (kinds.next()?, kinds.next()) else { return None };
    Some(vec![words[0].clone(), "schema".into(), kind.into()])
}

/// Converts `run --resume DIR ...` to `resume DIR ...`.
fn command_of(words: &[OsString], command: &str) -> Option<Vec<OsString>> {
    let option = format!("--{command}");
    let place = words.iter().position(|word| {
        let name = word.to_str().map(|word| word.split_once('=').map_or(word, |(name, _)| name));
        name == Some(&option)
    })?;
    let mut translated = vec![words[0].clone(), command.into()];
    translated.extend_from_slice(&words[2..place]);
    // Without `=`, the next word is the folder.
    if let Some((_, folder)) = words[place].to_str()?.split_once('=') {
        translated.push(folder.into());
    }
    translated.extend_from_slice(&words[place + 1..]);
    Some(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let words = translated(line.split(' ').map(OsString::from).collect());
        words.join(" ".as_ref()).into_string().expect("what was given")
    }

    #[test]
    fn options_with_the_folder_of_an_earlier_run_are_commands() {
        assert_eq!(
            of("cosim run --quiet --resume a --threads 2"),
            "cosim resume --quiet a --threads 2"
        );
        assert_eq!(of("cosim run --resume=a"), "cosim resume a");
        assert_eq!(of("cosim mutate --resume a"), "cosim resume a");
        assert_eq!(of("cosim run --rerun a --rtl b"), "cosim rerun a --rtl b");
        for same in ["cosim run --seed 1", "cosim mutate --rerun a", "cosim resume a"] {
            assert_eq!(of(same), same);
        }
    }

    #[test]
    fn options_that_print_a_schema_are_the_command_schema() {
        assert_eq!(of("cosim list --vector-schema"), "cosim schema vector");
        assert_eq!(of("cosim list --block qp --plan-schema"), "cosim schema plan");
        for same in ["cosim list", "cosim list --odd-schema", "cosim schema plan"] {
            assert_eq!(of(same), same);
        }
        let both = "cosim list --plan-schema --vector-schema";
        assert_eq!(of(both), both);
    }
}

//! Help that fits a screen: commands in groups, and the short help of `run`.

use clap::Command;
use std::fmt::Write as _;

const GROUPS: [(&str, &[&str]); 5] = [
    ("Every day", &["new", "run", "explain", "replay", "shrink", "watch", "open", "list"]),
    ("Coverage", &["cover", "signoff"]),
    ("Mutation and proof", &["mutate", "prove", "diff"]),
    ("History", &["compare", "history", "report", "resume", "merge"]),
    (
        "Other",
        &[
            "bench",
            "cache",
            "completions",
            "doc",
            "doctor",
            "error",
            "export",
            "man",
            "schema",
            "trust",
        ],
    ),
];

/// What `run -h` shows, a line each; `run --help` shows all.
const SHORT: [(&str, &str); 14] = [
    ("block", "Select blocks, or `all`"),
    ("fixes", "Select profiles"),
    ("seed", "Seed: a number or `random`"),
    ("cases", "Cases of each scenario"),
    ("scenario", "Select a scenario"),
    ("case", "Run one case"),
    ("rtl", "Replace the built-in RTL"),
    ("threads", "Use N threads [default: all cores]"),
    ("max_failures", "Stop after N failures"),
    ("time", "Start no case after DURATION, such as 90s or 10m"),
    ("out", "Write the run directory to DIR"),
    ("details", "Print all tables"),
    ("coverage", "Count lines, branches and toggles of the RTL"),
    ("min_coverage", "Fail below PCT of the reachable bins"),
];

/// Groups the commands, and shortens the help of `run`.
pub fn fit(cli: Command) -> Command {
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(groups, "\n\u{1b}[1m\u{1b}[4m{heading}:\u{1b}[0m");
        for command in names.iter().filter_map(|name| cli.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {:<12} {about}", command.get_name());
        }
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n\
         \u{1b}[1m\u{1b}[4mOptions:\u{1b}[0m\n{{options}}{{after-help}}"
    );
    cli.help_template(template).mut_subcommand("run", |run| {
        run.mut_args(|argument| {
            let id = argument.get_id().as_str();
            let Some((_, short)) = SHORT.iter().find(|(shown, _)| *shown == id) else {
                return argument.hide_short_help(true);
            };
            let text = argument.get_help().cloned().unwrap_or_default();
            argument.help(*short).long_help(text)
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::{Cli, command};
    use clap::CommandFactory as _;

    #[test]
    fn each_command_is_in_one_group() {
        let all = Cli::command();
        let visible = all.get_subcommands().filter(|command| !command.is_hide_set());
        let mut expected: Vec<&str> = visible.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> =
            super::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        expected.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, expected);
    }

    #[test]
    fn the_short_help_of_run_fits_a_screen() {
        let mut cli = command().term_width(80);
        cli.build();
        let run = cli.find_subcommand_mut("run").expect("a command of this program");
        let [short, long] =
            [run.render_help(), run.render_long_help()].map(|text| text.to_string());
        assert!(short.lines().count() <= 40, "{short}");
        assert!(short.contains("--rtl") && !short.contains("--shard") && long.contains("--shard"));
    }
}

//! The command lines that reproduce a case.

use cosim_regress::runner::Header;
use cosim_rtl::models::command_line;

/// Makes the command lines that show a case of a run again.
#[derive(Debug, Clone, Copy)]
pub struct Reproduce<'a> {
    /// What is to be called: `cosim`, or as this program was.
    pub program: &'a str,
    /// The run.
    pub run: &'a Header,
}

impl Reproduce<'_> {
    /// The command that shows the case of this name.
    pub fn command(&self, case: &str) -> String {
        let Header { seed, build, packets, given, scenario_files, .. } = self.run;
        let mut words = vec![self.program.to_owned(), "run".to_owned()];
        let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
        say("--seed", seed.to_string());
        say("--case", case.to_owned());
        // A scenario's file is not in the case's name.
        let scenario = case.split('/').nth(2);
        if let Some(file) = scenario.and_then(|scenario| scenario_files.get(scenario)) {
            say("--scenario", file.clone());
        }
        if let Some(packets) = packets {
            say("--packets", packets.to_string());
        }
        words.extend(given.arguments());
        words.extend(["--build".to_owned(), build.clone()]);
        command_line(&words)
    }
}

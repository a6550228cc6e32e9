//! The command lines that reproduce a case.

use cosim_regress::runner::Header;
use cosim_rtl::models::command_line;

/// Makes command lines that reproduce a case of a run.
#[derive(Debug, Clone, Copy)]
pub struct Reproduce<'a> {
    /// The program: `cosim`, or the command that started this program.
    pub program: &'a str,
    /// The run.
    pub run: &'a Header,
}

impl Reproduce<'_> {
    /// The command line for a case.
    pub fn command(&self, case: &str) -> String {
        let Header { seed, build, packets, given, scenario_files, .. } = self.run;
        let mut words = vec![self.program.to_owned(), "run".to_owned()];
        let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
        say("--seed", seed.to_string());
        say("--case", case.to_owned());
        // The name of a case does not contain the scenario's file.
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

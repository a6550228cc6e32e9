//! The command lines that reproduce a case.

use cosim_block::rtl::command_line;
use cosim_formats::run::Header;
use cosim_harness::harness::BlockInfo;

#[derive(Debug, Clone, Copy)]
pub struct Reproduce<'a> {
    /// The program: `cosim`, or the command that started this program.
    pub program: &'a str,
    pub run: &'a Header,
}

impl Reproduce<'_> {
    /// The command line for the whole run. Options with their default values are
    /// left out; `info` has the defaults of its block.
    pub fn whole_run(&self, info: Option<&BlockInfo>) -> String {
        let Header { block, seed, profiles, scenarios, cases, packets, given, .. } = self.run;
        let Header { coverage, min_coverage, until_coverage, .. } = self.run;
        let mut words = vec![self.program.to_owned(), "run".to_owned()];
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        add("--block", block.clone());
        add("--seed", seed.to_string());
        let default = |info: &BlockInfo| info.profiles.iter().map(|one| one.name.to_string());
        if info.is_none_or(|info| !default(info).eq(profiles.iter().cloned())) {
            add("--fixes", profiles.join(","));
        }
        let built_in = info.map_or(&[][..], |info| &info.scenarios);
        if !built_in.iter().map(|known| &known.name).eq(scenarios) {
            for name in scenarios {
                add("--scenario", self.run.scenario_files.get(name).unwrap_or(name).clone());
            }
        }
        if let Some(cases) = cases.filter(|cases| info.is_none_or(|info| info.cases != *cases)) {
            add("--cases", cases.to_string());
        }
        if let Some(packets) = packets {
            add("--packets", packets.to_string());
        }
        for (option, percent) in
            [("--min-coverage", min_coverage), ("--until-coverage", until_coverage)]
        {
            if let Some(percent) = percent {
                add(option, percent.to_string());
            }
        }
        if !self.run.shard.is_whole() {
            add("--shard", self.run.shard.to_string());
        }
        if *coverage {
            words.push("--coverage".to_owned());
        }
        words.extend(given.arguments());
        command_line(&words)
    }

    pub fn command(&self, case: &str) -> String {
        let Header { seed, build, packets, given, scenario_files, .. } = self.run;
        let mut words = vec![self.program.to_owned(), "run".to_owned()];
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        add("--seed", seed.to_string());
        add("--case", case.to_owned());
        // The name of a case does not contain the scenario's file.
        let scenario = case.split('/').nth(2);
        if let Some(file) = scenario.and_then(|scenario| scenario_files.get(scenario)) {
            add("--scenario", file.clone());
        }
        if let Some(packets) = packets {
            add("--packets", packets.to_string());
        }
        words.extend(given.arguments());
        words.extend(["--build".to_owned(), build.clone()]);
        command_line(&words)
    }
}

//! `cosim list`.

use crate::terminal::options::{Format, Formatting, blocks_of};
use crate::{print_json, print_text};
use clap::Args;
use cosim_base::error::Error;
use cosim_formats::coverage::{self, Group};
use cosim_harness::harness::Parameter;
use cosim_regress::blocks::{self, BlockHandle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

/// What can be run.
#[derive(Debug, Args)]
pub struct Arguments {
    /// List these blocks only, with commas between them.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    block: Vec<String>,
    #[command(flatten)]
    formatting: Formatting,
}

#[derive(Serialize)]
struct BlockEntry {
    name: &'static str,
    title: &'static str,
    /// Default number of cases of each profile and scenario.
    cases: u64,
    profiles: Vec<ProfileEntry>,
    parameters: &'static [Parameter],
    scenarios: Vec<Named>,
    rules: Vec<Named>,
    /// Coverage groups: the rules, then those that the block declares.
    groups: Vec<coverage::Group>,
}

#[derive(Serialize)]
struct ProfileEntry {
    name: String,
    fixes: String,
    parameters: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    about: String,
}

impl BlockEntry {
    fn new(block: &BlockHandle) -> Self {
        let named = |(name, about)| Named { name, about };
        Self {
            name: block.info().name,
            title: block.info().title,
            cases: block.info().cases,
            profiles: block
                .info()
                .profiles
                .iter()
                .map(|profile| ProfileEntry {
                    name: profile.name.to_string(),
                    fixes: format!("0x{:02x}", profile.parameters.fixes()),
                    parameters: profile.parameters.values().collect(),
                })
                .collect(),
            parameters: block.info().parameters,
            scenarios: block
                .info()
                .scenarios
                .iter()
                .map(|one| named((one.name.clone(), one.about.clone())))
                .collect(),
            rules: block
                .info()
                .rules
                .iter()
                .map(|rule| named((rule.name.to_owned(), rule.meaning.to_owned())))
                .collect(),
            groups: Group::all_of_block(block.info()),
        }
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let blocks = match arguments.block.as_slice() {
        [] => blocks::all_blocks().to_vec(),
        names => blocks_of(names)?,
    };
    let entries: Vec<BlockEntry> = blocks.iter().map(|block| BlockEntry::new(block)).collect();
    match arguments.formatting.format {
        Format::Json => print_json(&entries)?,
        Format::Text => {
            let mut text = String::new();
            for (entry, block) in entries.iter().zip(&blocks) {
                let _ = writeln!(text, "{}: {}", entry.name, entry.title);
                let cases = entry.cases;
                let _ = writeln!(text, "  cases: {cases} of each profile and scenario");
                let _ = writeln!(text, "  profiles:");
                for ProfileEntry { name, fixes, parameters } in &entry.profiles {
                    let values = parameters.iter().map(|(name, value)| format!(" {name}={value}"));
                    let _ =
                        writeln!(text, "    {name:14} fixes {fixes}{}", values.collect::<String>());
                }
                if !entry.parameters.is_empty() {
                    let _ = writeln!(text, "  parameters:");
                }
                for parameter in block.info().parameters {
                    let Parameter { name, about, default, .. } = parameter;
                    let range = parameter.range();
                    let _ = writeln!(text, "    {name:14} {about}; {range}; default {default}");
                }
                let _ = writeln!(text, "  coverage groups:");
                for group in &entry.groups {
                    let (name, about, bins) = (&group.name, &group.about, group.bins());
                    let _ = writeln!(text, "    {name:14} {about} ({bins} bins)");
                }
                for (title, list) in [("scenarios", &entry.scenarios), ("rules", &entry.rules)] {
                    let _ = writeln!(text, "  {title}:");
                    for Named { name, about } in list {
                        let _ = writeln!(text, "    {name:14} {about}");
                    }
                }
            }
            print_text(&text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

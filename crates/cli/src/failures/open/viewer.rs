//! Viewers of waves, and the files that select signals and set the cursor.

use clap::ValueEnum;
use cosim_base::error::Error;
use cosim_harness::harness::{BlockInfo, Mismatch, Verdict};
use cosim_rtl::models::{OBSERVING_TOP, TEXT_BITS, observed_name};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Cycles to show before the failure.
const BEFORE: u64 = 8;
/// Times of the trace per cycle.
const TIMES: u64 = 2;

/// A viewer of waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Viewer {
    /// Surfer, with a command file.
    Surfer,
    /// GTKWave, with a save file.
    Gtkwave,
}

pub struct WaveView<'a> {
    pub block: &'static BlockInfo,
    /// The waves, as an absolute path.
    pub waves: &'a Path,
    pub verdict: &'a Verdict,
}

/// A signal of a trace.
struct Shown {
    /// Its path below [`OBSERVING_TOP`], and the width in bits.
    name: String,
    width: u32,
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Bits,
    Number,
    Text,
}

/// Signals under a heading.
type Section = (&'static str, Vec<Shown>);

impl WaveView<'_> {
    /// The signals: the golden model's state, the outputs that differ, the inputs, other outputs.
    fn sections(&self) -> Vec<Section> {
        let BlockInfo { inputs, outputs, .. } = *self.block;
        let own = |name: &str| observed_name(self.block, name);
        let text = |name: &str| Shown {
            name: format!("{}.{}", own("golden"), own(name)),
            width: TEXT_BITS,
            format: Format::Text,
        };
        let in_dut = |port: &verilated::Port| Shown {
            name: format!("dut.{}", port.name),
            width: port.width,
            format: Format::Bits,
        };
        let both = |port: &verilated::Port| {
            let golden = format!("{}.{}", own("golden"), port.name);
            [in_dut(port), Shown { name: golden, width: port.width, format: Format::Bits }]
        };
        let differing = self.differing();
        let differs = |port: &&verilated::Port| differing.contains(&port.name);
        let cycle = Shown { name: own("cycle"), width: 64, format: Format::Number };
        vec![
            ("golden model", vec![cycle, text("state"), text("rule")]),
            (
                "outputs that differ: RTL in green, golden model in orange",
                outputs.iter().filter(differs).flat_map(both).collect(),
            ),
            ("inputs", inputs.iter().map(in_dut).collect()),
            (
                "other outputs",
                outputs.iter().filter(|port| !differs(port)).flat_map(both).collect(),
            ),
        ]
    }

    /// The ports that differ in the failing cycle.
    fn differing(&self) -> Vec<&str> {
        match self.verdict {
            Verdict::Mismatch(found) | Verdict::Unknown(found) => {
                let Mismatch { port, differs, .. } = found;
                let ports = differs.iter().map(|name| name.split('.').next().unwrap_or(name));
                std::iter::once(port.as_str()).chain(ports).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The times of the failing cycle, and of the first shown one.
    fn times(&self) -> Option<(u64, u64)> {
        let cycle = self.verdict.cycle()?;
        Some((cycle * TIMES, cycle.saturating_sub(BEFORE) * TIMES))
    }

    fn gtkw(&self) -> String {
        let mut text = format!("[dumpfile] \"{}\"\n[size] 1600 900\n", self.waves.display());
        if let Some((time, from)) = self.times() {
            let none = " -1".repeat(26);
            let _ = writeln!(text, "[timestart] {from}\n*-2.000000 {time}{none}");
        }
        for (heading, signals) in self.sections().iter().filter(|(_, signals)| !signals.is_empty())
        {
            let _ = writeln!(text, "@200\n-{heading}");
            for Shown { name, width, format } in signals {
                let format = match (format, width) {
                    (Format::Text, _) => "@820",
                    (Format::Number, _) => "@24",
                    (Format::Bits, 1) => "@28",
                    (Format::Bits, _) => "@22",
                };
                let range = if *width > 1 { format!("[{}:0]", width - 1) } else { String::new() };
                // GTKWave shows names without their scopes.
                let colour = if name.starts_with("dut.") { "" } else { "[color] 2\n" };
                let _ = writeln!(text, "{format}\n{colour}TOP.{OBSERVING_TOP}.{name}{range}");
            }
        }
        text
    }

    fn surfer(&self) -> String {
        let mut text = String::new();
        for (heading, signals) in self.sections().iter().filter(|(_, signals)| !signals.is_empty())
        {
            let _ = writeln!(text, "divider_add {heading}");
            for Shown { name, format, .. } in signals {
                let _ = writeln!(text, "variable_add TOP.{OBSERVING_TOP}.{name}");
                let format = match format {
                    Format::Bits => continue,
                    Format::Number => "Unsigned",
                    Format::Text => "ASCII",
                };
                let _ = writeln!(text, "item_set_format {format}");
            }
        }
        match self.times() {
            Some((time, _)) => {
                let _ = writeln!(text, "cursor_set {time}\ngoto_cursor");
            }
            None => text.push_str("zoom_fit\n"),
        }
        text
    }
}

impl Viewer {
    /// In the order of preference.
    pub const ALL: [Self; 2] = [Self::Surfer, Self::Gtkwave];

    pub fn program(self) -> &'static str {
        match self {
            Self::Surfer => "surfer",
            Self::Gtkwave => "gtkwave",
        }
    }

    pub fn install(self) -> &'static str {
        match self {
            Self::Surfer => "`surfer` is not installed; https://surfer-project.org has packages",
            Self::Gtkwave => {
                "`gtkwave` is not installed; install it with `apt-get install gtkwave`"
            }
        }
    }

    /// The command that shows waves. Writes its file into a new folder for temporary files, because
    /// a run directory holds nothing but results.
    pub fn command(self, view: &WaveView<'_>) -> Result<Command, Error> {
        let (ending, text) = match self {
            Self::Surfer => ("sucl", view.surfer()),
            Self::Gtkwave => ("gtkw", view.gtkw()),
        };
        let folder = tempfile::Builder::new().prefix("cosim-open-").tempdir();
        let folder = folder.map_err(Error::write(std::env::temp_dir()))?.keep();
        let stem = view.waves.file_stem().unwrap_or_default().to_string_lossy();
        let file = folder.join(format!("{stem}.{ending}"));
        fs::write(&file, text).map_err(Error::write(&file))?;
        // A viewer obeys files of its working directory.
        let mut command = Command::new(self.program());
        command.current_dir(&folder);
        match self {
            Self::Surfer => command.arg(view.waves).arg("--command-file").arg(&file),
            Self::Gtkwave => command.arg(view.waves).arg(&file),
        };
        Ok(command)
    }
}

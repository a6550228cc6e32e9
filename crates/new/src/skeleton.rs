//! Generates a crate for a new block from the ports of its RTL.
//!
//! The files are templates in `templates`. The crate is written to a temporary folder,
//! which is renamed when it is complete.

mod agent_texts;
mod asking;
mod crate_name;
mod placeholders;
mod texts;
mod types;

use crate::agents::Interfaces;
use crate::channels::Channels;
use crate::resets::Reset;
use crate::wrapper::{Wishes, Wrapping, wrapper_name};
pub use asking::GivenParameter;
use cosim_base::error::{Error, codes};
use cosim_base::files::{check_free, write_below};
use cosim_block::rtl::Rtl;
use cosim_rtl::models::{Copies, Delay, Examined, candidates, copied_data, delays};
pub use crate_name::CrateName;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};
use texts::Rendered;
use verilated_build::{Clock, Design, Error as BuildError, Port, Ports, VerilatorOption, Wrapper};
use verilated_files::foreign::lay_out;
use verilated_runtime::Verilator;

/// The description of a new crate.
#[derive(Debug, Clone)]
pub struct Skeleton {
    pub name: CrateName,
    pub top: String,
    pub rtl: Rtl,
    /// Files beside the sources, with their paths in the crate.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// The clocks, if they were named.
    pub clocks: Vec<String>,
    pub reset: Option<Reset>,
    pub parameters: Vec<GivenParameter>,
    pub options: Vec<VerilatorOption>,
    /// Whether the environment drives pins even if channels are recognized.
    pub is_of_pins: bool,
}

#[derive(Debug, Clone)]
pub struct GeneratedCrate {
    pub folder: PathBuf,
    pub ports: Ports,
    /// The resets that were found, with their levels in reset. The first is the main one.
    pub resets: Vec<(String, bool)>,
    /// The inputs that say which clocks rise, if there are several clocks.
    pub clocks: Vec<String>,
    /// Whether nothing in it waits for an edge.
    pub is_combinational: bool,
    pub wrapper: Option<PathBuf>,
    /// The channels that the crate declares, and the other ports.
    pub channels: Channels,
    /// The interfaces that it declares with agents.
    pub interfaces: Interfaces,
    /// What of the RTL is ignored, and ports that may have no width.
    pub warnings: Vec<String>,
}

impl Skeleton {
    /// Writes the crate into a folder of its name below `place`.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Usage`] if the folder exists or the RTL has unsupported ports.
    /// [`Error::Build`] with Verilator's messages.
    pub fn write(&self, place: &Path) -> Result<GeneratedCrate, Error> {
        self.with_quoted_strings()?.write_given(place).map_err(|error| match error {
            Error::Build { code, message } if code == codes::VERILATOR_REJECTED => {
                let header = self.header().unwrap_or_default();
                let hint = placeholders::hint(&header, &self.parameters).unwrap_or_default();
                Error::Build { code, message: message + &hint }
            }
            error => error,
        })
    }

    fn write_given(&self, place: &Path) -> Result<GeneratedCrate, Error> {
        let folder = match place {
            here if here == Path::new(".") => PathBuf::from(&self.name.0),
            place => place.join(&self.name.0),
        };
        check_free(&folder)?;
        self.check_combinations()?;
        let examined_module = self.examined_module()?;
        let examined = &examined_module.examined;
        let mut copies = Copies::new(examined)?;
        let temporary =
            Builder::new().prefix(".cosim-").tempdir_in(place).map_err(Error::write(place))?;
        let made = temporary.path().join(&self.name.0);
        // The block opens its data files in its folder.
        let data = copied_data(examined)?.into_iter();
        let data: Vec<_> = data.map(|(name, text)| (copies.folder.join(name), text)).collect();
        let files = copies.files.iter().map(|(name, text)| (name.as_path(), text.as_slice()));
        let all = files.chain(data.iter().map(|(name, text)| (name.as_path(), *text)));
        fs::create_dir(&made).map_err(Error::write(&made))?;
        lay_out(&made.join("rtl"), all)?;
        let description = self.description(&made, &copies, &examined_module)?;
        let mut warnings = Vec::from_iter(placeholders::check_ranges(&self.top, &description)?);
        let wishes = Wishes {
            clocks: self.clocks.clone(),
            parameters: self.first_values(),
            is_needed: examined_module.lacks_parameters || self.passes_other_values(&description),
        };
        let wrapping = Wrapping::new(&self.top, &description, &wishes)?;
        let mut top = self.top.clone();
        let mut wrapper = None;
        if let Some(text) = &wrapping.text {
            top = wrapper_name(&self.top);
            let name = PathBuf::from(format!("{top}.sv"));
            let place = copies.folder.join(&name);
            if copies.files.contains_key(&place) {
                let message = "the RTL has a file of that name already; rename it".to_owned();
                let path = Path::new("rtl").join(place);
                return Err(Error::File { code: codes::CANNOT_COPY, path, message });
            }
            write_below(&made.join("rtl").join(place), text.as_bytes())?;
            copies.sources.push(name.clone());
            wrapper = Some(name);
        }
        let (ports, delays) = self.ports(&made, &copies, examined, &top, &wrapping)?;
        warnings.extend(delays);
        let resets = self.resets(&ports, &wrapping)?;
        let (interfaces, channels) = self.channels(&ports, &resets, &wrapping);
        let texts = self.render(&Rendered {
            examined,
            copies: &copies,
            ports: &ports,
            resets: &resets,
            wrapping: &wrapping,
            wrapper: wrapper.as_deref(),
            description: &description,
            interfaces: &interfaces,
            channels: channels.as_ref(),
        })?;
        for (name, text) in texts {
            write_below(&made.join(name), text.as_bytes())?;
        }
        for (name, text) in &self.files {
            write_below(&made.join(name), text)?;
        }
        // An empty folder is taken over; one that was filled meanwhile is not.
        fs::rename(&made, &folder).map_err(Error::write(&folder))?;
        let Wrapping { clocks, is_combinational, .. } = wrapping;
        let wrapper = wrapper.map(|name| copies.searched(folder.join("rtl")).join(name));
        let channels = channels.unwrap_or_default();
        Ok(GeneratedCrate {
            folder,
            ports,
            resets,
            clocks,
            is_combinational,
            wrapper,
            channels,
            interfaces,
            warnings,
        })
    }

    /// The interfaces and the channels of the module, if the crate declares them.
    fn channels(
        &self,
        ports: &Ports,
        resets: &[(String, bool)],
        wrapping: &Wrapping,
    ) -> (Interfaces, Option<Channels>) {
        if self.is_of_pins || wrapping.is_combinational {
            return (Interfaces::default(), None);
        }
        let resets = resets.iter().map(|(name, _)| name);
        let mut own: Vec<&str> = resets.chain(&wrapping.clocks).map(String::as_str).collect();
        let interfaces = Interfaces::recognize(ports, &own);
        if interfaces.interfaces.is_empty() {
            let channels = Channels::recognize(ports, &own);
            return (interfaces, Some(channels).filter(Channels::is_usable));
        }
        own.extend(interfaces.taken.iter().map(String::as_str));
        let is_free = |port: &&Port| !own.contains(&port.name.as_str());
        let outputs = ports.outputs.iter().filter(is_free).cloned().collect();
        let free = Ports { outputs, ..ports.clone() };
        let channels = Channels::recognize(&free, &own);
        (interfaces, Some(channels))
    }

    /// The ports, as the crate's build will find them: by its files alone. With a warning for the
    /// user.
    fn ports(
        &self,
        made: &Path,
        copies: &Copies,
        examined: &Examined,
        top: &str,
        wrapping: &Wrapping,
    ) -> Result<(Ports, Option<String>), Error> {
        let answer = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let is_wrapped = wrapping.text.is_some();
        let searched = copies.searched("rtl");
        let design = Design {
            top: top.to_owned(),
            clock: Clock::from(wrapping.clock.as_str()),
            sources: copies.sources.iter().map(|name| searched.join(name)).collect(),
            include: vec![searched],
            defines: examined.design.defines.clone(),
            options: self.options.clone(),
            parameters: if is_wrapped { Vec::new() } else { self.first_values() },
            wrapper: is_wrapped
                .then(|| Wrapper { file: format!("{top}.sv").into(), module: self.top.clone() }),
            folder: Some(made.to_owned()),
            prefix: "Vnew".to_owned(),
            ..Design::default()
        };
        let verilator = Verilator::find()?;
        let verilated = design.verilate(&verilator, &answer.path().join("new"));
        let verilated = verilated.map_err(|error| copies.plain(error, &self.top, &verilator))?;
        let ports = design.ports(&verilator, &verilated).map_err(|error| match error {
            BuildError::Port { port, reason, .. } => {
                let error = BuildError::Port { top: self.top.clone(), port, reason };
                Error::Usage(codes::BAD_PORT, error.to_string())
            }
            error @ BuildError::Foreign { .. } => {
                Error::Usage(codes::FOREIGN_CODE, error.to_string())
            }
            other => copies.plain(other, &self.top, &verilator),
        })?;
        if ports.outputs.is_empty() {
            return Err(Error::Usage(
                codes::BAD_PORT,
                format!("module {}: has no output, so there is nothing to compare", self.top),
            ));
        }
        Ok((ports, self.ignored_delays(copies, examined, &verilated.warnings)?))
    }

    fn ignored_delays(
        &self,
        copies: &Copies,
        examined: &Examined,
        warnings: &str,
    ) -> Result<Option<String>, Error> {
        const SHOWN: usize = 3;
        let delays = delays(examined);
        let warned = copies.typed_places(warnings, "%Warning-STMTDLY: ");
        let is_process = |delay: &&Delay| delay.is_process && warned.contains(&delay.place);
        if let Some(delay) = delays.iter().find(is_process) {
            return Err(Error::Usage(
                codes::UNSUPPORTED_DELAY,
                format!(
                    "{}: a process of module {} or below it waits for time alone, as in `always #5 \
                     clk = ~clk`, and cosim simulates no time; make the clock an input, or exclude \
                     the process with a macro (-D)",
                    delay.place, self.top
                ),
            ));
        }
        let places: Vec<&str> = delays.iter().take(SHOWN).map(|delay| &*delay.place).collect();
        let more = delays.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Ok((!places.is_empty()).then(|| {
            format!("delays (#) are ignored, as in synthesis: {}{more}", places.join(", "))
        }))
    }

    /// The resets: the one that was named, else an input of one bit with a usual name, else one
    /// that registers wait for; then the others: one with random values would make traffic illegal.
    fn resets(&self, ports: &Ports, wrapping: &Wrapping) -> Result<Vec<(String, bool)>, Error> {
        let mut all: Vec<(String, bool)> = self.reset(ports)?.into_iter().collect();
        for reset in &wrapping.resets {
            let is_known = all.iter().any(|(name, _)| *name == reset.0);
            if !is_known && reset.0 != wrapping.clock {
                all.push(reset.clone());
            }
        }
        Ok(all)
    }

    /// The named reset, otherwise a 1-bit input with a default name.
    fn reset(&self, ports: &Ports) -> Result<Option<(String, bool)>, Error> {
        let is_input =
            |name: &str| ports.inputs.iter().any(|port| port.name == name && port.width == 1);
        if let Some(reset) = &self.reset {
            if !is_input(&reset.port) {
                let bits = ports.inputs.iter().filter(|port| port.width == 1);
                let known: Vec<&str> = bits.map(|port| port.name.as_str()).collect();
                let message = format!(
                    "--reset: module {} has no 1-bit input {}{}",
                    self.top,
                    reset.port,
                    candidates(&reset.port, "1-bit inputs", &known)
                );
                return Err(Error::Usage(codes::BAD_PORT, message));
            }
            return Ok(Some((reset.port.clone(), reset.level())));
        }
        let named = |usual: &str| {
            let mut names = ports.inputs.iter().map(|port| port.name.as_str());
            names.find(|name| name.eq_ignore_ascii_case(usual) && is_input(name))
        };
        let usual = Reset::USUAL.into_iter().find_map(named);
        let usual = usual.map(|name| Reset { port: name.to_owned(), is_high: None });
        Ok(usual.map(|reset| (reset.port.clone(), reset.level())))
    }
}

//! Generates a crate for a new block from the ports of its RTL.
//!
//! The files are templates in `templates/skeleton`. The crate is written to a temporary folder,
//! which is renamed when it is complete.

use cosim_base::error::{Error, codes};
use cosim_base::files::{check_free, write_below};
use cosim_rtl::models::{Copies, Examined, Rtl, copied_data};
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};
use verilated_build::{Clock, Design, Error as BuildError, Port, Ports, Verilator};

/// The description of a new crate.
#[derive(Debug, Clone)]
pub struct Skeleton {
    /// The name of the crate, and of its folder.
    pub name: CrateName,
    /// The top module.
    pub top: String,
    /// The RTL.
    pub rtl: Rtl,
    /// The source of `cosim-core` and `cosim-build`.
    pub source: Source,
    /// The clock, if the user named it.
    pub clock: Option<String>,
    /// The reset, if the user named it.
    pub reset: Option<Reset>,
}

/// The source of a crate's dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A checkout of cosim.
    Path(PathBuf),
    /// A release of this version in the registry.
    Version(&'static str),
}

impl Source {
    /// The checkout this program was built from, if it still exists, otherwise a release of its
    /// version.
    pub fn own() -> Self {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Self::of);
        match checkout {
            Some(Ok(source)) => source,
            _ => Self::Version(env!("CARGO_PKG_VERSION")),
        }
    }

    /// A checkout of cosim.
    ///
    /// # Errors
    /// [`Error::File`] if the folder is none.
    pub fn of(path: &Path) -> Result<Self, Error> {
        for part in ["core", "core/build"] {
            if !path.join(part).join("Cargo.toml").is_file() {
                let message = format!("is not a checkout of cosim: it has no {part}/Cargo.toml");
                return Err(Error::File {
                    code: codes::NOT_A_CHECKOUT,
                    path: path.to_owned(),
                    message,
                });
            }
        }
        let path = fs::canonicalize(path).map_err(|error| Error::unreadable(path, &error))?;
        if path.to_str().is_none() {
            let message =
                "cannot be written into a Cargo.toml, because its path is not UTF-8".to_owned();
            return Err(Error::File { code: codes::NOT_A_CHECKOUT, path, message });
        }
        Ok(Self::Path(path))
    }

    /// The value of a dependency in a `Cargo.toml`.
    fn dependency(&self, part: &str) -> String {
        match self {
            Self::Path(path) => {
                let path = path.join(part);
                format!("{{ path = {} }}", quoted(&path.to_string_lossy()))
            }
            Self::Version(version) => quoted(version),
        }
    }
}

/// A quoted string, valid in Rust and TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The reset, and its level in reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// The input.
    pub port: String,
    /// Whether it is active high. Derived from its name if the user did not say.
    pub is_high: Option<bool>,
}

impl Reset {
    /// Default names of the reset input, in any case.
    const USUAL: [&str; 18] = [
        "rst",
        "reset",
        "rst_n",
        "reset_n",
        "rstn",
        "resetn",
        "rst_ni",
        "rst_i",
        "reset_i",
        "reset_ni",
        "i_rst",
        "i_reset",
        "i_rst_n",
        "i_reset_n",
        "arst",
        "arst_n",
        "nrst",
        "aresetn",
    ];

    fn level(&self) -> bool {
        let port = self.port.to_ascii_lowercase();
        let is_low =
            ["_n", "_ni", "_b", "_l", "rstn", "resetn"].iter().any(|end| port.ends_with(end))
                || ["nrst", "nreset", "n_rst", "n_reset"].iter().any(|part| port.contains(part));
        self.is_high.unwrap_or(!is_low)
    }
}

impl std::str::FromStr for Reset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (port, level) =
            text.split_once('=').map_or((text, None), |(port, level)| (port, Some(level)));
        let is_high = match level {
            None => None,
            Some("0") => Some(false),
            Some("1") => Some(true),
            Some(_) => return Err("expected NAME, NAME=1 or NAME=0".to_owned()),
        };
        Ok(Self { port: port.to_owned(), is_high })
    }
}

/// A valid name for a crate, a folder and a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrateName(String);

impl CrateName {
    const MAX_LENGTH: usize = 64;
    /// Names that are reserved by cargo or are dependencies of the crate.
    const TAKEN: [&str; 16] = [
        "alloc",
        "build",
        "core",
        "cosim-build",
        "cosim-core",
        "deps",
        "examples",
        "incremental",
        "proc-macro",
        "rand",
        "rtl",
        "schemars",
        "serde",
        "std",
        "test",
        "worker",
    ];

    /// The identifier of the library and of the block.
    fn identifier(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The name of the block's type. The suffix `Block` avoids conflicts with other types.
    fn type_name(&self) -> String {
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + letters.as_str()
            })
        };
        let words = self.0.strip_suffix("block").and_then(|rest| rest.strip_suffix(['-', '_']));
        let words = words.unwrap_or(&self.0).split(['-', '_']);
        words.map(capital).chain(["Block".to_owned()]).collect()
    }
}

impl std::str::FromStr for CrateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        };
        let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase());
        if !begins || !text.split(['-', '_']).all(is_word) || text.len() > Self::MAX_LENGTH {
            return Err(format!(
                "expected a name for a crate: at most {} lower-case letters and digits, with single - or _ \
                 between words",
                Self::MAX_LENGTH
            ));
        }
        if is_keyword(text) || Self::TAKEN.contains(&text.replace('_', "-").as_str()) {
            return Err(
                "is reserved, so no crate can have it as its name; choose another".to_owned()
            );
        }
        Ok(Self(text.to_owned()))
    }
}

/// Names of fields to which `bindgen` appends an underscore.
const KEYWORDS: &str = "abstract alignof as async await become box break const continue crate do dyn else enum \
    extern false final fn for gen if impl in let loop macro match mod move mut offsetof override priv proc pub pure ref \
    return Self self sizeof static struct super trait true try type typeof unsafe unsized use virtual where while yield \
    str bool f32 f64 usize isize u128 i128 u64 i64 u32 i32 u16 i16 u8 i8 _";

fn is_keyword(name: &str) -> bool {
    KEYWORDS.split(' ').any(|keyword| keyword == name)
}

/// Default names of the clock input.
const USUAL_CLOCKS: [&str; 6] = ["clk", "clk_i", "i_clk", "clock", "aclk", "sys_clk"];

/// A port, for templates.
#[derive(Debug, Clone, Serialize)]
struct PortText {
    name: String,
    field: String,
    width: u32,
    /// Whether it is stored in words.
    words: bool,
}

impl PortText {
    fn new(port: &Port) -> Self {
        let Port { name, width } = port.clone();
        let field = if is_keyword(&name) { format!("{name}_") } else { name.clone() };
        Self { name, field, width, words: width > 64 }
    }
}

/// The templates, by output file.
const TEMPLATES: [(&str, &str); 12] = [
    (".gitignore", include_str!("../templates/skeleton/gitignore.j2")),
    ("Cargo.toml", include_str!("../templates/skeleton/Cargo.toml.j2")),
    ("README.md", include_str!("../templates/skeleton/README.md.j2")),
    ("build.rs", include_str!("../templates/skeleton/build.rs.j2")),
    ("src/environment.rs", include_str!("../templates/skeleton/src/environment.rs.j2")),
    ("src/golden.rs", include_str!("../templates/skeleton/src/golden.rs.j2")),
    ("src/lib.rs", include_str!("../templates/skeleton/src/lib.rs.j2")),
    ("src/main.rs", include_str!("../templates/skeleton/src/main.rs.j2")),
    ("src/scenarios.rs", include_str!("../templates/skeleton/src/scenarios.rs.j2")),
    ("src/scenarios.toml", include_str!("../templates/skeleton/src/scenarios.toml.j2")),
    ("src/scoreboard.rs", include_str!("../templates/skeleton/src/scoreboard.rs.j2")),
    ("src/stimulus.rs", include_str!("../templates/skeleton/src/stimulus.rs.j2")),
];
/// The template of the vectors' folder.
const VECTORS: (&str, &str) =
    ("vectors/README.md", include_str!("../templates/skeleton/vectors/README.md.j2"));

/// The generated crate.
#[derive(Debug, Clone)]
pub struct GeneratedCrate {
    /// The crate's folder.
    pub folder: PathBuf,
    /// Its ports.
    pub ports: Ports,
    /// Its reset, with the active level.
    pub reset: Option<(String, bool)>,
}

impl Skeleton {
    /// Writes the crate into a folder of its name below `place`.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Usage`] if the folder exists or the RTL has unsupported ports.
    /// [`Error::Build`] with Verilator's messages.
    pub fn write(&self, place: &Path) -> Result<GeneratedCrate, Error> {
        let folder = match place {
            here if here == Path::new(".") => PathBuf::from(&self.name.0),
            place => place.join(&self.name.0),
        };
        check_free(&folder)?;
        let examined =
            Examined::of_top(&self.top, &self.rtl).map_err(|error| self.no_top(error))?;
        let copies = Copies::new(&examined)?;
        let temporary =
            Builder::new().prefix(".cosim-").tempdir_in(place).map_err(Error::write(place))?;
        let made = temporary.path().join(&self.name.0);
        for (name, text) in &copies.files {
            write_below(&made.join("rtl").join(name), text)?;
        }
        for (name, text) in copied_data(&examined)? {
            if copies.files.get(&name).is_some_and(|other| **other != *text) {
                return Err(Error::Usage(
                    codes::CANNOT_COPY,
                    format!(
                        "the RTL reads {0}, and a source file would have the same name in the \
                         copy; rename one",
                        name.display()
                    ),
                ));
            }
            write_below(&made.join("rtl").join(name), text)?;
        }
        let ports = self.ports(&made, &copies, &examined)?;
        let reset = self.reset(&ports)?;
        for (name, text) in self.render(&examined, &copies, &ports, reset.as_ref())? {
            write_below(&made.join(name), text.as_bytes())?;
        }
        // Renaming replaces an empty folder, but fails if the folder was filled meanwhile.
        fs::rename(&made, &folder).map_err(Error::write(&folder))?;
        Ok(GeneratedCrate { folder, ports, reset })
    }

    /// The error if no file contains the top module.
    fn no_top(&self, error: Error) -> Error {
        match &error {
            Error::Build(BuildError::Verilate { output, .. })
                if output.contains(&format!("module: '{}'", self.top)) =>
            {
                Error::Usage(
                    codes::TOP_MISSING,
                    format!("--top: the RTL has no module {}", self.top),
                )
            }
            _ => error,
        }
    }

    /// The ports that the build of the crate will find, from its own files.
    fn ports(&self, made: &Path, copies: &Copies, examined: &Examined) -> Result<Ports, Error> {
        let answer = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let design = Design {
            top: self.top.clone(),
            sources: copies.sources.iter().map(|name| Path::new("rtl").join(name)).collect(),
            include: vec!["rtl".into()],
            defines: examined.design.defines.clone(),
            folder: Some(made.to_owned()),
            prefix: "Vnew".to_owned(),
            ..Design::default()
        };
        let verilated = design.verilate(&Verilator::find()?, &answer.path().join("new"))?;
        // The named clock, otherwise the first default name among the inputs.
        let upper = USUAL_CLOCKS.map(str::to_ascii_uppercase);
        let clocks: Vec<&str> = match &self.clock {
            Some(clock) => vec![clock],
            None => USUAL_CLOCKS.into_iter().chain(upper.iter().map(String::as_str)).collect(),
        };
        let read = |clock: &&str| Ports::read(&verilated, &self.top, &Clock::from(*clock));
        let is_missing = |ports: &Result<Ports, BuildError>| matches!(ports, Err(BuildError::Port { port, .. }) if clocks.contains(&port.as_str()));
        let found = clocks.iter().map(read).find(|ports| !is_missing(ports));
        let ports = found.ok_or_else(|| {
            Error::Usage(codes::BAD_PORT, format!(
                "module {} has no 1-bit input {}: the harness drives one clock, with its rising \
                 edge; name the clock with --clock",
                self.top,
                clocks.join(", ")
            ))
        })?;
        let ports = ports.map_err(|error| match error {
            error @ BuildError::Port { .. } => Error::Usage(codes::BAD_PORT, error.to_string()),
            error @ BuildError::Foreign { .. } => {
                Error::Usage(codes::FOREIGN_CODE, error.to_string())
            }
            other => Error::Build(other),
        })?;
        let refuse = |message: String| {
            Err(Error::Usage(codes::BAD_PORT, format!("module {}: {message}", self.top)))
        };
        if ports.observing {
            return refuse(
                "port names that begin with `cosim_` are reserved for the harness".to_owned(),
            );
        }
        for (side, what) in
            [(&ports.inputs, "input other than the clock"), (&ports.outputs, "output")]
        {
            if side.is_empty() {
                return refuse(format!("has no {what}, so there is nothing to compare"));
            }
            if side.iter().any(|port| port.name == "padding") {
                return refuse(
                    "`padding` is a reserved port name; wrap the module in another one".to_owned(),
                );
            }
        }
        Ok(ports)
    }

    /// The named reset, otherwise a 1-bit input with a default name.
    fn reset(&self, ports: &Ports) -> Result<Option<(String, bool)>, Error> {
        let is_input =
            |name: &str| ports.inputs.iter().any(|port| port.name == name && port.width == 1);
        if let Some(reset) = &self.reset {
            if !is_input(&reset.port) {
                let message =
                    format!("--reset: module {} has no 1-bit input {}", self.top, reset.port);
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

    /// The texts of all files except the RTL.
    fn render(
        &self,
        examined: &Examined,
        copies: &Copies,
        ports: &Ports,
        reset: Option<&(String, bool)>,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_keep_trailing_newline(true);
        templates.set_trim_blocks(true);
        templates.set_lstrip_blocks(true);
        let texts = |ports: &[Port]| ports.iter().map(PortText::new).collect::<Vec<_>>();
        let inputs = texts(&ports.inputs);
        let reset_text = reset.and_then(|(name, _)| inputs.iter().find(|port| port.name == *name));
        let data = || inputs.iter().filter(|port| reset.is_none_or(|(name, _)| *name != port.name));
        let quote = |texts: Vec<&str>| texts.into_iter().map(quoted).collect::<Vec<_>>();
        let context = context! {
            name => self.name.0,
            crate => self.name.identifier(),
            block => self.name.identifier(),
            block_text => quoted(&self.name.identifier()),
            type => self.name.type_name(),
            top => self.top,
            clock => ports.clock,
            top_text => quoted(&self.top),
            core => self.source.dependency("core"),
            build => self.source.dependency("core/build"),
            sources => quote(copies.sources.iter().filter_map(|name| name.to_str()).collect()),
            defines => quote(examined.design.defines.iter().map(String::as_str).collect()),
            parameters => examined.parameters,
            outputs => texts(&ports.outputs),
            reset => reset_text,
            reset_on => u8::from(reset.is_none_or(|(_, is_high)| *is_high)),
            wide => data().any(|port| port.words),
            narrow => data().any(|port| !port.words),
            inputs => inputs,
        };
        let render = |(name, template): (&'static str, &str)| {
            let text = templates.render_named_str(name, template, &context);
            let text = text.map_err(|error| {
                Error::Environment(codes::INTERNAL, format!("{name}: {error:#}"))
            })?;
            Ok((name, text))
        };
        TEMPLATES.into_iter().chain([VECTORS]).map(render).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_names_can_a_crate_have() {
        for good in ["arbiter", "my-block", "my_block", "b2", "fifo-v2"] {
            assert!(good.parse::<CrateName>().is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in [
            "",
            "-a",
            "a-",
            "a--b",
            "a_-b",
            "2b",
            "_a",
            "Arbiter",
            "a b",
            "a/b",
            "..",
            "a.b",
            "é",
            "fn",
            "test",
            "std",
            "cosim-core",
            "cosim_core",
            "serde",
            &long,
        ] {
            assert!(bad.parse::<CrateName>().is_err(), "{bad}");
        }
        let name: CrateName = "my-block_2".parse().unwrap();
        assert_eq!(name.identifier(), "my_block_2");
        assert_eq!(name.type_name(), "MyBlock2Block");
        for (name, expected) in [("wide-block", "WideBlock"), ("block", "BlockBlock")] {
            assert_eq!(name.parse::<CrateName>().unwrap().type_name(), expected);
        }
    }

    #[test]
    fn a_reset_is_low_if_its_name_says_so_or_the_user() {
        for (text, level) in [
            ("rst", true),
            ("rst_n", false),
            ("aresetn", false),
            ("rst_ni", false),
            ("reset_in", true),
            ("rst_main", true),
            ("RST_N", false),
            ("ARESETN", false),
            ("Reset_L", false),
            ("nRST", false),
            ("i_rst_n", false),
            ("i_rst", true),
            ("RST", true),
            ("rst_n=1", true),
            ("rst=0", false),
        ] {
            assert_eq!(text.parse::<Reset>().unwrap().level(), level, "{text}");
        }
        assert!("rst=2".parse::<Reset>().is_err());
    }
}

//! Runs Yosys and its ABC.
//!
//! Yosys reads Verilog and a part of SystemVerilog. What it cannot read, a newer Yosys with the
//! command `read_slang` reads, if one is installed: it writes a netlist that both versions know,
//! and everything else works on that.
//!
//! The own reader comes first, since each Yosys has it, and it takes 0.01 to 0.1 s for the RTL of
//! the blocks and examples; `read_slang` takes 0.2 to 1.5 s and another Yosys of 134 MB, which
//! compiles for a minute at its first start. Neither is trusted: both netlists pass the same list
//! of what may be proved and the same comparison with Verilator's model.

mod front_end;
mod parts;

use crate::answers::Answers;
use crate::models::{AssertionFile, Examined, PreprocessedRtl};
use cosim_base::error::{Error, codes};
use cosim_base::files::find_program;
use front_end::{Form, FrontEnd, Unread};
use parts::split_between;
use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tempfile::TempDir;
use verilated_build::{
    Error as BuildError, answer_within, is_crash, messages, messages_until, written_text,
};
use verilated_files::foreign::lay_out;
use verilated_lexer::{Kind, tokens};

/// The program, unless the environment names another one.
const YOSYS: &str = "yosys";
/// The environment variable that names the program.
const VARIABLE: &str = "YOSYS";
const INSTALL: &str = "install it with `apt-get install yosys` (0.23 or newer), or set YOSYS to it";
/// Why Yosys was ended at a deadline.
const LATE: &str = "the time limit ended the reading by Yosys";
const DATA: &str = "data";

/// Commands that warn of nets with several drivers or none, in a copy of the design.
const CHECK: &str = "design -push-copy\nproc\nflatten\nopt_clean\ncheck\ndesign -pop\n";
/// Parts of warnings that do not say that Yosys reads the RTL as no simulator does.
const HARMLESS: &[&str] = &[];

/// Words of the text that Verilator's tree does not have: what they change is elsewhere.
const DISTANT: [&str; 2] = ["bind", "defparam"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Yosys: a module for each set of parameters, with all of its statements.
    Yosys,
    /// The [`FrontEnd`]: one module, in which the attribute `hdlname` of a signal is its path, and
    /// a condition that is constant in an instance or in a round of a loop is no statement.
    FrontEnd,
}

/// A folder in which Yosys works on one RTL with one set of parameters.
#[derive(Debug)]
pub struct YosysSession {
    folder: TempDir,
    /// The folder that names of data files are relative to.
    data: PathBuf,
    examined: Examined,
    expanded: Arc<PreprocessedRtl>,
    /// Number of scripts so far. Each has a file of its own, since several threads may share the
    /// session.
    scripts: AtomicU32,
    answers: Answers,
    warnings: Mutex<BTreeSet<String>>,
    /// The parameters of the netlist.
    read_with: OnceLock<Vec<(String, String)>>,
    deadline: Option<Instant>,
}

impl YosysSession {
    /// Creates the folder for an RTL, without a cache. Yosys does not run yet.
    ///
    /// # Errors
    /// [`Error::Write`] if the folder cannot be written. [`Error::Build`] with the message of
    /// Verilator's preprocessor.
    pub fn new(examined: &Examined) -> Result<Self, Error> {
        let folder = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let data = examined.design.data.iter();
        let data = data.filter_map(|file| Some((Path::new(&file.name), file.text.as_deref()?)));
        let data = lay_out(&folder.path().join(DATA), data)
            .map_err(|error| examined.plain(error.into()))?;
        let session = Self {
            folder,
            data,
            examined: examined.clone(),
            expanded: examined.expanded()?,
            scripts: AtomicU32::new(0),
            answers: Answers::none(),
            warnings: Mutex::default(),
            read_with: OnceLock::new(),
            deadline: None,
        };
        let PreprocessedRtl { libraries, sources, .. } = &*session.expanded;
        for (number, text) in libraries.iter().chain(sources).enumerate() {
            session.write(&file(number), text)?;
        }
        Ok(session)
    }

    #[must_use]
    pub fn with_answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// The session, in which no run of Yosys lasts longer than until then. One that is ended is an
    /// error with [`codes::YOSYS_ENDED`].
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The module of the wrapper around the RTL, if there is one.
    pub fn wrapper(&self) -> Option<&str> {
        self.examined.design.wrapper.as_ref()?.file.file_stem()?.to_str()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The text of a file in the folder.
    ///
    /// # Errors
    /// [`Error::Build`] if it cannot be read, or if it is too long.
    pub fn text(&self, name: &str) -> Result<String, Error> {
        Ok(written_text(&self.path(name))?)
    }

    /// Writes a file in the folder.
    ///
    /// # Errors
    /// [`Error::Write`] if it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.path(name);
        fs::write(&path, text).map_err(Error::write(&path))
    }

    /// A place in the RTL with the user's path; built-in files by name only.
    pub fn typed(&self, place: &str) -> String {
        self.examined.typed(&PreprocessedRtl::place(place))
    }

    /// Runs a script in the folder.
    ///
    /// # Errors
    /// [`Error::Environment`] with the first error that Yosys reports.
    pub fn script(&self, script: &str) -> Result<(), Error> {
        let words = |message: &str| format!("Yosys: {}", self.typed(message));
        self.run(yosys(), script, self.folder.path(), words)
    }

    /// Converts a netlist in the folder to Verilog. Drops the header, which names the version of
    /// Yosys and differs between machines.
    ///
    /// # Errors
    /// As [`YosysSession::script`].
    pub fn verilog(&self, netlist: &str) -> Result<String, Error> {
        let name = format!("{netlist}.v");
        self.script(&format!("read_rtlil {netlist}\nwrite_verilog -noattr {name}\n"))?;
        let text = self.text(&name)?;
        let lines = text.lines().filter(|line| !line.starts_with("/*"));
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }

    /// Reads the RTL with these parameters, elaborates it and runs `commands`. Yosys runs in the
    /// folder of the data files, so `commands` must name their files by [`YosysSession::path`].
    /// If Yosys cannot read the RTL, the [`FrontEnd`] reads it.
    ///
    /// # Errors
    /// [`Error::Environment`] if Yosys is missing or cannot read the RTL.
    pub fn read(&self, parameters: &[(String, String)], commands: &str) -> Result<(), Error> {
        self.read_form(parameters, commands, Form::Netlist).map(|_| ())
    }

    /// As [`YosysSession::read`], but statements stay processes whoever reads the RTL.
    ///
    /// # Errors
    /// As [`YosysSession::read`].
    pub fn read_processes(
        &self,
        parameters: &[(String, String)],
        commands: &str,
    ) -> Result<Reader, Error> {
        self.read_form(parameters, commands, Form::Processes)
    }

    fn read_form(
        &self,
        parameters: &[(String, String)],
        commands: &str,
        form: Form,
    ) -> Result<Reader, Error> {
        self.read_with.get_or_init(|| parameters.to_vec());
        let mut script = self.read_texts("");
        script += &format!("hierarchy -check -top {}", self.examined.design.top);
        for (name, value) in parameters {
            script += &format!(" -chparam {name} {value}");
        }
        script += &format!("\n{CHECK}{commands}\n");
        let Err(error) = self.run(yosys(), &script, &self.data, str::to_owned) else {
            return Ok(Reader::Yosys);
        };
        let message = match error {
            Error::Environment(code, message) if code == codes::YOSYS_FAILED => message,
            other => return Err(other),
        };
        let Some(front_end) = FrontEnd::installed() else {
            return Err(self.unread(&message, &own_version()?, false));
        };
        // The files are those of the session, beside the data files.
        let number = self.scripts.fetch_add(1, Ordering::Relaxed);
        let PreprocessedRtl { libraries, sources, .. } = &*self.expanded;
        let mut names = Vec::new();
        for (place, text) in libraries.iter().chain(sources).enumerate() {
            let name = format!("cosim-{number}-{}", file(place));
            let path = self.data.join(&name);
            fs::write(&path, text).map_err(Error::write(&path))?;
            names.push(name);
        }
        let (libraries, sources) = names.split_at(libraries.len());
        let netlist = format!("cosim-{number}.il");
        let top = &self.examined.design.top;
        let script = front_end::script(top, parameters, [libraries, sources], &netlist, form);
        self.run(front_end.command(), &script, &self.data, str::to_owned).map_err(|error| {
            match error {
                Error::Environment(code, message) if code == codes::YOSYS_FAILED => {
                    self.unread(&message, &front_end.version, true)
                }
                other => other,
            }
        })?;
        let script =
            format!("read_rtlil {netlist}\nhierarchy -check -top {top}\n{CHECK}{commands}\n");
        let words = |message: &str| format!("Yosys: {}", self.typed(message));
        self.run(yosys(), &script, &self.data, words)?;
        Ok(Reader::FrontEnd)
    }

    /// Why no proof about the netlist counts: the RTL has a construct that Yosys may read otherwise
    /// than Verilator simulates it, or Yosys warned.
    ///
    /// # Errors
    /// As [`Examined::unprovable`].
    pub fn find_doubt(&self) -> Result<Option<String>, Error> {
        let mut doubts = match self.read_with.get() {
            Some(parameters) => self.examined.unprovable(parameters)?,
            None => Vec::new(),
        };
        let PreprocessedRtl { libraries, sources, .. } = &*self.expanded;
        for text in libraries.iter().chain(sources) {
            let mut words = tokens(text).filter(|token| token.kind == Kind::Word);
            if let Some(word) = words.find(|word| DISTANT.contains(&word.text)) {
                doubts.push(format!("`{}` changes a module from outside", word.text));
            }
        }
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        doubts.extend(warnings.iter().cloned());
        let Some(first) = doubts.first() else { return Ok(None) };
        let more = match doubts.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        Ok(Some(format!("Yosys may read this RTL differently: {first}{more}")))
    }

    /// The parameters that the top module of the RTL has.
    pub fn parameters(&self) -> &[String] {
        &self.examined.parameters
    }

    pub fn assertions(&self) -> Option<&AssertionFile> {
        self.examined.assertions.as_ref()
    }

    /// Reads the file of [`YosysSession::assertions`] with these parameters, elaborates its module
    /// and does what `commands` say. The packages of the RTL are known to it.
    ///
    /// # Errors
    /// [`Error::Input`] with Yosys's words and the place in the file; [`Error::Environment`] if
    /// there is no Yosys.
    pub fn read_assertions(
        &self,
        file: &AssertionFile,
        parameters: &[(String, String)],
        commands: &str,
    ) -> Result<(), Error> {
        let AssertionFile { module, path, text, .. } = file;
        let name = format!("{module}.sv");
        // To Yosys, the last directive of a file counts for all of its modules.
        self.write(&name, &text.replace("`default_nettype wire", "`default_nettype none"))?;
        let written = self.path(&name);
        let read = |texts: &str| {
            let mut script = format!(
                "{texts}read_verilog -sv -formal -noautowire \"{}\"\nhierarchy -check -top {module}",
                written.display()
            );
            for (name, value) in parameters {
                script += &format!(" -chparam {name} {value}");
            }
            script += &format!("\n{commands}\n");
            self.run(yosys(), &script, &self.data, str::to_owned)
        };
        // What Yosys cannot read of the RTL is seldom what the assertions need of it.
        let mut result = read(&self.read_texts(" -defer"));
        for with_functions in [true, false] {
            if result.as_ref().is_err_and(|error| self.is_of_rtl(error, &name)) {
                let texts = self.read_packages(with_functions)?;
                result = read(&texts).or(result);
            }
        }
        result.map_err(|error| match error {
            Error::Environment(code, message) if code == codes::YOSYS_FAILED => {
                // A place in the file has its name, relative to the data files; any other place is
                // in the RTL, which the front end cannot read for assertions.
                let is_of_rtl = front_end::place(&message, &self.examined.texts).is_some();
                if is_of_rtl && !message.contains(&name) {
                    return self.unread(&message, &own_version().unwrap_or_default(), true);
                }
                let place = message.find(&name).unwrap_or(0);
                let ups = message[..place].trim_end_matches("../").len();
                refused(
                    path,
                    &name,
                    &self.typed(&format!("{}{}", &message[..ups], &message[place..])),
                )
            }
            other => other,
        })
    }

    /// Whether Yosys failed at a place in the RTL and not in the file of assertions.
    fn is_of_rtl(&self, error: &Error, assertions: &str) -> bool {
        matches!(error, Error::Environment(code, message) if *code == codes::YOSYS_FAILED
            && !message.contains(assertions)
            && front_end::place(message, &self.examined.texts).is_some())
    }

    /// Commands that read the packages of the RTL alone, with or without their functions.
    fn read_packages(&self, with_functions: bool) -> Result<String, Error> {
        let number = self.scripts.fetch_add(1, Ordering::Relaxed);
        let mut commands = String::new();
        for (place, text) in self.expanded.sources.iter().enumerate() {
            let (mut packages, _) = split_between(text, "package", "endpackage");
            if !with_functions {
                packages = split_between(&packages, "function", "endfunction").1;
                packages = split_between(&packages, "task", "endtask").1;
            }
            if !packages.is_empty() {
                let name = format!("packages-{number}-{place}.sv");
                self.write(&name, &packages)?;
                let path = self.path(&name);
                commands += &format!("read_verilog -sv -defer \"{}\"\n", path.display());
            }
        }
        Ok(commands)
    }

    fn unread(&self, message: &str, tool: &str, has_front_end: bool) -> Error {
        let message =
            Unread { printed: message, tool, has_front_end }.message(&self.examined.texts);
        Error::Environment(codes::YOSYS_FAILED, self.typed(&message))
    }

    /// Commands that read the RTL, its sources with this option. Sources come first: libraries may
    /// use their packages.
    fn read_texts(&self, option: &str) -> String {
        let PreprocessedRtl { libraries, sources, .. } = &*self.expanded;
        let (between, all) = (libraries.len(), libraries.len() + sources.len());
        let sources = (between..all).map(|number| (number, option));
        let libraries = (0..between).map(|number| (number, " -defer"));
        let read = |(number, option)| {
            let path = self.path(&file(number));
            format!("read_verilog -sv -noautowire{option} \"{}\"\n", path.display())
        };
        sources.chain(libraries).map(read).collect()
    }

    /// Runs a script of `program` in a folder of the session. Names of the session's files are
    /// relative there, because Yosys in a sandbox of its own has another `/tmp`.
    fn run(
        &self,
        mut program: Command,
        script: &str,
        folder: &Path,
        describe: impl Fn(&str) -> String,
    ) -> Result<(), Error> {
        let own = self.folder.path();
        let depth = folder.strip_prefix(own).map_or(0, |inner| inner.components().count());
        let up = "../".repeat(depth);
        let name = format!("script-{}.ys", self.scripts.fetch_add(1, Ordering::Relaxed));
        self.write(&name, &script.replace(&format!("{}/", own.display()), &up))?;
        program.arg("-q").arg("-s").arg(format!("{up}{name}")).current_dir(folder);
        let output = self.finished(program)?;
        if output.status.success() {
            let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
            for printed in [&output.stdout, &output.stderr] {
                let printed = String::from_utf8_lossy(printed);
                warnings.extend(warnings_of(&printed).map(|warning| self.typed(warning)));
            }
            return Ok(());
        }
        let silent = format!("it ended with {} and printed nothing", output.status);
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.join("\n");
        let find = |mark: &str| text.lines().find(|line| line.contains(mark));
        let line = find(": error: ").or_else(|| find("ERROR")).unwrap_or_else(|| text.trim());
        let line = if line.is_empty() { &silent } else { line };
        Err(Error::Environment(codes::YOSYS_FAILED, describe(line.trim_start_matches("ERROR: "))))
    }
}

/// The warnings in what Yosys prints, but for [`HARMLESS`] ones.
fn warnings_of(printed: &str) -> impl Iterator<Item = &str> {
    let warnings = printed.lines().filter_map(|line| line.split_once("Warning: "));
    let warnings = warnings.map(|(_, warning)| warning.trim());
    warnings.filter(|warning| !HARMLESS.iter().any(|part| warning.contains(part)))
}

impl YosysSession {
    /// The output of a program that ends by itself before the deadline.
    fn finished(&self, program: Command) -> Result<Output, Error> {
        let output = match messages_until(self.deadline, program) {
            Err(BuildError::Late { .. }) => {
                return Err(Error::Environment(codes::YOSYS_ENDED, LATE.to_owned()));
            }
            output => needed(output)?,
        };
        let status = output.status;
        Err(match status.signal() {
            None => return Ok(output),
            // A crash is about the RTL, which another program may be able to read.
            Some(_) if is_crash(status) => {
                Error::Environment(codes::YOSYS_FAILED, format!("it crashed ({status})"))
            }
            Some(_) => Error::Environment(
                codes::YOSYS_ENDED,
                format!("Yosys was killed ({status}); the system does that if memory is short"),
            ),
        })
    }
}

/// What is wrong with a file of assertions, by Yosys's words, which call it `name`.
fn refused(path: &Path, name: &str, message: &str) -> Error {
    let line = message.split(&format!("{name}:")).nth(1).and_then(|rest| {
        let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    let words = message.split_once("ERROR: ").map_or(message, |(_, words)| words).trim();
    let code = match words.starts_with("Identifier") {
        true => codes::UNKNOWN_SIGNAL,
        false => codes::BAD_ASSERTIONS,
    };
    let message = format!("Yosys: {words}");
    match line {
        Some(line) => Error::Input { code, path: path.to_owned(), line, column: 1, message },
        None => Error::File { code, path: path.to_owned(), message },
    }
}

/// The file of a text that Yosys reads.
fn file(number: usize) -> String {
    format!("read-{number}.v")
}

/// The version of Yosys, and that of the front end if one is installed. Each runs once.
///
/// # Errors
/// [`Error::Environment`] if Yosys is missing.
pub fn version() -> Result<String, Error> {
    let own = own_version()?;
    Ok(FrontEnd::installed()
        .map_or_else(|| own.clone(), |one| format!("{own}, read_slang of {}", one.version)))
}

/// The version of Yosys alone.
///
/// # Errors
/// As [`version`].
pub fn own_version() -> Result<String, Error> {
    static VERSION: OnceLock<String> = OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(version.clone());
    }
    let mut command = yosys();
    command.arg("-V");
    let version = String::from_utf8_lossy(&needed(messages(command))?.stdout).trim().to_owned();
    Ok(VERSION.get_or_init(|| version).clone())
}

/// The Yosys that reads SystemVerilog, with its program and its version.
pub fn front_end() -> Option<String> {
    let FrontEnd { program, version } = FrontEnd::installed()?;
    Some(format!("read_slang of {version} ({})", program.display()))
}

/// Identifies the versions of Yosys and ABC: a hash of both programs, and Yosys's version, since a
/// program may be a script that starts another one. `None` if a program is not found.
///
/// # Errors
/// As [`version`].
pub fn identity() -> Result<Option<String>, Error> {
    let mut hash = blake3::Hasher::new();
    for program in [program(), abc_program()] {
        let Some(mut file) = find_program(&program).and_then(|path| File::open(path).ok()) else {
            return Ok(None);
        };
        if hash.update_reader(&mut file).is_err() {
            return Ok(None);
        }
    }
    Ok(Some(format!("{} {}", hash.finalize().to_hex(), version()?)))
}

fn yosys() -> Command {
    Command::new(program())
}

fn program() -> PathBuf {
    let program = env::var_os(VARIABLE).filter(|name| !name.is_empty());
    program.map_or_else(|| PathBuf::from(YOSYS), PathBuf::from)
}

/// ABC is installed beside Yosys.
fn abc_program() -> PathBuf {
    let mut name = program().file_name().unwrap_or_default().to_owned();
    name.push("-abc");
    program().with_file_name(name)
}

/// Runs commands in the ABC that comes with Yosys. It is killed after `seconds` of processor time,
/// and at the deadline, with `None`.
///
/// # Errors
/// [`Error::Environment`] if ABC is missing; [`Error::Interrupted`].
pub fn abc(commands: &str, seconds: u64, deadline: Instant) -> Result<Option<Output>, Error> {
    let mut command = Command::new(abc_program());
    // `-s`: a user's `abc.rc` could redefine commands.
    command.arg("-s").arg("-c").arg(commands);
    match answer_within(seconds, Some(deadline), command) {
        Err(BuildError::Late { .. }) => Ok(None),
        output => needed(output).map(Some),
    }
}

/// Converts an error to start a program of Yosys.
fn needed(output: Result<Output, BuildError>) -> Result<Output, Error> {
    output.map_err(|error| match error {
        BuildError::Program { program, source } => Error::Environment(
            codes::YOSYS_MISSING,
            format!("cannot run Yosys as `{program}` ({source}); {INSTALL}"),
        ),
        other => other.into(),
    })
}

/// An RTL of one Verilog text with the top module `top`, for tests.
#[doc(hidden)]
pub fn verilog(text: &str) -> Examined {
    let name = PathBuf::from("top.v");
    let mut examined = Examined::default();
    examined.texts =
        vec![verilated_build::SourceFile { name: name.clone(), text: text.as_bytes().into() }];
    examined.design = verilated_build::Design {
        top: "top".to_owned(),
        sources: vec![name],
        ..Default::default()
    };
    examined
}

impl YosysSession {
    /// A session on [`verilog`] text. For tests.
    ///
    /// # Panics
    /// If there can be no session.
    #[doc(hidden)]
    pub fn from_verilog(text: &str) -> Self {
        Self::new(&verilog(text)).expect("a session on a text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_deadline_ends_yosys() {
        let session =
            || YosysSession::from_verilog("module top(output o); assign o = 1; endmodule");
        let late = session().with_deadline(Instant::now());
        for result in [late.read(&[], ""), late.script("help")] {
            let error = result.unwrap_err();
            assert_eq!(
                (error.code(), error.of_yosys().unwrap()),
                (codes::YOSYS_ENDED, LATE.into())
            );
        }
        let in_time = session().with_deadline(Instant::now() + Duration::from_secs(600));
        in_time.read(&[], "").unwrap();
    }

    /// Why no proof about a module with this body counts.
    fn doubt_about(body: &str) -> Option<String> {
        let ports = "input clk, input a, input b, output logic y";
        let text = format!("module top({ports});\n{body}\nendmodule\n");
        let session = YosysSession::from_verilog(&text);
        session.read(&[], "proc").unwrap();
        session.find_doubt().unwrap()
    }

    #[test]
    fn a_netlist_that_may_be_another_circuit_is_doubted() {
        for body in [
            "assign y = a;",
            "logic r; always_ff @(posedge clk) r <= a; assign y = r;",
            "wire [1:0] w; assign w[0] = a; assign w[1] = b; assign y = &w;",
        ] {
            assert_eq!(doubt_about(body), None, "{body}");
        }
        for body in [
            // Yosys drops one of the processes.
            "logic r; always @(posedge clk) r <= a; always @(posedge clk) if (b) r <= 0; assign y = r;",
            "wire w; assign w = a; assign w = b; assign y = w;",
            "wire w; assign w = a ? b : 1'bz; assign y = w;",
            "wire w; assign y = a & w;",
            "low u(y); defparam u.P = 1; endmodule
             module low #(parameter P = 0) (output y); assign y = P;",
        ] {
            assert!(doubt_about(body).is_some(), "{body}");
        }
    }

    /// Neither a hierarchical reference nor time is a net that declares itself.
    #[test]
    fn a_name_that_is_declared_nowhere_is_not_read() {
        for value in ["u.q", "$time > 100"] {
            let text = format!(
                "module low(input a); wire q = a; endmodule
                 module top(input a, output y); low u(a); assign y = {value}; endmodule\n"
            );
            let error = YosysSession::from_verilog(&text).read(&[], "proc").unwrap_err();
            assert_eq!(error.code(), codes::YOSYS_FAILED, "{error}");
        }
    }
}

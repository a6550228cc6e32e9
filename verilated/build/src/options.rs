//! Options of Verilator that a project needs to be translated.
//!
//! Options come with RTL of others, and cosim relies on its own ones: so only kinds are accepted
//! that name no file, run no program and leave ports, values and messages as cosim reads them.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// Options without a value.
const FLAGS: [&str; 6] =
    ["-sv", "--sv", "--bbox-sys", "--bbox-unsup", "--structs-packed", "-Wpedantic"];
/// Options with a number.
const NUMBERS: [&str; 10] = [
    "--unroll-count",
    "--unroll-stmts",
    "--unroll-limit",
    "--converge-limit",
    "--if-depth",
    "--max-num-width",
    "--expand-limit",
    "--gate-stmts",
    "--localize-max-size",
    "--preproc-token-limit",
];
/// Options with the name of a language.
const LANGUAGES: [&str; 2] = ["--language", "--default-language"];
/// Options with a unit and a precision of time.
const TIMES: [&str; 2] = ["--timescale", "--timescale-override"];
/// Years of the standards, as in `+1800-2017ext+sv`.
const STANDARDS: [&str; 8] =
    ["1995", "2001", "2005", "2009", "2012", "2017", "2023", "2001-noconfig"];
/// Warnings by which cosim finds that a wrapper does not fit, or that a module is declared twice.
const RELIED_ON: [&str; 4] = ["PINMISSING", "PINNOTFOUND", "MODDUP", "WIDTH"];
/// Turns those on again that `-Wno-lint` turns off.
pub(crate) const TURNED_ON: [&str; 2] = ["-Wwarn-PINMISSING", "-Wwarn-WIDTH"];

/// Warnings that Verilator 5.006 does not know, up to 5.48. RTL turns them off by name, at which an
/// older Verilator fails unless it is told that they are of a newer one.
const OF_NEWER: &str = "ALWNEVER ASCRANGE BADVLTPRAGMA CONSTRAINTIGN COVERIGN ENUMITEMWIDTH FUNCTIMECTL \
    GENUNNAMED HIERPARAM IEEEMAYDEPRECATE INSIDETRUE MISINDENT MODMISSING NEWERSTD NOEFFECT \
    NONSTD NORETURN PARAMNODEFAULT PREPROCZERO PROCASSINIT PROTOTYPEMIS SIDEEFFECT \
    SPECIFYIGN STATICVAR SUPERNFIRST UNSATCONSTR UNUSEDLOOP WIDTHEXPAND WIDTHTRUNC \
    WIDTHXZEXPAND ZEROREPL";

/// Options for what RTL says to a newer Verilator than the installed one.
pub(crate) fn of_newer() -> impl Iterator<Item = String> {
    OF_NEWER.split_ascii_whitespace().map(|warning| format!("-Wfuture-{warning}"))
}

/// An option of an accepted kind, with its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VerilatorOption(Vec<String>);

impl VerilatorOption {
    /// The words on the command line.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for VerilatorOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl FromStr for VerilatorOption {
    type Err = Error;

    /// Reads one option, with a value behind a space, as in `--unroll-count 512`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let refuse =
            |reason: &str| Error::Option { option: text.to_owned(), reason: reason.to_owned() };
        let is_number = |value: &str| value.len() <= 9 && value.bytes().all(|c| c.is_ascii_digit());
        let is_word = |value: &str, others: &str| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
            value.starts_with(|c: char| c.is_ascii_alphanumeric()) && value.chars().all(is_letter)
        };
        let is_accepted = match words[..] {
            [flag] if FLAGS.contains(&flag) => true,
            [warning] if let Some(name) = warning.strip_prefix("-W") => {
                let kinds = ["no-", "future-", "warn-", "error-"];
                let code = kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name);
                let changes = !name.starts_with("future-");
                if changes && RELIED_ON.iter().any(|known| code.starts_with(known)) {
                    return Err(refuse("cosim relies on this warning"));
                }
                is_word(code, "-_") && code != "fatal"
            }
            [optimization] if let Some(name) = optimization.strip_prefix("-fno-") => {
                is_word(name, "-")
            }
            [extension] if let Some(rest) = extension.strip_prefix('+') => {
                let parts = rest.split_once('-').and_then(|(number, rest)| {
                    let (standard, ending) = rest.split_once("ext+")?;
                    Some((number, standard, ending))
                });
                parts.is_some_and(|(number, standard, ending)| {
                    ["1364", "1800"].contains(&number)
                        && STANDARDS.contains(&standard)
                        && is_word(ending, "")
                })
            }
            [name, value] if NUMBERS.contains(&name) => is_number(value),
            [name, value] if LANGUAGES.contains(&name) => is_word(value, "-+"),
            [name, value] if TIMES.contains(&name) => is_word(value, "/"),
            [name]
                if NUMBERS.iter().chain(&LANGUAGES).chain(&TIMES).any(|known| *known == name) =>
            {
                return Err(refuse("its value is missing; write both as one, as in `NAME VALUE`"));
            }
            _ => false,
        };
        if !is_accepted {
            return Err(refuse(
                "cosim passes on only warnings (-Wno-NAME, -Wfuture-NAME), limits (--unroll-count N, \
                 --unroll-stmts N, --converge-limit N, ...), languages (--language, \
                 +1800-2017ext+EXT), --timescale UNIT/PRECISION, --bbox-sys, --bbox-unsup and \
                 -fno-NAME; everything else could write files, run programs or change what cosim relies on",
            ));
        }
        Ok(Self(words.into_iter().map(str::to_owned).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_kinds_of_options_are_accepted() {
        for good in [
            "--unroll-count 512",
            "--unroll-stmts  100000",
            "-Wno-UNOPTFLAT",
            "-Wno-lint",
            "-Wfuture-WIDTHEXPAND",
            "-Wall",
            "--language 1800-2012",
            "+1800-2023ext+svx",
            "+1364-2001ext+v",
            "--timescale 1ns/1ps",
            "-fno-inline",
            "--bbox-unsup",
        ] {
            let read = good.parse::<VerilatorOption>().unwrap();
            assert_eq!(read.words(), good.split_whitespace().collect::<Vec<_>>(), "{good}");
        }
        for bad in [
            "",
            " ",
            "--exe",
            "--build",
            "--cc",
            "--xml-only",
            "-CFLAGS -fplugin=x.so",
            "-LDFLAGS x",
            "-MAKEFLAGS x",
            "--Mdir /tmp/x",
            "-o x",
            "--prefix Vx",
            "--top-module x",
            "-f list.f",
            "-F list.f",
            "-fno-",
            "-fno-x --exe",
            "-GN=3",
            "-DX",
            "-Ifolder",
            "-y folder",
            "x.sv",
            "--trace",
            "--threads 4",
            "--timing",
            "--assert",
            "--x-initial 0",
            "--public-flat",
            "--pins-bv 2",
            "--gdb",
            "--rr",
            "--pipe-filter sh",
            "--compiler gcc",
            "--dump-tree",
            "--debug",
            "--unroll-count",
            "--unroll-count x",
            "--unroll-count -1",
            "--unroll-count 5 --exe",
            "--unroll-count=5",
            "--unroll-count 9999999999",
            "-Wno-fatal",
            "-Wno-PINMISSING",
            "-Wno-WIDTHTRUNC",
            "-Wno-MODDUP",
            "-W",
            "-Wno-",
            "-Wno-x/../y",
            "+1800-2017ext+../x",
            "+libext+.x",
            "+incdir+x",
            "--timescale ../x",
            "--language -f",
            "-Wno-LINT\n--exe",
        ] {
            let error = bad.parse::<VerilatorOption>();
            assert!(matches!(error, Err(Error::Option { .. })), "{bad:?}");
        }
    }
}

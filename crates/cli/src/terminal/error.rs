//! `cosim error`.

use crate::print_text;
use clap::Args;
use cosim_base::error::{Code, Error, codes};
use std::process::ExitCode;

/// Which codes are explained.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Explain this code, as in E0213; default: list all codes.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let text = match &arguments.code {
        Some(code) => explained(Code::find(code).ok_or_else(|| unknown(code))?),
        None => list(),
    };
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn explained(code: Code) -> String {
    format!("{code}: {}\n\n{}\n\nExit code {}.", code.title(), code.explanation(), code.exit())
}

fn list() -> String {
    let mut text = String::new();
    for (title, codes) in codes::groups() {
        text += &format!("{title}\n");
        for code in codes {
            text += &format!("  {code}  {}\n", code.title());
        }
    }
    text + "\n`cosim error CODE` explains a code."
}

fn unknown(code: &str) -> Error {
    Error::Usage(
        codes::COMMAND_LINE,
        format!("no error has the code `{code}`; `cosim error` lists all codes"),
    )
}

//! Verilator's messages as a user reads them: without the module that cosim writes around the top,
//! and with what can be done.

use verilated_runtime::Verilator;

/// A module that instantiates the block's top, so that Verilator searches for the top, too.
pub const ASKING_TOP: &str = "cosim_ask";

/// Messages without the module that instantiates the top: what is wrong there is said of the top.
/// Warnings about it are left out, and all warnings if there are errors. So are the names under
/// which a missing file was searched for: there are some for each folder.
pub fn without_asking_top(output: &str, top: &str) -> String {
    let file = format!("{ASKING_TOP}.sv:");
    let has_errors = output.lines().any(|line| line.starts_with("%Error"));
    let (mut text, mut is_dropped, mut is_own) = (String::new(), false, false);
    let mut is_searched = false;
    for line in output.lines() {
        let is_name = is_searched && line.starts_with("            ");
        is_searched = line.ends_with("... Looked in:") || is_name;
        if is_searched || line.starts_with("%Error: Command Failed") {
            continue;
        }
        if line.starts_with('%') {
            is_own = line.contains(&file);
            is_dropped = (is_own || has_errors) && line.starts_with("%Warning");
            if is_own && !is_dropped {
                let kind = line.split(": ").next().unwrap_or_default();
                let behind = line.split_once(&file).map_or("", |(_, behind)| behind);
                let message = behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
                text.push_str(&format!("{kind}: module {top}:{message}\n"));
                continue;
            }
        }
        // Lines of that module, and places in it.
        let is_excerpt = line.split_once('|').is_some_and(|(number, _)| {
            number.trim().chars().all(|c| c.is_ascii_digit()) && number.starts_with(' ')
        });
        let instance = line.split_once("In instance ").map(|(_, name)| name.trim_matches('\''));
        let is_left_out = is_dropped
            || (is_own && is_excerpt)
            || (!line.starts_with('%') && line.contains(&file))
            || instance == Some(ASKING_TOP);
        if !is_left_out {
            text.push_str(&line.replace(&format!("{ASKING_TOP}.dut"), top));
            text.push('\n');
        }
    }
    text
}

/// What a user can do about RTL that Verilator rejects. `hint` is for files that are not meant.
pub fn advice(output: &str, hint: &str, verilator: &Verilator) -> String {
    let has = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let is_option = has(&["unroll", "Wfuture", "lint_off", "LOOPINIT", "--bbox", "--language"]);
    let is_unsupported = has(&["nsupported", "syntax error", "nternal error", "Internal Error"]);
    let is_missing = has(&["Cannot find file containing", "Cannot find include file"]);
    let mut advice = Vec::new();
    if is_missing {
        advice.push("Name the missing file, too, or its folder with -I.".to_owned());
    }
    if is_option {
        advice.push(
            "An option of Verilator is passed with `cosim new --verilator-option`, as in \
             '--unroll-count 512' or -Wfuture-NAME, and with `verilator_option` in build.rs."
                .to_owned(),
        );
    }
    if (is_option || is_unsupported)
        && let Some(version) = verilator.old()
    {
        advice.push(format!(
            "Verilator {version} is installed. A newer one may accept this: name it with VERILATOR."
        ));
    }
    if !is_option && !is_missing && !hint.is_empty() {
        advice.push(hint.to_owned());
    }
    advice.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_asking_module_is_not_shown() {
        let output = "\
%Warning-TIMESCALEMOD: cosim_ask.sv:1:8: Timescale missing on this module
    1 | module cosim_ask; m dut(); endmodule
      |        ^~~~~~~~~
                       @rtl/a.v:2:8: ... Location of module with timescale
%Warning-UNUSED: @rtl/a.v:2:8: Signal is not used
%Error-PINNOTFOUND: /tmp/x/cosim_ask.sv:1:25: Can't find definition of variable: 'N'
    1 | module cosim_ask; bus s[N](); endmodule
      |                         ^
%Error: @rtl/a.v:7:3: Unsupported: x
                    : ... In instance cosim_ask.dut.sub
    7 |   x
%Error: @rtl/b.v:7:3: y
                    : ... note: In instance 'cosim_ask'
%Error: @rtl/b.v:8:3: Cannot find file containing module: 'z'
    8 |   z z();
      |   ^
        ... Looked in:
             @rtl/z
             /tmp/x/files/answer/z.sv
        @rtl/a.v:7:1: ... note: In file included from a.v
%Error: @rtl/b.v:9:3: w
%Error: Command Failed /usr/bin/verilator_bin --Mdir /tmp/x
";
        let expected = "\
%Error-PINNOTFOUND: module m: Can't find definition of variable: 'N'
%Error: @rtl/a.v:7:3: Unsupported: x
                    : ... In instance m.sub
    7 |   x
%Error: @rtl/b.v:7:3: y
%Error: @rtl/b.v:8:3: Cannot find file containing module: 'z'
    8 |   z z();
      |   ^
        @rtl/a.v:7:1: ... note: In file included from a.v
%Error: @rtl/b.v:9:3: w
";
        assert_eq!(without_asking_top(output, "m"), expected);
        let warnings: String = output.lines().take(5).map(|line| format!("{line}\n")).collect();
        let expected = "%Warning-UNUSED: @rtl/a.v:2:8: Signal is not used\n";
        assert_eq!(without_asking_top(&warnings, "m"), expected);
    }
}

//! Wraps a design in a top with registered inputs, and decides whether the design behaves the same
//! in it.
//!
//! In the plain model, a cycle takes two evaluations: inputs change while the clock is low, and
//! everything that depends on them is computed; then the clock rises. In a top that registers every
//! input, the design's registers and its inputs change at the same edge, so one heavy evaluation
//! suffices. The input registers have a clock of their own, so that the same model can be driven
//! with two evaluations as well.
//!
//! The outputs are the same in every cycle unless the design reacts between rising edges: a falling
//! edge, a latch, the clock used as data, or a derived clock. Verilator's scheduler finds all of
//! these, and they appear in its output.

use crate::ports::member;
use crate::templates::render;
use crate::{Design, Error, Port, Ports, Verilated, written_text};
use minijinja::context;
use std::fs;
use std::path::Path;
use verilated_runtime::Verilator;

const TEMPLATE: &str = include_str!("../templates/registered.v");
/// The module's name.
const TOP: &str = "cosim_registered";
/// Prefix of the names of the input registers.
const REGISTER: &str = "cosim_q_";
/// The clock of the input registers.
const LOAD: &str = "cosim_load";

/// How a model is driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Driving {
    /// Inputs are registered: one heavy evaluation per cycle.
    Registered,
    /// Two evaluations per cycle, for this reason.
    TwoEvaluations(String),
}

/// The texts that determine the top and how it is driven, for content hashes.
pub fn text() -> [&'static str; 2] {
    [TEMPLATE, include_str!("registered.rs")]
}

/// Translates a design in a registered top with these ports. `folder` gets the text of the top and
/// the result.
///
/// # Errors
/// As [`Design::verilate`].
pub fn translate(
    design: &Design,
    ports: &Ports,
    folder: &Path,
    verilator: &Verilator,
) -> Result<Verilated, Error> {
    registered(design, ports, folder)?.verilate(verilator, &folder.join("registered"))
}

/// Selects the model to compile for a design, given its plain translation and that in a registered
/// top, if there is one. Uses the latter if the design requests it and behaves the same in it.
///
/// # Errors
/// [`Error::Io`]. A registered top that Verilator rejects is a reason for two evaluations.
pub fn choose(
    design: &Design,
    plain: Verilated,
    translated: Option<Result<Verilated, Error>>,
    ports: &Ports,
    verilator: &Verilator,
) -> Result<(Verilated, Driving), Error> {
    if !design.registered {
        let reason = "it was compiled that way".to_owned();
        return Ok((plain, Driving::TwoEvaluations(reason)));
    }
    let folder = std::path::absolute(&plain.dir).map_err(Error::io(&plain.dir))?;
    let translated = translated.unwrap_or_else(|| translate(design, ports, &folder, verilator));
    let verilated = match translated {
        Ok(verilated) => verilated,
        Err(Error::Verilate { output, .. }) => {
            let line = output.lines().find(|line| line.contains("%Error")).unwrap_or(&output);
            // Remove the folders, which differ between machines.
            let line = folder.ancestors().take(2).fold(line.to_owned(), |line, one| {
                line.replace(&format!("{}/", one.display()), "")
            });
            let reason = format!("Verilator refuses it with registered inputs: {}", line.trim());
            return Ok((plain, Driving::TwoEvaluations(reason)));
        }
        Err(other) => return Err(other),
    };
    // Toggle counters of the clock would look like uses of the clock.
    let judged = match design.coverage {
        true => {
            let design = Design { coverage: false, ..registered(design, ports, &folder)? };
            Some(design.verilate(verilator, &folder.join("judged"))?)
        }
        false => None,
    };
    Ok(match between_edges(judged.as_ref().unwrap_or(&verilated), &ports.clock)? {
        None => (verilated, Driving::Registered),
        Some(reason) => (plain, Driving::TwoEvaluations(reason)),
    })
}

/// The design in a registered top, whose source is written into a folder with an absolute path.
///
/// # Errors
/// [`Error::Io`], [`Error::Template`].
fn registered(design: &Design, ports: &Ports, folder: &Path) -> Result<Design, Error> {
    let source = folder.join(format!("{TOP}.sv"));
    fs::write(&source, top(design, ports)?).map_err(Error::io(&source))?;
    Ok(Design {
        top: TOP.to_owned(),
        sources: std::iter::once(source).chain(design.sources.iter().cloned()).collect(),
        // The text of the top contains them.
        parameters: Vec::new(),
        ..design.clone()
    })
}

/// The text of the registered top of a design.
fn top(design: &Design, ports: &Ports) -> Result<String, Error> {
    let pins = |ports: &[Port]| -> Vec<_> {
        ports.iter().map(|Port { name, width }| context! { name, left => width - 1 }).collect()
    };
    let values: Vec<String> =
        design.parameters.iter().map(|(name, value)| format!(".{name}({value})")).collect();
    let context = context! {
        inputs => pins(&ports.inputs),
        outputs => pins(&ports.outputs),
        clock => ports.clock,
        register => REGISTER,
        top => design.top,
        parameters => values.join(", "),
    };
    render("registered.v", TEMPLATE, &context)
}

/// The part of a registered design that reacts between edges, or `None`.
///
/// Verilator's debugging functions name every event that a process waits for, and the one of logic
/// that follows top-level inputs directly. With registered inputs, the clock is the only input that
/// such logic can follow.
fn between_edges(verilated: &Verilated, clock: &str) -> Result<Option<String>, Error> {
    let texts: Vec<String> =
        verilated.sources.iter().map(|path| written_text(path)).collect::<Result<_, _>>()?;
    let mut has_load_event = false;
    for event in texts.iter().flat_map(|text| events(text)) {
        match event {
            _ if event == format!("@(posedge {LOAD})") => has_load_event = true,
            "Internal 'stl' trigger - first iteration" => {}
            "Internal 'ico' trigger - first iteration" => {
                return Ok(Some(format!("logic follows the level of {clock}")));
            }
            _ if is_edge_of_pins(event, clock) => {}
            _ => {
                let event = event.replace(&format!("{TOP}.{REGISTER}"), "");
                let event = event.replace(&format!("{TOP}.dut."), "");
                // Any change: some Verilators write `[changed] clk`, others ` clk`.
                let event = event.replace("[changed]", "").replace("( ", "(").replace("  ", " ");
                return Ok(Some(format!("something waits for {event}")));
            }
        }
    }
    if let Some(function) = texts.iter().find_map(|text| reader_of_clock(text, &member(clock))) {
        return Ok(Some(format!("{clock} is used as data ({function} of Verilator's output)")));
    }
    let unknown = "Verilator's output does not show which events trigger the design";
    Ok((!has_load_event).then(|| unknown.to_owned()))
}

/// The events named in a source, such as `@(posedge clk or posedge cosim_registered.cosim_q_rst)`.
fn events(text: &str) -> impl Iterator<Item = &str> {
    let named = text.lines().filter(|line| line.contains(" region trigger index "));
    named.filter_map(|line| Some(line.split_once(" is active: ")?.1.split("\\n").next()?.trim()))
}

/// Whether an event consists only of rising clock edges and edges of inputs, which occur at the
/// same times in both models.
fn is_edge_of_pins(event: &str, clock: &str) -> bool {
    let Some(terms) = event.strip_prefix("@(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let input = format!("{TOP}.{REGISTER}");
    terms.split(" or ").all(|term| match term.split_once(' ') {
        Some(("posedge", signal)) if signal == clock => true,
        Some(("posedge" | "negedge", signal)) => signal.strip_prefix(&input).is_some_and(is_name),
        _ => false,
    })
}

/// The first function of a design process that reads the clock's level.
fn reader_of_clock<'a>(text: &'a str, clock: &str) -> Option<&'a str> {
    let mut function = "";
    for line in text.lines() {
        if !line.starts_with([' ', '}', '#', '/'])
            && let Some((head, _)) = line.split_once('(')
        {
            function = head.rsplit([' ', '*']).next().unwrap_or(head);
        }
        let is_process = ["___nba_", "___act_"].iter().any(|kind| function.contains(kind));
        let reads = line.match_indices(clock).any(|(at, word)| {
            let (before, after) = (&line[..at], &line[at + word.len()..]);
            let member = before.ends_with("->") || before.ends_with('.');
            member && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        });
        if is_process && reads {
            return Some(function);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Port;
    use tempfile::TempDir;

    /// Translates the design `odd` with these processes in both ways.
    fn driving(processes: &str) -> Driving {
        let folder = TempDir::new().unwrap();
        let source = folder.path().join("odd.v");
        let text = format!(
            "module odd #(parameter [7:0] MASK = 0) (input wire clk, input wire rst, input wire [7:0] a, \
             output reg [7:0] x, output wire [7:0] y);\nreg d;\n{processes}\nendmodule\n\
             module inner(input wire c, input wire [7:0] a, output reg [7:0] x);\n\
             always @(posedge c) x <= a;\nendmodule\n"
        );
        fs::write(&source, text).unwrap();
        let design = Design {
            top: "odd".to_owned(),
            sources: vec![source],
            parameters: vec![("MASK".to_owned(), "8'h2a".to_owned())],
            prefix: "Vodd".to_owned(),
            registered: true,
            ..Design::default()
        };
        let verilator = Verilator::find().unwrap();
        let plain = design.verilate(&verilator, &folder.path().join("model")).unwrap();
        let ports = design.ports(&verilator, &plain).unwrap();
        choose(&design, plain, None, &ports, &verilator).unwrap().1
    }

    #[test]
    fn rising_edges_and_resets_need_one_evaluation() {
        for processes in [
            "always @(posedge clk) x <= a;",
            "always @(posedge clk or posedge rst) if (rst) x <= MASK; else x <= x + a;",
            "always @(posedge clk or negedge rst) if (!rst) x <= 0; else x <= a;",
            "inner inner (.c(clk), .a(a), .x(x)); assign y = x + a;",
            "assign y = a ^ MASK; always @(posedge clk) x <= y;",
        ] {
            assert_eq!(driving(processes), Driving::Registered, "{processes}");
        }
    }

    #[test]
    fn logic_between_the_edges_needs_two_evaluations() {
        for (processes, reasons) in [
            ("always @(negedge clk) x <= a;", &["waits for @(negedge clk)"][..]),
            ("always @(clk) x = a;", &["waits for @(clk)"]),
            ("always @* if (!clk) x = a;", &["level of clk"]),
            ("assign y = a & {8{clk}};", &["level of clk"]),
            (
                "always @(posedge clk) d <= ~d; always @(posedge d) x <= a;",
                &["waits for @(posedge d)"],
            ),
            (
                "wire gated = clk & a[0]; always @(posedge gated) x <= a;",
                // Debian's Verilator makes the gate a signal; the newest one has an expression in
                // the event.
                &["level of clk", "waits for @(posedge (clk & a[0]))"],
            ),
            ("always @(posedge rst) x <= {8{clk}};", &["clk is used as data"]),
            (
                "always @(posedge clk or posedge rst) if (rst) x <= {8{clk}}; else x <= a;",
                &["clk is used as data"],
            ),
        ] {
            match driving(processes) {
                Driving::TwoEvaluations(why) => {
                    let reported = reasons.iter().any(|reason| why.contains(reason));
                    assert!(reported, "{processes}: {why}");
                }
                Driving::Registered => panic!("{processes}"),
            }
        }
    }

    #[test]
    fn every_input_is_registered_and_parameters_are_passed_on() {
        let port = |name: &str, width| Port { name: name.to_owned(), width };
        let ports = Ports {
            clock: "clk_i".to_owned(),
            inputs: vec![port("wide", 70), port("rst", 1)],
            outputs: vec![port("out", 8)],
            observing: false,
        };
        let parameters = vec![("N".to_owned(), "8'h01".to_owned())];
        let design = Design { top: "t".to_owned(), parameters, ..Design::default() };
        let text = top(&design, &ports).unwrap();
        for line in [
            "  input wire [69:0] wide,",
            "  reg [69:0] cosim_q_wide;",
            "  initial cosim_q_wide = wide;",
            "  input wire clk_i",
            "    .clk_i(clk_i)",
            "    cosim_q_rst <= rst;",
            "    .wide(cosim_q_wide),",
            "    .out(out),",
            "  t #(.N(8'h01)) dut (",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}

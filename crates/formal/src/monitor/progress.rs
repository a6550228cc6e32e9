//! Translates bounded progress and known deadlocks to Verilog. A counter measures the cycles in
//! which the block does not wait for the environment.

use super::{Kind, Property};
use cosim_harness::harness::{KnownDeadlock, Progress, Properties};
use std::fmt::Write as _;

/// What is finished, and how it is not.
pub fn progress(
    properties: &Properties,
    clock: &str,
    bad: &mut Vec<(Property, String)>,
    text: &mut String,
) {
    for (place, progress) in properties.progress.iter().enumerate() {
        let Progress { assumptions, known_deadlocks, .. } = progress;
        let legal =
            assumptions.iter().fold("1'b1".to_owned(), |all, (_, one)| format!("{all} & ({one})"));
        let _ = writeln!(
            text,
            "  wire keeps_{place} = {legal};\n  reg broke_{place} = 1'b0;\n  \
             always @(posedge {clock}) broke_{place} <= ~in_reset & (broke_{place} | ~keeps_{place});\n  \
             wire fair_{place} = ~in_reset & ~broke_{place} & keeps_{place};"
        );
        let all: Vec<[(Property, String); 2]> = known_deadlocks
            .iter()
            .enumerate()
            .map(|(number, hang)| {
                hangs_so(&progress.what, hang, &format!("{place}_{number}"), place, clock, text)
            })
            .collect();
        bad.push(finished(progress, place, clock, text));
        bad.extend(all.into_iter().flatten());
    }
}

/// The properties that a known deadlock is reachable and that it lasts. `name` is the suffix of its
/// wires.
fn hangs_so(
    what: &str,
    hang: &KnownDeadlock,
    name: &str,
    place: usize,
    clock: &str,
    text: &mut String,
) -> [(Property, String); 2] {
    let (until, ends) = match &hang.until {
        Some((until, ends)) => (format!("until {until}"), ends.as_str()),
        None => ("for ever".to_owned(), "1'b0"),
    };
    let _ = writeln!(
        text,
        "  wire in_hang_{name} = ~in_reset & ({});\n  wire hangs_{name} = in_hang_{name} & ~({ends});\n  \
         reg hung_{name} = 1'b0;\n  \
         always @(posedge {clock}) hung_{name} <= hangs_{name} & fair_{place};",
        hang.when
    );
    let reached = format!("fair_{place} & hangs_{name}");
    let ended = format!("fair_{place} & hung_{name} & ~in_hang_{name}");
    [
        (of_registers(Kind::Hang, format!("{what} hangs: {}", hang.what)), reached),
        (
            of_registers(
                Kind::Always,
                format!("{what} that hangs so does it {until}: {}", hang.what),
            ),
            ended,
        ),
    ]
}

/// The property that an operation finishes in time. The counter excludes waits and known deadlocks.
fn finished(
    progress: &Progress,
    place: usize,
    clock: &str,
    text: &mut String,
) -> (Property, String) {
    let Progress { busy, waits, within, more, known_deadlocks, .. } = progress;
    let hanging = (0..known_deadlocks.len())
        .fold("1'b0".to_owned(), |all, number| format!("{all} | hangs_{place}_{number}"));
    let (amount, added) =
        more.as_ref().map_or((0, "1'b0"), |(amount, _, edge)| (*amount, edge.as_str()));
    // The counter must be able to hold at least one more than the latest allowed value.
    let bits = (within + amount + 1).ilog2() + 2;
    let (high, top) = (bits - 1, (1_u64 << bits) - 1);
    // The counter saturates at both ends: time gained by an edge is not saved up.
    let _ = writeln!(
        text,
        "  wire busy_{place} = ~in_reset & ({busy});\n  \
         wire own_{place} = busy_{place} & ~({waits}) & ~({hanging});\n  \
         reg [{high}:0] spent_{place} = {bits}'d0;\n  \
         wire [{high}:0] spending_{place} = spent_{place} == {bits}'d{top} ? spent_{place} : spent_{place} + own_{place};\n  \
         wire [{high}:0] gained_{place} = ({added}) ? {bits}'d{amount} : {bits}'d0;\n  \
         always @(posedge {clock}) spent_{place} <= ~busy_{place} | spending_{place} < gained_{place} ? {bits}'d0 \
         : spending_{place} - gained_{place};"
    );
    let late = format!(
        "fair_{place} & busy_{place} & (spending_{place} > gained_{place} + {bits}'d{within})"
    );
    (of_registers(Kind::Progress, describe(progress)), late)
}

fn of_registers(kind: Kind, text: String) -> Property {
    Property { kind, text, of_registers: true }
}

fn describe(progress: &Progress) -> String {
    let Progress { what, within, more, assumptions, known_deadlocks, .. } = progress;
    let cycles = if *within == 1 { "1 cycle".to_owned() } else { format!("{within} cycles") };
    let mut text = format!("{what} is finished within {cycles}");
    if let Some((amount, edge, _)) = more {
        let _ = write!(text, ", and {amount} for each {edge},");
    }
    text += " in which no partner keeps it waiting";
    if !known_deadlocks.is_empty() {
        let known_deadlocks: Vec<&str> = known_deadlocks.iter().map(|hang| hang.what).collect();
        let _ = write!(text, ", unless it hangs ({})", known_deadlocks.join("; "));
    }
    for (number, (assumed, _)) in assumptions.iter().enumerate() {
        let _ = write!(text, "{} {assumed}", if number == 0 { ", if" } else { " and" });
    }
    text
}

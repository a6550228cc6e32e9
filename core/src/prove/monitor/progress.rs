//! What comes to an end, as Verilog: a counter of the block's own cycles, and the hangs that are known of.

use super::{Kind, Property};
use crate::harness::{Hang, Progress, Promises, Remembered};
use std::fmt::Write as _;

/// Bits of the counters of own cycles.
const BITS: u32 = 8;

/// The registers that the proof remembers something in.
pub fn remembered(promises: &Promises, clock: &str, text: &mut String) {
    for Remembered { name, width, next } in &promises.remembered {
        let _ = writeln!(
            text,
            "  reg [{}:0] {name} = 0;\n  always @(posedge {clock}) {name} <= in_reset ? {width}'d0 : ({next});",
            width - 1
        );
    }
}

/// What is finished, and how it is not.
pub fn progress(
    promises: &Promises,
    clock: &str,
    bad: &mut Vec<(Property, String)>,
    text: &mut String,
) {
    for (place, progress) in promises.progress.iter().enumerate() {
        let Progress { what, busy, waits, within, more, partners, hangs } = progress;
        let legal =
            partners.iter().fold("1'b1".to_owned(), |all, (_, one)| format!("{all} & ({one})"));
        let _ = writeln!(
            text,
            "  wire keeps_{place} = {legal};\n  reg broke_{place} = 1'b0;\n  \
             always @(posedge {clock}) broke_{place} <= ~in_reset & (broke_{place} | ~keeps_{place});\n  \
             wire fair_{place} = ~in_reset & ~broke_{place} & keeps_{place};"
        );
        for (number, Hang { when, until, .. }) in hangs.iter().enumerate() {
            let until = until.as_ref().map_or("1'b0", |(_, until)| until);
            let _ = writeln!(
                text,
                "  wire in_hang_{place}_{number} = ~in_reset & ({when});\n  \
                 wire hangs_{place}_{number} = in_hang_{place}_{number} & ~({until});\n  \
                 reg hung_{place}_{number} = 1'b0;\n  \
                 always @(posedge {clock}) hung_{place}_{number} <= hangs_{place}_{number} & fair_{place};"
            );
        }
        let hanging = (0..hangs.len())
            .fold("1'b0".to_owned(), |all, number| format!("{all} | hangs_{place}_{number}"));
        let (amount, added) =
            more.as_ref().map_or((0, "1'b0"), |(amount, _, edge)| (*amount, edge.as_str()));
        let top = (1 << BITS) - 1;
        // The counter stops at both ends: what edges add is never saved up.
        let _ = writeln!(
            text,
            "  wire busy_{place} = ~in_reset & ({busy});\n  \
             wire own_{place} = busy_{place} & ~({waits}) & ~({hanging});\n  \
             reg [{high}:0] spent_{place} = {BITS}'d0;\n  \
             wire [{high}:0] spending_{place} = spent_{place} == {BITS}'d{top} ? spent_{place} : spent_{place} + own_{place};\n  \
             wire [{high}:0] gained_{place} = ({added}) ? {BITS}'d{amount} : {BITS}'d0;\n  \
             always @(posedge {clock}) spent_{place} <= ~busy_{place} | spending_{place} < gained_{place} ? {BITS}'d0 \
             : spending_{place} - gained_{place};",
            high = BITS - 1,
        );
        let text_of = said(what, *within, more.as_ref(), partners, hangs);
        let late = format!(
            "fair_{place} & busy_{place} & (spending_{place} > gained_{place} + {BITS}'d{within})"
        );
        bad.push((of_registers(Kind::Progress, text_of), late));
        for (number, hang) in hangs.iter().enumerate() {
            let reached = format!("fair_{place} & hangs_{place}_{number}");
            bad.push((of_registers(Kind::Hang, format!("{what} hangs: {}", hang.what)), reached));
            let until = match &hang.until {
                Some((until, _)) => format!("until {until}"),
                None => "for ever".to_owned(),
            };
            let ended = format!("fair_{place} & hung_{place}_{number} & ~in_hang_{place}_{number}");
            let lasts = format!("{what} that hangs so does it {until}: {}", hang.what);
            bad.push((of_registers(Kind::Always, lasts), ended));
        }
    }
}

fn of_registers(kind: Kind, text: String) -> Property {
    Property { kind, text, of_registers: true }
}

/// A promise of progress, in words.
fn said(
    what: &str,
    within: u32,
    more: Option<&(u32, &str, String)>,
    partners: &[(&str, String)],
    hangs: &[Hang],
) -> String {
    let cycles = if within == 1 { "1 cycle".to_owned() } else { format!("{within} cycles") };
    let mut text = format!("{what} is finished within {cycles}");
    if let Some((amount, edge, _)) = more {
        let _ = write!(text, ", and {amount} for each {edge},");
    }
    text += " in which no partner keeps it waiting";
    if !hangs.is_empty() {
        let hangs: Vec<&str> = hangs.iter().map(|hang| hang.what).collect();
        let _ = write!(text, ", unless it hangs ({})", hangs.join("; "));
    }
    for (number, (assumed, _)) in partners.iter().enumerate() {
        let _ = write!(text, "{} {assumed}", if number == 0 { ", if" } else { " and" });
    }
    text
}

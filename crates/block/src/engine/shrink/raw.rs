//! Shrinks unconstrained stimulus.
//!
//! It first looks for a window of cycles that fails alone. Then it removes cycles, and sets parts
//! of ports to 0: whole ports in all cycles and in some, then named fields of wide ports, then
//! their halves down to single bits.

use super::{PlainDrive, ShrinkSearch};
use cosim_harness::harness::{BlockInfo, Verdict};
use std::ops::Range;
use verilated::Port;

/// Some bits of a port in one cycle.
#[derive(Clone)]
struct PortBits {
    cycle: usize,
    port: &'static Port,
    bits: Range<u32>,
}

/// Shrinks the search's best stimulus.
pub fn shrink(search: &mut ShrinkSearch<'_>) {
    search.allow(2);
    window(search);
    drop_cycles(search);
    loop {
        let before = search.kept;
        search.allow(2);
        idle_ports(search);
        search.allow(2);
        clear(search, pieces(search, |_, port| std::iter::once(0..port.width).collect()));
        search.allow(2);
        clear(search, pieces(search, fields_of));
        search.allow(2);
        clear_halves(search);
        search.reserve = 0;
        drop_cycles(search);
        hold(search);
        if search.kept == before || search.is_over() {
            return;
        }
    }
}

fn cycles<'a>(search: &'a ShrinkSearch<'_>) -> &'a [Vec<u8>] {
    match &search.best {
        PlainDrive::Cycles(cycles) => cycles,
        PlainDrive::Traffic(_) => &[],
    }
}

/// Runs a candidate. If it fails, also removes the cycles after the failure.
fn attempt(search: &mut ShrinkSearch<'_>, candidate: Vec<Vec<u8>>) -> bool {
    // Copying a cycle costs less than running it.
    search.pay(candidate.len() as u64 / 4);
    if search.is_over() || !search.judge_drive(PlainDrive::Cycles(candidate), |_| true) {
        return false;
    }
    if let (Some(used), PlainDrive::Cycles(cycles)) =
        (used(&search.outcome.verdict), &mut search.best)
    {
        cycles.truncate(used.max(1));
    }
    true
}

/// Maximum number of raw cycles that a failure needs. The harness adds one cycle in reset at the
/// start.
fn used(verdict: &Verdict) -> Option<usize> {
    match verdict {
        Verdict::Hang { .. } | Verdict::Crashed { .. } => None,
        verdict => verdict.cycle().map(|cycle| cycle as usize),
    }
}

/// Looks for a window of 1, 2, 3 or more cycles before the failure that fails alone after reset.
fn window(search: &mut ShrinkSearch<'_>) {
    let all = cycles(search).to_vec();
    let end = used(&search.outcome.verdict).unwrap_or(all.len()).clamp(1, all.len());
    let mut width = 1;
    while width < end {
        if search.is_over() || attempt(search, all[end - width..end].to_vec()) {
            return;
        }
        width += 1 + width / 3;
    }
    attempt(search, all[..end].to_vec());
}

/// Removes cycles: long runs first, down to single cycles.
fn drop_cycles(search: &mut ShrinkSearch<'_>) {
    let mut run = cycles(search).len() / 2;
    while run > 0 {
        let mut end = cycles(search).len();
        while end > 0 {
            let start = end.saturating_sub(run);
            if search.is_over() {
                return;
            }
            let all = cycles(search);
            let candidate = [&all[..start], &all[end..]].concat();
            attempt(search, candidate);
            end = start.min(cycles(search).len());
        }
        run /= 2;
    }
}

/// Sets a port to 0 in all cycles.
fn idle_ports(search: &mut ShrinkSearch<'_>) {
    for port in search.request.info.inputs {
        let group: Vec<PortBits> = (0..cycles(search).len())
            .map(|cycle| PortBits { cycle, port, bits: 0..port.width })
            .filter(|piece| is_set(cycles(search), piece))
            .collect();
        if search.is_over() {
            return;
        }
        clear_group(search, &group);
    }
}

/// The non-zero parts of every port in every cycle.
fn pieces(
    search: &ShrinkSearch<'_>,
    parts: fn(&BlockInfo, &Port) -> Vec<Range<u32>>,
) -> Vec<PortBits> {
    let info = search.request.info;
    let mut found = Vec::new();
    let inputs = info.inputs.iter();
    let parts: Vec<(&'static Port, Range<u32>)> = inputs
        .flat_map(|port| parts(info, port).into_iter().map(move |bits| (port, bits)))
        .collect();
    for cycle in 0..cycles(search).len() {
        let pieces = parts.iter().map(|(port, bits)| PortBits { cycle, port, bits: bits.clone() });
        found.extend(pieces.filter(|piece| is_set(cycles(search), piece)));
    }
    found
}

/// The named fields of a port, and the bits between them.
fn fields_of(info: &BlockInfo, port: &Port) -> Vec<Range<u32>> {
    let named = info.fields.get(port.name).copied().unwrap_or_default();
    let mut fields: Vec<Range<u32>> = named.iter().map(|(_, field)| field.range()).collect();
    fields.sort_by_key(|field| field.start);
    let mut all = Vec::new();
    let mut next = 0;
    for field in fields {
        if field.start > next {
            all.push(next..field.start);
        }
        next = next.max(field.end);
        all.push(field);
    }
    if next < port.width {
        all.push(next..port.width);
    }
    all
}

/// Clears parts: many at once first, down to single ones.
fn clear(search: &mut ShrinkSearch<'_>, pieces: Vec<PortBits>) {
    let mut left = pieces;
    let mut run = left.len();
    while run > 0 {
        for group in left.chunks(run) {
            if search.is_over() {
                return;
            }
            clear_group(search, group);
        }
        left.retain(|piece| is_set(cycles(search), piece));
        run = (run / 2).min(left.len());
    }
}

/// Clears halves of the remaining fields, down to single bits.
fn clear_halves(search: &mut ShrinkSearch<'_>) {
    let mut left = pieces(search, fields_of);
    while let Some(piece) = left.pop() {
        if search.is_over() {
            return;
        }
        let Range { start, end } = piece.bits;
        if end - start < 2 {
            continue;
        }
        let middle = start + (end - start) / 2;
        for bits in [start..middle, middle..end] {
            let half = PortBits { bits, ..piece.clone() };
            if is_set(cycles(search), &half) && !clear_group(search, std::slice::from_ref(&half)) {
                left.push(half);
            }
        }
    }
}

/// Makes ports keep the value of the previous cycle, which is easier to read.
fn hold(search: &mut ShrinkSearch<'_>) {
    for cycle in 1..cycles(search).len() {
        for port in search.request.info.inputs {
            let all = cycles(search);
            if search.is_over() || cycle >= all.len() {
                return;
            }
            let [before, here] = [cycle - 1, cycle].map(|cycle| port.bytes(&all[cycle]));
            let is_zero = |value: &[u8]| value.iter().all(|byte| *byte == 0);
            // A zero stays.
            if before != here && !is_zero(here) && !is_zero(before) {
                let mut candidate = all.to_vec();
                candidate[cycle][port.offset..][..port.size()].copy_from_slice(before);
                attempt(search, candidate);
            }
        }
    }
}

fn clear_group(search: &mut ShrinkSearch<'_>, group: &[PortBits]) -> bool {
    if group.is_empty() {
        return false;
    }
    let mut candidate = cycles(search).to_vec();
    for PortBits { cycle, port, bits } in group {
        if let Some(pins) = candidate.get_mut(*cycle) {
            let bytes = &mut pins[port.offset..][..port.size()];
            for bit in bits.clone() {
                bytes[bit as usize / 8] &= !(1 << (bit % 8));
            }
        }
    }
    attempt(search, candidate)
}

fn is_set(cycles: &[Vec<u8>], piece: &PortBits) -> bool {
    let Some(pins) = cycles.get(piece.cycle) else { return false };
    let bytes = piece.port.bytes(pins);
    piece.bits.clone().any(|bit| bytes[bit as usize / 8] >> (bit % 8) & 1 == 1)
}

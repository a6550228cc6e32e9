//! Channels of interfaces in one cycle, as reports show them.

use cosim_harness::harness::Transfer;
use verilated::{PinName, Pins, Port};

/// A channel with the item on offer, whether the receiver can let it wait, and whether it takes
/// it. `first` is one of its ports, and `name` the end of that port's name by the protocol: the
/// channel has all ports of the same prefix.
pub(crate) fn transfer<M: Pins, S: Pins>(
    first: PinName,
    name: &str,
    item: Option<String>,
    [has_ready, is_ready]: [bool; 2],
) -> Transfer {
    let ports: [&'static [Port]; 2] = [M::PORTS, S::PORTS];
    let (mut channel, pins) = of_prefix(&ports, first.port, name);
    // A lane, or a member of a struct.
    if first.part.is_some() {
        channel += &first.to_string()[first.port.len()..];
    }
    let is_taken = is_ready && item.is_some();
    Transfer { channel, pins, item, has_ready, is_taken }
}

fn of_prefix(
    ports: &[&'static [Port]],
    first: &'static str,
    name: &str,
) -> (String, Vec<&'static str>) {
    let prefix = without(first, name).unwrap_or("");
    if prefix.is_empty() {
        return (first.to_owned(), vec![first]);
    }
    // Names of APB begin with a letter of their own, behind the prefix.
    let channel = if name == "sel" { without(prefix, "p").unwrap_or(prefix) } else { prefix };
    let channel = if channel.is_empty() { "apb" } else { channel.trim_end_matches('_') };
    let all = ports.iter().flat_map(|ports| ports.iter()).map(|port| port.name);
    let pins = all.filter(|port| port.starts_with(prefix)).collect();
    (channel.to_owned(), pins)
}

/// A name without an ending in any case.
pub(crate) fn without<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let (begin, rest) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
    rest.eq_ignore_ascii_case(end).then_some(begin)
}

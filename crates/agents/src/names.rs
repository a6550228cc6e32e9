//! Names of covergroups: the name of an agent, and the name of its group.
//!
//! A [`Covergroup`] holds a `&'static str`, and a block may have several agents of one protocol.
//! The functions below join the names in constants.

use cosim_harness::harness::{Covergroup, Parameters, Violation};
use std::fmt;
use verilated::{PinName, Port};

/// The longest joined name, in bytes.
const LONGEST: usize = 64;

/// A joined name.
#[derive(Debug, Clone, Copy)]
pub struct GroupNames {
    bytes: [u8; LONGEST],
    length: usize,
}

impl GroupNames {
    const fn join(agent: &str, group: &str) -> Self {
        let (agent, group) = (agent.as_bytes(), group.as_bytes());
        let (mut bytes, length) = ([b' '; LONGEST], agent.len() + 1 + group.len());
        assert!(length <= LONGEST, "the name of an agent is too long");
        bytes.split_at_mut(agent.len()).0.copy_from_slice(agent);
        bytes.split_at_mut(length).0.split_at_mut(agent.len() + 1).1.copy_from_slice(group);
        Self { bytes, length }
    }

    const fn get(&'static self) -> &'static str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(name) => name,
            Err(_) => panic!("joined names are UTF-8"),
        }
    }
}

/// A violation whose message begins with the name of a port, because a block may have several
/// interfaces.
#[cold]
#[inline(never)]
pub(crate) fn broken<T>(
    port: PinName,
    check: &str,
    message: impl fmt::Display,
) -> Result<T, Violation> {
    Err(Violation::new(check, format_args!("{port}: {message}")))
}

/// The number of groups of all agents.
pub const fn count_groups(agents: &[(&str, &[Covergroup])]) -> usize {
    let (mut count, mut agent) = (0, 0);
    while agent < agents.len() {
        count += agents[agent].1.len();
        agent += 1;
    }
    count
}

/// The names of the groups of all agents, as in `axi writes`.
pub const fn group_names<const N: usize>(agents: &[(&str, &[Covergroup])]) -> [GroupNames; N] {
    let mut names = [GroupNames { bytes: [0; LONGEST], length: 0 }; N];
    let (mut count, mut agent) = (0, 0);
    while agent < agents.len() {
        let (name, groups) = agents[agent];
        let mut group = 0;
        while group < groups.len() {
            names[count] = GroupNames::join(name, groups[group].name);
            (count, group) = (count + 1, group + 1);
        }
        agent += 1;
    }
    names
}

/// The groups of all agents with their joined names.
pub const fn named_groups<const N: usize>(
    agents: &[(&str, &[Covergroup])],
    names: &'static [GroupNames; N],
) -> [Covergroup; N] {
    let mut all = [Covergroup::new("", "", &[]); N];
    let (mut count, mut agent) = (0, 0);
    while agent < agents.len() {
        let groups = agents[agent].1;
        let mut group = 0;
        while group < groups.len() {
            all[count] = groups[group];
            all[count].name = names[count].get();
            (count, group) = (count + 1, group + 1);
        }
        agent += 1;
    }
    all
}

/// The names of several lists of checks in one, for
/// [`Scoreboard::CHECKS`](cosim_harness::harness::Scoreboard::CHECKS).
///
/// ```
/// const CHECKS: &[&str] = cosim_agents::checks![&["held", "late"], &["data"]];
/// assert_eq!(CHECKS, ["held", "late", "data"]);
/// ```
#[macro_export]
macro_rules! checks {
    ($($list:expr),+ $(,)?) => {{
        const LISTS: &[&[&str]] = &[$($list),+];
        const ALL: &[&str] = &$crate::cosim_harness::harness::joined_names::<
            { $crate::cosim_harness::harness::count_names(LISTS) },
        >(LISTS);
        ALL
    }};
}

/// The names of all ports of a struct, for
/// [`Block::TRANSACTION_OUTPUTS`](cosim_harness::harness::Block::TRANSACTION_OUTPUTS), as in
/// `port_names!(Outputs)`.
#[macro_export]
macro_rules! port_names {
    ($pins:ty) => {{
        const PORTS: &[$crate::verilated::Port] = <$pins as $crate::verilated::Pins>::PORTS;
        const NAMES: &[&str] = &$crate::names_of::<{ PORTS.len() }>(PORTS);
        NAMES
    }};
}

/// The names of ports, of which there are `N`.
#[doc(hidden)]
pub const fn names_of<const N: usize>(ports: &[Port]) -> [&'static str; N] {
    let (mut names, mut index) = ([""; N], 0);
    while index < N {
        names[index] = ports[index].name;
        index += 1;
    }
    names
}

/// The groups, of which one gets a reason for each unreachable bin.
///
/// # Panics
/// If no group has this name; in a constant, this does not compile.
pub const fn with_reasons<const N: usize>(
    mut all: [Covergroup; N],
    name: &str,
    reason: fn(&[usize], &Parameters) -> Option<&'static str>,
) -> [Covergroup; N] {
    let mut index = 0;
    while index < N {
        if is_same(all[index].name.as_bytes(), name.as_bytes()) {
            all[index] = all[index].unless(reason);
            return all;
        }
        index += 1;
    }
    panic!("no covergroup has this name; it begins with the name of an agent")
}

const fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &[Covergroup] = &[Covergroup::new("writes", "", &[]), Covergroup::new("r", "", &[])];
    const AGENTS: &[(&str, &[Covergroup])] = &[("axi", OWN), ("out", OWN)];
    const NAMES: &[GroupNames; 4] = &group_names(AGENTS);
    const GROUPS: [Covergroup; 4] = named_groups(AGENTS, NAMES);

    #[test]
    fn groups_of_several_agents_have_different_names() {
        assert_eq!(count_groups(AGENTS), 4);
        assert_eq!(GROUPS.map(|group| group.name), ["axi writes", "axi r", "out writes", "out r"]);
    }
}

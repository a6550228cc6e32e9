//! The tables of the pages of the agents name what the code has: ports, weights and checks.

use super::*;
use crate::memory_port::MemoryPortWeights;
use crate::ports::PortRule;
use crate::stream::{StreamSinkWeights, StreamWeights};
use crate::{AddressWeights, ReadyWeights};
use cosim_harness::channels::{SinkWeights, SourceWeights};
use cosim_harness::harness::check_list;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names in the first columns of the tables of a page.
fn names(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names = rows.flat_map(|cell| cell.split(", "));
    names.map(|name| name.trim_matches('`').to_owned()).collect()
}

fn weights<W: Serialize + Default>() -> BTreeSet<String> {
    let weights = serde_json::to_value(W::default()).unwrap();
    weights.as_object().unwrap().keys().cloned().collect()
}

/// Compares the names of a page with those of the code.
#[track_caller]
fn assert_page(
    name: &str,
    ports: &[PortRule],
    weights: &[BTreeSet<String>],
    checks: &[Vec<String>],
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/agents");
    let page = names(&fs::read_to_string(folder.join(name)).unwrap());
    let code = ports.iter().flat_map(|rule| rule.names).map(|name| (*name).to_owned());
    let code = code.chain(checks.iter().flatten().cloned());
    let code = code.chain(weights.iter().flatten().cloned());
    let code: BTreeSet<String> = code.collect();
    let missing: Vec<_> = code.difference(&page).collect();
    let unknown: Vec<_> = page.difference(&code).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "{name}: no {missing:?}, but {unknown:?}");
}

/// Compares the page of a bus: the ports of its module, weights, and the checks of both sides.
macro_rules! assert_bus {
    ($bus:ident, $monitor:ident, [$($weights:ident),+]) => {{
        type Checks = $monitor<$bus::M, $bus::S>;
        assert_page(
            concat!(stringify!($bus), ".md"),
            crate::$bus::PORTS,
            &[$(weights::<crate::$bus::$weights>()),+],
            &[Checks::manager_checks(), Checks::subordinate_checks()],
        );
    }};
}

#[test]
fn pages_of_buses_name_the_ports_weights_and_checks_of_the_code() {
    assert_bus!(axi4, Axi4Monitor, [Axi4Weights, Axi4SubordinateWeights]);
    assert_bus!(axi_lite, AxiLiteMonitor, [AxiLiteWeights]);
    assert_bus!(apb, ApbMonitor, [ApbWeights, ApbSubordinateWeights]);
    assert_bus!(wishbone, WishboneMonitor, [WishboneWeights, WishboneSubordinateWeights]);
    assert_bus!(memory_port, MemoryPortMonitor, [MemoryPortWeights]);
}

#[test]
fn other_pages_name_the_ports_weights_and_checks_of_the_code() {
    assert_page(
        "stream.md",
        crate::stream::PORTS,
        &[weights::<StreamWeights>(), weights::<StreamSinkWeights>()],
        &[StreamMonitor::<stream::M, stream::S>::checks()],
    );
    let shared = [
        weights::<SourceWeights>(),
        weights::<SinkWeights>(),
        weights::<AddressWeights>(),
        weights::<ReadyWeights>(),
    ];
    assert_page("README.md", &[], &shared, &[]);
}

#[test]
fn a_name_that_a_page_lacks_or_invents_is_found() {
    let page = |more: &[&str]| {
        let weights = [weights::<MemoryPortWeights>()];
        type Checks = MemoryPortMonitor<memory_port::M, memory_port::S>;
        let own = [Checks::manager_checks(), Checks::subordinate_checks(), check_list(more)];
        assert_page("memory_port.md", crate::memory_port::PORTS, &weights, &own);
    };
    assert!(std::panic::catch_unwind(|| page(&[])).is_ok());
    assert!(std::panic::catch_unwind(|| page(&["more"])).is_err());
}

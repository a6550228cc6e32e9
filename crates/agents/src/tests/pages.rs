//! The tables of the pages of the agents name what the code has: ports, weights and checks.

use super::*;
use crate::ports::PortRule;
use crate::{AddressWeights, InputWeights, ReadyWeights};
use cosim_harness::channels::{SinkWeights, SourceWeights};
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

/// The names of weights.
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
    checks: &[&[&'static str]],
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/agents");
    let page = names(&fs::read_to_string(folder.join(name)).unwrap());
    let code = ports.iter().flat_map(|rule| rule.names).chain(checks.iter().copied().flatten());
    let code = code.map(|name| (*name).to_owned()).chain(weights.iter().flatten().cloned());
    let code: BTreeSet<String> = code.collect();
    let missing: Vec<_> = code.difference(&page).collect();
    let unknown: Vec<_> = page.difference(&code).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "{name}: no {missing:?}, but {unknown:?}");
}

#[test]
fn pages_name_the_ports_weights_and_checks_of_the_code() {
    type Axi4 = Axi4Monitor<axi4::M, axi4::S>;
    type AxiLite = AxiLiteMonitor<axi_lite::M, axi_lite::S>;
    type Apb = ApbMonitor<apb::M, apb::S>;
    type Wishbone = WishboneMonitor<wishbone::M, wishbone::S>;
    type MemoryPort = MemoryPortMonitor<memory_port::M, memory_port::S>;
    type Stream = StreamMonitor<stream::M, stream::S>;
    type Interrupt = InterruptMonitor<interrupt::M, interrupt::S>;
    assert_page(
        "axi4.md",
        crate::axi4::PORTS,
        &[weights::<crate::axi4::Axi4Weights>(), weights::<crate::axi4::Axi4SubordinateWeights>()],
        &[Axi4::MANAGER_CHECKS, Axi4::SUBORDINATE_CHECKS],
    );
    assert_page(
        "axi_lite.md",
        crate::axi_lite::PORTS,
        &[weights::<crate::axi_lite::AxiLiteWeights>()],
        &[AxiLite::MANAGER_CHECKS, AxiLite::SUBORDINATE_CHECKS],
    );
    assert_page(
        "apb.md",
        crate::apb::PORTS,
        &[weights::<crate::apb::ApbWeights>(), weights::<crate::apb::ApbSubordinateWeights>()],
        &[Apb::MANAGER_CHECKS, Apb::SUBORDINATE_CHECKS],
    );
    assert_page(
        "wishbone.md",
        crate::wishbone::PORTS,
        &[
            weights::<crate::wishbone::WishboneWeights>(),
            weights::<crate::wishbone::WishboneSubordinateWeights>(),
        ],
        &[Wishbone::MANAGER_CHECKS, Wishbone::SUBORDINATE_CHECKS],
    );
    assert_page(
        "memory_port.md",
        crate::memory_port::PORTS,
        &[weights::<crate::memory_port::MemoryPortWeights>()],
        &[MemoryPort::MANAGER_CHECKS, MemoryPort::SUBORDINATE_CHECKS],
    );
    assert_page(
        "stream.md",
        crate::stream::PORTS,
        &[weights::<crate::stream::StreamWeights>(), weights::<crate::stream::StreamSinkWeights>()],
        &[Stream::CHECKS],
    );
    assert_page(
        "interrupt.md",
        &[],
        &[
            weights::<crate::interrupt::InterruptWeights>(),
            weights::<crate::interrupt::InterruptSinkWeights>(),
        ],
        &[Interrupt::DRIVER_CHECKS, Interrupt::RECEIVER_CHECKS],
    );
    assert_page(
        "handshake.md",
        &[],
        &[
            weights::<crate::handshake::HandshakeWeights>(),
            weights::<crate::stream::StreamSinkWeights>(),
        ],
        &[],
    );
    assert_page(
        "README.md",
        &[],
        &[
            weights::<SourceWeights>(),
            weights::<SinkWeights>(),
            weights::<AddressWeights>(),
            weights::<ReadyWeights>(),
            weights::<InputWeights>(),
        ],
        &[],
    );
}

#[test]
fn a_name_that_a_page_lacks_or_invents_is_found() {
    let page = |checks: &[&'static str]| {
        let weights = [weights::<crate::handshake::HandshakeWeights>()];
        assert_page("handshake.md", &[], &weights, &[checks]);
    };
    assert!(std::panic::catch_unwind(|| page(&["ready"])).is_ok());
    assert!(std::panic::catch_unwind(|| page(&["ready", "more"])).is_err());
    assert!(std::panic::catch_unwind(|| page(&[])).is_err());
}

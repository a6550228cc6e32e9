//! A manager and a subordinate that are connected move the right data, with the monitor between
//! them.

use super::*;
use crate::apb::{ApbManager, ApbSubordinate, ApbTransfer};
use crate::axi_lite::{
    AxiLiteAccess, AxiLiteManager, AxiLiteSubordinate, AxiLiteTraffic, AxiLiteWeights, AxiResponse,
};
use crate::axi4::{
    Axi4Access, Axi4Address, Axi4Manager, Axi4Operation, Axi4Subordinate, Axi4SubordinateTraffic,
    Axi4Traffic, Axi4Weights,
};
use crate::memory_check::MemoryCheck;
use crate::memory_port::{MemoryPortManager, MemoryPortSubordinate};
use crate::operations::BusAccess;
use crate::stream::{StreamBeat, StreamSink, StreamSource, StreamTraffic, StreamWeights};
use crate::target::{Access, Response, Target};
use crate::testing::{full_speed, rng, runs_with_any_outputs};
use crate::wishbone::{
    WishboneManager, WishboneSubordinate, WishboneSubordinateTraffic, WishboneTermination,
    WishboneTraffic, WishboneTransfer, WishboneWeights,
};
use cosim_harness::agent::{Agent, AgentWeights, CasePlan, DrawnTraffic};
use cosim_harness::declared::{ScenarioPlan, paced_scenarios};
use cosim_harness::harness::{Noise, Percent, ResetTimer, Traffic};
use cosim_harness::value::Uint;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The agents of a protocol with the pins of its module, what is drawn for them, and the test that
/// they run with any pins of the DUT. `T` is the target of a subordinate that has one.
macro_rules! agents {
    ($manager:ident, $subordinate:ident $(<$target:ident>)?, [$($pins:ident),+]) => {
        type Manager<'a> = $manager<'a, M, S>;
        type Subordinate<'a $(, $target = crate::Memory)?> = $subordinate<'a, S, M $(, $target)?>;
        type Drawn = (
            <Manager<'static> as Agent<'static, M, S>>::Traffic,
            <Subordinate<'static> as Agent<'static, S, M>>::Traffic,
        );

        #[test]
        fn agents_run_with_any_pins_of_the_dut() {
            for pins in [$($pins),+] {
                let (traffic, answers): Drawn = drawn(&pins, 1, &Default::default(), 5);
                runs_with_any_outputs::<M, S, Manager<'_>>(pins, &traffic);
                runs_with_any_outputs::<S, M, Subordinate<'_>>(pins, &answers);
            }
        }
    };
}

/// The run of a bus, and the test that it moves the right data. The closure gives the bytes from an
/// address to the next one.
macro_rules! bus {
    ($monitor:ident, $pins:ident, $transfer:ident, |$own:ident| $step:expr, [$($all:ident),+]) => {
        /// The transfers, and the cycles.
        fn run<T: Target + Default>(pins: $pins<M, S>, drawn: &Drawn) -> (Vec<$transfer>, u64) {
            let (mut monitor, mut transfers) = ($monitor::new(pins), Vec::new());
            let observe = |in_reset, m: &_, s: &_| {
                transfers.extend(monitor.observe(in_reset, m, s)?);
                Ok(())
            };
            let cycles = connect::<M, S, Manager<'_>, Subordinate<'_, T>>(pins, drawn, observe);
            monitor.finish().unwrap();
            (transfers, cycles)
        }

        #[test]
        fn random_traffic_reads_what_was_written() {
            for (seed, $own) in (0..100).flat_map(|seed| [$((seed, $all)),+]) {
                let drawn: Drawn = drawn(&$own, seed, &Default::default(), reset_of(seed));
                let (transfers, _) = run::<crate::Memory>($own, &drawn);
                if reset_of(seed) == 0 {
                    assert_eq!(transfers.len(), drawn.0.operations.len());
                    let mut memory = MemoryCheck::new("data");
                    for (transfer, operation) in transfers.iter().zip(&drawn.0.operations) {
                        compare(&mut memory, &operation.access, $step, transfer.data);
                    }
                }
            }
        }
    };
}

/// Connects a manager and a subordinate until both are idle. `observe` sees each cycle. Returns
/// the cycles until the manager is idle.
fn connect<'a, M: Pins, S: Pins, A: Agent<'a, M, S>, B: Agent<'a, S, M, Pins = A::Pins>>(
    pins: A::Pins,
    (traffic, answers): &'a (A::Traffic, B::Traffic),
    mut observe: impl FnMut(bool, &M, &S) -> Result<(), Violation>,
) -> u64 {
    let (mut manager, mut subordinate) = (A::new(pins, traffic), B::new(pins, answers));
    let (mut noise, mut reset) = (Noise::new(7), ResetTimer::default());
    let (mut m, mut s, mut end) = (M::default(), S::default(), u64::MAX);
    for cycle in 1..100_000 {
        let in_reset = reset.asserted() || cycle == 1;
        manager.drive(in_reset, &mut noise, &mut m);
        subordinate.drive(in_reset, &mut noise, &mut s);
        observe(in_reset, &m, &s).unwrap();
        let progress = manager.clock(in_reset, &m, &s);
        if let Some(start) = progress.reset {
            reset.start(start);
        }
        let other = subordinate.clock(in_reset, &s, &m);
        reset.clock();
        let is_idle = progress.is_idle && reset.is_over();
        end = if is_idle { end.min(cycle) } else { u64::MAX };
        if is_idle && other.is_idle {
            return end;
        }
    }
    panic!("{:?}", manager.in_flight());
}

fn scenarios_draw_legal_traffic<P, A: DrawnTraffic<P>>(
    pins: &P,
    seed: u64,
    weights: &A::Weights,
    reset: Percent,
) {
    let rng = &mut rng(seed);
    let plan = ScenarioPlan { own: None, has_agents: true, slowness: 1 };
    for scenario in paced_scenarios(plan, [true, false], |pace, _, _| weights.clone().paced(pace)) {
        let plan = CasePlan { operations: 60, reset, rng: &mut *rng };
        let traffic = A::draw(&scenario.weights, pins, plan);
        assert_eq!(traffic.check(), Ok(()), "{}", scenario.name);
    }
}

/// Draws a traffic for both sides, and checks that it is legal and survives JSON.
fn drawn<P, A, B>(pins: &P, seed: u64, weights: &A::Weights, reset: u64) -> (A, B)
where
    A: DrawnTraffic<P> + Serialize + DeserializeOwned,
    B: DrawnTraffic<P>,
{
    let reset = Percent::new(reset);
    scenarios_draw_legal_traffic::<P, A>(pins, seed, weights, reset);
    scenarios_draw_legal_traffic::<P, B>(pins, seed, &B::Weights::default(), reset);
    let rng = &mut rng(seed);
    let plan = CasePlan { operations: 60, reset, rng: &mut *rng };
    let traffic = A::draw(weights, pins, plan);
    assert_eq!(traffic.check(), Ok(()));
    let text = serde_json::to_string(&traffic).unwrap();
    assert_eq!(serde_json::from_str::<A>(&text).unwrap(), traffic);
    (traffic, B::draw(&B::Weights::default(), pins, CasePlan { operations: 60, reset, rng }))
}

/// Fails each write, and each read in another way.
#[derive(Debug, Default)]
struct Failing;

impl Target for Failing {
    fn access(&mut self, access: Access<'_>) -> Response {
        match access {
            Access::Write { .. } => Response::Retry,
            Access::Read { .. } => Response::DecodeError,
        }
    }
}

/// The chance of a reset in percent for a seed.
fn reset_of(seed: u64) -> u64 {
    if seed.is_multiple_of(2) { 0 } else { 10 }
}

mod axi4 {
    use super::super::axi4::*;
    use super::*;

    agents!(Axi4Manager, Axi4Subordinate<T>, [PINS]);

    /// What a run did: addresses of writes and of reads that are complete, in the order of their
    /// responses, cycles, and reads that were compared.
    type Run = ([Vec<(Axi4Address, AxiResponse)>; 2], u64, u64);

    fn run<T: Target + Default>(drawn: &Drawn) -> Run {
        let (mut monitor, mut memory) = (Axi4Monitor::new(PINS), MemoryCheck::new("data"));
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        let cycles =
            connect::<M, S, Manager<'_>, Subordinate<'_, T>>(PINS, drawn, |in_reset, m, s| {
                let events = monitor.observe(in_reset, m, s)?;
                if in_reset {
                    memory.reset();
                }
                writes.extend(events.write);
                let last = events.read.filter(|read| read.beat + 1 == read.burst.beats());
                reads.extend(last.map(|read| (read.burst, read.response)));
                memory.axi4(0, &mut monitor, &events)
            });
        monitor.finish().unwrap();
        ([writes, reads], cycles, memory.compared())
    }

    #[test]
    fn random_traffic_reads_what_was_written() {
        // IDs do not share addresses, and addresses repeat.
        let addresses = crate::AddressWeights {
            size: Uint::new(0x200),
            reuse: Percent::new(80),
            ..crate::AddressWeights::default()
        };
        let weights =
            Axi4Weights { addresses, page_by_id: Percent::new(100), ..Axi4Weights::default() };
        let (mut all, mut overtaken) = (0, false);
        for seed in 0..60 {
            let drawn: Drawn = drawn(&PINS, seed, &weights, reset_of(seed));
            let (seen, _, compared) = run::<crate::Memory>(&drawn);
            all += compared;
            if reset_of(seed) > 0 {
                continue;
            }
            // Each ID is in order, and different IDs overtake each other.
            for (seen, is_write) in seen.into_iter().zip([true, false]) {
                let kind = |operation: &&Axi4Operation| {
                    matches!(operation.access, Axi4Access::Write { .. }) == is_write
                };
                let bare = |at: Axi4Address| Axi4Address { qos: 0, prot: 0, ..at };
                let operations = drawn.0.operations.iter().filter(kind);
                let expected: Vec<_> =
                    operations.map(|operation| bare(operation.address(4))).collect();
                let seen: Vec<_> = seen.into_iter().map(|(at, _)| bare(at)).collect();
                overtaken |= seen != expected;
                for id in 0..4 {
                    let of_id = |all: &[Axi4Address]| -> Vec<Axi4Address> {
                        all.iter().filter(|at| at.id == id).copied().collect()
                    };
                    assert_eq!(of_id(&seen), of_id(&expected), "seed {seed}, id {id}");
                }
            }
        }
        assert!(all > 1000 && overtaken, "{all}, {overtaken}");
    }

    #[test]
    fn a_full_speed_write_takes_a_cycle_per_beat() {
        let (write, never) = (Percent::new(100), Percent::new(0));
        let weights = Axi4Weights { write, fence: never, ..Axi4Weights::default() };
        let (traffic, _): Drawn = drawn(&PINS, 1, &weights.paced(&full_speed()), 0);
        let beats: u64 = traffic.operations.iter().map(|one| u64::from(one.beats())).sum();
        let (_, cycles, _) = run::<crate::Memory>(&(traffic, Axi4SubordinateTraffic::default()));
        // A cycle in reset, one after it, and the last response.
        assert_eq!(cycles, beats + 3);
    }

    /// Fails every other write.
    #[derive(Debug, Default)]
    struct Half(u64);

    impl Target for Half {
        fn access(&mut self, access: Access<'_>) -> Response {
            match access {
                Access::Write { .. } => {
                    self.0 += 1;
                    if self.0.is_multiple_of(2) { Response::Error } else { Response::Okay }
                }
                Access::Read { .. } => Response::DecodeError,
            }
        }
    }

    #[test]
    fn the_worst_response_of_a_write_arrives() {
        let ([writes, reads], ..) = run::<Half>(&drawn(&PINS, 3, &Axi4Weights::default(), 0));
        assert!(reads.iter().all(|(_, response)| *response == AxiResponse::DecErr));
        let long = writes.iter().filter(|(address, _)| address.beats() > 1);
        assert!(long.clone().count() > 3);
        assert!(long.clone().all(|(_, response)| *response == AxiResponse::SlvErr));
    }

    /// The examples of IHI 0022, "Address structure" and "Data read and write structure":
    /// addresses and lanes of beats.
    #[test]
    fn beats_have_the_addresses_and_lanes_of_the_specification() {
        let (_, m, _) = cycle::<M, S>("awvalid", "");
        let address = PINS.offered(&PINS.aw, &m).unwrap();
        let of = |address: Axi4Address, bus| -> Vec<(u64, u32, u32)> {
            let beat = |beat| {
                let (first, count) = address.lanes(beat, bus);
                (address.beat_address(beat), first, count)
            };
            (0..address.beats()).map(beat).collect()
        };
        let address = Axi4Address { burst: 1, ..address };
        // Figure A3-8: 32-bit beats on a 32-bit bus from address 0x07.
        let unaligned = Axi4Address { address: 7, len: 2, size: 2, ..address };
        assert_eq!(of(unaligned, 4), [(7, 3, 1), (8, 0, 4), (12, 0, 4)]);
        // Figure A3-11: 32-bit beats on a 64-bit bus from address 0x04, WRAP of four beats.
        let wrap = Axi4Address { address: 4, len: 3, size: 2, burst: 2, ..address };
        assert_eq!(of(wrap, 8), [(4, 4, 4), (8, 0, 4), (12, 4, 4), (0, 0, 4)]);
        let fixed = Axi4Address { address: 5, len: 1, size: 1, burst: 0, ..address };
        assert_eq!(of(fixed, 8), [(5, 5, 1), (5, 5, 1)]);
        // Figure A3-10: 8-bit beats on a 32-bit bus.
        let narrow = Axi4Address { address: 2, len: 2, size: 0, ..address };
        assert_eq!(of(narrow, 4), [(2, 2, 1), (3, 3, 1), (4, 0, 1)]);
    }

    #[test]
    fn illegal_traffic_is_refused() {
        let at = |address: &str, burst: &str, beats| {
            format!(
                r#"{{ "address": "{address}", "size": 4, "burst": "{burst}",
                    "access": {{ "read": {{ "beats": {beats} }} }},
                    "reset": {{ "after": 0, "cycles": 0 }} }}"#
            )
        };
        for (field, operation) in [
            ("access.beats", at("0x0", "incr", 0)),
            ("access.beats", at("0x0", "incr", 257)),
            ("access.beats", at("0x0", "fixed", 17)),
            ("access.beats", at("0x0", "wrap", 3)),
            ("address", at("0x8", "wrap", 4)),
            ("address", at("0xff0", "incr", 2)),
            ("reset.cycles", at("0x0", "incr", 1)),
        ] {
            let text = format!(r#"{{ "operations": [{operation}] }}"#);
            let path = format!("operations[0].{field}");
            let traffic: Axi4Traffic = serde_json::from_str(&text).unwrap();
            assert_eq!(traffic.check().unwrap_err().path, path, "{text}");
            let traffic: AxiLiteTraffic = serde_json::from_str(&text).unwrap();
            assert_eq!(traffic.check().unwrap_err().path, "operations[0].access", "{text}");
        }
    }
}

mod axi_lite {
    use super::super::axi_lite::*;
    use super::*;
    use crate::axi_lite::{AxiLiteRead, AxiLiteWrite};

    agents!(AxiLiteManager, AxiLiteSubordinate<T>, [PINS]);

    fn run<T: Target + Default>(drawn: &Drawn) -> (Vec<AxiLiteWrite>, Vec<AxiLiteRead>, u64) {
        let (mut monitor, mut memory) = (AxiLiteMonitor::new(PINS), MemoryCheck::new("data"));
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        let cycles =
            connect::<M, S, Manager<'_>, Subordinate<'_, T>>(PINS, drawn, |in_reset, m, s| {
                let events = monitor.observe(in_reset, m, s)?;
                if in_reset {
                    memory.reset();
                }
                writes.extend(events.write);
                reads.extend(events.read);
                memory.axi_lite(0, &monitor, &events)
            });
        monitor.finish().unwrap();
        (writes, reads, cycles)
    }

    #[test]
    fn random_traffic_reads_what_was_written() {
        for seed in 0..100 {
            let weights = AxiLiteWeights::default();
            let drawn: Drawn = drawn(&PINS, seed, &weights, reset_of(seed));
            let (writes, reads, _) = run::<crate::Memory>(&drawn);
            if reset_of(seed) > 0 {
                continue;
            }
            // Each kind is in order, and nothing is lost.
            let operations = &drawn.0.operations;
            let expected = operations.iter().filter_map(|operation| match &operation.access {
                AxiLiteAccess::Write { beats, .. } => {
                    Some((operation.address.get(), beats[0].data.get(), beats[0].strobe.get()))
                }
                AxiLiteAccess::Read { .. } => None,
            });
            let seen = writes.iter().map(|write| (write.address, write.data, write.strobe));
            assert!(expected.eq(seen), "seed {seed}");
            assert_eq!(writes.len() + reads.len(), operations.len());
        }
    }

    #[test]
    fn a_fence_orders_a_read_behind_a_write() {
        let text = r#"{ "operations": [
            { "address": "0x14", "access": { "write": {
                "beats": [{ "data": "0xdeadbeef", "strobe": "0x6" }], "data_delay": 3
            } } },
            { "fence": true, "address": "0x14", "access": { "read": {} } }
        ] }"#;
        let traffic: AxiLiteTraffic = serde_json::from_str(text).unwrap();
        assert_eq!(traffic.check(), Ok(()));
        let (writes, reads, _) =
            run::<crate::Memory>(&(traffic, Axi4SubordinateTraffic::default()));
        assert_eq!(reads[0].to_string(), "read 0xadbe00 from 0x14: OKAY");
        assert_eq!(writes[0].to_string(), "write 0xdeadbeef strobe 0x6 to 0x14: OKAY");
    }

    #[test]
    fn responses_of_the_target_arrive() {
        let (writes, reads, _) = run::<Failing>(&drawn(&PINS, 3, &AxiLiteWeights::default(), 0));
        assert!(writes.iter().all(|write| write.response == AxiResponse::SlvErr));
        assert!(reads.iter().all(|read| read.response == AxiResponse::DecErr));
        assert!(!writes.is_empty() && !reads.is_empty());
    }

    #[test]
    fn a_full_speed_manager_starts_an_operation_per_cycle() {
        let weights = AxiLiteWeights { fence: Percent::new(0), ..AxiLiteWeights::default() };
        let (traffic, _): Drawn = drawn(&PINS, 1, &weights.paced(&full_speed()), 0);
        let count = traffic.operations.len() as u64;
        let (.., cycles) = run::<crate::Memory>(&(traffic, Axi4SubordinateTraffic::default()));
        // A cycle in reset, one after it, and the response of the last operation.
        assert_eq!(cycles, count + 3);
    }
}

/// Checks a transfer of a bus against a memory, one operation after the other.
fn compare(memory: &mut MemoryCheck, operation: &BusAccess, step: u64, read: u64) {
    match operation {
        BusAccess::Write { address, data, strobe } => {
            memory.start_write(0, address.get() * step, data.get(), strobe.get());
            memory.finish_write(0, true);
        }
        BusAccess::Read { address } => {
            memory.start_read(0, address.get() * step);
            memory.finish_read(0, read, 4).unwrap();
        }
    }
}

mod apb {
    use super::super::apb::*;
    use super::*;
    use crate::apb::ApbWeights;

    agents!(ApbManager, ApbSubordinate<T>, [PINS]);
    bus!(ApbMonitor, ApbPins, ApbTransfer, |_pins| 1, [PINS]);

    #[test]
    fn a_full_speed_transfer_takes_two_cycles() {
        let weights = ApbWeights::default().paced(&full_speed());
        let (traffic, _): Drawn = drawn(&PINS, 1, &weights, 0);
        let (transfers, cycles) = run::<crate::Memory>(PINS, &(traffic, Default::default()));
        // One cycle in reset, and one after it.
        assert_eq!(cycles, 2 * transfers.len() as u64 + 2);
    }

    #[test]
    fn errors_of_the_target_arrive() {
        let (transfers, _) = run::<Failing>(PINS, &drawn(&PINS, 5, &ApbWeights::default(), 0));
        assert!(!transfers.is_empty() && transfers.iter().all(|transfer| transfer.is_error));
    }
}

mod wishbone {
    use super::super::wishbone::*;
    use super::*;

    agents!(WishboneManager, WishboneSubordinate<T>, [CLASSIC, PIPELINED]);
    bus! {
        WishboneMonitor, WishbonePins, WishboneTransfer,
        |pins| u64::from(pins.address_step), [CLASSIC, PIPELINED]
    }

    #[test]
    fn a_pipelined_block_takes_a_cycle_per_transfer() {
        let weights = WishboneWeights { block: Percent::new(100), ..WishboneWeights::default() };
        let (traffic, _): Drawn = drawn(&PIPELINED, 1, &weights.paced(&full_speed()), 0);
        let (transfers, cycles) =
            run::<crate::Memory>(PIPELINED, &(traffic, WishboneSubordinateTraffic::default()));
        // A cycle in reset, one after it, and the last termination.
        assert_eq!(cycles, transfers.len() as u64 + 3);
    }

    #[test]
    fn an_interface_without_writes_only_reads() {
        use super::super::wishbone_reads::PINS;
        let drawn = drawn::<_, WishboneTraffic, WishboneSubordinateTraffic>;
        let (traffic, _) = drawn(&PINS, 1, &WishboneWeights::default(), 0);
        let mut accesses = traffic.operations.iter().map(|operation| &operation.access);
        assert!(accesses.len() > 0 && accesses.all(|one| matches!(one, BusAccess::Read { .. })));
    }

    #[test]
    fn errors_and_retries_of_the_target_arrive() {
        let drawn = drawn(&CLASSIC, 5, &WishboneWeights::default(), 0);
        let (transfers, _) = run::<Failing>(CLASSIC, &drawn);
        let expected = |transfer: &WishboneTransfer| match transfer.is_write {
            true => WishboneTermination::Rty,
            false => WishboneTermination::Err,
        };
        assert!(transfers.iter().all(|transfer| transfer.termination == expected(transfer)));
        assert!(!transfers.is_empty());
    }
}

mod memory_port {
    use super::super::memory_port::*;
    use super::*;

    agents!(MemoryPortManager, MemoryPortSubordinate<T>, [PINS]);

    #[test]
    fn random_traffic_reads_what_was_written() {
        for seed in 0..100 {
            let drawn: Drawn = drawn(&PINS, seed, &Default::default(), reset_of(seed));
            let (mut monitor, mut accesses) = (MemoryPortMonitor::new(PINS), 0);
            connect::<M, S, Manager<'_>, Subordinate<'_>>(PINS, &drawn, |in_reset, m, s| {
                let events = monitor.observe(in_reset, m, s)?;
                accesses += usize::from(events.access.is_some());
                Ok(())
            });
            assert_eq!(accesses, drawn.0.operations.len());
            assert!(monitor.compared() > 15);
        }
    }
}

mod stream {
    use super::super::stream::*;
    use super::*;
    use crate::stream::StreamSinkTraffic;
    use crate::wide::Wide;
    use cosim_harness::channels::Offer;

    agents!(StreamSource, StreamSink, [PINS]);

    /// The beats that a sink takes from a source, and the cycles.
    fn run(drawn: &Drawn) -> (Vec<StreamBeat>, u64) {
        let (mut monitor, mut beats) = (StreamMonitor::new(PINS), Vec::new());
        let cycles =
            connect::<M, S, Manager<'_>, Subordinate<'_>>(PINS, drawn, |in_reset, m, s| {
                beats.extend(monitor.observe(in_reset, m, s)?);
                Ok(())
            });
        (beats, cycles)
    }

    #[test]
    fn random_traffic_moves_every_beat() {
        for seed in 0..100 {
            let sparse = Percent::new(seed % 50);
            let weights = StreamWeights { sparse, ..StreamWeights::default() };
            let drawn: Drawn = drawn(&PINS, seed, &weights, seed % 20);
            // With the bits that the pins of this test have.
            let on_pins = |beat: &StreamBeat| StreamBeat {
                keep: beat.keep.low(9),
                strb: beat.strb.low(9),
                ..*beat
            };
            let expected: Vec<_> = drawn.0.beats.iter().map(|beat| on_pins(&beat.item)).collect();
            assert_eq!(run(&drawn).0, expected, "seed {seed}");
        }
    }

    #[test]
    fn a_full_speed_stream_has_a_beat_in_every_cycle() {
        let weights = StreamWeights::default().paced(&full_speed());
        let (traffic, _): Drawn = drawn(&PINS, 1, &weights, 0);
        let beats = traffic.beats.len() as u64;
        // One cycle in reset, and one after it.
        assert_eq!(run(&(traffic, StreamSinkTraffic::default())).1, beats + 2);
    }

    #[test]
    fn illegal_traffic_is_refused() {
        let item = StreamBeat { keep: Wide::new(1), strb: Wide::new(3), ..StreamBeat::default() };
        let traffic = StreamTraffic { beats: vec![Offer { item, ..Offer::default() }] };
        assert_eq!(traffic.check().unwrap_err().path, "beats[0].item.strb");
    }
}

//! Declarations in use: the environment drives what the traffic says, and coverage, scenarios and
//! reports know each interface. The ports are in files, in the place of RTL.

use cosim_core::harness::{
    self, Block, BuiltInRtl, Environment as _, LinkedRtl, Parameters, ResetPin, Traffic as _,
    Untimed, Violation,
};
use cosim_core::verilated;

/// Declares a struct of pins, the widest first, as generated code does.
macro_rules! pins {
    ($name:ident { $( $pin:ident: $width:literal $storage:ty, )* } padding $padding:literal) => {
        #[derive(Debug, Clone, Copy, Default)]
        #[repr(C)]
        pub struct $name {
            $( pub $pin: verilated::Bits<$width, $storage>, )*
            padding: [u8; $padding],
        }

        // SAFETY: the table lists the fields, with their offsets.
        unsafe impl verilated::Pins for $name {
            const PORTS: &'static [verilated::Port] = &[
                $( verilated::Port {
                    name: stringify!($pin),
                    width: $width,
                    offset: std::mem::offset_of!($name, $pin),
                }, )*
            ];
        }
    };
}

const fn no_rtl<I, O>() -> LinkedRtl<I, O> {
    LinkedRtl {
        rtl: BuiltInRtl {
            top: "declared",
            clock: "clk",
            mask_parameter: None,
            sources: &[],
            data: &[],
            roots: &[],
            defines: &[],
            options: &[],
            embedded: &[],
            wrapper: None,
            assertions: None,
        },
        model: |_| None,
    }
}

pub struct NoChecks;

impl<'a, I, O, T> harness::Scoreboard<'a, I, O, T> for NoChecks {
    fn new(_: &'a T, _: &Parameters) -> Self {
        Self
    }

    fn observe(&mut self, _: &I, _: &O) -> Result<(), Violation> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}

/// Types of the prelude have other meanings where this declaration stands.
#[allow(dead_code)]
mod shadows {
    pub struct Option;
    pub struct Result;
    pub struct Vec;
    pub struct String;
    pub struct Default;
}

/// Channels: wide fields, parts of ports, lanes, inverted handshakes, and other inputs.
mod channels {
    use super::*;
    use cosim_core::channels::{SinkItem as _, SourceItem as _};
    use cosim_core::harness::CaseRng;
    use cosim_core::value::{Uint, WideUint};
    use rand::SeedableRng as _;
    use std::collections::BTreeSet;
    use verilated::Bits;

    pins!(Inputs {
        key: 512 [u32; 16], config: 70 [u32; 3], held: 66 [u32; 3], bus: 24 u32, lane_0: 9 u16,
        lane_1: 9 u16, rst: 1 u8, start: 1 u8, req: 2 u8, mode: 1 u8, take: 2 u8, fixed: 4 u8,
    } padding 2);
    pins!(Outputs {
        digest: 256 [u32; 8], tag: 16 u16, gnt: 2 u8, busy: 1 u8, valid: 2 u8, done: 1 u8,
    } padding 2);

    pub mod declared {
        #[allow(unused_imports)]
        use super::super::shadows::*;
        use super::{Inputs, Outputs};

        cosim_core::declare! {
            pins Inputs, Outputs from "tests/ports/hash";
            reset rst high;
            drain 8;
            tie fixed = 9;
            tie held = 0x123;
            vary mode[1], config[70];
            outputs done;
            source hash: Hash { key: key[512], low: bus[7:0] } on start, !busy;
            source request[2]: Request { data: [lane_0, lane_1][9], part: bus[15:8] } on req, gnt;
            sink first: First { digest: digest[199:0], tag: tag[7:0] } on valid[0], take[0];
            sink second: Second { tag: tag[15:8] } on !valid[1], !take[1];
        }
    }
    use declared::{
        Coverage, Environment, First, Hash, Request, Second, Traffic, Weights, in_reset,
    };

    /// A block with these pins, without RTL.
    #[derive(Debug, Clone, Copy)]
    struct Declared;

    impl Block for Declared {
        const NAME: &'static str = "declared";
        const TITLE: &'static str = "a block without RTL";
        const RTL: LinkedRtl<Inputs, Outputs> = no_rtl();
        const RESET: Option<ResetPin> = Some(ResetPin::high("rst"));

        type Inputs = Inputs;
        type Outputs = Outputs;
        type Golden = Untimed;
        type Traffic = Traffic;
        type Environment<'a> = Environment<'a>;
        type Scoreboard<'a> = NoChecks;
        type Weights = Weights;
        type Coverage = Coverage;
    }

    /// A block that takes everything at once gets the items of the traffic, and the other inputs
    /// change.
    #[test]
    fn wide_fields_parts_lanes_and_other_inputs_are_driven() {
        let parameters = Parameters::with_fixes::<Declared>(0);
        let mut rng = CaseRng::seed_from_u64(3);
        let weights = Weights { reset: harness::Percent::new(0), ..Weights::default() };
        let traffic = harness::Weights::<Declared>::traffic(&weights, &parameters, 40, &mut rng);
        assert_eq!(traffic.check(), Ok(()));
        let text = serde_json::to_string(&traffic).unwrap();
        assert_eq!(serde_json::from_str::<Traffic>(&text).unwrap(), traffic);
        let mut environment = Environment::new(&traffic, &parameters);
        let outputs = Outputs { gnt: Bits::new(3), valid: Bits::new(2), ..Outputs::default() };
        let mut inputs = Inputs::default();
        let (mut hashes, mut requests) = (Vec::new(), [Vec::new(), Vec::new()]);
        let (mut idle, mut modes, mut configs) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        while !environment.finished() {
            environment.drive(&mut inputs);
            match Hash::taken(&inputs, &outputs) {
                Some(hash) => hashes.push(hash),
                None => drop(idle.insert(*inputs.key.words())),
            }
            for (lane, requests) in requests.iter_mut().enumerate() {
                requests.extend(Request::offered_at(lane as u32, &inputs));
            }
            modes.insert(inputs.mode.get());
            configs.insert(*inputs.config.words());
            assert_eq!((inputs.fixed.get(), inputs.held.words()[0]), (9, 0x123));
            environment.clock(&inputs, &outputs);
        }
        assert_eq!(hashes, traffic.hash.iter().map(|offer| offer.item).collect::<Vec<_>>());
        for (seen, offers) in requests.iter().zip(&traffic.request) {
            assert_eq!(*seen, offers.iter().map(|offer| offer.item).collect::<Vec<_>>());
        }
        assert!(hashes.len() + requests[0].len() + requests[1].len() == 40);
        assert!(idle.len() > 3 && modes.len() == 2 && configs.len() == 8);
    }

    #[test]
    fn parts_of_ports_are_read_and_written() {
        let mut outputs = Outputs { valid: Bits::new(0b10), ..Outputs::default() };
        assert_eq!((First::offered(&outputs), Second::offered(&outputs)), (None, None));
        outputs.valid = Bits::new(0b01);
        let first =
            First { digest: WideUint::from_words([7, 0, 0, 0, 0, 0, 0xff]), tag: Uint::new(5) };
        let second = Second { tag: Uint::new(6) };
        first.write_outputs(&mut outputs);
        second.write_outputs(&mut outputs);
        assert_eq!(outputs.tag.get(), 0x605);
        assert_eq!(
            (First::offered(&outputs), Second::offered(&outputs)),
            (Some(first), Some(second))
        );
        let inputs = Inputs { take: Bits::new(0b11), ..Inputs::default() };
        assert!(First::is_ready(&inputs) && !Second::is_ready(&inputs));
        type Driver<'a> = declared::Environment<'a>;
        let all = Driver::transfers(&inputs, &outputs);
        let first = all.iter().find(|transfer| transfer.channel == "first").unwrap();
        let words = first.item.as_deref().unwrap();
        assert!(words.starts_with("digest 0xff00000000"), "{words}");
        assert!(!in_reset(&inputs));
    }
}

/// Agents of protocols, two resets, and a reason for unreachable bins.
mod agents {
    use super::*;
    use cosim_core::agents::axi_lite::{AxiLiteManager, AxiLiteWeights};
    use cosim_core::agents::stream::{StreamSink, StreamSource};
    use cosim_core::declared::Declaration as _;
    use cosim_core::harness::{CaseRng, Percent};
    use rand::SeedableRng as _;

    pins!(Inputs {
        s_wdata: 32 u32, in_tdata: 16 u16, s_awaddr: 8 u8, s_araddr: 8 u8, mode: 2 u8, rst_n: 1 u8,
        clear: 1 u8, in_tvalid: 1 u8, out_tready: 1 u8, s_awvalid: 1 u8, s_wvalid: 1 u8,
        s_bready: 1 u8, s_arvalid: 1 u8, s_rready: 1 u8,
    } padding 2);
    pins!(Outputs {
        s_rdata: 32 u32, out_tdata: 16 u16, in_tready: 1 u8, out_tvalid: 1 u8, s_awready: 1 u8,
        s_wready: 1 u8, s_bvalid: 1 u8, s_arready: 1 u8, s_rvalid: 1 u8,
    } padding 3);

    mod rtl {
        pub const RTL: super::LinkedRtl<super::Inputs, super::Outputs> = super::no_rtl();
    }

    cosim_core::declare! {
        pins Inputs, Outputs from "tests/ports/bus";
        reset rst_n low;
        reset clear high;
        drain 8;
        tie mode = 2;
        agent input: StreamSource on "in_";
        agent output: StreamSink on "out_";
        agent registers: AxiLiteManager on "s_"
            with AxiLiteWeights { write: Percent::new(80), ..AxiLiteWeights::default() }
            unless "responses" |at, _| (at[1] > 0).then_some("there is no bresp");
        transactions;
        scoreboard NoChecks;
        block Declared = "declared": "a block without RTL";
    }

    /// A block that takes everything at once and answers nothing: the stream ends, the registers
    /// hang.
    #[test]
    fn the_environment_drives_all_agents_and_resets() {
        let parameters = Parameters::with_fixes::<Declared>(0);
        for scenario in <Declared as Block>::scenarios() {
            let weights: &Weights = &scenario.weights;
            let traffic = harness::Weights::<Declared>::traffic(
                weights,
                &parameters,
                30,
                &mut CaseRng::seed_from_u64(1),
            );
            assert_eq!(traffic.check(), Ok(()));
            let mut environment = Environment::new(&traffic, &parameters);
            let mut outputs = Outputs::default();
            for pin in ["in_tready", "s_awready", "s_wready", "s_arready"] {
                verilated::Pin::<Outputs>::named("", pin).set(&mut outputs, 1);
            }
            let (mut inputs, mut resets, mut beats) = (Inputs::default(), 0, 0);
            for _ in 0..3000 {
                environment.drive(&mut inputs);
                assert_eq!(inputs.mode.get(), 2);
                assert_eq!(inputs.clear.is_high(), !inputs.rst_n.is_high());
                resets += u64::from(in_reset(&inputs));
                beats += u64::from(INPUT.tvalid.is_high(&inputs) && !in_reset(&inputs));
                environment.clock(&inputs, &outputs);
            }
            assert!(!environment.finished());
            assert!(beats >= 30, "{}: {beats} beats", scenario.name);
            assert_eq!(resets > 0, scenario.name == "resets", "{}", scenario.name);
            let words = environment.in_flight();
            assert!(words.iter().any(|words| words.starts_with("registers: ")));
        }
    }

    #[test]
    fn groups_of_all_agents_have_the_names_of_their_agents() {
        let all = Interfaces::GROUPS;
        let names: Vec<String> = all.iter().map(|group| group.full_name()).collect();
        let expected = ["input beats", "input packets", "output beats", "output packets"];
        assert_eq!(names[..4], expected);
        assert_eq!(names[4], "registers responses");
        let parameters = Parameters::with_fixes::<Declared>(0);
        assert_eq!(all[4].unreachable(11, &parameters), Some("there is no bresp"));
        assert_eq!(all[4].unreachable(0, &parameters), None);
        assert_eq!(all[3].unreachable(0, &parameters), None);
    }

    #[test]
    fn traffic_is_an_object_with_the_agents() {
        let text = r#"{
            "noise": "0x5",
            "input": { "beats": [{ "gap": 3, "item": { "data": "0x1f", "last": true } }] },
            "registers": { "operations": [{ "address": "0x10", "access": { "read": {} } }] }
        }"#;
        let traffic: Traffic = serde_json::from_str(text).unwrap();
        assert_eq!(traffic.check(), Ok(()));
        assert_eq!(traffic.input.beats[0].item.data.get(), 0x1f);
        let again: Traffic =
            serde_json::from_str(&serde_json::to_string(&traffic).unwrap()).unwrap();
        assert_eq!(again, traffic);
        let wrong = text.replace("true }", r#"true }, "reset": { "after": 0, "cycles": 0 }"#);
        let wrong: Traffic = serde_json::from_str(&wrong).unwrap();
        assert_eq!(wrong.check().unwrap_err().path, "input.beats[0].reset.cycles");
    }

    #[test]
    fn weights_have_the_agents_and_their_defaults() {
        let weights = Weights::default();
        assert_eq!(weights.registers.write.get(), 80);
        let read: Weights =
            serde_json::from_str(r#"{ "reset": 5, "registers": { "write": 10 } }"#).unwrap();
        assert_eq!((read.reset.get(), read.registers.write.get()), (5, 10));
        assert!(serde_json::from_str::<Weights>(r#"{ "registers": { "wrote": 10 } }"#).is_err());
    }

    /// Each protocol shows its channels by their ports, in every cycle, and the item on offer.
    #[test]
    fn reports_show_each_channel_with_its_item() {
        let mut inputs = Inputs { rst_n: verilated::Bits::new(1), ..Inputs::default() };
        let mut outputs = Outputs::default();
        inputs.in_tvalid = verilated::Bits::new(1);
        inputs.in_tdata = verilated::Bits::new(0xab);
        inputs.s_awvalid = verilated::Bits::new(1);
        inputs.s_awaddr = verilated::Bits::new(0x14);
        outputs.s_awready = verilated::Bits::new(1);
        type Declaration = Environment<'static>;
        let all = Declaration::transfers(&inputs, &outputs);
        let channels: Vec<&str> = all.iter().map(|one| one.channel.as_str()).collect();
        assert_eq!(channels, ["in", "out", "s_aw", "s_w", "s_b", "s_ar", "s_r"]);
        let item = |place: usize| (all[place].item.as_deref(), all[place].is_taken);
        let (beat, is_taken) = item(0);
        assert_eq!((beat, is_taken), (Some("data 0xab"), false));
        assert_eq!([item(1), item(2)], [(None, false), (Some("write 0x14"), true)]);
        assert_eq!(all[2].pins, ["s_awaddr", "s_awvalid", "s_awready"]);
        assert!(all.iter().skip(3).all(|one| one.item.is_none() && !one.is_taken), "{all:?}");
    }
}

/// An agent and a channel, each with a clock of its own.
mod clocks {
    use super::*;

    use cosim_core::agents::stream::StreamSource;
    use cosim_core::channels::SinkItem as _;
    use cosim_core::harness::{CaseRng, Percent};
    use rand::SeedableRng as _;

    pins!(In {
        in_tdata: 16 u16, wclk: 1 u8, rclk: 1 u8, rst: 1 u8, in_tvalid: 1 u8, pop_ready: 1 u8,
    } padding 1);
    pins!(Out { pop_data: 16 u16, in_tready: 1 u8, pop_valid: 1 u8, } padding 0);

    mod rtl {
        pub const RTL: super::LinkedRtl<super::In, super::Out> = super::no_rtl();
    }

    cosim_core::declare! {
        pins In, Out from "tests/ports/crossing";
        clocks wclk, rclk;
        reset rst high;
        agent write: StreamSource on "in_" at wclk;
        sink pop: Pop { data: pop_data[16] } on pop_valid, pop_ready at rclk;
        transactions;
        scoreboard NoChecks;
        block Fifo = "fifo": "a FIFO with two clocks";
    }

    /// Does each agent act at the edges of its clock alone, and does a reset reach both?
    #[test]
    fn agents_act_at_the_edges_of_their_clocks() {
        assert_eq!(<Fifo as Block>::CLOCKS, ["wclk", "rclk"]);
        let parameters = Parameters::with_fixes::<Fifo>(0);
        let (mut beats, mut resets) = (0, 0);
        for seed in 0..20 {
            let reset = Percent::new(10);
            let weights = Weights { reset, ..Weights::default() };
            let traffic = harness::Weights::<Fifo>::traffic(
                &weights,
                &parameters,
                40,
                &mut CaseRng::seed_from_u64(seed),
            );
            assert_eq!((traffic.check(), traffic.clocks.len()), (Ok(()), 2));
            let wrong = Traffic { clocks: Vec::new(), ..traffic.clone() };
            assert_eq!(wrong.check().unwrap_err().path, "clocks");
            let mut environment = Environment::new(&traffic, &parameters);
            let (mut inputs, mut outputs, mut before) = (In::default(), Out::default(), None);
            verilated::Pin::<Out>::named("", "in_tready").set(&mut outputs, 1);
            let mut in_case = 0;
            for _ in 0..200_000 {
                if environment.finished() {
                    break;
                }
                environment.drive(&mut inputs);
                assert!(inputs.wclk.is_high() || inputs.rclk.is_high(), "no step is empty");
                let now = (WRITE.tvalid.is_high(&inputs), Pop::is_ready(&inputs));
                if let Some(((valid, ready), wrote, read)) = before
                    && !in_reset(&inputs)
                {
                    assert!(wrote || valid == now.0, "tvalid changes without its clock");
                    assert!(read || ready == now.1, "tready changes without its clock");
                }
                let (wrote, read) = (inputs.wclk.is_high(), inputs.rclk.is_high());
                before = Some((now, wrote, read)).filter(|_| !in_reset(&inputs));
                in_case += u64::from(now.0 && wrote && !in_reset(&inputs));
                resets += u64::from(in_reset(&inputs));
                environment.clock(&inputs, &outputs);
            }
            assert!(environment.finished(), "seed {seed}");
            assert_eq!(in_case, traffic.write.beats.len() as u64);
            beats += in_case;
        }
        assert!(beats > 800 && resets > 20, "{beats}, {resets}");
    }
}

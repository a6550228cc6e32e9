//! Tests of the declaration of a block with two agents.

use crate::axi_lite::{AxiLiteManager, AxiLitePins};
use crate::stream::{StreamPins, StreamSink, StreamSource};
use crate::testing::pins;
use crate::testing::rng;
use cosim_harness::harness::{
    self, Block, BuiltInRtl, LinkedRtl, Parameters, ResetPin, Traffic as _, Untimed, Violation,
};
use verilated::Pins;

pins!(Inputs {
    rst_n: 1 u8, clear: 1 u8, mode: 2 u8, in_tvalid: 1 u8, in_tdata: 16 u16, out_tready: 1 u8,
    s_awvalid: 1 u8, s_awaddr: 8 u8, s_wvalid: 1 u8, s_wdata: 32 u32, s_bready: 1 u8,
    s_arvalid: 1 u8, s_araddr: 8 u8, s_rready: 1 u8,
});
pins!(Outputs {
    in_tready: 1 u8, out_tvalid: 1 u8, out_tdata: 16 u16, s_awready: 1 u8, s_wready: 1 u8,
    s_bvalid: 1 u8, s_arready: 1 u8, s_rvalid: 1 u8, s_rdata: 32 u32,
});

const IN: StreamPins<Inputs, Outputs> = StreamPins::of("in_");
const OUT: StreamPins<Outputs, Inputs> = StreamPins::of("out_");
const AXI: AxiLitePins<Inputs, Outputs> = AxiLitePins::of("s_");

crate::agents! {
    pins Inputs, Outputs;
    reset rst_n low;
    reset clear high;
    drain 8;
    tie mode = 2;
    agent input: StreamSource on IN;
    agent output: StreamSink on OUT;
    agent registers: AxiLiteManager on AXI, with crate::axi_lite::AxiLiteWeights {
        write: cosim_harness::harness::Percent::new(80),
        ..crate::axi_lite::AxiLiteWeights::default()
    };
    unreachable "registers responses": |at, _| (at[1] > 0).then_some("there is no bresp");
}

const fn no_rtl<I: Pins, O: Pins>() -> LinkedRtl<I, O> {
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

/// A block with these pins, without RTL.
#[derive(Debug, Clone, Copy)]
struct Declared;

impl Block for Declared {
    const NAME: &'static str = "declared";
    const TITLE: &'static str = "a block without RTL";
    const RTL: LinkedRtl<Inputs, Outputs> = no_rtl();
    const RESET: Option<ResetPin> = Some(ResetPin::low("rst_n"));
    const OTHER_RESETS: &'static [ResetPin] = &[ResetPin::high("clear")];
    const TRANSACTION_OUTPUTS: &'static [&'static str] = &["in_tready", "out_tvalid"];

    type Inputs = Inputs;
    type Outputs = Outputs;
    type Golden = Untimed;
    type Traffic = Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = NoChecks;
    type Weights = Weights;
    type Coverage = Coverage;
}

pub struct NoChecks;

impl<'a, B: Block> harness::Scoreboard<'a, B> for NoChecks {
    fn new(_: &'a B::Traffic, _: &Parameters) -> Self {
        Self
    }

    fn observe(&mut self, _: &B::Inputs, _: &B::Outputs) -> Result<(), Violation> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}

/// A block that takes everything at once and answers nothing: the stream ends, the registers hang.
#[test]
fn the_environment_drives_all_agents_and_resets() {
    let parameters = Parameters::of::<Declared>(0);
    for scenario in <Declared as Block>::scenarios() {
        let weights: &Weights = &scenario.weights;
        let traffic = harness::Weights::<Declared>::traffic(weights, &parameters, 30, &mut rng(1));
        assert_eq!(traffic.check(), Ok(()));
        let mut environment =
            <Environment<'_> as harness::Environment<'_, Declared>>::new(&traffic, &parameters);
        let mut outputs = Outputs::default();
        for pin in ["in_tready", "s_awready", "s_wready", "s_arready"] {
            verilated::Pin::<Outputs>::of("", pin).set(&mut outputs, 1);
        }
        let (mut inputs, mut resets, mut beats) = (Inputs::default(), 0, 0);
        for _ in 0..3000 {
            harness::Environment::<Declared>::drive(&mut environment, &mut inputs);
            assert_eq!(inputs.mode.get(), 2);
            assert_eq!(inputs.clear.is_high(), !inputs.rst_n.is_high());
            resets += u64::from(in_reset(&inputs));
            beats += u64::from(IN.tvalid.is_high(&inputs) && !in_reset(&inputs));
            harness::Environment::<Declared>::clock(&mut environment, &inputs, &outputs);
        }
        assert!(!harness::Environment::<Declared>::finished(&environment));
        assert!(beats >= 30, "{}: {beats} beats", scenario.name);
        assert_eq!(resets > 0, scenario.name == "resets", "{}", scenario.name);
        assert!(environment.in_flight().iter().any(|words| words.starts_with("registers: ")));
    }
}

#[test]
fn groups_of_all_agents_have_the_names_of_their_agents() {
    let names: Vec<&str> = Coverage::ALL.iter().map(|group| group.name).collect();
    let expected = ["input beats", "input packets", "output beats", "output packets"];
    assert_eq!(names[..4], expected);
    assert_eq!(names[4], "registers responses");
    let parameters = Parameters::of::<Declared>(0);
    assert_eq!(Coverage::ALL[4].unreachable(11, &parameters), Some("there is no bresp"));
    assert_eq!(Coverage::ALL[4].unreachable(0, &parameters), None);
    assert_eq!(Coverage::ALL[3].unreachable(0, &parameters), None);
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
    let again: Traffic = serde_json::from_str(&serde_json::to_string(&traffic).unwrap()).unwrap();
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
    let all = <Declaration as harness::Environment<'_, Declared>>::transfers(&inputs, &outputs);
    let channels: Vec<&str> = all.iter().map(|one| one.channel.as_str()).collect();
    assert_eq!(channels, ["in", "out", "s_aw", "s_w", "s_b", "s_ar", "s_r"]);
    let item = |place: usize| (all[place].item.as_deref(), all[place].is_taken);
    let (beat, is_taken) = item(0);
    assert_eq!((beat, is_taken), (Some("data 0xab"), false));
    assert_eq!([item(1), item(2)], [(None, false), (Some("write 0x14"), true)]);
    assert_eq!(all[2].pins, ["s_awvalid", "s_awaddr", "s_awready"]);
    assert!(all.iter().skip(3).all(|one| one.item.is_none() && !one.is_taken), "{all:?}");
}

/// A block whose interfaces have clocks of their own.
mod clocked {
    use super::*;

    pins!(In {
        wclk: 1 u8, rclk: 1 u8, rst: 1 u8, in_tvalid: 1 u8, in_tdata: 16 u16, out_tready: 1 u8,
    });
    pins!(Out { in_tready: 1 u8, out_tvalid: 1 u8, out_tdata: 16 u16, });

    const WRITE: StreamPins<In, Out> = StreamPins::of("in_");
    const READ: StreamPins<Out, In> = StreamPins::of("out_");

    mod rtl {
        pub const RTL: super::LinkedRtl<super::In, super::Out> = super::no_rtl();
    }

    crate::agents! {
        pins In, Out;
        clocks wclk, rclk;
        reset rst high;
        agent write: StreamSource on WRITE, at wclk;
        agent read: StreamSink on READ, at rclk;
        block Fifo = "fifo": "a FIFO with two clocks", NoChecks;
    }

    /// Does each agent act at the edges of its clock alone, and does a reset reach both?
    #[test]
    fn agents_act_at_the_edges_of_their_clocks() {
        assert_eq!(<Fifo as Block>::CLOCKS, ["wclk", "rclk"]);
        let parameters = Parameters::of::<Fifo>(0);
        let (mut beats, mut resets) = (0, 0);
        for seed in 0..20 {
            let reset = harness::Percent::new(10);
            let weights = Weights { reset, ..Weights::default() };
            let traffic =
                harness::Weights::<Fifo>::traffic(&weights, &parameters, 40, &mut rng(seed));
            assert_eq!((traffic.check(), traffic.clocks.len()), (Ok(()), 2));
            let wrong = Traffic { clocks: Vec::new(), ..traffic.clone() };
            assert_eq!(wrong.check().unwrap_err().path, "clocks");
            let mut environment =
                <Environment<'_> as harness::Environment<'_, Fifo>>::new(&traffic, &parameters);
            let (mut inputs, mut outputs, mut before) = (In::default(), Out::default(), None);
            verilated::Pin::<Out>::of("", "in_tready").set(&mut outputs, 1);
            let mut in_case = 0;
            for _ in 0..200_000 {
                if harness::Environment::<Fifo>::finished(&environment) {
                    break;
                }
                harness::Environment::<Fifo>::drive(&mut environment, &mut inputs);
                assert!(inputs.wclk.is_high() || inputs.rclk.is_high(), "no step is empty");
                let now = (WRITE.tvalid.is_high(&inputs), READ.is_ready(&inputs));
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
                harness::Environment::<Fifo>::clock(&mut environment, &inputs, &outputs);
            }
            assert!(harness::Environment::<Fifo>::finished(&environment), "seed {seed}");
            assert_eq!(in_case, traffic.write.beats.len() as u64);
            beats += in_case;
        }
        assert!(beats > 800 && resets > 20, "{beats}, {resets}");
    }
}

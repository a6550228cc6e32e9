//! Tests of the declaration of a block with channels.

mod grammar;

use crate::harness::{
    self, Block, BuiltInRtl, CaseRng, LinkedRtl, Parameters, ResetPin, Traffic as _, Untimed,
    Violation,
};
use crate::value::{Uint, WideUint};
use rand::SeedableRng;
use std::collections::BTreeSet;
use verilated::Bits;

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
use pins;

pins!(Inputs {
    key: 512 [u32; 16], config: 70 [u32; 3], held: 66 [u32; 3], bus: 24 u32, lane_0: 9 u16,
    lane_1: 9 u16, rst: 1 u8, start: 1 u8, req: 2 u8, mode: 1 u8, take: 2 u8, fixed: 4 u8,
} padding 2);
pins!(Outputs {
    digest: 256 [u32; 8], tag: 16 u16, gnt: 2 u8, busy: 1 u8, valid: 2 u8, done: 1 u8,
} padding 2);

// Hostile: types of the prelude have other meanings here.
#[allow(dead_code)]
mod shadows {
    pub struct Option;
    pub struct Result;
    pub struct Vec;
    pub struct String;
    pub struct Default;
}
#[allow(dead_code)]
mod hashes {
    #[allow(unused_imports)]
    use super::shadows::*;
    use super::{Inputs, Outputs};

    crate::channels! {
        pins Inputs, Outputs;
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
use hashes::{Coverage, Environment, First, Hash, Request, Second, Traffic, Weights, in_reset};

/// A block with these pins, without RTL.
#[derive(Debug, Clone, Copy)]
struct Declared;

impl Block for Declared {
    const NAME: &'static str = "declared";
    const TITLE: &'static str = "a block without RTL";
    const RTL: LinkedRtl<Inputs, Outputs> = LinkedRtl {
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
    };
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

struct NoChecks;

impl<'a> harness::Scoreboard<'a, Declared> for NoChecks {
    fn new(_: &'a Traffic, _: &Parameters) -> Self {
        Self
    }

    fn observe(&mut self, _: &Inputs, _: &Outputs) -> Result<(), Violation> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}

/// A block that takes everything at once gets the items of the traffic, and the other inputs
/// change.
#[test]
fn wide_fields_parts_lanes_and_other_inputs_are_driven() {
    let parameters = Parameters::of::<Declared>(0);
    let mut rng = CaseRng::seed_from_u64(3);
    let weights = Weights { reset: harness::Percent::new(0), ..Weights::default() };
    let traffic = harness::Weights::<Declared>::traffic(&weights, &parameters, 40, &mut rng);
    assert_eq!(traffic.check(), Ok(()));
    let text = serde_json::to_string(&traffic).unwrap();
    assert_eq!(serde_json::from_str::<Traffic>(&text).unwrap(), traffic);
    let mut environment =
        <Environment<'_> as crate::harness::Environment<'_, Declared>>::new(&traffic, &parameters);
    let outputs = Outputs { gnt: Bits::new(3), valid: Bits::new(2), ..Outputs::default() };
    let mut inputs = Inputs::default();
    let (mut hashes, mut requests) = (Vec::new(), [Vec::new(), Vec::new()]);
    let (mut idle, mut modes, mut configs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    while !harness::Environment::<Declared>::finished(&environment) {
        harness::Environment::<Declared>::drive(&mut environment, &mut inputs);
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
        harness::Environment::<Declared>::clock(&mut environment, &inputs, &outputs);
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
    let first = First { digest: WideUint::from_words([7, 0, 0, 0, 0, 0, 0xff]), tag: Uint::new(5) };
    let second = Second { tag: Uint::new(6) };
    first.put(&mut outputs);
    second.put(&mut outputs);
    assert_eq!(outputs.tag.get(), 0x605);
    assert_eq!((First::offered(&outputs), Second::offered(&outputs)), (Some(first), Some(second)));
    let inputs = Inputs { take: Bits::new(0b11), ..Inputs::default() };
    assert!(First::is_ready(&inputs) && !Second::is_ready(&inputs));
    type Driver<'a> = hashes::Environment<'a>;
    let all =
        <Driver<'_> as crate::harness::Environment<'_, Declared>>::transfers(&inputs, &outputs);
    let first = all.iter().find(|transfer| transfer.channel == "first").unwrap();
    let words = first.item.as_deref().unwrap();
    assert!(words.starts_with("digest 0xff00000000"), "{words}");
    assert!(!in_reset(&inputs));
}

//! Verdicts of DUTs that differ, stop or end the simulation.

use crate::common::{Place, THREAD2_TOP};
use cosim::blocks::thread2::Thread2;
use cosim::blocks::thread2::rtl::{Bits1, Outputs};
use cosim_core::harness::{
    self, Block, CaseRng, Dut, Mismatch, Parameters, Stimulus, Verdict, Watch,
};
use cosim_core::verilated::{BeforeReset, Error, Model};
use rand::SeedableRng;

const REPAIRED: Parameters = Parameters::with_fixes::<Thread2>(0xff);

/// The verilated model with changed outputs, cycle by cycle with two evaluations.
pub struct Tampered<B: Block, F> {
    pub model: Model<B::Inputs, B::Outputs>,
    pub cycle: u64,
    pub tamper: F,
}

impl<B: Block, F: FnMut(u64, &mut B::Outputs) -> Result<(), Error>> Dut<B> for Tampered<B, F> {
    fn settle(&mut self, inputs: &B::Inputs, outputs: &mut B::Outputs) -> Result<(), Error> {
        self.model.settle(inputs, outputs)?;
        (self.tamper)(self.cycle, outputs)
    }

    fn edge(&mut self) -> Result<(), Error> {
        self.cycle += 1;
        self.model.edge()
    }
}

fn smoke() -> Stimulus<Thread2> {
    let scenarios = Thread2::scenarios();
    Stimulus::<Thread2>::draw(&scenarios[0].weights, &REPAIRED, 20, &mut CaseRng::seed_from_u64(1))
}

#[test]
fn every_bit_of_every_output_is_compared() {
    use cosim_core::verilated::Pins;
    let (smoke, kind) = (smoke(), Thread2::RTL.linked(&REPAIRED).unwrap());
    for port in Outputs::PORTS {
        for bit in 0..port.width as usize {
            let tamper = |cycle: u64, outputs: &mut Outputs| -> Result<(), Error> {
                if cycle == 9 {
                    let mut bytes = outputs.as_bytes().to_vec();
                    bytes[port.offset + bit / 8] ^= 1 << (bit % 8);
                    *outputs = Outputs::from_bytes(&bytes);
                }
                Ok(())
            };
            let model = kind.create(BeforeReset::Ones).unwrap();
            let mut dut = Tampered::<Thread2, _> { model, cycle: 0, tamper };
            let watch = Watch::default();
            match harness::run::<Thread2>(&smoke, &REPAIRED, &mut dut, &watch).verdict {
                Verdict::Mismatch(Mismatch { cycle: 9, port: seen, .. }) => {
                    assert_eq!(seen, port.name, "bit {bit}");
                }
                other => panic!("{} bit {bit}: {other:?}", port.name),
            }
        }
    }
}

/// The check of a netlist against the RTL: see `docs/how-to/proof.md`.
#[test]
fn two_duts_differ_first_in_the_cycle_and_port_that_are_reported() {
    type Tamper = fn(u64, &mut Outputs) -> Result<(), Error>;
    let kind = Thread2::RTL.linked(&REPAIRED).unwrap();
    let same: Tamper = |_, _| Ok(());
    let flips: Tamper = |cycle, outputs| {
        if cycle == 57 {
            outputs.eq_resp_ready = Bits1::new(1 - outputs.eq_resp_ready.get());
        }
        Ok(())
    };
    let stops: Tamper = |cycle, _| match cycle {
        12 => Err(Error::Stopped("gone".to_owned())),
        _ => Ok(()),
    };
    for (tampers, expected) in [
        ([same, same], None),
        ([flips, flips], None),
        ([same, flips], Some((57, Some("eq_resp_ready")))),
        ([flips, same], Some((57, Some("eq_resp_ready")))),
        ([same, stops], Some((12, None))),
        ([stops, stops], None),
    ] {
        let dut = |tamper| {
            let model = kind.create(BeforeReset::Ones).unwrap();
            Tampered::<Thread2, _> { model, cycle: 0, tamper }
        };
        let [mut left, mut right] = tampers.map(dut);
        let watch = Watch::default();
        let duts = [&mut left, &mut right];
        let found = harness::first_difference::<Thread2, _>(&smoke(), &REPAIRED, duts, 0, &watch);
        let found = found.as_ref().map(|found| (found.cycle, found.port.as_deref()));
        assert_eq!(found, expected);
    }
}

#[test]
fn a_cancelled_case_says_so() {
    let watch = Watch::default();
    watch.cancel();
    let mut model = Thread2::RTL.linked(&REPAIRED).unwrap().create(BeforeReset::Ones).unwrap();
    let outcome = harness::run::<Thread2>(&smoke(), &REPAIRED, &mut model, &watch);
    assert_eq!(outcome.verdict, Verdict::Cancelled);
}

#[test]
fn rtl_that_calls_finish_crashes_its_cases_and_the_run_continues() {
    let finish = "always @(posedge clk) if (wqe_req_valid && !wqe_req_ready) $finish;\nendmodule";
    let place = Place::with_change(THREAD2_TOP, "endmodule", finish);
    let run = "run --rtl rtl --cases 4 --fixes repaired --out out --no-shrink --no-waves";
    place.prints(1, &["the RTL called $finish"], run);
    let totals = &place.results("out")["totals"];
    let [crashed, matched] = ["crashed", "matched"].map(|name| totals[name].as_u64().unwrap());
    assert!(crashed > 0 && matched > 0, "some offers wait, and not in all cases: {totals}");
    // 4 cases of each of 11 scenarios.
    assert_eq!((crashed + matched, &totals["cases"]), (44, &44.into()), "{totals}");
}

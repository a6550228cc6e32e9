//! Blame: for a wrong golden model, for wrong RTL, and for both at once.

use crate::common::{Place, json, model, project};
use crate::export::icarus;
use cosim::blocks::thread2::layout::{MrData, opcode};
use cosim::blocks::thread2::rtl::{Inputs, Outputs};
use cosim::blocks::thread2::stimulus::Traffic;
use cosim::blocks::thread2::{Environment, Golden, Scoreboard, Thread2};
use cosim_block::engine::driven;
use cosim_block::rtl::Rtl;
use cosim_core::harness::{
    self, Blame, Block, BlockInfo, CaseRng, Culprit, Explain, LinkedRtl, Parameters, Profile, Rule,
    RuleSet, Scenario, Stimulus, Verdict, Violation, Watch,
};
use cosim_core::value::Uint;
use cosim_core::verilated::BeforeReset;
use cosim_rtl::export::{Language, Testbench};
use cosim_rtl::models::{RtlModels as _, View};
use rand::SeedableRng;
use serde_json::json as value;

/// Thread2 with a golden model that has the bug of
/// `tests/bad_rtl/thread2/74-ack-without-status.patch`: it acknowledges success even after a length
/// error.
#[derive(Debug, Clone, Copy)]
struct Wrong;

/// Methods that do the same as for [`Thread2`].
macro_rules! as_in_thread2 {
    ($self:ident in $trait:ident: $(
        fn $name:ident[$($own:tt)+]($($input:ident: $type:ty),*) $(-> $result:ty)?;
    )*) => {
        $(fn $name($($own)+ $(, $input: $type)*) $(-> $result)? {
            harness::$trait::<Thread2>::$name($self $(, $input)*)
        })*
    };
}

type Cycle = <Golden as harness::Golden<Thread2>>::Cycle;

impl harness::Golden<Wrong> for Golden {
    const RULES: &'static [Rule] = <Golden as harness::Golden<Thread2>>::RULES;
    type Cycle = Cycle;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        <Golden as harness::Golden<Thread2>>::unreachable(rule, parameters)
    }

    fn new(parameters: &Parameters) -> Self {
        <Golden as harness::Golden<Thread2>>::new(parameters)
    }

    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        harness::Golden::<Thread2>::outputs(self, inputs, cycle, outputs);
        let mut data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::ACKNOWLEDGE {
            data.status = Uint::new(0);
            outputs.fetch_mr_ingress_data = data.encode(outputs.fetch_mr_ingress_data);
        }
    }

    as_in_thread2! { self in Golden:
        fn cycle[&self](inputs: &Inputs) -> Cycle;
        fn clock[&mut self](inputs: &Inputs, cycle: &Cycle) -> RuleSet;
        fn state[&self]() -> &'static str;
    }
}

impl<'a> harness::Environment<'a, Wrong> for Environment<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        <Self as harness::Environment<'a, Thread2>>::new(traffic, parameters)
    }

    as_in_thread2! { self in Environment:
        fn drive[&mut self](inputs: &mut Inputs);
        fn clock[&mut self](inputs: &Inputs, outputs: &Outputs);
        fn finished[&self]() -> bool;
        fn handshakes[&self]() -> u64;
        fn progress_timeout[&self]() -> u64;
        fn packets[&self]() -> u64;
    }
}

impl<'a> harness::Scoreboard<'a, Wrong> for Scoreboard<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        <Self as harness::Scoreboard<'a, Thread2>>::new(traffic, parameters)
    }

    as_in_thread2! { self in Scoreboard:
        fn observe[&mut self](inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation>;
        fn finish[&mut self]() -> Result<(), Violation>;
    }
}

impl Block for Wrong {
    const NAME: &'static str = "wrong";
    const TITLE: &'static str = "thread2 with a golden model that is wrong";
    const RTL: LinkedRtl<Inputs, Outputs> = Thread2::RTL;

    type Inputs = Inputs;
    type Outputs = Outputs;
    type Golden = Golden;
    type Traffic = Traffic;
    type Environment<'a> = Environment<'a>;
    type Scoreboard<'a> = Scoreboard<'a>;
    type Weights = <Thread2 as Block>::Weights;
    type Coverage = ();
}

impl Explain for Wrong {}

type Weighed = <Thread2 as Block>::Weights;

impl harness::Weights<Wrong> for Weighed {
    fn scenarios() -> Vec<Scenario<Self>> {
        <Self as harness::Weights<Thread2>>::scenarios()
    }

    fn traffic(&self, parameters: &Parameters, packets: u32, rng: &mut CaseRng) -> Traffic {
        harness::Weights::<Thread2>::traffic(self, parameters, packets, rng)
    }
}

/// The first random case that does not match: its verdict, its blame and its stimulus.
fn first_failure(rtl: &Rtl) -> (Verdict, Blame, Stimulus<Wrong>) {
    let parameters = Parameters::of::<Wrong>(0xff);
    let kind = model::<Wrong>(rtl, &parameters, View::Bare).unwrap();
    let scenarios = <Weighed as harness::Weights<Wrong>>::scenarios();
    let watch = Watch::default();
    for seed in 0..20 {
        let mut rng = CaseRng::seed_from_u64(seed);
        let stimulus = Wrong::stimulus(&scenarios[1].weights, &parameters, 64, &mut rng);
        let mut model = kind.create(BeforeReset::Ones).unwrap();
        let verdict = harness::run(&stimulus, &parameters, &mut model, &watch).verdict;
        if verdict.is_failure() {
            let mut model = kind.create(BeforeReset::Ones).unwrap();
            let judgement = harness::judge(&stimulus, &parameters, &mut model, &watch);
            return (verdict, judgement, stimulus);
        }
    }
    panic!("no case has an acknowledge after a length error");
}

#[test]
fn a_wrong_golden_model_is_named_though_the_rtl_is_good() {
    let (verdict, judgement, _) = first_failure(&Rtl::default());
    let Verdict::Mismatch(mismatch) = verdict else { panic!("{verdict}") };
    assert_eq!(mismatch.port, "fetch_mr_ingress_data");
    assert_eq!((judgement.broken_by, &judgement.rtl), (Culprit::GoldenModel, &None));
    assert_eq!(judgement.golden.unwrap().violation.check, "ack-by-service");
}

#[test]
fn models_that_agree_and_are_both_wrong_fail_a_check() {
    let place = Place::with_bug("thread2/74-ack-without-status");
    let rtl = Rtl { paths: vec![place.path("rtl")], ..Rtl::default() };
    let (verdict, judgement, stimulus) = first_failure(&rtl);
    let Verdict::CheckFailed { violation, cycle } = verdict else { panic!("{verdict}") };
    assert_eq!(violation.check, "ack-by-service");
    assert_eq!(judgement.broken_by, Culprit::Both);
    assert_eq!(judgement.rtl, judgement.golden);
    // Nothing differs, but the testbench fails.
    let profile = Profile::new("repaired", Parameters::of::<Wrong>(0xff));
    let info = BlockInfo::of::<Wrong>();
    let examined = rtl.examined(info).unwrap();
    let pins = driven(&stimulus, &profile.parameters);
    let pins = (&pins, false);
    let bench = Testbench::new("wrong", info, &profile, &examined, Language::Verilog, pins);
    for (name, text) in &bench.unwrap().files {
        let text = std::str::from_utf8(text).unwrap();
        place.write(&format!("bench/{}", name.display()), text);
    }
    let simulated = icarus(&place.path("bench"));
    let failed = format!("FAIL  check failed at cycle {cycle}: ack-by-service: ");
    assert!(simulated.starts_with(&failed), "{simulated}");
}

#[test]
fn wrong_rtl_is_named_in_summary_results_and_explanation() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let limits = "--fixes spec --max-failures 1 --no-waves";
    let printed = place.exits(1, &format!("run --rtl rtl {limits} --out run"));
    assert!(printed.contains("the RTL violates the specification"), "{printed}");
    assert!(printed.contains("RTL: check rq-offset-inside"), "{printed}");
    let judgement = place.json("run/results.json")["failures"][0]["judgement"].clone();
    assert_eq!(judgement["broken_by"], "rtl");
    assert_eq!(judgement["rtl"]["check"], "rq-offset-inside");
    assert!(judgement["golden"].is_null());

    let explain = format!("explain {} --rtl rtl", place.vectors("run")[0]);
    let page = place.exits(1, &explain);
    assert!(page.contains("the RTL violates the specification"), "{page}");
    assert!(page.contains("entries of "), "{page}");
    // Every cycle has a next state, and the text contains no Rust syntax.
    assert!(!page.contains("-> ?") && !page.contains("Ring {"), "{page}");
    let explained = place.json_of(1, &explain);
    assert_eq!(explained[0]["judgement"], judgement);
    assert!(!explained[0]["golden"]["to"].is_null(), "{explained}");
}

/// One raw cycle in reset after the harness's own, then a packet that triggers the bug.
#[test]
fn raw_pins_are_explained_by_their_fields() {
    let bug = "fetch_cxt_egress_ready = !(fetch_cxt_egress_data[HDR_LOCAL_QPN +: 24] == 24'd173 &&
                                         fetch_cxt_egress_data[HDR_PKT_LENGTH +: 16] == 16'd4096);";
    let from = "fetch_cxt_egress_ready = 1'b1;";
    let place = Place::with_change("ReqRecvCore_Thread_2.v", from, bug);
    // A vector with every pin.
    let raw = project().join("vectors/thread2/raw-ready-glitches-of-a-send.json");
    let mut zeros = json(&raw)["stimulus"]["cycles"][0].clone();
    zeros.as_object_mut().unwrap().values_mut().for_each(|pin| *pin = "0x0".into());
    let mut packet = zeros.clone();
    // local_qpn is 55:32, pkt_length 383:368.
    let data = format!("0x{:x}{:0>92}", 0x1000, format!("{:x}{:08x}", 173, 0));
    packet["fetch_cxt_egress_data"] = data.into();
    packet["fetch_cxt_egress_valid"] = "0x1".into();
    let vector = value!({
        "format": "cosim-vector", "version": 1, "block": "thread2", "fixes": "spec",
        "origin": { "about": "a bug of one QP and one length" },
        "stimulus": { "cycles": [zeros, packet] },
        "recorded": null,
    });
    place.write("raw.json", &vector.to_string());
    let page = place.exits(1, "explain raw.json --rtl rtl");
    for words in [
        "  cycle 1: none",
        "  cycle 2: fetch_cxt_egress_valid",
        "fetch_cxt_egress_data: local_qpn 0xad, pkt_length 0x1000",
        "unconstrained random stimulus: no check applies",
        // The last cycle of the stimulus differs; the golden model's next state is shown.
        "golden model: IDLE_s -> JUDGE_s",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// The first TLP is corrupted in transit, and the RTL ignores the Nak, which frees nothing.
#[test]
fn dll_is_explained_by_numbers_of_tlps_and_dllps() {
    let place = Place::with_bug("dll/12-nak-without-progress-ignored");
    let vector = value!({
        "format": "cosim-vector", "version": 1, "block": "dll", "fixes": "spec",
        "origin": { "about": "the Nak of the first TLP" },
        "stimulus": { "traffic": {
            "noise": "0x0", "tlps": [{ "data": 0, "count": 2 }], "tlp_link": [{ "damage": {} }]
        } },
        "recorded": null,
    });
    place.write("nak.json", &vector.to_string());
    let page = place.exits(1, "explain nak.json --rtl rtl");
    // B expects TLP 0: it has received everything up to 4095, and drops the following.
    for words in [
        "a_link:VR(TLP 0)",
        "b_link(TLP 0, bad CRC)",
        "b_link(TLP 1)",
        "b_dllp:VR(Nak 4095)",
        "a_dllp(Nak 4095)",
        "RTL: check replays-counted",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // Channels without ready never wait, and the text does not repeat the pins.
    // Suspicious lines quote the RTL.
    let (before, rest) = page.split_once("Suspicious lines").unwrap();
    let pins = format!("{before}{}", rest.split_once("golden model:").unwrap().1);
    for noise in ["b_link:V-", "a_dllp:V-", "b_deliver:V-", "crc_ok", "dllp_nak", "-> ?"] {
        assert!(!pins.contains(noise), "{noise}: {page}");
    }
}

//! Blame: for a wrong golden model, for wrong RTL, and for both at once.

use crate::common::{
    assert_code, changed_rtl, code, files, json, model, patched_rtl, project, run, text,
};
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
use tempfile::TempDir;

/// Thread2 with a golden model that has the bug of
/// `tests/bad_rtl/thread2/74-ack-without-status.patch`: it acknowledges success even after a length
/// error.
#[derive(Debug, Clone, Copy)]
struct Wrong;

#[derive(Clone)]
struct WrongGolden(Golden);

impl harness::Golden<Wrong> for WrongGolden {
    const RULES: &'static [Rule] = <Golden as harness::Golden<Thread2>>::RULES;
    type Cycle = <Golden as harness::Golden<Thread2>>::Cycle;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        <Golden as harness::Golden<Thread2>>::unreachable(rule, parameters)
    }

    fn new(parameters: &Parameters) -> Self {
        Self(<Golden as harness::Golden<Thread2>>::new(parameters))
    }

    fn cycle(&self, inputs: &Inputs) -> Self::Cycle {
        harness::Golden::<Thread2>::cycle(&self.0, inputs)
    }

    fn outputs(&self, inputs: &Inputs, cycle: &Self::Cycle, outputs: &mut Outputs) {
        harness::Golden::<Thread2>::outputs(&self.0, inputs, cycle, outputs);
        let mut data = MrData::decode(&outputs.fetch_mr_ingress_data);
        if data.opcode.get() == opcode::ACKNOWLEDGE {
            data.status = Uint::new(0);
            outputs.fetch_mr_ingress_data = data.encode(outputs.fetch_mr_ingress_data);
        }
    }

    fn clock(&mut self, inputs: &Inputs, cycle: &Self::Cycle) -> RuleSet {
        harness::Golden::<Thread2>::clock(&mut self.0, inputs, cycle)
    }

    fn state(&self) -> &'static str {
        harness::Golden::<Thread2>::state(&self.0)
    }
}

struct Around<'a>(Environment<'a>);

impl<'a> harness::Environment<'a, Wrong> for Around<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        Self(<Environment<'a> as harness::Environment<'a, Thread2>>::new(traffic, parameters))
    }

    fn drive(&mut self, inputs: &mut Inputs) {
        harness::Environment::<Thread2>::drive(&mut self.0, inputs);
    }

    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        harness::Environment::<Thread2>::clock(&mut self.0, inputs, outputs);
    }

    fn finished(&self) -> bool {
        harness::Environment::<Thread2>::finished(&self.0)
    }

    fn handshakes(&self) -> u64 {
        harness::Environment::<Thread2>::handshakes(&self.0)
    }

    fn progress_timeout(&self) -> u64 {
        harness::Environment::<Thread2>::progress_timeout(&self.0)
    }

    fn packets(&self) -> u64 {
        harness::Environment::<Thread2>::packets(&self.0)
    }
}

struct Judge<'a>(Scoreboard<'a>);

impl<'a> harness::Scoreboard<'a, Wrong> for Judge<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        Self(<Scoreboard<'a> as harness::Scoreboard<'a, Thread2>>::new(traffic, parameters))
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        harness::Scoreboard::<Thread2>::observe(&mut self.0, inputs, outputs)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        harness::Scoreboard::<Thread2>::finish(&mut self.0)
    }
}

impl Block for Wrong {
    const NAME: &'static str = "wrong";
    const TITLE: &'static str = "thread2 with a golden model that is wrong";
    const RTL: LinkedRtl<Inputs, Outputs> = Thread2::RTL;

    type Inputs = Inputs;
    type Outputs = Outputs;
    type Golden = WrongGolden;
    type Traffic = Traffic;
    type Environment<'a> = Around<'a>;
    type Scoreboard<'a> = Judge<'a>;
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
    let rtl = patched_rtl(&project().join("tests/bad_rtl/thread2/74-ack-without-status.patch"));
    let rtl = rtl.path().join("rtl");
    let rtl = Rtl { paths: vec![rtl], ..Rtl::default() };
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
    let language = Language::Verilog;
    let testbench =
        Testbench::new("wrong", info, &profile, &examined, language, (&pins, false)).unwrap();
    let folder = TempDir::new().unwrap();
    for (name, text) in &testbench.files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let simulated = icarus(folder.path());
    let failed = format!("FAIL  check failed at cycle {cycle}: ack-by-service: ");
    assert!(simulated.starts_with(&failed), "{simulated}");
}

#[test]
fn wrong_rtl_is_named_in_summary_results_and_explanation() {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"));
    let rtl = rtl.path().join("rtl");
    let folder = TempDir::new().unwrap();
    let (rtl, out) = (rtl.to_str().unwrap(), folder.path().join("run"));
    let limits = ["run", "--rtl", rtl, "--fixes", "spec", "--max-failures", "1", "--no-waves"];
    let output = run(limits.iter().chain(&["--out", out.to_str().unwrap()]));
    assert_code(&output, 1);
    assert!(text(&output).contains("the RTL violates the specification"), "{}", text(&output));
    assert!(text(&output).contains("RTL: check rq-offset-inside"), "{}", text(&output));
    let judgement = json(&out.join("results.json"))["failures"][0]["judgement"].clone();
    assert_eq!(judgement["broken_by"], "rtl");
    assert_eq!(judgement["rtl"]["check"], "rq-offset-inside");
    assert!(judgement["golden"].is_null());

    let vector = files(&out.join("failures"), "json").remove(0);
    let explain = ["explain", vector.to_str().unwrap(), "--rtl", rtl];
    let page = text(&run(explain));
    assert!(page.contains("the RTL violates the specification"), "{page}");
    assert!(page.contains("entries of "), "{page}");
    // Every cycle has a next state, and the text contains no Rust syntax.
    assert!(!page.contains("-> ?") && !page.contains("Ring {"), "{page}");
    let output = run(explain.iter().chain(&["--format", "json"]));
    let explained: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(explained[0]["judgement"], judgement);
    assert!(!explained[0]["golden"]["to"].is_null(), "{explained}");
}

/// One raw cycle in reset after the harness's own, then a packet that triggers the bug.
#[test]
fn raw_pins_are_explained_by_their_fields() {
    let bug = "fetch_cxt_egress_ready = !(fetch_cxt_egress_data[HDR_LOCAL_QPN +: 24] == 24'd173 &&
                                         fetch_cxt_egress_data[HDR_PKT_LENGTH +: 16] == 16'd4096);";
    let from = "fetch_cxt_egress_ready = 1'b1;";
    let rtl = changed_rtl("ReqRecvCore_Thread_2.v", from, bug);
    let folder = TempDir::new().unwrap();
    let schema = run(["schema", "vector"]);
    let schema: serde_json::Value = serde_json::from_slice(&schema.stdout).unwrap();
    let ports = schema["oneOf"].as_array().unwrap().iter().find_map(|block| {
        let block = match block["$ref"].as_str() {
            Some(place) => schema.pointer(place.trim_start_matches('#'))?.clone(),
            None => block.clone(),
        };
        (block["properties"]["block"]["const"] == "thread2").then_some(())?;
        let kinds = block["properties"]["stimulus"]["oneOf"].as_array()?.clone();
        let cycles = kinds.iter().find_map(|kind| kind["properties"].get("cycles"))?;
        Some(cycles["items"]["properties"].as_object()?.clone())
    });
    let zeros: serde_json::Map<String, serde_json::Value> =
        ports.unwrap().keys().map(|name| (name.clone(), "0x0".into())).collect();
    let mut packet = zeros.clone();
    // local_qpn is 55:32, pkt_length 383:368.
    let data = format!("0x{:x}{:0>92}", 0x1000, format!("{:x}{:08x}", 173, 0));
    packet.insert("fetch_cxt_egress_data".to_owned(), data.into());
    packet.insert("fetch_cxt_egress_valid".to_owned(), "0x1".into());
    let vector = serde_json::json!({
        "format": "cosim-vector", "version": 1, "block": "thread2", "fixes": "spec",
        "origin": { "about": "a bug of one QP and one length" },
        "stimulus": { "cycles": [zeros, packet] },
        "recorded": null,
    });
    let path = folder.path().join("raw.json");
    std::fs::write(&path, vector.to_string()).unwrap();
    let rtl = rtl.path().to_str().unwrap();
    let output = run(["explain", path.to_str().unwrap(), "--rtl", rtl]);
    let page = text(&output);
    assert_eq!(code(&output), 1, "{page}");
    assert!(page.contains("  cycle 1: none"), "{page}");
    assert!(page.contains("  cycle 2: fetch_cxt_egress_valid"), "{page}");
    assert!(page.contains("fetch_cxt_egress_data: local_qpn 0xad, pkt_length 0x1000"), "{page}");
    assert!(page.contains("unconstrained random stimulus: no check applies"), "{page}");
    // The last cycle of the stimulus differs; the golden model's next state is shown.
    assert!(page.contains("golden model: IDLE_s -> JUDGE_s"), "{page}");
}

/// The first TLP is corrupted in transit, and the RTL ignores the Nak, which frees nothing.
#[test]
fn dll_is_explained_by_numbers_of_tlps_and_dllps() {
    let rtl =
        patched_rtl(&project().join("tests/bad_rtl/dll/12-nak-without-progress-ignored.patch"));
    let rtl = rtl.path().join("rtl");
    let vector = serde_json::json!({
        "format": "cosim-vector", "version": 1, "block": "dll", "fixes": "spec",
        "origin": { "about": "the Nak of the first TLP" },
        "stimulus": { "traffic": {
            "noise": "0x0", "tlps": [{ "data": 0, "count": 2 }], "tlp_link": [{ "damage": {} }]
        } },
        "recorded": null,
    });
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("nak.json");
    std::fs::write(&path, vector.to_string()).unwrap();
    let output = run(["explain", path.to_str().unwrap(), "--rtl", rtl.to_str().unwrap()]);
    let page = text(&output);
    assert_eq!(code(&output), 1, "{page}");
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

//! Blame and explanation of failures of RTL with bugs.

use crate::common::{Place, corpus, json};
use serde_json::json as value;

#[test]
fn wrong_rtl_is_named_in_summary_results_and_explanation() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    let limits = "--fixes spec --max-failures 1 --no-waves";
    let blame = ["the RTL violates the specification", "RTL: check rq-offset-inside"];
    place.prints(1, &blame, &format!("run --rtl rtl {limits} --out run"));
    let judgement = place.results("run")["failures"][0]["judgement"].clone();
    assert_eq!(judgement["broken_by"], "rtl");
    assert_eq!(judgement["rtl"]["check"], "rq-offset-inside");
    assert!(judgement["golden"].is_null());

    let explain = format!("explain {} --rtl rtl", place.vectors("run")[0]);
    let page = place.prints(
        1,
        &["the RTL violates the specification", "entry: 256, length: 256"],
        &explain,
    );
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
    let raw = json(corpus("thread2/raw-ready-glitches-of-a-send"));
    let mut zeros = raw["stimulus"]["cycles"][0].clone();
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
    let words = [
        "  cycle 1: none",
        "  cycle 2: fetch_cxt_egress_valid",
        "fetch_cxt_egress_data: local_qpn 0xad, pkt_length 0x1000",
        "unconstrained random stimulus: no check applies",
        // The last cycle of the stimulus differs; the golden model's next state is shown.
        "golden model: IDLE_s -> JUDGE_s",
    ];
    place.prints(1, &words, "explain raw.json --rtl rtl");
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
    // B expects TLP 0: it has received everything up to 4095, and drops the following.
    let words = [
        "a_link:VR(TLP 0)",
        "b_link(TLP 0, bad CRC)",
        "b_link(TLP 1)",
        "b_dllp:VR(Nak 4095)",
        "a_dllp(Nak 4095)",
        "RTL: check replays-counted",
    ];
    let page = place.prints(1, &words, "explain nak.json --rtl rtl");
    // Channels without ready never wait, and the text does not repeat the pins.
    // Suspicious lines quote the RTL.
    let (before, rest) = page.split_once("Suspicious lines").unwrap();
    let pins = format!("{before}{}", rest.split_once("golden model:").unwrap().1);
    for noise in ["b_link:V-", "a_dllp:V-", "b_deliver:V-", "crc_ok", "dllp_nak", "-> ?"] {
        assert!(!pins.contains(noise), "{noise}: {page}");
    }
}

//! Shrinking and grouping: a shrunk vector shows only its cause, in bounded time, with the original
//! bug.

use crate::common::{Place, THREAD2_TOP, corpus, files, json, members, project};
use serde_json::{Value, json as value};

const KEY: &str = "fetch_mr_ingress_head[MR_HEAD_KEY +: 32]            = mr_key;";
const ADDRESS: &str = "fetch_mr_ingress_head[MR_HEAD_ADDR +: 64]           = mr_addr;";

/// Two bugs in one state and one port: the key of a memory request and its address. Each group's
/// vector matches when its own bug is fixed, and fails when only the other one is.
#[test]
fn two_bugs_in_one_state_are_two_groups_and_each_vector_shows_its_own() {
    let bad_key =
        KEY.replace("mr_key", "mr_key ^ {31'd0, hdr[HDR_IMMEDIATE +: 32] > 32'h8000_0000}");
    let bad_address = ADDRESS.replace("mr_addr", "mr_addr + {63'd0, solicited}");
    let place = Place::with_change(THREAD2_TOP, KEY, &bad_key);
    let both = place.text(&format!("rtl/{THREAD2_TOP}")).replacen(ADDRESS, &bad_address, 1);
    place.write(&format!("both/{THREAD2_TOP}"), &both);
    place.write(&format!("address/{THREAD2_TOP}"), &both.replacen(&bad_key, KEY, 1));
    let only = "--scenario smoke --cases 150 --fixes repaired";
    place.exits(1, &format!("run --no-waves --out run --rtl both {only}"));
    let groups = place.results("run")["failures"].clone();
    let signatures = members(&groups, "signature");
    let group = |signature: &str| {
        let at = signatures.iter().position(|name| *name == signature);
        &groups[at.unwrap_or_else(|| panic!("no {signature} in {signatures:?}"))]
    };
    for state in ["MR_FOR_WRITE_s", "MR_FOR_READ_s"] {
        let key = group(&format!("mismatch-fetch_mr_ingress_head.key-{state}"));
        let address = group(&format!("mismatch-fetch_mr_ingress_head.address-{state}"));
        let in_state = signatures.iter().filter(|name| name.ends_with(state)).count();
        assert_eq!(in_state, 2, "{signatures:?}");
        // Cases that show both are counted in one group, which names the other.
        let variants = [key, address].map(|group| group["variants"].as_array().unwrap().as_slice());
        let is_together = |variant: &Value| !variant["with"].is_null();
        assert!(variants.concat().iter().any(is_together), "{key:#} {address:#}");
        for (group, own, other) in [(key, "rtl", "address"), (address, "address", "rtl")] {
            // The vector as shrunk, and the case as found.
            let [shrunk, found] = ["vector", "original"].map(|name| group[name].as_str().unwrap());
            place.exits(1, &format!("replay --rtl both run/{shrunk}"));
            place.exits(1, &format!("replay --rtl {own} run/{shrunk}"));
            place.exits(0, &format!("replay --rtl {other} run/{shrunk}"));
            place.exits(1, &format!("replay --rtl both run/{found}"));
        }
    }
}

/// The README's bug shows under three rules, and is one bug.
#[test]
fn one_bug_under_several_rules_is_one_group_with_a_vector_for_each_rule() {
    let place = Place::with_bug("thread2/43-rq-wrap-one-late");
    place.exits(1, "run --no-waves --out run --rtl rtl --cases 40");
    let groups = &place.results("run")["failures"];
    assert_eq!(members(groups, "signature"), ["mismatch-rq_offset_din-UPDATE_RQ_s"]);
    let group = &groups[0];
    let mut rules = members(&group["variants"], "rule");
    rules.sort_unstable();
    assert_eq!(rules, ["F5e", "T30", "T31"]);
    let variants = group["variants"].as_array().unwrap();
    let counts: u64 = variants.iter().map(|variant| variant["count"].as_u64().unwrap()).sum();
    assert_eq!(Some(counts), group["count"].as_u64());
    for variant in variants {
        let vector = format!("run/{}", variant["vector"].as_str().unwrap());
        assert_eq!(place.json(&vector)["recorded"]["rule"], variant["rule"]);
        place.exits(1, &format!("replay --rtl rtl {vector}"));
        place.exits(0, &format!("replay --rtl {}/rtl {vector}", project().display()));
    }
}

/// A bug that needs QP 173 and a packet of 4096 bytes.
fn rare_bug() -> Place {
    let condition = "{31'd0, local_qpn == 24'd173 && pkt_length == 16'd4096}";
    Place::with_change(THREAD2_TOP, KEY, &KEY.replace("mr_key", &format!("mr_key ^ {condition}")))
}

/// Shrinks a vector of 20 000 packets or raw cycles. Returns the program's output and the smaller
/// vector. The budget in cycles is a quarter of the default, a few seconds on any machine.
fn shrink(place: &Place, vector: &Value) -> (Value, Value) {
    place.write("large.json", &vector.to_string());
    let printed = place.json_of(0, "shrink large.json --out small.json --rtl rtl --budget 4000000");
    assert_eq!(printed["complete"], true, "{printed}");
    (printed, place.json("small.json"))
}

/// 20 000 cycles of raw pins with that packet near the end.
#[test]
fn raw_pins_shrink_to_the_fields_that_matter() {
    let place = rare_bug();
    let chaos = "--scenario chaos --cases 1 --packets 1250 --fixes repaired";
    place.exits(0, &format!("run {chaos} --save-vectors 1 --out run"));
    let mut vector = json(&files(&place.path("run/saved"), "json")[0]);
    let cycles = vector["stimulus"]["cycles"].as_array_mut().unwrap();
    assert_eq!(cycles.len(), 20_000);
    for cycle in &mut cycles[19_000..] {
        // local_qpn is [55:32], pkt_length is [383:368]. The noise beside them, from bit 64 on,
        // stays.
        let header = cycle["fetch_cxt_egress_data"].as_str().unwrap();
        let digits = format!("{:0>122}", &header[2..]);
        let (top, length, middle) = (&digits[..26], "1000", &digits[30..108]);
        let (qpn, low) = ("0000ad", &digits[114..]);
        cycle["fetch_cxt_egress_data"] = value!(format!("0x{top}{length}{middle}{qpn}{low}"));
    }
    vector["stimulus"]["before_reset"] = value!({ "random": 7 });
    let (_, small) = shrink(&place, &vector);
    // The registers before reset do not matter, so they are ones, as without the field.
    assert_eq!(small["stimulus"].get("before_reset"), None);
    let cycles = small["stimulus"]["cycles"].as_array().unwrap();
    assert!(cycles.len() <= 10, "{} cycles", cycles.len());
    // A cycle omits ports that do not change. Other values of a port than 0:
    let values = |port: &str| -> Vec<String> {
        let values = cycles.iter().filter_map(|cycle| cycle[port].as_str());
        values.filter(|value| *value != "0x0").map(str::to_owned).collect()
    };
    // One header has the two fields and an opcode that leads to the request.
    let headers = values("fetch_cxt_egress_data");
    let [header] = &headers[..] else { panic!("{headers:?}") };
    let digits = format!("{:0>122}", &header[2..]);
    assert_eq!(&digits[26..30], "1000", "pkt_length is 4096");
    assert_eq!(&digits[108..114], "0000ad", "local_qpn is 173");
    let rest = [&digits[..26], &digits[30..108]].concat();
    assert!(rest.chars().all(|digit| digit == '0'), "{header}");
    for port in
        ["cq_resp_head", "eq_resp_head", "wqe_resp_head", "rq_offset_dout", "cache_offset_dout"]
    {
        assert_eq!(values(port), [""; 0], "{port}: {cycles:#?}");
    }
}

/// A vector of 20 000 equal packets.
pub fn long_vector() -> Value {
    let mut vector = json(corpus("thread2/f5b-off-last-unit-of-a-send-hangs"));
    vector["fixes"] = value!("repaired");
    vector["recorded"] = Value::Null;
    let packets = vector["stimulus"]["traffic"]["packets"].as_array_mut().unwrap();
    *packets = vec![packets[0].clone(); 20_000];
    vector
}

/// 20 000 packets with that packet near the end. The packets just before it are tried first, so few
/// candidates and little of the budget are needed.
#[test]
fn a_long_case_shrinks_without_trying_all_of_it() {
    let mut vector = long_vector();
    let header = &mut vector["stimulus"]["traffic"]["packets"][19_900]["header"];
    header["local_qpn"] = value!(173);
    header["pkt_length"] = value!(4096);
    let (printed, small) = shrink(&rare_bug(), &vector);
    assert_eq!(printed["packets"], 1, "{printed}");
    assert!(printed["candidates"].as_u64().unwrap() < 1000, "{printed}");
    assert_eq!(small["stimulus"]["traffic"]["packets"].as_array().unwrap().len(), 1);
}

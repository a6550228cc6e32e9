//! What the block promises, for `cosim prove`, over the state register of `ReqRecvCore_Thread_2`. Here alone it has its name.

use super::rows::{State, fix};
use cosim_core::harness::{Hang, Held, Parameters, Progress, Promises, Remembered};

/// Beats of the present WQE are still to come: its request was taken, and its last beat was not.
const OWED: &str = "wqe_owed";

fn is_in(state: State) -> String {
    format!("(cur_state == 6'd{})", state as u8)
}

/// Every promise.
pub fn promises(parameters: &Parameters) -> Promises {
    const UPDATE: &[&str] = &[State::UPDATE_RQ_s.name()];
    let is_fixed = |number| parameters.fixes() & fix(number) != 0;
    let mut held = vec![Held::whole("cq_req_valid"), Held::whole("eq_req_valid")];
    // T08 withdraws the request for a WQE, and T43 that for an event, with the completion's in its place.
    if is_fixed(0) {
        held.push(Held::whole("wqe_req_valid"));
    }
    held.push(match is_fixed(2) {
        true => Held::whole("fetch_mr_ingress_valid"),
        false => Held::valid("fetch_mr_ingress_valid"),
    });
    Promises {
        zero: vec![
            "fetch_mr_ingress_valid",
            "wqe_req_valid",
            "cq_req_valid",
            "eq_req_valid",
            "rq_offset_din",
            "cache_offset_din",
            "cache_owned_din",
        ],
        held,
        no_states: vec![State::Undefined.name()],
        enabled: vec![
            ("rq_offset_wen", UPDATE),
            ("cache_offset_wen", UPDATE),
            ("cache_owned_wen", UPDATE),
        ],
        registers: vec![("cur_state", 6)],
        remembered: remembered(),
        progress: vec![progress(parameters)],
        ..Promises::default()
    }
}

fn remembered() -> Vec<Remembered> {
    let asked = "wqe_req_valid & wqe_req_ready";
    let ended = "wqe_resp_valid & wqe_resp_ready & wqe_resp_last";
    let went_back = format!("{} & ~fetch_mr_ingress_ready", is_in(State::MR_FOR_EQ_s));
    vec![
        Remembered { name: OWED, width: 1, next: format!("{asked} | {OWED} & ~({ended})") },
        // T43: the request for the event was not taken at once.
        Remembered {
            name: "went_back",
            width: 1,
            next: format!("{went_back} | went_back & ~{}", is_in(State::IDLE_s)),
        },
    ]
}

/// A packet that was taken is finished, if its partners answer.
fn progress(parameters: &Parameters) -> Progress {
    let is_fixed = |number| parameters.fixes() & fix(number) != 0;
    let [next_unit, data_unit] = [State::NEXT_UNIT_s, State::DATA_UNIT_s].map(is_in);
    let waits = [
        format!("({next_unit} | {data_unit}) & ~wqe_resp_valid & {OWED}"),
        "wqe_req_valid & ~wqe_req_ready".to_owned(),
        "fetch_mr_ingress_valid & ~fetch_mr_ingress_ready".to_owned(),
        "cq_req_valid & ~cq_req_ready".to_owned(),
        "cq_resp_ready & ~cq_resp_valid".to_owned(),
        "eq_req_valid & ~eq_req_ready".to_owned(),
        "eq_resp_ready & ~eq_resp_valid".to_owned(),
    ];
    let mut hangs = Vec::new();
    if !is_fixed(5) {
        hangs.push(Hang {
            what: "F5: the WQE's last unit is used, and another one is waited for",
            when: format!("{data_unit} & ~{OWED}"),
            until: None,
        });
    }
    if is_fixed(1) && !is_fixed(2) {
        hangs.push(Hang {
            what: "F2: the request for an event waits, and the completion is repeated",
            when: "went_back".to_owned(),
            until: Some((
                "that request is taken at once",
                format!("{} & fetch_mr_ingress_ready", is_in(State::MR_FOR_EQ_s)),
            )),
        });
    }
    Progress {
        what: "a packet that was taken".to_owned(),
        busy: format!("~{}", is_in(State::IDLE_s)),
        waits: waits.join(" | "),
        within: 11,
        more: Some((2, "beat of its WQE", "wqe_resp_valid & wqe_resp_ready".to_owned())),
        partners: vec![
            (
                "a WQE's beats come after its request, up to its last",
                format!("~wqe_resp_valid | {OWED}"),
            ),
            (
                "there is a unit behind its NextUnit",
                format!("~({next_unit} & wqe_resp_valid & wqe_resp_last)"),
            ),
        ],
        hangs,
    }
}

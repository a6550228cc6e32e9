//! Exactly one row applies, by enumeration; the guards match the specification.

use super::*;

/// The booleans that a state's rows test, as setters, so that enumeration stays small.
type Setter = fn(&mut CycleInputs, bool);

fn setters(state: State) -> Vec<Setter> {
    match state {
        IDLE_s => vec![|g, v| g.cxt_valid = v],
        WQE_REQ_s => vec![|g, v| g.wqe_req_ready = v],
        NEXT_UNIT_s => vec![|g, v| g.wqe_resp_valid = v],
        DATA_UNIT_s => vec![
            |g, v| g.wqe_resp_valid = v,
            |g, v| g.wqe_resp_last = v,
            |g, v| g.nothing_left = v,
            |g, v| g.nothing_available = v,
        ],
        CQ_REQ_s => vec![|g, v| g.cq_req_ready = v],
        CQ_RESP_s => vec![|g, v| g.cq_resp_valid = v],
        EQ_REQ_s => vec![|g, v| g.eq_req_ready = v],
        EQ_RESP_s => vec![|g, v| g.eq_resp_valid = v],
        UPDATE_RQ_s => vec![|g, v| g.length_error = v],
        MR_FOR_SEND_s => {
            vec![|g, v| g.mr_ready = v, |g, v| g.wqe_resp_last = v, |g, v| g.rest_fits = v]
        }
        MR_FOR_CQ_s | MR_FOR_WRITE_s | MR_FOR_READ_s | MR_FOR_EQ_s | GEN_ACK_s => {
            vec![|g, v| g.mr_ready = v]
        }
        JUDGE_s | Undefined => vec![],
    }
}

/// Every combination of the booleans of a state, under every mask.
fn for_each_input(state: State, mut visit: impl FnMut(&PacketInputs, &CycleInputs)) {
    let setters = setters(state);
    let looks_at_qp_state = state == JUDGE_s;
    for fixes in 0..=u8::MAX {
        for net_opcode in 0..32 {
            for service_type in 0..8 {
                for qp_state in 0..if looks_at_qp_state { 8 } else { 1 } {
                    for bits in 0..1u32 << (setters.len() + 1) {
                        let solicited = bits & 1 == 1;
                        let packet =
                            PacketInputs { fixes, net_opcode, service_type, solicited, qp_state };
                        let mut cycle = CycleInputs::default();
                        for (index, set) in setters.iter().enumerate() {
                            set(&mut cycle, bits >> (index + 1) & 1 == 1);
                        }
                        visit(&packet, &cycle);
                    }
                }
            }
        }
    }
}

#[test]
fn exactly_one_row_applies_in_every_state_for_every_input_and_mask() {
    for state in State::ALL {
        for_each_input(state, |packet, cycle| {
            let conditions = packet.conditions().with(cycle);
            let holds = |row: &Row| row.guard.holds(conditions, 1 << packet.net_opcode);
            let applies: Vec<usize> = (0..ROWS.len())
                .filter(|row| ROWS[*row].from == state && holds(&ROWS[*row]))
                .collect();
            assert_eq!(applies.len(), 1, "{state:?} {packet:?} {cycle:?}: {applies:?}");
            let selected = select(state, packet.conditions(), cycle);
            assert_eq!(selected, Some(applies[0]), "{state:?} {packet:?} {cycle:?}");
        });
    }
}

/// The enumeration above fixes the booleans that a state does not list; no row may test them.
#[test]
fn no_row_looks_at_what_the_enumeration_leaves_out() {
    let all = CycleInputs {
        cxt_valid: true,
        wqe_req_ready: true,
        wqe_resp_valid: true,
        wqe_resp_last: true,
        nothing_left: true,
        nothing_available: true,
        rest_fits: true,
        cq_req_ready: true,
        cq_resp_valid: true,
        eq_req_ready: true,
        eq_resp_valid: true,
        mr_ready: true,
        length_error: true,
    };
    let nothing = PacketInputs::default().conditions();
    for state in State::ALL {
        let mut listed = CycleInputs::default();
        for set in setters(state) {
            set(&mut listed, true);
        }
        let mut seen = nothing.with(&listed);
        if seen & WQE_RESP_LAST != 0 {
            seen |= WQE_ENDS;
        }
        let unlisted = nothing.with(&all) & !seen;
        for (row, rule) in ROWS.iter().zip(RULES).filter(|(row, _)| row.from == state) {
            assert_eq!((row.guard.on | row.guard.off) & unlisted, 0, "{}", rule.name);
        }
    }
}

#[test]
fn reasons_name_the_fix() {
    let reason = |name: &str, fixes| {
        let index = RULES.iter().position(|rule| rule.name == name).unwrap();
        unreachable(index, fixes)
    };
    assert_eq!(reason("T08", 0xff).as_deref(), Some("replaced by F0"));
    assert_eq!(reason("T08", 0x00), None);
    assert_eq!(reason("F0", 0x00).as_deref(), Some("needs F0"));
    assert_eq!(reason("T43", 0x00).as_deref(), Some("nothing enters EQ_REQ_s without F1"));
    assert_eq!(reason("T43", 0x02), None);
    assert_eq!(reason("F5e", 0x1f).as_deref(), Some("needs F5"));
    assert_eq!(reason("T18", 0x00), None);
    assert!(reason("T46", 0x00).is_some());
}

//! Exactly one row applies in every state, by enumeration, and reasons of unreachable rows.

use super::*;

/// For each state, every combination of the conditions that its rows look at, with every opcode.
/// Fixes, service and state of the QP are parts of conditions.
#[test]
fn exactly_one_row_applies_in_every_state_for_every_input_and_mask() {
    for state in State::ALL {
        let rows = || (0..ROWS.len()).filter(|row| ROWS[*row].from == state);
        let looked_at = rows().fold(0, |all, row| all | ROWS[row].guard.on | ROWS[row].guard.off);
        let mut conditions = looked_at;
        loop {
            for net_opcode in 0..32 {
                let opcode = 1 << net_opcode;
                // F3 is about RDMA WRITEs with immediate only.
                if conditions & WRITE_COMPLETES != 0 && WRITES_WITH_IMM & opcode == 0 {
                    continue;
                }
                let applies: Vec<usize> =
                    rows().filter(|row| ROWS[*row].guard.holds(conditions, opcode)).collect();
                assert_eq!(applies.len(), 1, "{state:?} {conditions:#x} {net_opcode}: {applies:?}");
                assert_eq!(row_of(state, conditions, opcode), Some(applies[0]));
            }
            if conditions == 0 {
                break;
            }
            conditions = (conditions - 1) & looked_at;
        }
    }
}

/// Runs of the profiles test masks 0x00 and 0xff.
#[test]
fn reasons_of_other_masks_name_the_fix() {
    let reason = |name: &str, fixes| {
        unreachable(RULES.iter().position(|rule| rule.name == name).unwrap(), fixes)
    };
    assert_eq!(reason("T43", 0x02), None);
    assert_eq!(reason("F5e", 0x1f).as_deref(), Some("needs F5"));
    assert_eq!(reason("F2", 0x04).as_deref(), Some("nothing enters EQ_REQ_s without F1"));
    assert_eq!(reason("T08", 0x01).as_deref(), Some("replaced by F0"));
}

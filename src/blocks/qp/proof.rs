//! The golden model's rules as properties for `cosim prove`: the rows of [`rules`](super::rules),
//! over the registers and wires that `rtl/qp/qp_sva.sv` names.

use super::rules::{
    Answer, EventRule, HARDWARE_EVENTS, RECEPTIONS, RULES, RequestRule, State, Store, TRANSITIONS,
    Transition, permits,
};
use cosim_core::harness::{Progress, RuleSet, TransitionProperty, WordAbstraction};

/// A QP's word: its state; in SQD whether an event is owed; and of its service whether it is one
/// that answers packets, and one that goes to RTS by itself, but in RESET and ERR, where nobody
/// asks, and from where it leads to INIT with another one.
pub const MEANING: WordAbstraction = WordAbstraction {
    memory: "qp_words",
    width: 7,
    meaning: "{word[2:0] == 3'd4 & word[6],
      word[2:0] != 3'd0 & word[2:0] != 3'd6 & (word[5:3] == 3'd0 | word[5:3] == 3'd2 | word[5:3] == 3'd5),
      word[2:0] != 3'd0 & word[2:0] != 3'd6 & word[5:3] == 3'd1,
      word[2:0]}",
};

/// What every rule says.
pub fn transitions() -> Vec<TransitionProperty> {
    [of_commands(), of_hardware(), of_packets(), of_the_queue().into(), vec![query()]].concat()
}

fn name(rule: RuleSet) -> &'static str {
    RULES[rule.iter().next().unwrap_or_default()].name
}

/// Whether bit `index` of `cases` is set.
fn is_in(cases: u128, index: &str) -> String {
    format!("((128'h{cases:x} >> {{{index}}}) & 128'd1) == 128'd1")
}

/// The value of a register after a row.
fn stored(store: Store, kept: &str, loaded: &str, zero: &str) -> String {
    let value = store.next_value(Some(kept), Some(loaded));
    value.unwrap_or(zero).to_owned()
}

/// A state that a row leads to, or the state before.
fn led_to(to: Option<State>, before: &str) -> String {
    to.map_or(before.to_owned(), |to| format!("3'd{}", to.code()))
}

fn bit(is_high: bool) -> String {
    format!("1'b{}", u8::from(is_high))
}

/// The cycles of a family in which no rule applies, and those in which the word has code 7.
fn others(family: &str, idle: &'static str, code_7: &'static str) -> [TransitionProperty; 2] {
    [("no rule", idle), ("code 7", code_7)]
        .map(|(rule, when)| TransitionProperty::new(rule, when).one_of(family))
}

/// C1 to C13, and X1.
fn of_commands() -> Vec<TransitionProperty> {
    const FAMILY: &str = "a command";
    let row = |row: &Transition| {
        let is_done = row.answer == Answer::Done;
        let case = is_in(row.cases, "cmd_state, cmd_next, cmd_notify");
        let service = stored(row.service, "cmd_old_service", "cmd_service", "3'd0");
        let flag = stored(row.notify, "cmd_flag", "cmd_notify", "1'b0");
        let written = [
            ("cmd_state_d", led_to(row.to, "cmd_state")),
            ("cmd_service_d", service),
            ("cmd_flag_d", flag),
        ];
        TransitionProperty::new(name(row.rule), format!("cmd_known & ({case})"))
            .one_of(FAMILY)
            .shows([("cmd_writes", bit(is_done))])
            .shows(written.into_iter().filter(|_| is_done))
            .loads([("answer_valid", "1'b1"), ("answer_qpn", "cmd_qpn")])
            .loads([("answer_code", format!("2'd{}", row.answer as u64))])
    };
    let [idle, code_7] = others(FAMILY, "~cmd_taken", "cmd_code_7");
    let answer = ["answer_valid", "answer_qpn", "answer_code"];
    let idle = idle.shows([("cmd_writes", "1'b0")]).loads(answer.map(|name| (name, "8'd0")));
    let x1 = TransitionProperty::new("X1", "same_qp").shows([
        ("cmd_state", "hw_state_d"),
        ("cmd_old_service", "hw_service"),
        ("cmd_flag", "hw_notify_d"),
    ]);
    TRANSITIONS.iter().map(row).chain([idle, code_7, x1]).collect()
}

fn event_matches(row: &EventRule) -> String {
    let case = is_in(row.cases, "hw_state, hw_service, hw_notify");
    format!("hw_kind == 2'd{} & ({case})", row.kind)
}

/// H1 to H9.
fn of_hardware() -> Vec<TransitionProperty> {
    const FAMILY: &str = "an event of hardware";
    let row = |row: &EventRule| {
        let enters = u8::from(row.event.is_some());
        let code = row.event.map(|event| ("hw_code", format!("2'd{}", event as u64)));
        TransitionProperty::new(name(row.rule), format!("hw_known & {}", event_matches(row)))
            .one_of(FAMILY)
            .shows([
                ("hw_state_d", led_to(row.to, "hw_state")),
                ("hw_notify_d", stored(row.notify, "hw_notify", "hw_notify", "1'b0")),
            ])
            .shows(code)
            .loads([("evt_count", format!("evt_left + 5'd{enters}"))])
    };
    let [idle, code_7] = others(FAMILY, "~hw_taken", "hw_code_7");
    let idle = idle.loads([("evt_count", "evt_left")]);
    HARDWARE_EVENTS.iter().map(row).chain([idle, code_7]).collect()
}

/// M1 to M4.
fn of_packets() -> Vec<TransitionProperty> {
    const FAMILY: &str = "a request packet";
    const PINS: [&str; 4] = ["msg_accept", "msg_take_wqe", "msg_ack", "msg_nak"];
    let row = |row: &RequestRule| {
        let takes_wqe = if row.takes_wqe { "msg_consumes_wqe" } else { "1'b0" }.to_owned();
        let values = [bit(row.accept), takes_wqe, bit(row.ack), bit(row.nak)];
        let case = is_in(row.cases, "msg_state, msg_service, msg_error");
        TransitionProperty::new(name(row.rule), format!("msg_known & ({case})"))
            .one_of(FAMILY)
            .shows(PINS.into_iter().zip(values))
    };
    let [idle, code_7] = others(FAMILY, "~msg_valid", "msg_code_7");
    let idle = idle.shows(PINS.map(|name| (name, "1'b0")));
    RECEPTIONS.iter().map(row).chain([idle, code_7]).collect()
}

/// E1 to E4, but for the contents of the queue, which is a memory.
fn of_the_queue() -> [TransitionProperty; 4] {
    let reporting = HARDWARE_EVENTS.iter().filter(|row| row.event.is_some()).map(event_matches);
    let reports = reporting.map(|case| format!("({case})")).collect::<Vec<_>>().join(" | ");
    let rule = TransitionProperty::new;
    [
        rule("E1", format!("hw_known & ({reports})")).loads([("evt_count", "evt_left + 5'd1")]),
        rule("E2", "evt_leaves & ~hw_taken".to_owned()).loads([("evt_count", "evt_left")]),
        rule("E3", "cmd_offered".to_owned()).shows([("cmd_ready", "1'b0")]),
        rule("E4", format!("hw_offered & ({reports})")).shows([("hw_ready", "1'b0")]),
    ]
}

/// Q1.
fn query() -> TransitionProperty {
    let permitted = |column: usize| {
        let states = State::ALL.iter().rev();
        let mask = states.fold(0_u8, |mask, state| mask << 1 | u8::from(permits(*state)[column]));
        format!("((7'd{mask} >> asked_state) & 7'd1) == 7'd1")
    };
    let pins = ["query_sq_post", "query_rq_post", "query_sq_run", "query_rq_run"];
    TransitionProperty::new("Q1", "asked_known")
        .shows([("query_state", "asked_state")])
        .shows(pins.into_iter().zip([0, 1, 2, 3].map(permitted)))
}

/// Progress: the waits of offered commands and events, which a full event queue causes.
pub fn progress() -> Vec<Progress> {
    let wait =
        |of: &str, busy| Progress::new(format!("the wait of {of} on offer"), busy, "evt_waits", 1);
    vec![wait("a command", "cmd_waits"), wait("an event of hardware", "hw_waits")]
}

//! The golden model's rules as properties for `cosim prove`: the rows of [`rules`](super::rules),
//! over the registers and wires that `rtl/qp/qp_sva.sv` names.

use super::rules::{
    Answer, HAPPENINGS, HardwareEventRule, PERMITS, RECEPTIONS, RULES, Store, TRANSITIONS,
};
use cosim_core::harness::{Progress, RuleSet, TransitionProperty, WordAbstraction};

/// A QP's word: its state; in SQD whether an event is owed; and of its service whether it is one that answers packets, and one that
/// goes to RTS by itself, but in RESET and ERR, where nobody asks, and from where it leads to INIT with another one.
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
    let mut all = of_commands();
    all.extend(of_hardware());
    all.extend(of_packets());
    all.extend(of_the_queue());
    all.push(query());
    all
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
    match store {
        Store::Keep => kept,
        Store::Load => loaded,
        Store::Clear => zero,
    }
    .to_owned()
}

/// A transition for cycles of a family in which no rule applies. `outputs` and `next` are the
/// values in these cycles.
fn nothing(
    rule: &'static str,
    family: &str,
    when: &str,
    outputs: Vec<(&'static str, String)>,
    next: Vec<(&'static str, String)>,
) -> TransitionProperty {
    let (one_of, when) = (Some(family.to_owned()), when.to_owned());
    TransitionProperty { rule, one_of, when, outputs, next }
}

/// C1 to C13, and X1.
fn of_commands() -> Vec<TransitionProperty> {
    const FAMILY: &str = "a command";
    let mut all: Vec<TransitionProperty> = Vec::new();
    for row in &TRANSITIONS {
        let is_done = row.answer == Answer::Done;
        let mut outputs = vec![("cmd_writes", format!("1'b{}", u8::from(is_done)))];
        if is_done {
            let state = row.to.map_or("cmd_state".to_owned(), |to| format!("3'd{}", to as u64));
            outputs.extend([
                ("cmd_state_d", state),
                ("cmd_service_d", stored(row.service, "cmd_old_service", "cmd_service", "3'd0")),
                ("cmd_flag_d", stored(row.notify, "cmd_flag", "cmd_notify", "1'b0")),
            ]);
        }
        let case = is_in(row.cases, "cmd_state, cmd_next, cmd_notify");
        all.push(TransitionProperty {
            rule: name(row.rule),
            one_of: Some(FAMILY.to_owned()),
            when: format!("cmd_known & ({case})"),
            outputs,
            next: vec![
                ("answer_valid", "1'b1".to_owned()),
                ("answer_qpn", "cmd_qpn".to_owned()),
                ("answer_code", format!("2'd{}", row.answer as u64)),
            ],
        });
    }
    let none = ["answer_valid", "answer_qpn", "answer_code"].map(|name| (name, "8'd0".to_owned()));
    let writes_nothing = vec![("cmd_writes", "1'b0".to_owned())];
    all.push(nothing("no rule", FAMILY, "~cmd_taken", writes_nothing, none.to_vec()));
    all.push(nothing("code 7", FAMILY, "cmd_code_7", Vec::new(), Vec::new()));
    all.push(TransitionProperty {
        rule: "X1",
        when: "same_qp".to_owned(),
        outputs: vec![
            ("cmd_state", "hw_state_d".to_owned()),
            ("cmd_old_service", "hw_service".to_owned()),
            ("cmd_flag", "hw_notify_d".to_owned()),
        ],
        ..TransitionProperty::default()
    });
    all
}

/// Whether the hardware event on the pins notifies software: see E4.
fn tells() -> String {
    let telling = HAPPENINGS.iter().filter(|row| row.event.is_some()).map(happens);
    telling.map(|case| format!("({case})")).collect::<Vec<_>>().join(" | ")
}

fn happens(row: &HardwareEventRule) -> String {
    let case = is_in(row.cases, "hw_state, hw_service, hw_notify");
    format!("hw_kind == 2'd{} & ({case})", row.kind)
}

/// H1 to H9.
fn of_hardware() -> Vec<TransitionProperty> {
    const FAMILY: &str = "an event of hardware";
    let mut all: Vec<TransitionProperty> = Vec::new();
    for row in &HAPPENINGS {
        let mut outputs = vec![
            ("hw_state_d", row.to.map_or("hw_state".to_owned(), |to| format!("3'd{}", to as u64))),
            ("hw_notify_d", stored(row.notify, "hw_notify", "hw_notify", "1'b0")),
        ];
        if let Some(event) = row.event {
            outputs.push(("hw_code", format!("2'd{}", event as u64)));
        }
        let enters = u8::from(row.event.is_some());
        all.push(TransitionProperty {
            rule: name(row.rule),
            one_of: Some(FAMILY.to_owned()),
            when: format!("hw_known & {}", happens(row)),
            outputs,
            next: vec![("evt_count", format!("evt_left + 5'd{enters}"))],
        });
    }
    all.push(nothing(
        "no rule",
        FAMILY,
        "~hw_taken",
        Vec::new(),
        vec![("evt_count", "evt_left".to_owned())],
    ));
    all.push(nothing("code 7", FAMILY, "hw_code_7", Vec::new(), Vec::new()));
    all
}

/// M1 to M4.
fn of_packets() -> Vec<TransitionProperty> {
    const FAMILY: &str = "a request packet";
    let bit = |is_so: bool| format!("1'b{}", u8::from(is_so));
    let mut all: Vec<TransitionProperty> = Vec::new();
    for row in &RECEPTIONS {
        let takes_wqe = if row.takes_wqe { "msg_consumes_wqe" } else { "1'b0" };
        let case = is_in(row.cases, "msg_state, msg_service, msg_error");
        all.push(TransitionProperty {
            rule: name(row.rule),
            one_of: Some(FAMILY.to_owned()),
            when: format!("msg_known & ({case})"),
            outputs: vec![
                ("msg_accept", bit(row.accept)),
                ("msg_take_wqe", takes_wqe.to_owned()),
                ("msg_ack", bit(row.ack)),
                ("msg_nak", bit(row.nak)),
            ],
            ..TransitionProperty::default()
        });
    }
    let none = ["msg_accept", "msg_take_wqe", "msg_ack", "msg_nak"];
    let none = none.map(|name| (name, "1'b0".to_owned())).to_vec();
    all.push(nothing("no rule", FAMILY, "~msg_valid", none, Vec::new()));
    all.push(nothing("code 7", FAMILY, "msg_code_7", Vec::new(), Vec::new()));
    all
}

/// E1 to E4, but for the contents of the queue, which is a memory.
fn of_the_queue() -> Vec<TransitionProperty> {
    let transition = |rule, when: String, outputs, next| TransitionProperty {
        rule,
        when,
        outputs,
        next,
        ..TransitionProperty::default()
    };
    let tells = tells();
    let low = |name| vec![(name, "1'b0".to_owned())];
    vec![
        transition(
            "E1",
            format!("hw_known & ({tells})"),
            Vec::new(),
            vec![("evt_count", "evt_left + 5'd1".to_owned())],
        ),
        transition(
            "E2",
            "evt_leaves & ~hw_taken".to_owned(),
            Vec::new(),
            vec![("evt_count", "evt_left".to_owned())],
        ),
        transition("E3", "cmd_offered".to_owned(), low("cmd_ready"), Vec::new()),
        transition("E4", format!("hw_offered & ({tells})"), low("hw_ready"), Vec::new()),
    ]
}

/// Q1.
fn query() -> TransitionProperty {
    let permits = |column: usize| {
        let mask = PERMITS.iter().rev().fold(0_u8, |mask, row| mask << 1 | u8::from(row[column]));
        format!("((7'd{mask} >> asked_state) & 7'd1) == 7'd1")
    };
    TransitionProperty {
        rule: "Q1",
        when: "asked_known".to_owned(),
        outputs: vec![
            ("query_state", "asked_state".to_owned()),
            ("query_sq_post", permits(0)),
            ("query_rq_post", permits(1)),
            ("query_sq_run", permits(2)),
            ("query_rq_run", permits(3)),
        ],
        ..TransitionProperty::default()
    }
}

/// Progress: the waits of offered commands and events, which a full event queue causes.
pub fn progress() -> Vec<Progress> {
    let wait = |of: &str, channel: &str| Progress {
        what: format!("the wait of {of} on offer"),
        busy: format!("{channel}_waits"),
        waits: "evt_waits".to_owned(),
        within: 1,
        ..Progress::default()
    };
    vec![wait("a command", "cmd"), wait("an event of hardware", "hw")]
}

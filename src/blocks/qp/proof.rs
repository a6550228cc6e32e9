//! The golden model's rules as properties for `cosim prove`: the rows of [`rules`](super::rules)
//! in Verilog, over wires and registers of `QpStateCtrl`. Only this file names them.
//!
//! A proof abstracts the memory of QPs, but uses proved invariants of its words: no word has state
//! code 7. So properties of reads only cover the other codes.

use super::rules::{
    Answer, HAPPENINGS, HardwareEventRule, PERMITS, RECEPTIONS, RULES, State, Store, TRANSITIONS,
};
use cosim_core::harness::{Progress, RuleSet, TransitionProperty, WordAbstraction};

/// Wires and registers of the rules: QP words that are read and written, the answer, the queue
/// level.
pub const REGISTERS: [(&str, u32); 23] = [
    ("cmd_taken", 1),
    ("cmd_writes", 1),
    ("cmd_word", 7),
    ("cmd_state", 3),
    ("cmd_old_service", 3),
    ("cmd_flag", 1),
    ("cmd_state_d", 3),
    ("cmd_service_d", 3),
    ("cmd_flag_d", 1),
    ("hw_taken", 1),
    ("hw_state", 3),
    ("hw_service", 3),
    ("hw_notify", 1),
    ("hw_state_d", 3),
    ("hw_notify_d", 1),
    ("hw_code", 2),
    ("msg_state", 3),
    ("msg_service", 3),
    ("asked_state", 3),
    ("answer_valid", 1),
    ("answer_qpn", 8),
    ("answer_code", 2),
    ("evt_count", 5),
];

/// The relevant part of a QP's word: its state; in SQD whether an event is owed; and whether its
/// service acknowledges packets and whether it is connected. The service is irrelevant in RESET and
/// ERR, since INIT loads a new one.
pub const MEANING: WordAbstraction = WordAbstraction {
    memory: "qp_words",
    width: 7,
    meaning: "{word[2:0] == 3'd4 & word[6],
      word[2:0] != 3'd0 & word[2:0] != 3'd6 & (word[5:3] == 3'd0 | word[5:3] == 3'd2 | word[5:3] == 3'd5),
      word[2:0] != 3'd0 & word[2:0] != 3'd6 & word[5:3] == 3'd1,
      word[2:0]}",
};

/// Invariants.
pub fn invariants() -> Vec<(String, String)> {
    let invariant = |words: &str, expression: &str| (words.to_owned(), expression.to_owned());
    vec![
        invariant("the event queue has at most 16 events", "evt_count <= 5'd16"),
        invariant(
            "the answer is shown",
            "{rsp_valid, rsp_qpn, rsp_code} == {answer_valid, answer_qpn, answer_code}",
        ),
        invariant("an event is shown while there is one", "evt_valid == (evt_count != 5'd0)"),
        invariant(
            "a command is taken unless the queue is full",
            "cmd_ready == (evt_count != 5'd16) & cmd_taken == (cmd_valid & cmd_ready)",
        ),
        invariant("an event is taken with hw_ready", "hw_taken == (hw_valid & hw_ready)"),
        word("an event of hardware", "hw_state", "hw_notify"),
        word("a command", "cmd_word[2:0]", "cmd_word[6]"),
        word("a request packet", "msg_state", "1'b0"),
        word("a query", "asked_state", "1'b0"),
    ]
}

/// The invariant of a QP word at a read port, given its state and its flag.
fn word(by: &str, state: &str, flag: &str) -> (String, String) {
    let sqd = State::Sqd as u32;
    let what = format!("the word that {by} reads has no code 7, and owes no event outside of SQD");
    (what, format!("{state} != 3'd7 & (~{flag} | {state} == 3'd{sqd})"))
}

/// The properties of all rules.
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
            when: format!("cmd_taken & cmd_state != 3'd7 & ({case})"),
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
    all.push(nothing("code 7", FAMILY, "cmd_taken & cmd_state == 3'd7", Vec::new(), Vec::new()));
    all.push(TransitionProperty {
        rule: "X1",
        when: "hw_taken & cmd_taken & hw_qpn == cmd_qpn".to_owned(),
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
            when: format!("hw_taken & hw_state != 3'd7 & {}", happens(row)),
            outputs,
            next: vec![("evt_count", format!("evt_count + 5'd{enters} - {LEAVES}"))],
        });
    }
    all.push(nothing(
        "no rule",
        FAMILY,
        "~hw_taken",
        Vec::new(),
        vec![("evt_count", format!("evt_count - {LEAVES}"))],
    ));
    all.push(nothing("code 7", FAMILY, "hw_taken & hw_state == 3'd7", Vec::new(), Vec::new()));
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
            when: format!("msg_valid & msg_state != 3'd7 & ({case})"),
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
    all.push(nothing("code 7", FAMILY, "msg_valid & msg_state == 3'd7", Vec::new(), Vec::new()));
    all
}

/// 1 if an event leaves the queue, in 5 bits.
const LEAVES: &str = "{4'd0, evt_count != 5'd0 & evt_ready}";

/// E1 to E4, except for the contents of the queue, which is a memory.
fn of_the_queue() -> Vec<TransitionProperty> {
    let transition = |rule, when: String, outputs, next| TransitionProperty {
        rule,
        when,
        outputs,
        next,
        ..TransitionProperty::default()
    };
    let tells = tells();
    let is_full = "evt_count == 5'd16";
    let low = |name| vec![(name, "1'b0".to_owned())];
    vec![
        transition(
            "E1",
            format!("hw_taken & hw_state != 3'd7 & ({tells})"),
            Vec::new(),
            vec![("evt_count", format!("evt_count + 5'd1 - {LEAVES}"))],
        ),
        transition(
            "E2",
            "evt_count != 5'd0 & evt_ready & ~hw_taken".to_owned(),
            Vec::new(),
            vec![("evt_count", "evt_count - 5'd1".to_owned())],
        ),
        transition("E3", format!("cmd_valid & {is_full}"), low("cmd_ready"), Vec::new()),
        transition(
            "E4",
            format!("hw_valid & {is_full} & hw_state != 3'd7 & ({tells})"),
            low("hw_ready"),
            Vec::new(),
        ),
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
        when: "asked_state != 3'd7".to_owned(),
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
        busy: format!("{channel}_valid & ~{channel}_ready"),
        waits: "evt_valid & ~evt_ready".to_owned(),
        within: 1,
        ..Progress::default()
    };
    vec![wait("a command", "cmd"), wait("an event of hardware", "hw")]
}

//! Proofs of small RTLs.

use super::*;
use crate::answer::Answer;
use crate::assertions::Signal;
use crate::certificate::Certificate;
use crate::engine::Decider;
use crate::portfolio::FIRST_CYCLES;
use cosim_harness::harness::{KnownDeadlock, Progress, Properties};
use cosim_rtl::yosys::verilog;

/// A counter that holds its offer, a register without reset, and a memory that is written before it
/// is read.
const RTL: &str =
    "module top(input clk, input rst, input go, input [3:0] d, output [3:0] count, output free,
                              output [3:0] kept);
    reg [3:0] counter; reg loose; reg [3:0] memory [0:1]; reg [1:0] written;
    always @(posedge clk or posedge rst) if (rst) counter <= 0;
        else if (go) counter <= counter == 9 ? 0 : counter + 1;
    always @(posedge clk) loose <= loose;
    wire writes = go & ~rst & ~written[1];
    always @(posedge clk or posedge rst) if (rst) written <= 0; else if (writes) written <= written + 1;
    always @(posedge clk) if (writes) memory[written[0]] <= {3'd0, d[0]};
    assign count = counter;
    assign free = loose;
    assign kept = written[1] ? memory[d[1]] : 0;
endmodule";

/// An RTL, and what its monitor has beside the properties.
struct Subject<'a> {
    rtl: &'a str,
    /// Additional text of the monitor.
    more: &'a str,
    assumption: &'a str,
    /// Registers that the block names.
    registers: &'a [(&'static str, u32)],
}

const COUNTER: Subject<'static> =
    Subject { rtl: RTL, more: "", assumption: "1'b1", registers: &[] };

impl Subject<'_> {
    /// Proves that none of these expressions over the ports is ever 1.
    fn prove_never(&self, bad: &[&str]) -> Vec<PropertyAnswer> {
        let bad: Vec<(Kind, &str)> = bad.iter().map(|bad| (Kind::Held, *bad)).collect();
        let prover = self.prover(&bad);
        (0..bad.len()).map(|place| prover.decide(place).unwrap()).collect()
    }

    fn prover(&self, bad: &[(Kind, &str)]) -> Prover {
        let Self { rtl, more, assumption, registers } = *self;
        let mut text =
            "module cosim_monitor(input clk, input rst, input go, input [3:0] d".to_owned();
        for place in 0..bad.len() {
            text += &format!(
                ", output cosim_bad_{place}, output cosim_legal_{place}, output cosim_known_{place}, \
             output cosim_given_{place}"
            );
        }
        text += ");\nwire [3:0] count, kept; wire free;\n";
        for (name, width) in registers {
            text += &format!("wire [{}:0] {name};\n", width - 1);
        }
        text +=
            "top dut(.clk(clk), .rst(rst), .go(go), .d(d), .count(count), .free(free), .kept(kept)";
        for (name, _) in registers {
            text += &format!(", .{name}({name})");
        }
        text += &format!(");\nwire in_reset = rst;\n{more}");
        let property = |(kind, bad): &(Kind, &str)| {
            let text = (*bad).to_owned();
            let property =
                Property { kind: *kind, text: text.clone(), of_registers: !registers.is_empty() };
            (property, text)
        };
        let bad: Vec<(Property, String)> = bad.iter().map(property).collect();
        let all: Vec<usize> = (0..bad.len()).collect();
        crate::monitor::outputs(&bad, &all, &format!("~({assumption})"), "clk", &mut text);
        text += "endmodule\n";
        let properties = bad.into_iter().map(|(property, _)| property).collect();
        let assumes = assumption != "1'b1";
        let signal = |(name, width): (&'static str, u32)| Signal {
            name: name.to_owned(),
            path: name.to_owned(),
            width,
            line: 1,
        };
        let signals = registers.iter().copied().map(signal).collect();
        let monitor = Monitor { text, state: None, signals, properties, assumes };
        let session = Prover::session(&verilog(rtl), &[], &Answers::none()).unwrap();
        let kind = UndefinedBits::Zero;
        Prover::from_session(session, false, kind, monitor, "clk", Some(("rst", true))).unwrap()
    }
}

fn is_proved(found: &PropertyAnswer, with: Traffic) -> bool {
    matches!(certified(found), Some((traffic, _)) if traffic == with)
}

/// For which traffic a property is proved with a certificate, and how memories are modelled.
fn certified(found: &PropertyAnswer) -> Option<(Traffic, Memories)> {
    let certificate = found.answer.clone().certificate()?;
    certificate.is_there().then_some((found.traffic, found.memories))
}

#[test]
fn what_holds_in_every_reachable_cycle_is_proved_and_what_does_not_is_broken() {
    let all = COUNTER.prove_never(&["count > 9", "count == 9", "1'b0", "free"]);
    assert!(is_proved(&all[0], Traffic::Any), "{:?}", all[0]);
    let Answer::Reached { trace: cycles, .. } = &all[1].answer else { panic!("{:?}", all[1]) };
    assert!(cycles.len() >= 9, "nine edges lead to it: {cycles:?}");
    assert!(cycles.iter().filter(|bits| bits.iter().any(|bit| bit == "go")).count() >= 9);
    assert!(is_proved(&all[2], Traffic::Any), "{:?}", all[2]);
    // The register has no initial value.
    assert!(all[3].is_broken(), "{:?}", all[3]);
}

#[test]
fn a_memory_counts_where_any_data_would_break_a_property() {
    let all = COUNTER.prove_never(&["kept > 1", "kept == 1"]);
    assert_eq!(certified(&all[0]), Some((Traffic::Any, Memories::Word)));
    assert!(all[1].is_broken() && all[1].memories == Memories::Whole, "{:?}", all[1]);
}

/// A memory that is too large for registers; its read data is also shown in the next cycle.
const LARGE: &str =
    "module top(input clk, input rst, input go, input [3:0] d, output [3:0] count, output free,
                              output [3:0] kept);
    reg [3:0] memory [0:65535]; reg [15:0] at; reg [3:0] last; reg was, moved;
    always @(posedge clk) if (go) memory[at] <= d;
    always @(posedge clk or posedge rst) if (rst) at <= 0; else if (d == 4'd3) at <= at + 1;
    wire [3:0] read = memory[at];
    always @(posedge clk) begin last <= read; was <= ~rst & ~go; moved <= d == 4'd3; end
    assign count = was & ~rst & last != read;
    assign free = was & ~moved & ~rst & last != read;
    assign kept = 0;
endmodule";

#[test]
fn a_memory_keeps_what_it_gives_until_it_is_written_or_read_elsewhere() {
    let all = Subject { rtl: LARGE, ..COUNTER }.prove_never(&["count != 0", "free"]);
    assert!(all[0].is_broken() && all[0].memories == Memories::Word, "{:?}", all[0]);
    assert_eq!(certified(&all[1]), Some((Traffic::Any, Memories::Kept)));
}

/// Memory words that count to 5 independently and are 0 until they are written.
const WORDS: &str =
    "module top(input clk, input rst, input go, input [3:0] d, output [3:0] count, output free,
                              output [3:0] kept);
    reg [2:0] memory [0:7]; reg [7:0] used; reg [2:0] at, other;
    wire [2:0] word = used[at] ? memory[at] : 3'd0;
    wire [2:0] beside = used[other] ? memory[other] : 3'd0;
    always @(posedge clk) begin
      if (go) memory[at] <= word == 5 ? 3'd0 : word + 3'd1;
      if (go & d[0] & other == at) memory[other] <= beside & 3'd5;
    end
    always @(posedge clk or posedge rst)
      if (rst) begin used <= 0; at <= 0; other <= 0; end
      else begin if (go) used[at] <= 1; at <= d[2:0]; other <= {other[1:0], d[3]}; end
    assign count = word;
    assign free = word == 6 | beside == 6;
    assign kept = beside;
endmodule";

#[test]
fn a_word_of_a_memory_is_what_was_written_to_it() {
    let bad = ["count > 5", "count == 5", "kept > 5", "free"];
    let all = Subject { rtl: WORDS, ..COUNTER }.prove_never(&bad);
    let word = Some((Traffic::Any, Memories::Word));
    assert_eq!(certified(&all[0]), word);
    assert!(all[1].is_broken(), "{:?}", all[1]);
    assert_eq!(certified(&all[2]), word);
    // It looks at two words.
    assert_eq!(certified(&all[3]), Some((Traffic::Any, Memories::Whole)));
}

#[test]
fn a_word_of_a_memory_that_another_port_writes_is_not_taken_for_what_it_was() {
    let beside = "beside & 3'd5";
    assert!(WORDS.contains(beside));
    let rtl = WORDS.replace(beside, "beside | 3'd6");
    let all = Subject { rtl: &rtl, ..COUNTER }.prove_never(&["count > 5"]);
    assert!(all[0].is_broken(), "{:?}", all[0]);
}

#[test]
fn an_assumption_is_listed_where_it_is_needed() {
    let all = Subject { assumption: "~go", ..COUNTER }.prove_never(&["count > 9", "go"]);
    assert!(is_proved(&all[0], Traffic::Any), "{:?}", all[0]);
    assert!(is_proved(&all[1], Traffic::Legal), "{:?}", all[1]);
}

/// If the unproved second invariant were assumed, the property would be proved.
#[test]
fn what_is_proved_of_every_cycle_is_given_to_other_properties_and_what_is_not_is_not() {
    let given = |always| {
        let bad = [(Kind::Always, always), (Kind::Held, "count == 9 & d == 3")];
        let prover = Subject { assumption: "~(d == 5)", ..COUNTER }.prover(&bad);
        [0, 1].map(|place| prover.decide(place).unwrap())
    };
    let proved = given("count > 9 | count == 9 & d == 5");
    assert!(is_proved(&proved[0], Traffic::Legal), "{:?}", proved[0]);
    assert!(proved[1].is_broken(), "{:?}", proved[1]);
    let broken = given("count == 9");
    assert!(broken[0].is_broken(), "{:?}", broken[0]);
    assert!(broken[1].is_broken(), "{:?}", broken[1]);
}

/// Under the assumptions, and in each model of memories, what is never true fails, from the reset
/// cycle on: they contradict neither each other nor each input.
#[test]
fn a_claim_that_nothing_keeps_is_refuted_under_all_assumptions() {
    let bad = [
        (Kind::Always, "count > 9"),
        (Kind::Held, "in_reset"),
        (Kind::Held, "~in_reset"),
        (Kind::Held, "go & d[0]"),
        (Kind::Held, "~in_reset & kept >= 0 & count > 9"),
        (Kind::Held, "1'b1"),
    ];
    let prover = Subject { assumption: "~(d == 5)", ..COUNTER }.prover(&bad);
    let whole = prover.whole_network().unwrap().unwrap();
    let (_, cut) = prover.graph();
    assert!(prover.decide(5).unwrap().is_broken());
    for property in 1..5 {
        let is_false = property < 4;
        let found = prover.decide(property).unwrap();
        assert_eq!(found.is_broken(), is_false, "{property}: {found:?}");
        assert_eq!(is_proved(&found, Traffic::Any), !is_false, "{property}: {found:?}");
        for (memories, aig) in
            [(Memories::Cut, cut), (Memories::Kept, cut), (Memories::Whole, whole)]
        {
            let builder = QueryBuilder { property, memories, aig, ..builder_of(&prover) };
            for of in ["bad", "legal", "known", "given"] {
                let named_query = builder.named_query(of).unwrap().unwrap();
                let found = named_query.run_attempt(&prover.session, FIRST_CYCLES).unwrap();
                let is_reached = matches!(found, Answer::Reached { .. });
                assert_eq!(is_reached, is_false, "{property} {memories:?} {of}: {found:?}");
            }
        }
    }
}

/// The queries about the second property.
fn builder_of(prover: &Prover) -> QueryBuilder<'_> {
    let (memories, aig) = prover.graph();
    QueryBuilder { prover, property: 1, group: &[], memories, aig, is_alone: false }
}

/// The property fails only in unreachable cycles. The invariant shows that they are unreachable.
#[test]
fn an_induction_that_begins_with_what_is_proved_of_every_cycle_shows_more() {
    let far = "reg [3:0] far;\nalways @(posedge clk or posedge rst)\n\
               if (rst) far <= 0; else if (count == 12) far <= far + 1;\n";
    let bad = [(Kind::Always, "count > 9"), (Kind::Held, "far == 15")];
    let prover = Subject { more: far, assumption: "~(d == 5)", ..COUNTER }.prover(&bad);
    let builder = || builder_of(&prover);
    let decider = Decider { engine: "ABC ind".to_owned(), depth: Some(2) };
    for (of, expected) in [("legal", false), ("given", true), ("known", true)] {
        let named_query = builder().named_query(of).unwrap().unwrap();
        let answer = named_query.run_attempt(&prover.session, INDUCTION).unwrap();
        assert_eq!(answer.is_never(), expected, "{of}: {answer:?}");
    }
    // The invariant needs no assumption, so the property needs none.
    let known = prover.invariants().unwrap().unwrap();
    assert_eq!((known.traffic, known.are_certified), (Traffic::Any, true));
    for traffic in [Traffic::Any, Traffic::Legal] {
        let query = Query::by_induction(builder(), traffic).unwrap().unwrap();
        let found = query.decided();
        assert!(is_proved(&found, traffic) && found.answer.by() == Some(&decider), "{found:?}");
    }
}

/// An invariant that needs an assumption must not be used without it.
#[test]
fn an_invariant_that_takes_an_assumption_is_given_only_with_it() {
    let far = "reg [3:0] far;\nalways @(posedge clk or posedge rst)\n\
               if (rst) far <= 0; else if (go & d == 5) far <= far + 1;\n";
    let bad = [(Kind::Always, "go & d == 5"), (Kind::Held, "far == 15")];
    let prover = Subject { more: far, assumption: "~(d == 5)", ..COUNTER }.prover(&bad);
    assert_eq!(prover.invariants().unwrap().unwrap().traffic, Traffic::Legal);
    for (traffic, is_proved) in [(Traffic::Any, false), (Traffic::Legal, true)] {
        let answer = builder_of(&prover).given_invariants(traffic).unwrap();
        assert_eq!(answer.is_some(), is_proved, "{traffic:?}");
    }
}

#[test]
fn registers_inside_can_be_spoken_of_and_ones_that_are_not_there_are_named() {
    let all = Subject { registers: &[("counter", 4)], ..COUNTER }
        .prove_never(&["counter > 9", "counter == 9"]);
    assert!(is_proved(&all[0], Traffic::Any), "{:?}", all[0]);
    assert!(all[1].is_broken(), "{:?}", all[1]);
    for register in [("nothing", 4), ("counter", 5)] {
        let all = Subject { registers: &[register], ..COUNTER }.prove_never(&["1'b0"]);
        let because = all[0].answer.because().unwrap();
        assert!(
            because.contains(&format!("no `{}` of {} bits", register.0, register.1)),
            "{because}"
        );
    }
}

/// The outcomes of a progress property of [`RTL`].
fn progresses(progress: Progress) -> Vec<(Kind, PropertyAnswer)> {
    let wanted = "count == 4'd9 & go".to_owned();
    let properties = Properties { progress: vec![progress], ..Properties::default() };
    let mut bad = Vec::new();
    let mut text = format!(
        "reg rounds = 0;\nalways @(posedge clk) rounds <= in_reset ? 1'd0 : rounds | {wanted};\n"
    );
    crate::monitor::progress::progress(&properties, "clk", &mut bad, &mut text);
    let (properties, bad): (Vec<Property>, Vec<String>) = bad.into_iter().unzip();
    let bad: Vec<&str> = bad.iter().map(String::as_str).collect();
    let found = Subject { more: &text, ..COUNTER }.prove_never(&bad);
    properties.into_iter().map(|property| property.kind).zip(found).collect()
}

/// A round of the counter, which waits for `go`.
fn round(within: u32) -> Progress {
    Progress {
        what: "a round".to_owned(),
        busy: "count != 0".to_owned(),
        waits: "~go".to_owned(),
        within,
        ..Progress::default()
    }
}

#[test]
fn what_is_finished_in_so_many_cycles_of_its_own_is_proved_and_in_fewer_is_broken() {
    let proved = |progress: Progress| match &progresses(progress)[..] {
        [(Kind::Progress, found)] => is_proved(found, Traffic::Any),
        other => panic!("{other:?}"),
    };
    // From 1 to 9; waits for `go` do not count.
    assert!(proved(round(9)));
    assert!(!proved(round(8)));
    assert!(!proved(Progress { waits: "1'b0".to_owned(), ..round(9) }));
    // Edges that extend the limit.
    let edges = |amount| Some((amount, "odd number", "count[0] & go".to_owned()));
    assert!(proved(Progress { more: edges(2), ..round(1) }));
    assert!(!proved(Progress { more: edges(1), ..round(1) }));
    // An assumption that excludes the slow case.
    let assumptions = vec![("nobody counts to 9", "~(count == 8 & go)".to_owned())];
    assert!(proved(Progress { assumptions, ..round(8) }));
}

#[test]
fn a_hang_is_reached_and_lasts_until_what_ends_it() {
    let hang = |when: &str, until: Option<(&'static str, String)>| {
        let known_deadlocks =
            vec![KnownDeadlock { what: "it waits", when: when.to_owned(), until }];
        let answers =
            progresses(Progress { waits: "1'b0".to_owned(), known_deadlocks, ..round(9) });
        let [(Kind::Progress, finished), (Kind::Hang, reached), (Kind::Always, lasts)] =
            &answers[..]
        else {
            panic!("{answers:?}")
        };
        let is_reached = reached.is_broken();
        [is_proved(finished, Traffic::Any), is_reached, is_proved(lasts, Traffic::Any)]
    };
    let goes = || Some(("it goes on", "go".to_owned()));
    assert_eq!(hang("count != 0", goes()), [true, true, true]);
    // The list is incomplete; the deadlock ends early; it is unreachable.
    assert_eq!(hang("count == 9", goes()), [false, true, true]);
    assert_eq!(hang("count != 0", None), [true, true, false]);
    assert_eq!(hang("count > 9 | rounds & count > 9", goes()), [false, false, true]);
}

#[test]
fn what_a_simulated_case_violates_is_not_proved() {
    let (certificate, by) = (Certificate::Structure, Decider::structure());
    let of = |answer, traffic| PropertyAnswer { answer, traffic, memories: Memories::None };
    let never = Answer::Never { certificate, by };
    let proved = |traffic| of(never.clone(), traffic);
    let violations = |output: &str| {
        let violation = Violation { case: "spec/default/0".to_owned(), cycle: 7 };
        BTreeMap::from([(output.to_owned(), violation)])
    };
    let bound = Answer::Open { cycles: Some(5), because: String::new(), by: None };
    let bounded = of(bound, Traffic::Any);
    for (status, output, is_disputed) in [
        (proved(Traffic::Any), "cosim_bad_3", true),
        (bounded, "cosim_bad_3", true),
        (proved(Traffic::Legal), "cosim_legal_3", true),
        // It is not assumed that the case keeps the protocol.
        (proved(Traffic::Legal), "cosim_bad_3", false),
        (proved(Traffic::Any), "cosim_bad_4", false),
    ] {
        let found = status.clone().against(3, &violations(output));
        match &found.answer {
            Answer::Disputed { because } => {
                assert!(is_disputed && because.contains("spec/default/0"), "{because}");
            }
            _ => assert!(!is_disputed && found == status, "{output}: {found:?}"),
        }
    }
}

/// What is found of the output `y` of a module with this body. `y` counts while `on` is 1 if the
/// text before the colon says so. The input `p` is payload of `v`, which `r` takes.
fn x_of(body: &str) -> PropertyAnswer {
    let (is_governed, body) = body.split_once(':').unwrap();
    x_prover(body, vec![("y", (is_governed == "on").then_some("on"))]).decide(0).unwrap()
}

/// The prover that these outputs of such a module are free of X.
fn x_prover(body: &str, outputs: Vec<Governed>) -> Prover {
    x_provable(body, outputs).unwrap()
}

/// As [`x_prover`]; the error says why nothing can be proved.
fn x_provable(body: &str, outputs: Vec<Governed>) -> Result<Prover, Undecidable> {
    const PINS: &str = "input clk, input rst, input v, input [3:0] p, input [16:0] a, input e, \
                        output [3:0] y, output on, output r";
    let session = Prover::session(
        &verilog(&format!("module top({PINS});\n{body}\nendmodule\n")),
        &[],
        &Answers::none(),
    )
    .unwrap();
    let text = format!(
        "module cosim_monitor({PINS}, output cosim_offer_0);\n\
         top dut(.clk(clk), .rst(rst), .v(v), .p(p), .a(a), .e(e), .y(y), .on(on), .r(r));\n\
         reg waits = 0; always @(posedge clk) waits <= v & ~r & ~rst;\n\
         assign cosim_offer_0 = waits & ~v;\nendmodule\n"
    );
    let x_freedom = XFreedom { outputs, payload: vec![["p", "v"]] };
    let properties = x_freedom.properties();
    let monitor = Monitor { text, state: None, signals: Vec::new(), properties, assumes: true };
    let kind = UndefinedBits::Free;
    let prover = Prover::from_session(session, false, kind, monitor, "clk", Some(("rst", true)))?;
    Ok(Prover { x_freedom: Some(x_freedom), ..prover })
}

#[test]
fn outputs_that_are_free_of_x_are_proved_together_and_others_alone() {
    let body = "reg q, u; always @(posedge clk) if (rst) q <= 0; else begin q <= e; u <= u ^ e; end
                assign on = q; assign r = !q; assign y = u;";
    let mut prover = x_prover(body, vec![("on", None), ("r", None), ("y", None), ("y", Some("r"))]);
    prover.decide_together(&[0, 1, 2, 3]).unwrap();
    assert_eq!(prover.found.keys().copied().collect::<Vec<_>>(), [0, 1]);
    for (place, is_free) in [true, true, false, false].into_iter().enumerate() {
        let found = prover.decide(place).unwrap();
        let expected = is_free.then_some((Traffic::Any, Memories::None));
        assert_eq!(certified(&found), expected, "{place}: {found:?}");
    }
}

#[test]
fn an_output_is_free_of_x_if_no_unknown_value_reaches_it() {
    use Memories::{Cut, None as NoMemory, Word};
    const REST: &str = "assign on = 1; assign r = 1;";
    let small = |reads: &str| {
        format!(
            ":reg [3:0] m [0:3]; reg [3:0] w;
             always @(posedge clk) if (rst) w <= 0; else if (e) w[a[1:0]] <= 1;
             always @(posedge clk) if (e) m[a[1:0]] <= 4'd5; {REST} assign y = {reads} ? m[a[3:2]] : 0;"
        )
    };
    for (body, expected) in [
        // A register with a reset, without one, and with one that the reset cycle sets.
        (format!(":reg q; always @(posedge clk) if (rst) q <= 0; else q <= e; {REST} assign y = q;"), Some((Traffic::Any, NoMemory))),
        (format!(":reg q; always @(posedge clk) if (!rst) q <= q ^ e; {REST} assign y = q;"), None),
        (format!(":reg q; always @(posedge clk) q <= e; {REST} assign y = q;"), Some((Traffic::Any, NoMemory))),
        // Two toggles, whose difference is known from the reset cycle on, or never.
        (format!(":reg t, c; always @(posedge clk) begin if (!rst && e) t <= !t; c <= t; end {REST} assign y = t ^ c;"), Some((Traffic::Any, NoMemory))),
        (format!(":reg t, c; always @(posedge clk) if (!rst && e) begin t <= !t; c <= t; end {REST} assign y = t ^ c;"), None),
        // Payload without its valid.
        (format!(":{REST} assign y = v ? p : 0;"), Some((Traffic::Any, NoMemory))),
        (format!(":{REST} assign y = p == 9;"), None),
        (format!(":reg q; always @(posedge clk) q <= p == 9; {REST} assign y = q;"), None),
        // Payload of an output counts beside its valid.
        ("on:reg [3:0] q; reg h; always @(posedge clk) begin h <= v & ~rst; if (v) q <= p; end
          assign on = h; assign r = 1; assign y = q;".to_owned(), Some((Traffic::Any, NoMemory))),
        (":reg [3:0] q; reg h; always @(posedge clk) begin h <= v & ~rst; if (v & ~rst) q <= p; end
          assign on = h; assign r = 1; assign y = q;".to_owned(), None),
        // An offer that is withdrawn shows it.
        (":reg q, s; always @(posedge clk) begin if (!rst) q <= q; s <= v & ~e & ~rst; end
          assign on = 1; assign r = e; assign y = s & ~v ? q : 0;".to_owned(), Some((Traffic::Legal, NoMemory))),
        // Words that are read before they are written, or only then.
        (small("1"), None),
        (small("w == 5 & !w[0]"), Some((Traffic::Any, Cut))),
    ] {
        let found = x_of(&body);
        assert_eq!(certified(&found), expected, "{body}: {found:?}");
        let is_broken = found.is_broken();
        assert_eq!(is_broken, expected.is_none(), "{body}: {found:?}");
    }
    // Which of the attempts proves it first is a matter of their limits.
    let found = x_of(&small("w[a[3:2]]"));
    assert!(matches!(certified(&found), Some((_, Word))), "{found:?}");
    // Too large to be exact: the trace may show what never happens.
    let large = ":reg [3:0] m [0:131071]; always @(posedge clk) if (e) m[a] <= 4'd5;
        assign on = 1; assign r = 1; assign y = m[a];";
    let found = x_of(large);
    assert!(found.is_broken() && found.memories == Word, "{found:?}");
}

/// What says which words of a memory were written: a ring with a number of entries, or numbers of
/// which the low bits are the address. Whatever is read beyond that is unknown.
#[test]
fn what_was_written_to_a_memory_is_guessed_and_proved() {
    let ring = |reads: &str| {
        format!(
            "reg [3:0] m [0:3]; reg [1:0] h, t; reg [2:0] n;
             wire put = e & n != 4 & !rst; wire get = v & n != 0;
             always @(posedge clk or posedge rst) if (rst) begin h <= 0; t <= 0; n <= 0; end
               else begin t <= t + put; h <= h + get; n <= n + put - get; end
             always @(posedge clk) if (put) m[t] <= a[3:0];
             assign on = 1; assign r = 1; assign y = {reads};"
        )
    };
    let numbers = |reads: &str| {
        format!(
            "reg [3:0] m [0:3]; reg [3:0] last, next; wire [3:0] all = next - last;
             wire put = e & all < 5 & !rst; wire get = v & all > 1; wire [3:0] oldest = last + 1;
             always @(posedge clk) if (rst) begin last <= 15; next <= 0; end
               else begin next <= next + put; last <= last + get; end
             always @(posedge clk) if (put) m[next[1:0]] <= a[3:0];
             assign on = 1; assign r = 1; assign y = {reads};"
        )
    };
    for (body, is_free) in [
        (ring("n != 0 ? m[h] : 0"), true),
        (ring("n > 1 ? m[t - 2'd2] : 0"), true),
        (ring("n != 0 ? m[t] : 0"), false),
        (ring("n != 4 ? m[h] : 0"), false),
        (numbers("all > 1 ? m[oldest[1:0]] : 0"), true),
        (numbers("all > 0 ? m[oldest[1:0]] : 0"), false),
        (numbers("all > 1 ? m[next[1:0]] : 0"), false),
    ] {
        let mut prover = x_prover(&body, vec![("y", None)]);
        prover.candidates = prover.invariant_candidates().unwrap();
        assert!(!prover.candidates.is_empty(), "{body}");
        let found = prover.prove_x_freedom(&[0]).unwrap();
        let proved = found.as_ref().and_then(certified);
        let expected = is_free.then_some((Traffic::Any, Memories::Word));
        assert_eq!(proved, expected, "{body}: {found:?}");
        if !is_free {
            let found = prover.decide(0).unwrap();
            assert!(found.is_broken(), "{body}: {found:?}");
        }
    }
}

/// A wrong candidate is dropped: bits that are set with a write elsewhere, and a count of other
/// things.
#[test]
fn a_candidate_that_is_wrong_proves_nothing() {
    let body = "reg [3:0] m [0:3]; reg [3:0] w; reg [2:0] n;
        always @(posedge clk) if (rst) begin w <= 0; n <= 0; end
          else if (e) begin w[a[3:2]] <= 1; n <= n + 1; end
        always @(posedge clk) if (e) m[a[1:0]] <= 4'd5;
        assign on = 1; assign r = 1; assign y = w[a[3:2]] ? m[a[3:2]] : 0;";
    let prover = x_prover(body, vec![("y", None)]);
    let (_, aig) = prover.graph();
    let interface = Interface { reset: prover.reset, ..Interface::OURS };
    assert!(!aig.candidates(&interface, &prover.circuit.words, HELP).is_empty());
    assert_eq!(prover.invariant_candidates().unwrap(), []);
    assert!(prover.prove_x_freedom(&[0]).unwrap().is_none());
    assert!(prover.decide(0).unwrap().is_broken());
}

/// Each of these outputs shows an X to a simulator with four values.
#[test]
fn undefined_bits_and_idle_payload_of_the_reset_cycle_reach_outputs() {
    const REST: &str = "assign on = 1; assign r = 1;";
    let leaks = [
        "reg [3:0] q; always @(posedge clk) q[2:0] <= 1; assign y = q;",
        "wire [3:0] w; assign w[2:0] = 1; assign y = w;",
        "sub one(.i(), .o(y)); endmodule module sub(input [3:0] i, output [3:0] o); assign o = i;",
        "reg [3:0] m [0:3]; always @* begin m[0] = 1; m[1] = 2; m[2] = 3; end assign y = m[a[1:0]];",
        "assign y = e ? 4'd1 : 4'bz;",
        "function f(input [1:0] s); case (s) 0: f = 1; 1: f = 0; 2: f = 1; endcase endfunction
         assign y = f(a[1:0]);",
        "wire [4:0] w = {5{e}}; assign y = w[a[2:0]];",
        "wire [4:0] w = {5{e}}; assign y = w[a];",
        "wire [4:0] w = {5{e}}; assign y = w[a[2:0] +: 2];",
        "wire [1:5] w = {5{e}}; assign y = w[a[2:0]];",
        "wire [3:0] w = 7; assign y = w[a];",
        "wire [3:0] w = {4{e}}; assign y = w[a[2:0]];",
        "wire [3:0] w = 7; wire signed [3:0] s = a[3:0]; assign y = w[s] & a[3];",
        "wire [3:0] w = 7; assign y = w[a[1:0] -: 2];",
        "wire [3:0] w = 7; assign y = w[a[1:0] +: 2];",
        "wire [3:0] w = 7; assign y = w[{2'b00, a[1:0]} +: 6] >> 5;",
        "reg [3:0] m [0:4]; integer i; initial for (i = 0; i < 5; i = i + 1) m[i] = i;
         assign y = m[a[2:0]];",
        "reg [3:0] m [0:4]; integer i; initial for (i = 0; i < 5; i = i + 1) m[i] = i;
         always @(posedge clk) if (e) m[a[2:0]] <= 1; assign y = m[a[2:0]];",
        "reg [3:0] m [0:4]; always @(posedge clk) m[a[2:0]] <= 1; reg w; initial w = 0;
         always @(posedge clk) if (a[2:0] == 5) w <= 1; assign y = w ? m[5] | m[0] : 0;",
        "reg [3:0] m [0:4]; always @(posedge clk) m[a[2:0]] <= 1; reg w; initial w = 0;
         always @(posedge clk) if (a[2:0] == 5) w <= 1; assign y = w ? m[1] : 0;",
        "reg [3:0] m [0:3]; integer i; initial for (i = 0; i < 4; i = i + 1) m[i] = i;
         assign y = m[a[2:0]];",
        "reg [3:0] m [1:4]; integer i; initial for (i = 1; i < 5; i = i + 1) m[i] = i;
         assign y = m[a[1:0]];",
        "reg [3:0] m [0:3]; initial begin m[0] = 4'b1x00; m[1] = 0; m[2] = 0; m[3] = 0; end
         assign y = m[a[1:0]];",
        "assign y = e ? 4'bxxxx : 1;",
        "reg [3:0] q; always @* case (a[1:0]) 0: q = 1; 1: q = 2; default: q = 'x; endcase
         assign y = q;",
        "reg [3:0] q = 4'b1x01; assign y = q; always @(posedge clk) q <= q;",
        "reg f, u; initial f = 1; always @(posedge clk) begin f <= 0; if (f) u <= p[0]; end
         assign y = u;",
        "reg u; always @(posedge clk) if (rst) u <= p[0]; assign y = u;",
        "reg f; initial f = 1; reg [3:0] m [0:1]; initial begin m[0] = 0; m[1] = 0; end
         always @(posedge clk) begin f <= 0; if (f) m[0] <= p; end assign y = m[a[0]];",
    ];
    leaks.par_iter().for_each(|body| {
        let found = x_of(&format!(":{REST} {body}"));
        assert!(found.is_broken(), "{body}: {found:?}");
    });
    // A variable that is not always assigned is a latch.
    let latch = "reg [3:0] q; always @* if (e) q = 1; assign y = q;";
    assert!(x_provable(&format!("{REST} {latch}"), vec![("y", None)]).is_err());
    let harmless = [
        "wire [3:0] w; assign w[2:0] = 1; assign y = w & 7;",
        "sub one(.i(), .o(y)); endmodule module sub(input [3:0] i, output [3:0] o); assign o = 1;",
        "assign y = e ? 4'd1 : ~e ? 4'd2 : 4'bz;",
        "function f(input [1:0] s); case (s) 0: f = 1; 1: f = 0; 2: f = 1; 3: f = 1; endcase endfunction
         assign y = f(a[1:0]);",
        "wire [7:0] w = {8{e}}; assign y = w[a[2:0]];",
        "wire [3:0] w = a[9:6]; wire signed [3:0] s = a[3:0]; assign y = s >= 0 & s < 4 ? w[s] : 0;",
        "wire [3:0] w = 7; assign y = w[a[1:0] -: 2] >> 1;",
        "wire [3:0] w = 7; assign y = w[a[1:0] +: 2] & 1;",
        "wire [4:0] w = {5{e}}; assign y = a[2:0] < 5 ? w[a[2:0]] : 0;",
        "wire [15:0] w = {16{e}}; assign y = w[{a[1:0], 2'b00} +: 4];",
        "wire [1:4] w = {4{e}}; assign y = w[a[1:0] + 3'd1];",
        "reg [3:0] m [0:3]; integer i; initial for (i = 0; i < 4; i = i + 1) m[i] = i;
         assign y = m[a[1:0]];",
        "reg [3:0] m [0:4]; initial m[4] = 7; assign y = m[4] & 0;",
        "reg [3:0] m [0:4]; integer i; initial for (i = 0; i < 5; i = i + 1) m[i] = i;
         always @(posedge clk) if (e) m[a[2:0]] <= 1; assign y = a[5:3] < 5 ? m[a[5:3]] : 0;",
        "reg [3:0] q; always @* case (a[1:0]) 0: q = 1; 1: q = 2; 2, 3: q = 0; default: q = 'x; endcase
         assign y = q;",
        "reg u; always @(posedge clk) if (v) u <= p[0]; else u <= 0; assign y = u;",
    ];
    harmless.par_iter().for_each(|body| {
        let found = x_of(&format!(":{REST} {body}"));
        assert!(certified(&found).is_some(), "{body}: {found:?}");
    });
}

/// As for other properties: an output that always differs, or does so where nothing is read.
#[test]
fn an_output_that_is_always_unknown_is_refuted_under_all_assumptions() {
    let body = "reg [3:0] m [0:3]; always @(posedge clk) if (e) m[a[1:0]] <= a[7:4]; reg k;
        always @(posedge clk) if (rst) k <= 0; assign on = m[a[3:2]] == 0; assign r = k;
        assign y = 'x;";
    let prover = x_prover(body, vec![("y", None), ("r", None)]);
    let whole = prover.whole_network().unwrap().unwrap();
    let (_, cut) = prover.graph();
    for (property, is_false) in [(0, true), (1, false)] {
        for (memories, aig) in
            [(Memories::Cut, cut), (Memories::Word, cut), (Memories::Whole, whole)]
        {
            for (of, is_alone) in [("bad", false), ("legal", false), ("legal", true)] {
                let group = &[];
                let builder =
                    QueryBuilder { prover: &prover, property, group, memories, aig, is_alone };
                let Some(named_query) = builder.named_query(of).unwrap() else {
                    panic!("{memories:?} {of}");
                };
                let found = named_query.run_attempt(&prover.session, FIRST_CYCLES).unwrap();
                let is_reached = matches!(found, Answer::Reached { .. });
                // What may be unknown in a word is no register that the reset sets.
                assert_eq!(is_reached, is_false, "{property} {memories:?} {of} {is_alone}");
            }
        }
    }
}

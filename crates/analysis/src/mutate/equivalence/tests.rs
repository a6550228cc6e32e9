//! Compares the equivalence checker's results on small RTL with the behaviour of the RTL.

use super::*;
use crate::mutate::build::{chosen, write_base_netlist};
use cosim_formal::assertions::Signal;
use cosim_formal::ladder::{LATER, SOON};
use cosim_formal::monitor::TOP;
use cosim_formal::portfolio::{MEMORY_WORD, NEARBY, ONE_REGISTER, PAIRS_OF_VALUES, SHORT_PROOF};
use cosim_formal::prove::{Kind, Property};
use cosim_formats::mutation::Mode;
use std::iter;

const ALONE: &[Rung] = &[(Aim::Alone, ONE_REGISTER), (Aim::Alone, PAIRS_OF_VALUES)];

const CHOICE: &str = "module top(input [1:0] s, a, b, input [2:0] n, output reg [1:0] y, output z);
    always @* case (s)
        0: y = a;
        1: y = b;
        2: y = a | b;
        3: y = a & b;
    endcase
    wire [4:0] all = {b, a, s[0]};
    assign z = all[n];
    endmodule";

fn mutated_rtl(text: &str) -> (YosysSession, Vec<Mutation>) {
    let session = YosysSession::from_verilog(text);
    write_base_netlist(&session, &[]).unwrap();
    let mutations = chosen(&session, 1000, 1, None).unwrap();
    (session, mutations)
}

const RESET: Option<(&str, bool)> = Some(("rst", true));

/// A checker without properties.
fn checker<'a>(
    session: &'a YosysSession,
    mutations: &[Mutation],
    reset: Option<(&'static str, bool)>,
) -> EquivalenceChecker<'a> {
    EquivalenceChecker::from_session(session, mutations, None, |_| Ok(None), "clk", reset).unwrap()
}

/// Whether there is a proof; it must have a certificate.
fn is_certified(shown: Option<Certificate>) -> bool {
    let is_there = shown.as_ref().is_none_or(Certificate::is_there);
    assert!(is_there, "{shown:?}");
    shown.is_some()
}

/// The numbers of the mutations whose Verilog, read back by Yosys, differs from the RTL.
fn differing(session: &YosysSession, mutations: &[Mutation]) -> Vec<u32> {
    let [mut write, mut ask] = [String::new(), String::new()];
    for mutation in mutations {
        let (id, command) = (mutation.id, mutation.command());
        write += &format!(
            "read_rtlil {BASE}\nmutate {command}\nwrite_verilog -noattr {id}.v\ndesign -reset\n"
        );
        ask += &format!(
            "read_verilog {id}.v\nrename top mutant\nproc\nread_rtlil {BASE}\n\
             miter -equiv -flatten -make_outputs top mutant miter\n\
             sat -prove trigger 0 -dump_json {id}.json miter\ndesign -reset\n"
        );
    }
    session.script(&write).unwrap();
    for mutation in mutations {
        // Verilator, unlike Yosys, ignores this comment.
        let name = format!("{}.v", mutation.id);
        let text = session.text(&name).unwrap().replace("// synopsys parallel_case", "");
        session.write(&name, &text).unwrap();
    }
    session.script(&ask).unwrap();
    let ids = mutations.iter().map(|mutation| mutation.id);
    ids.filter(|id| session.path(&format!("{id}.json")).exists()).collect()
}

#[test]
fn the_checker_agrees_with_the_verilog_of_each_mutant() {
    let (session, mut mutations) = mutated_rtl(CHOICE);
    // Cases that may overlap, and an index beyond a signal.
    mutations.retain(|Mutation { cell, port, .. }| match port.as_str() {
        "S" => true,
        "Y" => cell.contains("CMP"),
        "B" => cell.contains("shiftx"),
        _ => false,
    });
    mutations.truncate(60);
    let checker = checker(&session, &mutations, None);
    let differing = differing(&session, &mutations);
    let mut same = 0;
    for mutation in &mutations {
        let verdict = checker.rule(mutation.id).unwrap();
        let is_same = !differing.contains(&mutation.id);
        let words = mutation.words();
        match is_same {
            true => assert!(matches!(verdict, Answer::Never { .. }), "{words}"),
            false => assert!(matches!(verdict, Answer::Reached { .. }), "{words}"),
        }
        same += u32::from(is_same);
        // The cheap checks agree.
        let later = || checker.prove(mutation.id, LATER).unwrap();
        let is_shown = checker.prove(mutation.id, SOON).unwrap().or_else(later).is_some();
        assert!(is_same || !is_shown, "{words}");
    }
    assert!((1..40).contains(&same), "{same} are the same");
    let makes_two_hot = |mutation: &&Mutation| {
        mutation.cell.contains("procmux") && mutation.port == "S" && mutation.mode == Mode::Const1
    };
    let two_hot: Vec<u32> = mutations.iter().filter(makes_two_hot).map(|m| m.id).collect();
    assert!(two_hot.iter().any(|id| differing.contains(id)), "none is chosen: take more");
}

#[test]
fn no_clock_is_mutated_and_one_from_elsewhere_is_undecided() {
    let (session, mut mutations) = mutated_rtl(
        "module top(input clk, input [1:0] a, output reg y, output z);
         reg [1:0] m [0:1];
         always @(posedge clk) begin m[a[0]] <= a; y <= a[1] & a[0]; end
         assign z = m[0][1];
         endmodule",
    );
    assert!(mutations.iter().all(|mutation| mutation.port != "CLK"));
    let at = |mutations: &[Mutation], port: &str| {
        mutations.iter().find(|m| m.port == port && m.mode == Mode::Inv).cloned().unwrap()
    };
    let register = at(&mutations, "Q");
    let id = mutations.len() as u32 + 1;
    mutations.push(Mutation { id, port: "CLK".to_owned(), ..register });
    let checker = checker(&session, &mutations, None);
    for mutation in &mutations {
        let is_apart = checker.apart(mutation.id).is_some();
        assert_eq!(is_apart, mutation.id == id, "{}", mutation.words());
    }
    assert_eq!(checker.rule(id).unwrap(), Answer::open("its clock is mutated"));
    let verdict = checker.rule(at(&mutations, "Y").id).unwrap();
    assert!(matches!(verdict, Answer::Reached { .. }));
}

/// `s` is never 3, so `hidden` is never visible. `chain` is visible five cycles later.
const NEVER_THREE: &str = "module top(input clk, input rst, input a, output y);
    reg [1:0] s; reg hidden; reg [4:0] chain;
    always @(posedge clk or posedge rst) if (rst) s <= 0; else s <= s == 2 ? 0 : s + 1;
    always @(posedge clk) begin hidden <= a; chain <= {chain[3:0], a}; end
    assign y = s == 3 ? hidden : chain[4];
    endmodule";

#[test]
fn local_differences_are_proved_quickly_and_later_outputs_are_not() {
    let (session, mutations) = mutated_rtl(NEVER_THREE);
    let checker = checker(&session, &mutations, RESET);
    let of = |signal: &str| -> Vec<u32> {
        let is_it = |m: &&Mutation| {
            m.signal.as_deref() == Some(signal) && m.port == "Q" && m.mode == Mode::Inv
        };
        mutations.iter().filter(is_it).map(|mutation| mutation.id).collect()
    };
    assert_eq!(of("hidden[0]").len(), 1);
    for id in of("hidden[0]") {
        assert_eq!(checker.at_once(id), None, "the network alone does not show it");
        assert!(checker.prove(id, SOON).unwrap().is_some_and(|certificate| certificate.is_there()));
    }
    for signal in ["chain[0]", "chain[4]", "s[0]"] {
        assert_eq!(of(signal).len(), 1, "{signal}");
        for id in of(signal) {
            assert_eq!(checker.prove(id, SOON).unwrap(), None, "{signal}");
            assert_eq!(checker.prove(id, LATER).unwrap(), None, "{signal}");
        }
    }
}

fn mutated(mutation: &Mutation, value: u32) -> u32 {
    let Mutation { mode, bit, control, .. } = mutation;
    let is_control = control.is_some_and(|control| value >> control & 1 == 1);
    match mode {
        Mode::Inv => value ^ 1 << bit,
        Mode::Const0 => value & !(1 << bit),
        Mode::Const1 => value | 1 << bit,
        Mode::Cnot0 => value ^ u32::from(!is_control) << bit,
        Mode::Cnot1 => value ^ u32::from(is_control) << bit,
    }
}

/// A timer that counts in another order but in as many steps is equivalent. One with more or fewer
/// steps is not.
#[test]
fn another_order_of_counting_is_shown_to_be_the_same() {
    let (session, mut mutations) = mutated_rtl(
        "module top(input clk, input rst, input go, input [7:0] a, output reg tick, output reg [7:0] sum);
         reg [4:0] t; reg busy;
         wire [4:0] t_d = busy ? t + 5'd1 : 5'd0;
         always @(posedge clk or posedge rst)
           if (rst) begin t <= 0; busy <= 0; tick <= 0; sum <= 0; end
           else begin
             t <= t_d;
             busy <= go;
             tick <= busy && t == 31;
             sum <= tick ? 8'd0 : sum + a;
           end
         endmodule",
    );
    mutations.retain(|mutation| {
        let is_of = |name| mutation.signal.as_ref().is_some_and(|signal| signal.starts_with(name));
        is_of("t[") && mutation.port == "Q" || is_of("t_d[") && mutation.port == "D"
    });
    let checker = checker(&session, &mutations, RESET);
    let mut same = 0;
    for mutation in &mutations {
        let seen = |held| mutated(mutation, held);
        // It is cleared before it counts, and wraps to its cleared value.
        let steps = if mutation.port == "Q" {
            let values = iter::successors(Some(0), |held| Some((seen(*held) + 1) % 32));
            values.take(100).position(|held| seen(held) == 31)
        } else {
            let values = iter::successors(Some(seen(0)), |held| Some(seen((*held + 1) % 32)));
            values.take(100).position(|held| held == 31)
        };
        let is_same = steps == Some(31);
        same += u32::from(is_same);
        let found = is_certified(checker.prove(mutation.id, ALONE).unwrap());
        assert_eq!(found, is_same, "{}", mutation.words());
    }
    assert!(same > 0 && same < mutations.len() as u32, "{same} of {}", mutations.len());
}

/// A timer that stands at 0 until it is started, and is mutated all the time: it differs only where
/// a simulation of both differs.
#[test]
fn a_timer_that_stands_still_is_decided_with_its_control() {
    let (session, mut mutations) = mutated_rtl(
        "module top(input clk, input rst, input go, output reg tick);
         reg [4:0] t, t_d; reg on;
         wire last = on && t == 31;
         always @* begin
           t_d = t;
           if (last) t_d = 0;
           else if (on) t_d = t + 5'd1;
         end
         always @(posedge clk or posedge rst)
           if (rst) begin t <= 0; on <= 0; tick <= 0; end
           else begin
             t <= t_d;
             on <= !last && (on || go);
             tick <= last;
           end
         endmodule",
    );
    mutations.retain(|mutation| {
        let is_timer = mutation.signal.as_ref().is_some_and(|signal| signal.starts_with("t_d["));
        is_timer && mutation.port == "D"
    });
    let checker = checker(&session, &mutations, RESET);
    let mut same = 0;
    for mutation in &mutations {
        let stored = |value| mutated(mutation, value);
        let ticks = |stored: &dyn Fn(u32) -> u32| -> Vec<bool> {
            let (mut t, mut is_on, mut drawn) = (0, false, 1_u32);
            let cycle = |_| {
                let is_last = is_on && t == 31;
                // Xorshift.
                drawn ^= drawn << 13;
                drawn ^= drawn >> 17;
                drawn ^= drawn << 5;
                let go = drawn & 7 == 0;
                (t, is_on) = match () {
                    () if is_last => (stored(0), false),
                    () if is_on => (stored((t + 1) % 32), true),
                    () => (stored(t), go),
                };
                is_last
            };
            (0..5000).map(cycle).collect()
        };
        let is_same = ticks(&|value| value) == ticks(&stored);
        same += u32::from(is_same);
        let found = is_certified(checker.prove(mutation.id, ALONE).unwrap());
        assert_eq!(found, is_same, "{}", mutation.words());
    }
    assert!(same > 0 && same < mutations.len() as u32, "{same} of {}", mutations.len());
}

/// The flag of a word counts where its number is 2. Elsewhere it is 0, which has no visible effect.
#[test]
fn memory_words_with_the_same_abstraction_are_equivalent() {
    let (session, mut mutations) = mutated_rtl(
        "module top(input clk, input rst, input we, input [1:0] to, at, input [2:0] d, output y, output [1:0] z);
         reg [2:0] m [0:3];
         wire flag = d[2] & d[1:0] == 2;
         wire [2:0] w = m[at];
         always @(posedge clk) if (we & ~rst) m[to] <= {flag, d[1:0]};
         assign y = w[2] & w[1:0] == 2;
         assign z = w[1:0];
         endmodule",
    );
    mutations.retain(|mutation| mutation.port != "CLK");
    let meaning = "{word[2] & word[1:0] == 2'd2, word[1:0]}";
    let meaning = WordAbstraction { memory: "m", width: 3, meaning };
    let plain = checker(&session, &mutations, RESET);
    let known_words = checker(&session, &mutations, RESET);
    let checker = known_words.with_word_abstractions(&[meaning]).unwrap();
    let whole = checker.whole_graph().unwrap();
    let (mut more, mut near) = (0, 0);
    let by_word = |checker: &EquivalenceChecker<'_>, id, hops: Option<usize>| {
        let attempt = if hops.is_some() { NEARBY } else { MEMORY_WORD };
        is_certified(checker.prove(id, &[(Aim::Word { hops }, attempt)]).unwrap())
    };
    for Mutation { id, .. } in &mutations {
        let known = by_word(&checker, *id, None);
        more += u32::from(known && !by_word(&plain, *id, None));
        let is_near = (0..=2).any(|hops| by_word(&checker, *id, Some(hops)));
        assert!(known || !is_near, "{id}: a smaller network shows less");
        near += u32::from(is_near);
        let is_same = checker
            .decide(*id, whole, false, Attempt { frames: 40, conflicts: None, ..SHORT_PROOF })
            .unwrap();
        assert_eq!(known, matches!(is_same, Answer::Never { .. }), "{id}: {is_same:?}");
    }
    assert!(more > 0, "none takes what words mean");
    assert!(near >= more, "{near} of {more}");
    // This abstraction omits a bit that has an effect.
    let meaning = WordAbstraction { meaning: "{word[2] & word[1:0] == 2'd2, word[1]}", ..meaning };
    let wrong =
        self::checker(&session, &mutations, RESET).with_word_abstractions(&[meaning]).unwrap();
    let is_shown = |id| [None, Some(0), Some(2)].into_iter().any(|hops| by_word(&wrong, id, hops));
    assert!(mutations.iter().all(|mutation| !is_shown(mutation.id)));
}

#[test]
fn only_proved_properties_strengthen_the_checker() {
    let (session, mutations) = mutated_rtl(NEVER_THREE);
    let text = format!(
        "module {TOP}(input clk, input rst, input a, input [63:0] {SELECT}, output y,
           output {NEVER}0, output {NEVER}1);
         wire [1:0] s;
         top dut(.clk(clk), .rst(rst), .a(a), .{SELECT}({SELECT}), .y(y), .s(s));
         assign {NEVER}0 = s == 3;
         assign {NEVER}1 = s == 2;
         endmodule"
    );
    let property =
        |text: &str| Property { kind: Kind::Always, text: text.to_owned(), of_registers: true };
    let monitor = |bits: u32| {
        Ok(Some(Monitor {
            text: text.replace("[63:0]", &format!("[{}:0]", bits - 1)),
            state: None,
            signals: vec![Signal { name: "s".to_owned(), path: "s".to_owned(), width: 2, line: 1 }],
            properties: vec![property("not 3"), property("not 2")],
            assumes: false,
        }))
    };
    let checker =
        EquivalenceChecker::from_session(&session, &mutations, None, monitor, "clk", RESET)
            .unwrap();
    let held: Vec<bool> =
        checker.property_range().map(|place| checker.holds(place).unwrap()).collect();
    assert_eq!(held, [true, false]);
    let checker = checker.with_proved(vec![0]);
    assert_eq!(checker.proved, [format!("{NEVER}0")]);
    // The results are the same with and without it.
    let plain = self::checker(&session, &mutations, RESET);
    for Mutation { id, .. } in mutations.iter().step_by(7) {
        let [with, without] = [&checker, &plain].map(|checker| {
            checker.at_once(*id).is_some()
                || matches!(checker.rule(*id).unwrap(), Answer::Never { .. })
        });
        assert_eq!(with, without, "{id}");
    }
}

//! Pairs of small RTLs: what is equivalent is proved and certified, and all else differs.

use super::*;
use crate::portfolio::{EQUIVALENCE, ONE_REGISTER, QUICK_DIFFERENCE};
use cosim_aig::EquivalenceQuery;

const PORTS: &str =
    "input clk, input rst, input v, input w, input a, input b, input d, input e, output y,
     output cosim_offer_0";

fn sides(bodies: [&str; 2]) -> Sides {
    let session = |body: &str| {
        let [_, both, _] = FILES;
        let session = YosysSession::from_verilog("module top; endmodule");
        session.write("top.v", &format!("module top({PORTS});\n{body}\nendmodule\n")).unwrap();
        session
            .script(&format!(
                "read_verilog -sv top.v\n{TO_PORTS}\nflatten\nasync2sync\nopt_clean\nwrite_rtlil {both}\n"
            ))
            .unwrap();
        session.write(both, &enabled(&session.text(both).unwrap())).unwrap();
        session
    };
    let offers = vec!["v is withdrawn".to_owned()];
    Sides::from_sessions(bodies.map(session), offers, "clk", Some(("rst", true))).unwrap()
}

/// Whether the outputs are proved equal, with a certificate, or differ; `None` for neither.
fn is_equal(sides: &Sides, contents: Contents, traffic: Traffic) -> Option<bool> {
    let named_query = &sides.named_queries(contents, traffic, Aim::Proof).unwrap()[0];
    match sides.run_attempt(named_query, EQUIVALENCE).unwrap().certificate() {
        Some(certificate) => {
            assert!(certificate.is_there(), "{certificate}");
            Some(true)
        }
        None => match sides.run_attempt(named_query, QUICK_DIFFERENCE).unwrap() {
            Answer::Reached { .. } => Some(false),
            _ => None,
        },
    }
}

fn is_certified(sides: &Sides, named_query: &NamedQuery, attempt: Attempt) -> bool {
    let certificate = sides.run_attempt(named_query, attempt).unwrap().certificate();
    certificate.is_some_and(|certificate| certificate.is_there())
}

#[test]
fn names_and_encodings_of_registers_do_not_matter() {
    let counter = "reg [3:0] n; always @(posedge clk) if (rst) n <= 0; else if (v) n <= n + 4'd1;
         assign y = n == 4'd9; assign cosim_offer_0 = 0;";
    for (new, expected) in [
        (
            "reg [3:0] m; always @(posedge clk) if (rst) m <= 9; else if (v) m <= m - 4'd1;
          assign y = m == 0; assign cosim_offer_0 = 0;",
            true,
        ),
        (
            "reg [3:0] m; always @(posedge clk) if (rst) m <= 9; else if (v) m <= m - 4'd1;
          assign y = m == 1; assign cosim_offer_0 = 0;",
            false,
        ),
        // The comparison is one edge earlier.
        (
            "reg [3:0] n; reg y; wire [3:0] m = v ? n + 4'd1 : n;
          always @(posedge clk) if (rst) {n, y} <= 0; else {n, y} <= {m, m == 4'd9};
          assign cosim_offer_0 = 0;",
            true,
        ),
    ] {
        let found = is_equal(&sides([counter, new]), Contents::Shared, Traffic::Any);
        assert_eq!(found, Some(expected), "{new}");
    }
}

/// Both registers are always equal, which no induction sees.
#[test]
fn registers_of_the_old_rtl_that_keep_a_comparison_open_are_named() {
    let pair = |y: &str| {
        format!(
            "reg [2:0] m, n; assign y = {y}; assign cosim_offer_0 = 0;
             always @(posedge clk) if (rst) m <= 0; else m <= m == 4 ? 0 : m + 3'd1;
             always @(posedge clk) if (rst) n <= 0; else n <= n == 4 ? 0 : n + 3'd1;"
        )
    };
    let sides = sides([&pair("m == 2 & n == 3"), &pair("1'b0")]);
    let because = sides.because(Traffic::Any).unwrap().unwrap();
    assert!(because.contains("values of m, n that"), "{because}");
}

#[test]
fn the_same_netlist_is_seen_at_once() {
    let body = "reg q; always @(posedge clk) q <= v; assign y = q; assign cosim_offer_0 = 0;";
    assert!(sides([body, body]).is_same());
    assert!(!sides([body, &body.replace("<= v", "<= w")]).is_same());
}

#[test]
fn memories_are_paired_by_what_they_do() {
    let memory = |name: &str, writes: &str| {
        format!(
            "reg {name} [0:1]; always @(posedge clk) begin {writes} end assign y = {name}[e];
            assign cosim_offer_0 = 0;"
        )
    };
    let old = memory("m", "if (v) m[a] <= d; if (w) m[b] <= e;");
    let renamed = memory("n", "if (v) n[a] <= d; if (w) n[b] <= e;");
    assert_eq!(is_equal(&sides([&old, &renamed]), Contents::Shared, Traffic::Any), Some(true));
    // Bits of a word may be written one by one.
    let wide = |writes: &str| {
        format!(
            "reg [1:0] m [0:1]; always @(posedge clk) begin {writes} end assign y = ^m[e];
            assign cosim_offer_0 = 0;"
        )
    };
    let [whole, bits] = ["if (v) m[a] <= {d, w};", "if (v) m[a][0] <= w; if (v) m[a][1] <= d;"];
    let sides_of_bits = sides([&wide(whole), &wide(bits)]);
    assert_eq!(is_equal(&sides_of_bits, Contents::Shared, Traffic::Any), Some(true));
    // At the same address, the last write counts.
    let swapped = memory("m", "if (w) m[b] <= e; if (v) m[a] <= d;");
    for contents in [Contents::Shared, Contents::Exact] {
        let found = is_equal(&sides([&old, &swapped]), contents, Traffic::Any);
        assert_eq!(found, Some(false), "{contents:?}");
    }
}

/// Is a proof near a change sound? A register that both sides share must be equal after the reset
/// cycle, too.
#[test]
fn a_proof_near_a_change_counts_registers_from_reset_on() {
    for edges in ["posedge clk", "posedge clk or posedge rst"] {
        let body = |reset: u32, next: &str| {
            format!(
                "reg [1:0] n, m; always @({edges}) if (rst) begin n <= {reset}; m <= 0; end
                 else begin n <= n + {{1'b0, {next}}}; m <= n; end
                 assign y = m == 2'd2; assign cosim_offer_0 = 0;"
            )
        };
        let is_proved = |new: &str, hops: usize| {
            let sides = sides([&body(0, "v"), new]);
            let named_queries =
                sides.named_queries(Contents::Shared, Traffic::Any, Aim::Near { hops });
            is_certified(&sides, &named_queries.unwrap()[0], EQUIVALENCE)
        };
        // Registers of equal names are one, so that nothing is left to prove.
        let alike = body(0, "v").replace("2'd2;", "2'd2 & (w | ~w);");
        let pair = sides([&body(0, "v"), &alike]);
        let named_queries = pair.named_queries(Contents::Shared, Traffic::Any, Aim::Proof).unwrap();
        assert_eq!(named_queries[0].query, EquivalenceQuery::Same, "{edges}");
        let same = body(0, "(v & (w | v))");
        let other = body(0, "(v & w)");
        let reset = body(1, "v");
        for hops in 0..3 {
            assert!(is_proved(&same, hops), "{edges} {hops}");
            let is_wrong = is_proved(&other, hops) || is_proved(&reset, hops);
            assert!(!is_wrong, "{edges} {hops}");
        }
    }
}

/// A counter that takes 600 other values in between is proved alone, whatever drives it.
#[test]
fn a_register_alone_is_proved_whatever_the_others_do() {
    let body = |next: &str, limit: u32| {
        format!(
            "reg [3:0] n; reg [9:0] slow; always @(posedge clk) if (rst) begin n <= 0; slow <= 0; end
             else begin slow <= slow + v; if (slow[9] && w) n <= n == 4'd9 ? 0 : {next}; end
             assign y = n > {limit}; assign cosim_offer_0 = 0;"
        )
    };
    let old = body("n + 4'd1", 11);
    let is_proved = |new: &str| {
        let sides = sides([&old, new]);
        let named_queries = sides.named_queries(Contents::Shared, Traffic::Any, Aim::Alone);
        named_queries
            .unwrap()
            .iter()
            .any(|named_query| is_certified(&sides, named_query, ONE_REGISTER))
    };
    // Above 9 the counter never is.
    assert!(is_proved(&body("n == 4'd12 ? 3 : n + 4'd1", 11)));
    assert!(!is_proved(&body("n == 4'd7 ? 12 : n + 4'd1", 11)));
}

/// Is only what holds assumed, and no difference hidden by it?
#[test]
fn only_assertions_that_hold_strengthen_a_proof() {
    let body = |limit: u32| {
        format!(
            "reg [3:0] n; always @(posedge clk) if (rst) n <= 0; else if (v) n <= n == 9 ? 0 : n + 4'd1;
             assign y = n > {limit}; assign cosim_offer_0 = 0;"
        )
    };
    let pair = |new: u32| {
        let sides = sides([&body(11), &body(new)]);
        let old = &sides.sessions[0];
        old.write("rtl.v", &format!("module top({PORTS});\n{}\nendmodule\n", body(11))).unwrap();
        old.script("read_verilog -sv rtl.v\nproc\nopt_clean\nwrite_rtlil rtl.il\n").unwrap();
        let text = "module cosim_monitor(input clk, input rst, input v, input w, input a, input b,
             input d, input e, output y, output cosim_offer_0, output cosim_never_0,
             output cosim_never_1);
             wire [3:0] n;
             top dut(.clk(clk), .rst(rst), .v(v), .w(w), .a(a), .b(b), .d(d), .e(e), .y(y),
                     .cosim_offer_0(cosim_offer_0), .n(n));
             reg past; always @(posedge clk) past <= rst | past;
             assign cosim_never_0 = ~rst & past & n > 9;
             assign cosim_never_1 = ~rst & past & n > 8;
             endmodule";
        let (text, properties, signals) = (text.to_owned(), Vec::new(), Vec::new());
        let monitor = Monitor { text, state: None, signals, properties, assumes: true };
        let commands = "expose w:n\n".to_owned();
        let observer = Observer { monitor, offers: Vec::new(), commands };
        assert_eq!(sides.strengthen_by(&observer, "clk").unwrap(), 1, "{new}");
        sides
    };
    assert_eq!(is_equal(&pair(12), Contents::Shared, Traffic::Any), Some(true));
    assert_eq!(is_equal(&pair(8), Contents::Shared, Traffic::Any), Some(false));
}

/// Cut out, both would read the same data.
#[test]
fn memories_with_other_contents_are_not_paired() {
    let table = |first: u32| {
        format!(
            "reg m [0:1]; initial begin m[0] = {first}; m[1] = 1; end assign y = m[a];
            always @(posedge clk) if (v) m[b] <= d; assign cosim_offer_0 = 0;"
        )
    };
    let sides = sides([&table(0), &table(1)]);
    assert!(sides.named_queries(Contents::Shared, Traffic::Any, Aim::Proof).is_err());
    assert_eq!(is_equal(&sides, Contents::Exact, Traffic::Any), Some(false));
}

/// The edge at the end of the reset cycle writes a memory that initialises itself from power-on, or
/// in its first reset.
#[test]
fn memories_are_compared_from_the_first_edge_on() {
    let body = |first: &str, begins: &str| {
        format!(
            "reg m [0:1]; reg f; initial f = 1; assign y = m[e]; assign cosim_offer_0 = 0;
            always @(posedge clk) if ({begins}) begin f <= 0; {first} end
              else if (v & ~rst) m[a] <= d;"
        )
    };
    for begins in ["f", "f & rst"] {
        let old = body("m[1'b0] <= 1;", begins);
        for (new, expected) in [
            ("m[1'b0] <= 0;", false),
            ("m[1'b1] <= 1;", false),
            ("if (rst ^ f) m[1'b0] <= 1;", false),
            ("m[1'b0] <= f;", true),
            ("m[~f] <= 1;", true),
        ] {
            let sides = sides([&old, &body(new, begins)]);
            for contents in [Contents::Shared, Contents::Exact] {
                let found = is_equal(&sides, contents, Traffic::Any);
                assert_eq!(found, Some(expected), "{begins} {new} {contents:?}");
            }
        }
    }
}

/// Before the first edge, a register with a synchronous reset has any value, and one of another
/// encoding has another one. What the memory gives there matters only if a register keeps it.
#[test]
fn a_read_in_the_reset_cycle_counts_where_its_data_is_kept() {
    let body = |name: &str, reset: u32, kept: &str| {
        format!(
            "reg m [0:1]; reg {name}, k; wire at = {name} ^ 1'd{reset};
            always @(posedge clk) begin
              if (rst) {name} <= {reset}; else if (v) {name} <= ~{name};
              if (w & ~rst) m[a] <= d;
              k <= {kept};
            end
            assign y = k ^ m[at]; assign cosim_offer_0 = 0;"
        )
    };
    let is_proved = |kept: &str| {
        let sides = sides([&body("p", 0, kept), &body("q", 1, kept)]);
        is_equal(&sides, Contents::Shared, Traffic::Any)
    };
    assert_eq!(is_proved("rst ? 1'b0 : m[at]"), Some(true));
    assert_eq!(is_proved("rst ? m[at] : k"), Some(false));
}

/// Is an offer that is withdrawn in a recorded case seen, with its cycle, also where the sides
/// differ?
#[test]
fn a_withdrawn_offer_is_seen_in_recorded_cases() {
    let body = |y: &str| {
        format!(
            "reg waits; assign cosim_offer_0 = waits & ~v & ~rst;
          always @(posedge clk) waits <= v & ~w & ~rst; assign y = {y};"
        )
    };
    let sides = sides([&body("v"), &body("v ^ w")]);
    let ports: Vec<Port> = [("rst", 0), ("v", 1), ("w", 2)]
        .map(|(name, offset)| Port { name, width: 1, offset })
        .into();
    let case = |rows: &[[u8; 3]]| RecordedInputs {
        case: "case".to_owned(),
        is_raw: false,
        cycles: rows.concat(),
        ..RecordedInputs::default()
    };
    let seen = |rows: &[[u8; 3]]| -> Vec<usize> {
        let found = sides.withdrawn_at(&ports, 3, &[case(rows)]);
        found.into_iter().map(|(_, violation)| violation.cycle).collect()
    };
    let reset = [1, 0, 0];
    assert_eq!(seen(&[reset, [0, 1, 0], [0, 1, 0], [0, 0, 0]]), [3]);
    assert_eq!(seen(&[reset, [0, 1, 0], [0, 1, 1], [0, 0, 0]]), [0; 0]);
}

/// `y` differs once the offer `v` was withdrawn before `w`.
#[test]
fn legal_traffic_keeps_offers() {
    let body = |y: &str| {
        format!(
            "reg waits, broken; wire breaks = waits & ~v & ~rst; assign cosim_offer_0 = breaks;
          always @(posedge clk) if (rst) {{waits, broken}} <= 0;
            else {{waits, broken}} <= {{v & ~w, broken | breaks}};
          assign y = {y};"
        )
    };
    let sides = sides([&body("v"), &body("v ^ broken")]);
    assert_eq!(is_equal(&sides, Contents::Shared, Traffic::Any), Some(false));
    assert_eq!(is_equal(&sides, Contents::Shared, Traffic::Legal), Some(true));
}

/// No assumption of a query is false at once: outputs that always differ do so in each of them.
#[test]
fn outputs_that_always_differ_are_not_proved_equal_by_any_question() {
    let body = |y: &str, next: &str| {
        format!(
            "reg m [0:1]; reg k, waits; assign cosim_offer_0 = waits & ~v & ~rst; assign y = {y};
            always @(posedge clk) begin
              if (rst) begin k <= 0; waits <= 0; end else begin k <= {next}; waits <= v & ~w; end
              if (w) m[a] <= d;
            end"
        )
    };
    let old = body("k ^ m[b]", "v");
    for (new, is_same) in [
        (body("~k ^ m[b]", "v"), false),
        (body("k ^ m[b]", "~v"), false),
        (body("k ^ m[b]", "v & (w | v)"), true),
    ] {
        let sides = sides([&old, &new]);
        for contents in [Contents::Shared, Contents::Exact] {
            for traffic in [Traffic::Any, Traffic::Legal] {
                for aim in [Aim::Proof, Aim::Near { hops: 1 }, Aim::Alone, Aim::Search] {
                    for named_query in sides.named_queries(contents, traffic, aim).unwrap() {
                        let found = sides.run_attempt(&named_query, QUICK_DIFFERENCE).unwrap();
                        let expected = match is_same {
                            true => !matches!(found, Answer::Reached { .. }),
                            false => matches!(found, Answer::Reached { .. }),
                        };
                        assert!(expected, "{new} {contents:?} {traffic:?} {aim:?}: {found:?}");
                    }
                }
            }
        }
        let found = is_equal(&sides, Contents::Shared, Traffic::Legal);
        assert_eq!(found, Some(is_same), "{new}");
    }
}

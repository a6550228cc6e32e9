//! Certificates of small networks, right and wrong.

use super::invariant::Cube;
use super::*;
use cosim_rtl::answers::Answers;

/// A network of registers, given by their next values, and gates. Input nodes come first.
fn network(inputs: usize, latches: &[u32], bad: u32, gates: &[[u32; 2]]) -> Network {
    Network { inputs, latches: latches.to_vec(), bad, gates: gates.to_vec() }
}

/// Five registers in a row. The first keeps its value, and the last one must stay 0. Induction
/// needs five cycles.
fn row() -> Network {
    network(0, &[2, 2, 4, 6, 8], 10, &[])
}

fn checked(network: &Network, evidence: &Evidence) -> Checked {
    let folder = tempfile::TempDir::new().unwrap();
    let solver = Solver::find().expect("scripts/setup.sh installs CaDiCaL");
    let path = folder.path().join("query.cnf");
    check(network, evidence, &mut |cnf| solver.solve(&path, cnf)).unwrap()
}

fn invariant(cubes: &[&[(u32, bool)]]) -> Evidence {
    let cubes = cubes.iter().map(|cube| Cube(cube.to_vec())).collect();
    Evidence::Invariant { invariant: Some(Invariant { cubes }), is_simplified: false }
}

#[test]
fn base_step_and_safety_of_an_invariant_are_checked() {
    let zeros: Vec<Vec<(u32, bool)>> = (0..5).map(|latch| vec![(latch, true)]).collect();
    let zeros: Vec<&[(u32, bool)]> = zeros.iter().map(Vec::as_slice).collect();
    assert_eq!(checked(&row(), &invariant(&zeros)), Ok(Certificate::Invariant { clauses: 5 }));
    let base = [&zeros[..], &[&[(2, false)]]].concat();
    let step = [&zeros[..2], &zeros[3..]].concat();
    for (cubes, flaw) in [
        (&base[..], Flaw::Base),
        (&[&[]], Flaw::Base),
        (&step, Flaw::Step),
        (&zeros[..1], Flaw::Safety),
        (&[], Flaw::Safety),
        // It has no such register.
        (&[&[(5, true)]], Flaw::NoInvariant),
    ] {
        assert_eq!(checked(&row(), &invariant(cubes)), Err(flaw), "{cubes:?}");
    }
}

#[test]
fn a_property_that_fails_at_first_has_no_proof() {
    let fails = network(0, &[2], 3, &[]);
    for evidence in [Evidence::Induction, invariant(&[]), invariant(&[&[(0, true)]])] {
        assert_eq!(checked(&fails, &evidence), Err(Flaw::Base), "{evidence:?}");
    }
    // The input sets the register, and nothing clears it.
    let fails = network(1, &[7], 4, &[[3, 5]]);
    assert_eq!(checked(&fails, &Evidence::Induction), Err(Flaw::Base));
    assert_eq!(checked(&fails, &invariant(&[&[(0, true)]])), Err(Flaw::Step));
}

#[test]
fn an_induction_is_checked_over_a_few_cycles() {
    let two = network(0, &[2, 2], 4, &[]);
    assert_eq!(checked(&two, &Evidence::Induction), Ok(Certificate::Induction { cycles: 2 }));
    let three = network(0, &[2, 2, 4], 6, &[]);
    assert_eq!(checked(&three, &Evidence::Induction), Ok(Certificate::Induction { cycles: 3 }));
    assert_eq!(checked(&row(), &Evidence::Induction), Err(Flaw::Step));
    let missing = Evidence::Invariant { invariant: None, is_simplified: true };
    assert_eq!(checked(&row(), &missing), Err(Flaw::NoInvariant));
    assert_eq!(checked(&two, &missing), Ok(Certificate::Induction { cycles: 2 }));
}

/// Two toggles of one input, the second with an inverted gate. Their difference passes through a
/// row of registers, so that only their equality proves the property.
#[test]
fn an_invariant_of_a_simplified_network_is_completed_with_equal_signals() {
    // Nodes: 1 input; 2, 3 toggles; 4 to 7 row; 8, 9, 10 and 11, 12, 13: exclusive or.
    let exclusive = |left: u32, right: u32, first: u32| {
        [[left, right ^ 1], [left ^ 1, right], [first | 1, first + 3]]
    };
    let gates = [exclusive(2, 4, 16), exclusive(6, 2, 22), exclusive(4, 6, 28)].concat();
    let equal = network(1, &[21, 27, 33, 8, 10, 12], 14, &gates);
    let evidence = |is_simplified| Evidence::Invariant {
        invariant: Some(Invariant::default()),
        is_simplified,
    };
    assert_eq!(checked(&equal, &evidence(false)), Err(Flaw::Safety));
    let found = checked(&equal, &evidence(true));
    assert!(matches!(found, Ok(Certificate::Invariant { clauses: 1.. })), "{found:?}");
    // The second register follows the first one cycle late, so the property fails.
    let apart = network(1, &[21, 4, 33, 8, 10, 12], 14, &gates);
    let found = checked(&apart, &evidence(true));
    assert!(matches!(found, Ok(Certificate::Nothing { .. })), "{found:?}");
}

#[test]
fn an_invariant_is_what_abc_writes() {
    let text = "# Inductive invariant for \"x\"\n.i 3\n.o 1\n.p 2\n.ilb lo1 lo02 lo13\n.ob inv\n\
                -11 1\n1-0 1\n.e\n";
    let merged = "Here are the flop equivalences:\n\
                  Original flop lo69 is proved equivalent to constant.\n\
                  Original flop lo70 is proved equivalent to flop lo01.\n";
    let cubes: [&[(u32, bool)]; 5] = [
        &[(2, true), (13, true)],
        &[(1, true), (13, false)],
        &[(69, true)],
        &[(70, true), (1, false)],
        &[(70, false), (1, true)],
    ];
    let expected = Invariant { cubes: cubes.map(|cube| Cube(cube.to_vec())).to_vec() };
    assert_eq!(Invariant::parse(text).map(|found| found.with_merged(merged)), Some(expected));
    let empty = ".i 0\n.o 1\n.p 0\n.ilb\n.ob inv\n.e\n";
    assert_eq!(Invariant::parse(empty), Some(Invariant::default()));
    for broken in ["", "-11 1\n.e\n", &text[..text.len() - 4], &text.replace("-11", "-1")] {
        assert_eq!(Invariant::parse(broken), None, "{broken}");
    }
    for (from, to) in [("lo02", "pi2"), ("1-0", "1x0"), ("-11 1", "-11 0")] {
        assert_eq!(Invariant::parse(&text.replace(from, to)), None, "{to}");
    }
}

#[test]
fn a_network_is_what_was_written() {
    // A register that takes the input AND the inverted register.
    let file = b"aig 3 1 1 1 1\n6\n4\n\x01\x03";
    let parsed = Network::parse(file).unwrap();
    assert_eq!(parsed, network(1, &[6], 4, &[[5, 2]]));
    assert!(parsed.is_violated_by([&b"1"[..], b"0"]));
    assert!(!parsed.is_violated_by([&b"0"[..], b"0"]) && !parsed.is_violated_by([&b"11"[..]]));
    for end in 0..file.len() {
        assert_eq!(Network::parse(&file[..end]), None, "{end}");
    }
}

#[test]
fn what_is_not_a_network_is_not_certified() {
    let session = YosysSession::from_verilog("module top; endmodule").with_answers(Answers::none());
    let checked = certify(&session, "x", b"aig", &Evidence::Induction).unwrap();
    assert!(matches!(checked, Ok(Certificate::Nothing { .. })), "{checked:?}");
}

#[test]
fn a_proof_counts_only_if_the_second_solver_confirms_it() {
    let holds = network(1, &[2], 2, &[]);
    let with = |solved: fn() -> Solved| {
        check(&holds, &Evidence::Induction, &mut |_| Ok(solved())).unwrap()
    };
    let confirmed = with(|| Solved::Unsatisfiable).unwrap();
    assert_eq!((confirmed.is_there(), confirmed.word("proved")), (true, "proved"));
    let gave_up = with(|| Solved::Unknown("a limit".to_owned())).unwrap();
    assert_eq!((gave_up.is_there(), gave_up.word("proved")), (false, BELIEVED));
    // A solver that lies refutes a proof. It confirms none.
    assert_eq!(with(|| Solved::Satisfiable(Model::default())), Err(Flaw::Step));
    assert_eq!(Certificate::Structure.word("equivalent"), "equivalent");
}

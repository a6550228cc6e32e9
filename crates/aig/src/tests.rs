//! Small networks, written by hand.

use super::*;
use cosim_block::agreement::RecordedInputs;

const INTERFACE: Interface<'static> = Interface {
    reset: Some(("rst", true)),
    filled: false,
    select: "select",
    read: "read_",
    read_at: ["where_", "when_"],
    read_reset: ["cleared_", "reset_"],
    write: ["enable_", "data_", "address_"],
    never: &[],
    proved: &[],
};

/// A register that loads `a`, inverted while `select` and `b` are 1. `output` is the literal of
/// `y`: the register, or the register gated by `c`.
fn network(output: &str) -> Aig {
    let text = format!(
        "aag 11 5 1 1 5\n2\n4\n6\n8\n10\n12 22 12\n{output}\n14 6 10\n16 14 4\n18 15 5\n20 17 19\n22 20 3\n\
         i0 rst\ni1 a\ni2 b\ni3 c\ni4 select\no0 y\nc\nby hand\n"
    );
    Aig::parse(&text).unwrap()
}

#[test]
fn a_mutation_that_reaches_no_output_is_the_same_network() {
    assert_eq!(network("0").query(&INTERFACE, 1), EquivalenceQuery::Same);
    assert_eq!(network("12").query(&INTERFACE, 0), EquivalenceQuery::Same);
}

#[test]
fn a_mutation_that_reaches_an_output_is_a_query() {
    let EquivalenceQuery::Open { file, inputs, .. } = network("12").query(&INTERFACE, 1) else {
        panic!("an output differs");
    };
    assert!(file.starts_with(b"aig "));
    assert_eq!(&inputs[..3], ["rst", "a", "b"]);
}

/// The mutation shows only where `a` is 1; the invariant is that `a` never is.
#[test]
fn what_is_proved_of_the_rtl_is_given() {
    // Inputs: rst, a, select; y = a & select; never_0 = a.
    let text = "aag 4 3 0 2 1\n2\n4\n6\n8\n4\n8 6 4\ni0 rst\ni1 a\ni2 select\no0 y\no1 never_0\n";
    let aig = Aig::parse(text).unwrap();
    let interface = Interface { never: &["never_"], ..INTERFACE };
    assert_ne!(aig.query(&interface, 1), EquivalenceQuery::Same, "nothing is proved");
    let proved = ["never_0".to_owned()];
    let given = Interface { proved: &proved, ..interface };
    assert_eq!(aig.query(&given, 1), EquivalenceQuery::Same);
}

#[test]
fn what_is_not_written_does_not_matter() {
    let text =
        "aag 4 3 0 2 1\n2\n4\n6\n0\n8\n8 2 6\ni0 a\ni1 rst\ni2 select\no0 enable_m\no1 data_m\n";
    let aig = Aig::parse(text).unwrap();
    assert_eq!(aig.query(&INTERFACE, 1), EquivalenceQuery::Same);
    let text = text.replace("o1 data_m", "o1 data_n");
    let aig = Aig::parse(&text).unwrap();
    assert_ne!(aig.query(&INTERFACE, 1), EquivalenceQuery::Same);
}

/// Whether any inputs make an output of a network without registers 1.
fn can_be_one(aig: &Aig, output: &str) -> bool {
    let (literal, _) = aig.outputs.iter().find(|(_, name)| name == output).unwrap();
    (0..1_u32 << aig.inputs.len()).any(|inputs| {
        let bits = aig.inputs.iter().enumerate();
        let mut known: HashMap<u32, bool> =
            bits.map(|(place, (node, _))| (*node, inputs >> place & 1 == 1)).collect();
        known.insert(0, false);
        aig.propagate(&mut known);
        known_of(&known, *literal).unwrap()
    })
}

/// `bad` is 1 if two reads of a memory differ. Their addresses are inputs, of one and of two bits.
#[test]
fn reads_at_equal_addresses_are_equal_if_they_are_of_one_memory() {
    // Inputs: rst, the reads, a[0], b[0], b[1]; gates: the reads differ; a and b are equal.
    let text = "aag 15 6 0 5 9\n2\n4\n6\n8\n10\n12\nBAD\n8\n0\n10\n12\n\
                14 4 7\n16 5 6\n18 15 17\n20 8 11\n22 9 10\n24 21 23\n26 24 13\n28 19 26\n30 28 1\n\
                i0 rst\ni1 read_1_of_1\ni2 read_2_of_1\ni3 a\ni4 b[0]\ni5 b[1]\n\
                o0 bad\no1 where_1_of_1[0]\no2 where_1_of_1[1]\no3 where_2_of_1[0]\no4 where_2_of_1[1]\nc\n";
    let is_never = |text: &str| {
        let aig = Aig::parse(text).unwrap();
        assert!(can_be_one(&aig, "bad"), "without it reads return anything");
        !can_be_one(&aig.with_equal_reads(&INTERFACE), "bad")
    };
    // They differ although the addresses are equal; they differ.
    let [given, alone] = ["30", "19"].map(|bad| text.replace("BAD", bad));
    assert!(is_never(&given));
    assert!(!is_never(&alone));
    assert!(!is_never(
        &given.replace("read_2_of_1", "read_2_of_2").replace("where_2_of_1", "where_2_of_2")
    ));
    assert!(!is_never(&given.replace("_of_1", "")), "it is not followed");
}

/// The address of the second read is the data of the first one, and that of the third is one bit of
/// the second. What is read at equal addresses is equal in each order of the ports.
#[test]
fn reads_may_give_addresses_of_other_reads() {
    // Inputs: rst, the reads of two bits each, a[1:0]; bad: the first and the third differ in their
    // low bits, and a is {0, the low bit of the second read}.
    let text = "aag 19 9 0 7 10\n2\n4\n6\n8\n10\n12\n14\n16\n18\n38\n16\n18\n4\n6\n8\n0\n\
                20 4 13\n22 5 12\n24 21 23\n26 16 9\n28 17 8\n30 27 29\n32 30 19\n34 25 32\n36 34 1\n38 36 1\n\
                i0 rst\ni1 read_X_of_1[0]\ni2 read_X_of_1[1]\ni3 read_Y_of_1[0]\ni4 read_Y_of_1[1]\n\
                i5 read_Z_of_1[0]\ni6 read_Z_of_1[1]\ni7 a[0]\ni8 a[1]\no0 bad\no1 where_X_of_1[0]\no2 where_X_of_1[1]\n\
                o3 where_Y_of_1[0]\no4 where_Y_of_1[1]\no5 where_Z_of_1[0]\no6 where_Z_of_1[1]\nc\n";
    for [first, second, third] in
        [["1", "2", "3"], ["3", "2", "1"], ["2", "3", "1"], ["9", "10", "11"]]
    {
        let text = text.replace('X', first).replace('Y', second).replace('Z', third);
        let aig = Aig::parse(&text).unwrap();
        assert!(can_be_one(&aig, "bad"));
        assert!(!can_be_one(&aig.with_equal_reads(&INTERFACE), "bad"));
    }
}

/// `bad` is 1 if read data differs from that of the cycle before.
#[test]
fn a_memory_that_keeps_what_it_gives_is_checked_with_its_places_and_writes() {
    // Inputs: rst, read_1, place, write; a latch with what was read; bad = read_1 ^ latch.
    let text = "aag 8 4 1 3 3\n2\n4\n6\n8\n10 4\n16\n6\n8\n12 4 10\n14 5 11\n16 13 15\n\
                i0 rst\ni1 read_1\ni2 place\ni3 write\no0 bad\no1 where_1\no2 enable_2\nc\n";
    let network = Aig::parse(text).unwrap();
    let inputs = |reads| match network.property(&INTERFACE, "bad", reads).unwrap() {
        EquivalenceQuery::Open { inputs, .. } => inputs,
        EquivalenceQuery::Same => Vec::new(),
    };
    assert_eq!(inputs(Reads::Anything), ["read_1"]);
    // The query depends on the address, on writes and on the reset cycle.
    assert_eq!(inputs(Reads::Kept), ["read_1", "place", "write"]);
    assert_eq!(network.property(&INTERFACE, "no such output", Reads::Kept), None);
    assert_eq!(network.property(&INTERFACE, "bad", Reads::Word), None, "no word can be followed");
}

#[test]
fn what_is_no_network_is_none() {
    for text in
        ["", "aig 0 0 0 0 0", "aag 1 1 0 0 0", "aag 0 0 0 0 0 1", "aag 2 0 0 0 2\n2 4 4\n4 2 2\n"]
    {
        assert_eq!(Aig::parse(text), None, "{text}");
    }
}

/// A register that takes `a`, one without an initial value, and the data of a memory.
#[test]
fn outputs_are_evaluated_on_recorded_cycles() {
    let text = "aag 6 2 2 4 1\n2\n4\n6 3\n8 8 8\n6\n8\n12\n5\n12 4 9\n\
                i0 a[1]\ni1 read_1\no0 bad_0\no1 bad_1\no2 bad_2\no3 other\nc\n";
    let aig = Aig::parse(text).unwrap();
    let port = verilated::Port { name: "a", width: 2, offset: 1 };
    let case = |name: &str, values: &[u8]| RecordedInputs {
        case: name.to_owned(),
        is_raw: false,
        cycles: values.iter().flat_map(|value| [0xff, *value]).collect(),
        ..RecordedInputs::default()
    };
    let found = |cases: &[RecordedInputs]| aig.violations(&["bad_"], &[port], 2, cases);
    let expected = Violation { case: "second".to_owned(), cycle: 2 };
    let expected = BTreeMap::from([("bad_0".to_owned(), expected)]);
    assert_eq!(found(&[case("first", &[3, 2]), case("second", &[2, 1, 3])]), expected);
    assert_eq!(found(&[case("first", &[2, 3, 2]), case("second", &[1])]), BTreeMap::new());
    // More cases than are simulated at once.
    let mut many = vec![case("first", &[2]); 70];
    many.push(case("second", &[2, 1, 3]));
    assert_eq!(found(&many), expected);
}

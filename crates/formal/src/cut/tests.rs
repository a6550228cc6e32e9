//! Cutting memories, and netlists that cannot be checked.

use super::*;

const MEMORY: &str = "\
module \\top
  wire input 1 \\clk
  wire width 8 output 2 \\y
  wire width 4 \\at
  attribute \\src \"a.v:1.1-1.2\"
  cell $memwr_v2 $w
    parameter \\CLK_ENABLE 1'1
    parameter \\CLK_POLARITY 1'1
    connect \\ADDR \\at
    connect \\CLK \\clk
    connect \\DATA 8'00000001
    connect \\EN 8'11111111
  end
  cell $memrd $r
    parameter \\CLK_ENABLE 0
    connect \\ADDR 4'0001
    connect \\CLK 1'x
    connect \\DATA \\y
    connect \\EN 1'x
  end
end
";

#[test]
fn a_memory_that_is_cut_out_leaves_ports() {
    let text = cut(MEMORY, "clk").unwrap().text;
    for part in [
        "  wire width 4 output 100012 \\cosim_address_1\n",
        "  wire width 8 input 100020 \\cosim_read_2\n",
        "  connect \\y \\cosim_read_2\n",
        "  connect \\cosim_where_2 4'0001\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("cell ") && !text.contains("attribute "), "{text}");
}

/// [`MEMORY`] with a declared memory of this many words.
fn of_words(words: u32) -> String {
    let with = |bits: &str| format!("parameter \\MEMID \"\\\\m\"\n    parameter \\ABITS {bits}\n");
    MEMORY
        .replace(
            "  wire width 4 \\at\n",
            &format!("  wire width 4 \\at\n  memory width 8 size {words} \\m\n"),
        )
        .replace(
            "    parameter \\CLK_ENABLE",
            &format!("    {}    parameter \\CLK_ENABLE", with("4")),
        )
}

#[test]
fn a_memory_of_which_a_word_can_be_followed_has_its_number_at_its_ports() {
    let followed =
        |netlist: &str| cut(netlist, "clk").unwrap().text.contains("\\cosim_read_2_of_1\n");
    let good = of_words(16);
    assert!(followed(&good), "{good}");
    assert!(followed(&of_words(32)), "not all addresses are used");
    for (bad, why) in [
        (of_words(12), "not every address is one of a word"),
        (of_words(8), "nor here"),
        (good.replace("size 16", "size 16 offset 1"), "the first address is not 0"),
        (good.replace("\\MEMID \"\\\\m\"", "\\MEMID \"\\\\n\""), "it is another memory"),
    ] {
        assert!(!followed(&bad), "{why}: {bad}");
    }
    let write = &good[good.find("  cell $memwr").unwrap()..good.find("  cell $memrd").unwrap()];
    let twice = good.replacen(write, &write.repeat(2), 1);
    assert!(cut(&twice, "clk").unwrap().text.contains("cosim_read_3_of_1\n"));
    let often = good.replacen(write, &write.repeat(3), 1);
    assert!(cut(&often, "clk").unwrap().text.contains("cosim_read_4\n"));
    let clocked = good
        .replace("CLK_ENABLE 0", "CLK_ENABLE 1'1")
        .replace("CLK 1'x", "CLK \\clk\n    parameter \\CLK_POLARITY 1'1");
    assert!(!followed(&clocked));
}

#[test]
fn controls_of_a_read_without_a_clock_clocks_and_what_memories_begin_with_are_fixed() {
    let ports = |netlist: &str| {
        let ports: Vec<String> =
            fixed(netlist).into_iter().map(|(_, c, p)| format!("{c}.{p}")).collect();
        ports.join(" ")
    };
    assert_eq!(ports(MEMORY), "$r.CLK $r.EN $w.CLK");
    assert_eq!(ports(&MEMORY.replace("CLK_ENABLE 0", "CLK_ENABLE 1'1")), "$r.CLK $w.CLK");
    let initial = MEMORY.replace("$memwr_v2", "$meminit_v2");
    assert_eq!(ports(&initial), "$r.CLK $r.EN $w.ADDR $w.CLK $w.DATA $w.EN");
}

const CLOCKS: &str = "\
module \\sub
  wire input 1 \\c
  cell $dff $d
    parameter \\CLK_POLARITY 1'1
    connect \\CLK \\c
    connect \\D \\d
    connect \\Q \\q
  end
end
module \\top
  wire input 1 \\clk
  cell $and $a
    connect \\A \\clk
    connect \\B \\b
    connect \\Y \\y
  end
  cell $div $q
    parameter \\B_SIGNED 0
    connect \\A \\y
    connect \\B \\b
    connect \\Y \\z
  end
  cell \\sub \\s
    connect \\c \\k
    connect \\d \\y
  end
  connect \\k \\clk
end
";

#[test]
fn a_mutation_at_a_clock_or_at_a_divisor_is_not_judged_and_others_are() {
    let ports: Vec<PortOf<'_>> = unjudged(CLOCKS).into_keys().collect();
    assert_eq!(ports, [("sub", "$d", "CLK"), ("top", "$q", "B"), ("top", "s", "c")]);
}

/// `k` clocks `sub` through an inverter; a register divides it for another instance.
const DERIVED_CLOCKS: &str = "\
module \\sub
  wire input 1 \\c
  wire output 2 \\half
  cell $dff $d
    parameter \\CLK_POLARITY 1'1
    connect \\CLK \\c
    connect \\D \\d
    connect \\Q \\half
  end
  cell $not $n
    connect \\A \\half
    connect \\Y \\d
  end
end
module \\top
  wire input 1 \\clk
  wire input 2 \\e
  cell $not $i
    connect \\A \\clk
    connect \\Y \\k
  end
  cell \\sub \\s
    connect \\c \\k
    connect \\half \\h
  end
  cell $and $gate
    connect \\A \\h
    connect \\B \\e
    connect \\Y \\gated
  end
  cell $dff $f
    parameter \\CLK_POLARITY 1'1
    connect \\CLK \\gated
    connect \\D \\e
    connect \\Q \\q
  end
end
";

#[test]
fn no_mutation_is_made_where_a_clock_passes_and_others_are() {
    let of = |netlist| fixed(netlist).into_iter().collect::<Vec<_>>();
    assert_eq!(of(CLOCKS), [("sub", "$d", "CLK"), ("top", "s", "c")]);
    // The enable of a gate and what is read as data stay.
    assert_eq!(
        of(DERIVED_CLOCKS),
        [
            ("sub", "$d", "CLK"),
            ("top", "$f", "CLK"),
            ("top", "$gate", "Y"),
            ("top", "$i", "A"),
            ("top", "$i", "Y"),
            ("top", "s", "c"),
        ]
    );
    let direct = DERIVED_CLOCKS.replace("CLK \\gated", "CLK \\h");
    let ports = of(&direct);
    for port in [("sub", "$d", "Q"), ("top", "s", "half")] {
        assert!(ports.contains(&port), "{ports:?}");
    }
    for port in [("sub", "$d", "D"), ("sub", "$n", "A"), ("top", "$gate", "Y"), ("top", "$f", "Q")]
    {
        assert!(!ports.contains(&port), "{ports:?}");
    }
}

#[test]
fn a_division_by_a_number_is_judged_and_one_that_may_be_by_zero_is_not() {
    for (divisor, is_judged) in [
        ("3", true),
        ("4'0100", true),
        ("4'1000", true),
        ("4'0000", false),
        ("-3", false),
        ("0", false),
        ("\\b", false),
        ("{ 2'01 \\b }", false),
    ] {
        let netlist = CLOCKS
            .replace("connect \\B \\b\n    connect \\Y \\z", &format!("connect \\B {divisor}"));
        assert_eq!(cut(&netlist, "c").is_ok(), is_judged, "{divisor}");
        let netlist = netlist.replace("B_SIGNED 0", "B_SIGNED 1");
        assert_eq!(cut(&netlist, "c").is_ok(), is_judged && divisor != "4'1000", "{divisor}");
    }
}

#[test]
fn another_clock_or_edge_and_latches_are_not_judged() {
    assert!(cut(MEMORY, "other").is_err());
    assert!(cut(&MEMORY.replace("POLARITY 1'1", "POLARITY 1'0"), "clk").is_err());
    assert!(cut(&MEMORY.replace("$memrd", "$dlatch"), "clk").is_err());
}

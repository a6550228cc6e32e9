//! Interfaces of standard protocols: `cosim new` writes agents for them, and their default traffic
//! is legal and reaches edges.

use crate::common::{assert_code, cargo_outside, code, program_outside, project, run_in, text};
use crate::outside::Outside;
use std::fs;
use tempfile::TempDir;

const RTL: &str = include_str!("data/interfaces.sv");

/// Runs the program of the crate with arguments, and returns its output.
fn prints(crate_folder: &std::path::Path, expected: i32, arguments: &[&str]) -> String {
    let mut program = program_outside("interfaces_block");
    let output = program.args(arguments).current_dir(crate_folder).output().unwrap();
    assert_eq!(code(&output), expected, "{arguments:?}: {}", text(&output));
    text(&output)
}

/// Does a module with all protocols on both sides get agents for all of them, is their traffic
/// legal, and does it reach the last word, the longest bursts and a thousand transfers?
#[test]
fn interfaces_of_all_protocols_get_agents() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("interfaces.sv"), RTL).unwrap();
    let new = ["new", "interfaces_block", "--top", "interfaces", "interfaces.sv"];
    let output = run_in(folder.path(), &new);
    assert_code(&output, 0);
    let printed = text(&output);
    for line in [
        "interface: AXI4 subordinate S_AXI_*,",
        "interface: AXI4 manager M_AXI_*,",
        "interface: AXI4-Lite subordinate s_axil_wr_*, reads s_axil_rd_*,",
        "interface: AXI4-Lite manager m_axil_*,",
        "interface: AXI4-Stream receiver s_axis_*,",
        "interface: AXI4-Stream transmitter m_axis_*,",
        "interface: APB subordinate psel,",
        "interface: APB manager m_apb_*,",
        "interface: Wishbone subordinate wb_*,",
        "interface: Wishbone manager wbm_*,",
        "interface: memory port or register bus subordinate cs,",
        "interface: memory port or register bus subordinate *a,",
        "interface: memory port or register bus subordinate *b,",
        "interface: memory port or register bus manager ram_*,",
        "inputs that nothing drives, held at 0 in src/lib.rs: S_AXI_WUSER",
        "channels: source cmd (cmd_valid, cmd_ready), sink rsp (rsp_valid, rsp_ready);",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let block = folder.path().join("interfaces_block");
    let library = block.join("src/lib.rs");
    let source = fs::read_to_string(&library).unwrap();
    assert!(source.contains("tie S_AXI_WUSER = 0;"), "{source}");
    assert!(source.contains("agent mode: InputDriver on"), "{source}");
    let readme = fs::read_to_string(block.join("README.md")).unwrap();
    assert!(readme.contains("`S_AXI_WUSER` is always 0"), "{readme}");
    assert!(readme.contains("`mode` has random values"), "{readme}");
    // One output belongs to no interface.
    let model = block.join("src/golden.rs");
    let source = fs::read_to_string(&model).unwrap();
    let written = source
        .replace("    const IS_WRITTEN: bool = false;\n", "")
        .replace("fn outputs(&self, _inputs", "fn outputs(&self, inputs")
        .replace("M_AXI_WUSER = rtl::Bits1::new(0);", "M_AXI_WUSER = inputs.S_AXI_WUSER;");
    assert_ne!(written, source);
    fs::write(&model, written).unwrap();
    let built = cargo_outside(&block).arg("build").output().unwrap();
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    let printed = prints(&block, 0, &["run", "--cases", "20", "--out", "good"]);
    assert!(printed.contains("PASS"), "{printed}");
    let tied = "inputs that never change (`tie`): S_AXI_WUSER = 0";
    assert!(printed.contains(tied), "{printed}");
    for (name, from, to) in [
        ("last", "S_AXI_AWADDR, S", "S_AXI_AWADDR ^ (&S_AXI_AWADDR[15:2] ? 16'h40 : 16'h0), S"),
        ("longest", "S_AXI_AWADDR, S", "S_AXI_AWADDR ^ (&S_AXI_AWLEN ? 16'h40 : 16'h0), S"),
        ("late", "S_AXI_AWADDR, S", "S_AXI_AWADDR ^ (transfers > 1000 ? 16'h40 : 16'h0), S"),
    ] {
        let counter = "    int transfers = 0;\n    always_ff @(posedge clk) \
                       if (S_AXI_BVALID && S_AXI_BREADY) transfers <= transfers + 1;\nendmodule";
        let bad = RTL.replacen(from, to, 1).replace("endmodule", counter);
        assert_ne!(bad, RTL);
        fs::create_dir(block.join(name)).unwrap();
        fs::write(block.join(name).join("interfaces.sv"), bad).unwrap();
        let run = ["run", "--rtl", name, "--cases", "60", "--max-failures", "1", "--no-shrink"];
        let printed = prints(&block, 1, &[&run[..], &["--out", &format!("bad-{name}")]].concat());
        assert!(printed.contains("check-"), "{name}: {printed}");
    }
}

/// Do interfaces of a module with several clocks get agents at their clocks, with checks that fire?
#[test]
fn interfaces_of_several_clocks_get_agents() {
    let folder = TempDir::new().unwrap();
    let rtl = include_str!("data/crossing.sv");
    fs::write(folder.path().join("crossing.sv"), rtl).unwrap();
    let output = run_in(folder.path(), &["new", "crossing_block", "--top", "crossing", "."]);
    assert_code(&output, 0);
    let block = folder.path().join("crossing_block");
    let library = block.join("src/lib.rs");
    let source = fs::read_to_string(&library).unwrap();
    for line in [
        "agent s_axis: StreamSource on S_AXIS, at s_axis_aclk;",
        "agent m_axis: StreamSink on M_AXIS, at m_axis_aclk;",
        "agent m_apb: ApbManager on M_APB, at m_axis_aclk;",
    ] {
        assert!(source.contains(line), "{line}: {source}");
    }
    fs::write(&library, source.replace("Untimed<false>", "Untimed")).unwrap();
    let built = cargo_outside(&block).arg("build").output().unwrap();
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    let run = |expected, rtl: &str| {
        let out = format!("out-{}", rtl.len());
        let run = ["run", "--cases", "20", "--max-failures", "1", "--rtl", rtl, "--out", &out];
        let mut program = program_outside("crossing_block");
        let output = program.args(run).current_dir(&block).output().unwrap();
        assert_code(&output, expected);
        text(&output)
    };
    assert!(run(0, "built-in").contains("PASS"));
    for (name, check, from, to) in [
        (
            "stable",
            "check-axis-payload-held",
            "} = items[rbin[2:0]]",
            "} = items[rbin[2:0]] ^ 17'(wbin)",
        ),
        ("read", "check-read-data", "= words[", "= m_apb_psel && wbin == 3 ? '0 : words["),
    ] {
        fs::create_dir(block.join(name)).unwrap();
        let bad = rtl.replace(from, to);
        assert_ne!(bad, rtl);
        fs::write(block.join(name).join("crossing.sv"), bad).unwrap();
        let printed = run(1, name);
        assert!(printed.contains(check), "{name}: {printed}");
    }
}

/// Do the guides show lines of `examples/uart`, which builds and passes, and is one found when
/// its RTL is broken?
#[test]
fn the_guides_show_an_example_that_passes() {
    for (page, file) in [("own-agent", "src/receiver.rs"), ("register-bus", "src/timer.rs")] {
        let path = project().join("docs/how-to").join(page).with_extension("md");
        let shown = fs::read_to_string(path).unwrap();
        let file = fs::read_to_string(project().join("examples/uart").join(file)).unwrap();
        let blocks: Vec<&str> = shown.split("```").skip(1).step_by(2).collect();
        assert!(!blocks.is_empty(), "{page} shows no code");
        for line in blocks.iter().flat_map(|block| block.lines().skip(1)).map(str::trim) {
            assert!(line.starts_with("// ") || file.contains(line), "{page} differs: {line}");
        }
    }
    let outside = Outside::copy_of("uart");
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", text(&built));
    assert!(!text(&built).contains("warning"), "{}", text(&built));
    for (block, file, from, to) in [
        ("uart_rx", "UartRx.sv", "index == 9", "index == 8"),
        ("timer", "Timer.sv", "count >= limit ? 0", "count > limit ? 0"),
    ] {
        let run = ["run", "--block", block, "--cases", "10", "--out"];
        let printed = outside.prints(0, &[&run[..], &[&format!("good-{block}")]].concat());
        assert!(printed.contains("PASS"), "{printed}");
        let rtl = fs::read_to_string(outside.path().join("rtl").join(file)).unwrap();
        let bad = rtl.replacen(from, to, 1);
        assert_ne!(bad, rtl);
        let folder = format!("bad-{block}");
        fs::create_dir(outside.path().join(&folder)).unwrap();
        fs::write(outside.path().join(&folder).join(file), bad).unwrap();
        let out = format!("out-{block}");
        outside.prints(1, &[&run[..], &[&out, "--rtl", &folder, "--max-failures", "1"]].concat());
    }
}

//! The pages of the agents in the book: their examples are compiled here, and their tables are
//! generated from the code.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// The folder to which `scripts/book-pages` has the generated parts written.
const FOLDER: &str = "COSIM_PAGES";

/// An example of a page, with the pins of its RTL. Its code is that of an external crate.
macro_rules! example {
    ($name:ident $block:ident { $($inputs:tt)* } { $($outputs:tt)* }) => {
        mod $name {
            #![allow(dead_code)]

            mod cosim_core {
                pub(super) use crate as agents;
                pub(super) use cosim_harness::harness;
                #[allow(unused_imports)]
                pub(super) use verilated;
            }

            mod rtl {
                use cosim_harness::harness::{BuiltInRtl, LinkedRtl};

                crate::testing::pins!(Inputs { $($inputs)* });
                crate::testing::pins!(Outputs { $($outputs)* });

                pub const RTL: LinkedRtl<Inputs, Outputs> = LinkedRtl {
                    rtl: BuiltInRtl {
                        top: "example",
                        clock: "clk",
                        mask_parameter: None,
                        sources: &[],
                        data: &[],
                        roots: &[],
                        defines: &[],
                        options: &[],
                        embedded: &[],
                        wrapper: None,
                        assertions: None,
                    },
                    model: |_| None,
                };
            }

            include!(concat!("pages/", stringify!($name), ".rs"));

            /// The default scenarios draw legal traffic.
            #[test]
            fn scenarios_draw_legal_traffic() {
                use cosim_harness::harness::{Block, Traffic as _, Weights as _};
                fn check<B: Block>() {
                    let parameters = cosim_harness::harness::Parameters::of::<B>(0);
                    for scenario in B::scenarios() {
                        let mut rng = crate::testing::rng(1);
                        let traffic = scenario.weights.traffic(&parameters, 50, &mut rng);
                        assert_eq!(traffic.check(), Ok(()), "{}", scenario.name);
                    }
                }
                check::<$block>();
            }
        }
    };
}

/// The code of a page.
struct Page {
    name: &'static str,
    example: &'static str,
    ports: &'static [crate::ports::PortRule],
    /// Structs of weights, with their sources.
    weights: &'static [(&'static str, &'static str)],
    /// What a side can break, and the source of the monitor.
    checks: &'static [(&'static str, &'static [&'static str])],
    monitor: &'static str,
}

/// The documentation above a line, in one line.
fn documentation(lines: &[&str], at: usize) -> String {
    let above = lines[..at].iter().rev().map(|line| line.trim());
    let own: Vec<&str> = above.map_while(|line| line.strip_prefix("/// ")).collect();
    let text: Vec<&str> = own.into_iter().rev().collect();
    text.join(" ").replace('|', "\\|")
}

/// The weights of a struct: name, default, meaning.
fn weights(name: &str, source: &str) -> String {
    let begin = source.find(&format!("pub struct {name} {{")).expect(name);
    let body = source[begin..].split_once('\n').unwrap().1;
    let body = &body[..body.find("\n    }").unwrap()];
    let lines: Vec<&str> = body.lines().collect();
    let mut table = String::from("| weight | default | meaning |\n|---|---|---|\n");
    for (at, line) in lines.iter().enumerate() {
        let Some((name, value)) = line.trim().split_once(": ") else { continue };
        let Some((_, value)) = value.split_once(" = ") else { continue };
        if line.trim().starts_with("///") {
            continue;
        }
        let value = value.trim_end_matches(',').replace("::default()", "");
        writeln!(table, "| `{name}` | `{value}` | {} |", documentation(&lines, at)).unwrap();
    }
    table
}

/// The checks of a list, each with the clause in the documentation of the monitor.
fn checks(names: &[&str], source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let clause = |name: &str| -> String {
        let is_constant = |line: &&str| line.trim_end().ends_with(&format!("= \"{name}\";"));
        if let Some(at) = lines.iter().position(is_constant) {
            return documentation(&lines, at);
        }
        // A rule of each channel is an item of a list.
        let is_item = |line: &&str| {
            let rule = line.trim().strip_prefix("/// - `").and_then(|line| line.split_once("`: "));
            rule.is_some_and(|(rule, _)| name.ends_with(rule))
        };
        let at = lines.iter().position(is_item).unwrap_or_else(|| panic!("{name} has no clause"));
        let more = lines[at + 1..].iter().map_while(|line| line.trim().strip_prefix("///   "));
        let first = lines[at].trim().split_once("`: ").unwrap().1;
        [first].into_iter().chain(more).collect::<Vec<_>>().join(" ")
    };
    let mut table = String::from("| check | rule |\n|---|---|\n");
    for name in names {
        writeln!(table, "| `{name}` | {} |", clause(name)).unwrap();
    }
    table
}

impl Page {
    fn ports(&self) -> String {
        let mut table =
            String::from("| port | driven by | needed | meaning |\n|---|---|---|---|\n");
        for rule in self.ports {
            let side = if rule.is_of_manager { "manager" } else { "subordinate" };
            let is_stream = self.name == "stream";
            let side = match (is_stream, rule.is_of_manager) {
                (true, true) => "transmitter",
                (true, false) => "receiver",
                _ => side,
            };
            let names: Vec<String> = rule.names.iter().map(|name| format!("`{name}`")).collect();
            let needed = if rule.is_required { "yes" } else { "no" };
            writeln!(table, "| {} | {side} | {needed} | {} |", names.join(", "), rule.about)
                .unwrap();
        }
        table
    }

    /// The generated part.
    fn text(&self) -> String {
        let mut text = String::new();
        if !self.ports.is_empty() {
            write!(text, "## Ports\n\n{}\n", self.ports()).unwrap();
        }
        text.push_str("## Weights\n");
        for (name, source) in self.weights {
            write!(text, "\n`{name}`:\n\n{}", weights(name, source)).unwrap();
        }
        for (title, names) in self.checks {
            write!(text, "\n## {title}\n\n{}", checks(names, self.monitor)).unwrap();
        }
        write!(text, "\n## Example\n\n```rust,ignore\n{}```\n", self.example).unwrap();
        text
    }
}

example!(axi4 Ram {
    rst: 1 u8, s_axi_awvalid: 1 u8, s_axi_awaddr: 16 u16, s_axi_awid: 4 u8, s_axi_awlen: 8 u8,
    s_axi_awsize: 3 u8, s_axi_awburst: 2 u8, s_axi_wvalid: 1 u8, s_axi_wdata: 32 u32,
    s_axi_wstrb: 4 u8, s_axi_wlast: 1 u8, s_axi_bready: 1 u8, s_axi_arvalid: 1 u8,
    s_axi_araddr: 16 u16, s_axi_arid: 4 u8, s_axi_arlen: 8 u8, s_axi_arsize: 3 u8,
    s_axi_arburst: 2 u8, s_axi_rready: 1 u8,
} {
    s_axi_awready: 1 u8, s_axi_wready: 1 u8, s_axi_bvalid: 1 u8, s_axi_bid: 4 u8,
    s_axi_arready: 1 u8, s_axi_rvalid: 1 u8, s_axi_rid: 4 u8, s_axi_rdata: 32 u32,
    s_axi_rlast: 1 u8,
});
example!(axi_lite Ram {
    rst: 1 u8, s_axil_awvalid: 1 u8, s_axil_awaddr: 12 u16, s_axil_wvalid: 1 u8,
    s_axil_wdata: 32 u32, s_axil_bready: 1 u8, s_axil_arvalid: 1 u8, s_axil_araddr: 12 u16,
    s_axil_rready: 1 u8,
} {
    s_axil_awready: 1 u8, s_axil_wready: 1 u8, s_axil_bvalid: 1 u8, s_axil_arready: 1 u8,
    s_axil_rvalid: 1 u8, s_axil_rdata: 32 u32,
});
example!(apb Ram {
    rst: 1 u8, s_apb_psel: 1 u8, s_apb_penable: 1 u8, s_apb_pwrite: 1 u8, s_apb_paddr: 12 u16,
    s_apb_pwdata: 32 u32,
} { s_apb_prdata: 32 u32, s_apb_pready: 1 u8, });
example!(wishbone Ram {
    rst: 1 u8, wb_cyc_i: 1 u8, wb_stb_i: 1 u8, wb_we_i: 1 u8, wb_adr_i: 12 u16, wb_dat_i: 32 u32,
} { wb_ack_o: 1 u8, wb_dat_o: 32 u32, });
example!(memory_port Ram {
    rst: 1 u8, en: 1 u8, we: 1 u8, addr: 8 u8, wdata: 16 u16,
} { rdata: 16 u16, });
example!(stream Buffer {
    rst: 1 u8, s_axis_tvalid: 1 u8, s_axis_tdata: 16 u16, m_axis_tready: 1 u8,
} { s_axis_tready: 1 u8, m_axis_tvalid: 1 u8, m_axis_tdata: 16 u16, });
example!(interrupt Controller { rst: 1 u8, irq: 4 u8, } { irq_ack: 4 u8, });
example!(handshake Queue {
    rst: 1 u8, mode: 2 u8, cmd_valid: 1 u8, cmd_count: 8 u8, pop: 1 u8,
} { cmd_ready: 1 u8, empty: 1 u8, dout: 8 u8, });

macro_rules! page {
    ($name:ident, [$($ports:path)?], [$(($weights:literal, $source:literal)),*],
        [$(($title:literal, $checks:expr)),*], $monitor:literal) => {
        Page {
            name: stringify!($name),
            example: include_str!(concat!("pages/", stringify!($name), ".rs")),
            ports: { let _ports: &[crate::ports::PortRule] = &[]; $( let _ports = $ports; )? _ports },
            weights: &[$(($weights, include_str!($source))),*],
            checks: &[$(($title, $checks)),*],
            monitor: include_str!($monitor),
        }
    };
}

use rtl_of_stream::{Inputs, Outputs};

mod rtl_of_stream {
    crate::testing::pins!(Inputs { a: 1 u8, });
    crate::testing::pins!(Outputs { b: 1 u8, });
}

type Axi4 = crate::axi4::Axi4Monitor<Inputs, Outputs>;
type AxiLite = crate::axi_lite::AxiLiteMonitor<Inputs, Outputs>;
type Apb = crate::apb::ApbMonitor<Inputs, Outputs>;
type Wishbone = crate::wishbone::WishboneMonitor<Inputs, Outputs>;
type MemoryPort = crate::memory_port::MemoryPortMonitor<Inputs, Outputs>;
type Stream = crate::stream::StreamMonitor<Inputs, Outputs>;
type Interrupt = crate::interrupt::InterruptMonitor<Inputs, Outputs>;

/// Does each page have a place for its tables, and each weight and check a meaning?
#[test]
fn pages_have_their_tables() {
    let pages = [
        page!(
            axi4,
            [crate::axi4::PORTS],
            [
                ("Axi4Weights", "axi4/traffic.rs"),
                ("Axi4SubordinateWeights", "axi4/subordinate.rs"),
                ("AddressWeights", "channel.rs"),
                ("ReadyWeights", "channel.rs")
            ],
            [
                ("Checks of a manager", Axi4::MANAGER_CHECKS),
                ("Checks of a subordinate", Axi4::SUBORDINATE_CHECKS)
            ],
            "axi4/monitor.rs"
        ),
        page!(
            axi_lite,
            [crate::axi_lite::PORTS],
            [
                ("AxiLiteWeights", "axi_lite.rs"),
                ("Axi4SubordinateWeights", "axi4/subordinate.rs"),
                ("AddressWeights", "channel.rs"),
                ("ReadyWeights", "channel.rs")
            ],
            [
                ("Checks of a manager", AxiLite::MANAGER_CHECKS),
                ("Checks of a subordinate", AxiLite::SUBORDINATE_CHECKS)
            ],
            "axi4/monitor.rs"
        ),
        page!(
            apb,
            [crate::apb::PORTS],
            [
                ("ApbWeights", "apb.rs"),
                ("ApbSubordinateWeights", "apb.rs"),
                ("AddressWeights", "channel.rs")
            ],
            [
                ("Checks of a manager", Apb::MANAGER_CHECKS),
                ("Checks of a subordinate", Apb::SUBORDINATE_CHECKS)
            ],
            "apb/monitor.rs"
        ),
        page!(
            wishbone,
            [crate::wishbone::PORTS],
            [
                ("WishboneWeights", "wishbone.rs"),
                ("WishboneSubordinateWeights", "wishbone.rs"),
                ("AddressWeights", "channel.rs"),
                ("ReadyWeights", "channel.rs")
            ],
            [
                ("Checks of a manager", Wishbone::MANAGER_CHECKS),
                ("Checks of a subordinate", Wishbone::SUBORDINATE_CHECKS)
            ],
            "wishbone/monitor.rs"
        ),
        page!(
            memory_port,
            [crate::memory_port::PORTS],
            [("MemoryPortWeights", "memory_port.rs"), ("AddressWeights", "channel.rs")],
            [
                ("Checks of a manager", MemoryPort::MANAGER_CHECKS),
                ("Checks of a memory", MemoryPort::SUBORDINATE_CHECKS)
            ],
            "memory_port/monitor.rs"
        ),
        page!(
            stream,
            [crate::stream::PORTS],
            [
                ("StreamWeights", "stream.rs"),
                ("StreamSinkWeights", "stream.rs"),
                ("ReadyWeights", "channel.rs")
            ],
            [("Checks of a transmitter", Stream::CHECKS)],
            "stream/monitor.rs"
        ),
        page!(
            interrupt,
            [],
            [("InterruptWeights", "interrupt.rs"), ("InterruptSinkWeights", "interrupt.rs")],
            [
                ("Checks of the driver of the lines", Interrupt::DRIVER_CHECKS),
                ("Checks of the receiver", Interrupt::RECEIVER_CHECKS)
            ],
            "interrupt/monitor.rs"
        ),
        page!(
            handshake,
            [],
            [
                ("HandshakeWeights", "handshake.rs"),
                ("StreamSinkWeights", "stream.rs"),
                ("ReadyWeights", "channel.rs"),
                ("InputWeights", "inputs.rs")
            ],
            [],
            "handshake.rs"
        ),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/agents");
    for page in pages {
        let (name, text) = (page.name, page.text());
        let shown = fs::read_to_string(folder.join(name).with_extension("md")).unwrap();
        assert!(shown.ends_with(&format!("\n<!-- generated: agents {name} -->\n")), "{name}.md");
        assert!(!text.contains("|  |"), "{name} has a row without a meaning:\n{text}");
        if let Some(folder) = env::var_os(FOLDER) {
            fs::write(Path::new(&folder).join(name), text).unwrap();
        }
    }
}

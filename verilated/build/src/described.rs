//! The ports of a top module in Verilator's description of a design.
//!
//! [`Ports`] come from the header of the C++ model. The description is a second source, which
//! Verilator writes with other code. [`Design::ports`] compares both, so a port that one of them
//! lacks, or that is misread, is an error instead of a pin that nothing drives or compares.

use crate::netlist::{Type, types};
use crate::ports::Direction;
use crate::registers::shape;
use crate::tree::{Tree, with_tree};
use crate::{Design, Error, Port, Ports, Verilated};
use std::collections::BTreeMap;
use std::path::Path;
use verilated_runtime::Verilator;

/// Ports by name: direction, and width unless the type does not consist of bits.
pub(crate) type Described = BTreeMap<String, (Direction, Option<u32>)>;

impl Design {
    /// The ports of the design, which is verilated, after a check against Verilator's description.
    ///
    /// # Errors
    /// [`Error::Port`] for an unsupported port, if the clock is no 1-bit input, or for a port on
    /// which the model and the description differ. [`Error::Foreign`] if the RTL imports C
    /// functions. [`Error::Verilate`] with Verilator's message.
    pub fn ports(&self, verilator: &Verilator, verilated: &Verilated) -> Result<Ports, Error> {
        let described = self.described(verilator, &verilated.dir.join("described"));
        self.checked_ports(verilated, described)
    }

    /// As [`Design::ports`], with the description.
    pub(crate) fn checked_ports(
        &self,
        verilated: &Verilated,
        described: Result<Described, Error>,
    ) -> Result<Ports, Error> {
        let ports = Ports::read(verilated, &self.top, &self.clock)?;
        let described = described?;
        match difference(&ports, &described) {
            None => Ok(ports),
            Some((port, reason)) => Err(Error::Port { top: self.top.clone(), port, reason }),
        }
    }

    /// The ports of the design in Verilator's description alone, for another simulator. `out` is a
    /// folder for Verilator's output.
    ///
    /// # Errors
    /// [`Error::Port`] for an unsupported port, or if the clock is no 1-bit input.
    /// [`Error::Verilate`] with Verilator's message.
    pub fn described_ports(&self, verilator: &Verilator, out: &Path) -> Result<Ports, Error> {
        let refuse = |port: &str, reason: &str| Error::Port {
            top: self.top.clone(),
            port: port.to_owned(),
            reason: reason.to_owned(),
        };
        let clock = self.clock.to_string();
        let mut described = self.described(verilator, out)?;
        if described.remove(&clock) != Some((Direction::Input, Some(1))) {
            return Err(refuse(&clock, "there is no 1-bit input of that name to use as the clock"));
        }
        let mut ports = Ports { clock, ..Ports::default() };
        for (name, port) in described {
            let (side, width) = match port {
                (Direction::Input, Some(width)) => (&mut ports.inputs, width),
                (Direction::Output, Some(width)) => (&mut ports.outputs, width),
                _ => return Err(refuse(&name, "it is no input or output of bits")),
            };
            side.push(Port { name, width });
        }
        Ok(ports)
    }

    /// The ports in Verilator's description; `out` is a folder for its output.
    pub(crate) fn described(&self, verilator: &Verilator, out: &Path) -> Result<Described, Error> {
        let parameters = self.parameters.iter().map(|(name, value)| format!("-G{name}={value}"));
        let parameters: Vec<String> = parameters.collect();
        // Verilator runs in the folder of the design.
        let out = std::path::absolute(out).map_err(Error::io(out))?;
        let description = self.describe(verilator, &out, &parameters)?;
        with_tree(&description, ports_of_top).ok_or_else(|| self.not_understood())
    }
}

/// The first port on which both differ, and how.
fn difference(ports: &Ports, described: &Described) -> Option<(String, String)> {
    let show = |(direction, width): (Direction, Option<u32>)| match width {
        Some(width) => format!("an {direction} of {width} bits"),
        None => format!("an {direction} of a type without bits"),
    };
    let mut found: BTreeMap<&str, (Direction, u32)> = BTreeMap::new();
    found.insert(&ports.clock, (Direction::Input, 1));
    found.extend(ports.inputs.iter().map(|port| (&*port.name, (Direction::Input, port.width))));
    found.extend(ports.outputs.iter().map(|port| (&*port.name, (Direction::Output, port.width))));
    let names = || described.iter().filter(|(name, _)| !ports.is_observer(name));
    for (name, port) in names() {
        let reason = match found.get(&**name) {
            Some((direction, width)) if *port == (*direction, Some(*width)) => continue,
            Some((direction, width)) => format!(
                "Verilator describes it as {}, but its model has {}; wrap the module in one with \
                 bit vectors",
                show(*port),
                show((*direction, Some(*width)))
            ),
            None => format!(
                "Verilator describes it as {}, but its model lacks it; wrap the module in one \
                 without it",
                show(*port)
            ),
        };
        return Some((name.clone(), reason));
    }
    let extra = found.keys().find(|name| !described.contains_key(**name))?;
    let reason = "Verilator's model has it, but its description lacks it; wrap the module in one \
                  with another port name";
    Some(((*extra).to_owned(), reason.to_owned()))
}

fn ports_of_top(tree: &Tree) -> Option<Described> {
    let top = tree.modules.iter().find(|module| module.is_top())?;
    let types = types(tree)?;
    let mut ports = Described::new();
    for node in top.of_kind("var") {
        let Some(direction) = node.get("dir") else { continue };
        let width = width(&types, node.get("dtype_id")?);
        ports.insert(node.name().to_owned(), (Direction::named(direction), width));
    }
    Some(ports)
}

/// The width of a type, unless it has no bits or is an unpacked array.
fn width(types: &BTreeMap<String, Type>, id: &str) -> Option<u32> {
    let (width, dimensions) = shape(types, id)?;
    dimensions.is_empty().then_some(width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// The ports of a module `m`.
    fn ports(text: &str, parameters: &[(&str, &str)]) -> Result<Ports, Error> {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("m.sv");
        fs::write(&file, text).unwrap();
        let design = Design {
            top: "m".to_owned(),
            sources: vec![file],
            prefix: "Vm".to_owned(),
            parameters: parameters.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
            ..Design::default()
        };
        let verilator = Verilator::find().unwrap();
        let verilated = design.verilate(&verilator, &folder.path().join("model"))?;
        let ports = design.ports(&verilator, &verilated)?;
        let described = design.described_ports(&verilator, &folder.path().join("described"))?;
        assert_eq!(ports.differences(&described), "");
        Ok(ports)
    }

    fn sorted(ports: &[Port]) -> Vec<(&str, u32)> {
        let mut all: Vec<_> = ports.iter().map(|port| (&*port.name, port.width)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn bounds_may_be_negative() {
        let found = ports(
            "module m #(parameter W = 8) (input clk, input [3:-4] a, input c, input [-1:-8] e,
               input [-4:3] f, input [W-1:0] g, input [2:-2][1:-1] neg, input [-1:-100] wide,
               input [-1:-1] one, output [3:-4] b, output [-W:-1] h, output d);
               assign b = a; assign h = 0; assign d = ^{c, e, f, g, neg, wide, one}; endmodule",
            &[("W", "0")],
        );
        let found = found.unwrap();
        let inputs = [("a", 8), ("c", 1), ("e", 8), ("f", 8), ("g", 2), ("neg", 15), ("one", 1)];
        assert_eq!(sorted(&found.inputs), [&inputs[..], &[("wide", 100)]].concat());
        assert_eq!(sorted(&found.outputs), [("b", 8), ("d", 1), ("h", 2)]);
    }

    #[test]
    fn types_of_all_kinds_have_the_width_of_the_model() {
        let found = ports(
            "package p; typedef enum logic [1:0] {A, B} e_t;
               typedef struct packed {logic [3:0] x; e_t e;} s_t;
               typedef union packed {s_t s; logic [5:0] b;} u_t; typedef logic [2:0] v_t; endpackage
             module m import p::*; #(parameter type T = v_t) (input logic clk, input a__b, __x,
               input e_t e, input s_t s, input u_t u, input T t, input time tm, input integer ii,
               input byte by, input int unsigned iu, input s_t [1:-1] sa, input bit bb,
               input longint ll, input v_t [2:0] va, input tri [3:0] tr, input var shortint si,
               output wire signed [3:0] q);
               assign q = {4{^{a__b, __x, e, s, u, t, tm, ii, by, iu, sa, bb, ll, va, tr, si}}};
             endmodule",
            &[],
        );
        let expected = [
            ("__x", 1),
            ("a__b", 1),
            ("bb", 1),
            ("by", 8),
            ("e", 2),
            ("ii", 32),
            ("iu", 32),
            ("ll", 64),
            ("s", 6),
            ("sa", 18),
            ("si", 16),
            ("t", 3),
            ("tm", 64),
            ("tr", 4),
            ("u", 6),
            ("va", 9),
        ];
        assert_eq!(sorted(&found.unwrap().inputs), expected);
    }

    #[test]
    fn a_port_that_only_one_side_has_is_an_error() {
        let described = |ports: &[(&str, Direction, u32)]| -> Described {
            let clock = ("clk", Direction::Input, 1);
            let port = |(name, direction, width): &(&str, Direction, u32)| {
                ((*name).to_owned(), (*direction, Some(*width)))
            };
            ports.iter().chain([&clock]).map(port).collect()
        };
        let port = |name: &str, width| Port { name: name.to_owned(), width };
        let ports = Ports {
            clock: "clk".to_owned(),
            inputs: vec![port("a", 8)],
            outputs: vec![port("b", 1)],
            observing: false,
        };
        let (a, b) = (("a", Direction::Input, 8), ("b", Direction::Output, 1));
        assert_eq!(difference(&ports, &described(&[a, b])), None);
        for (other, name) in [
            (&[a][..], "b"),
            (&[a, b, ("c", Direction::Output, 1)], "c"),
            (&[("a", Direction::Input, 7), b], "a"),
            (&[("a", Direction::Output, 8), b], "a"),
            (&[a, b, ("cosim_x", Direction::Input, 1)], "cosim_x"),
        ] {
            let found = difference(&ports, &described(other)).map(|(port, _)| port);
            assert_eq!(found.as_deref(), Some(name), "{other:?}");
        }
    }

    #[test]
    fn strings_with_any_byte_are_accepted() {
        let text = "module m(input clk, a, output b); assign b = a; \
                    initial $display(\"\\033[31mred \\001 \\377 \u{e9} \u{1b}[0m\"); endmodule";
        assert_eq!(sorted(&ports(text, &[]).unwrap().inputs), [("a", 1)]);
    }

    #[test]
    fn names_of_generated_ports_are_reserved() {
        let text = "module m(input clk, cosim_a, output b); assign b = cosim_a; endmodule";
        let error = ports(text, &[]).unwrap_err();
        assert!(matches!(&error, Error::Port { port, .. } if port == "cosim_a"), "{error}");
    }
}

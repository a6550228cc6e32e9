//! Makes register values before reset depend only on the seed and the name of the register.
//!
//! Verilator draws them one after the other, in the order of its C++ variables. That order and the
//! number of draws depend on the surroundings of the design (registered inputs, the golden model's
//! observer) and on the signals kept for waveforms. So the same seed would give different values in
//! each kind of model, and a failure that needs one of them would not reproduce. This module
//! therefore replaces the draws in Verilator's output by draws keyed by name.
//!
//! Newer Verilators set the nets of instance outputs to zero. Such a net may be a register, so it
//! is drawn, too.

use crate::ports::INSTANCE;
use crate::{Error, Verilated, written_text};
use std::fs;
use std::path::Path;

/// Prefix of the names of generated tops around a design.
const AROUND: &str = "cosim_";
/// End of the names of functions with draws.
const FUNCTION: &str = "___ctor_var_reset(";
/// Prefix of the nets that Verilator creates for instance outputs.
const OUTPUT: &str = "__Vcellout__";
/// The class of the design's root scope.
const ROOT: &str = "___024root";

/// Replaces every draw in the output of a design with this top by a draw keyed by name.
///
/// # Errors
/// [`Error::Io`].
pub fn name_draws(verilated: &Verilated, top: &str) -> Result<(), Error> {
    let read = |path: &Path| written_text(path);
    let header = |class: &str| read(&verilated.dir.join(format!("{class}.h")));
    for path in &verilated.sources {
        if let Some(named) = named(&read(path)?, top, header)? {
            fs::write(path, named).map_err(Error::io(path))?;
        }
    }
    Ok(())
}

/// A source with its draws replaced, or `None` if it has none. `header` reads the header of a
/// class.
fn named(
    text: &str,
    top: &str,
    header: impl Fn(&str) -> Result<String, Error>,
) -> Result<Option<String>, Error> {
    let design = match top.starts_with(AROUND) {
        true => format!("{top}.{INSTANCE}"),
        false => top.to_owned(),
    };
    let mut lines = vec!["#include \"verilated_shim.hpp\"".to_owned()];
    let mut scope = None;
    let mut members = String::new();
    let mut is_changed = false;
    for line in text.lines() {
        if !line.starts_with([' ', '}', '#', '/'])
            && line.ends_with('{')
            && let Some((head, _)) = line.split_once(FUNCTION)
        {
            members = header(head.rsplit(' ').next().unwrap_or(head))?;
            // The root has one instance; instances of other classes store their names.
            scope = Some(if line.contains(ROOT) { None } else { Some(name_in(&members)) });
        } else if line.starts_with('}') {
            scope = None;
        }
        let draw = scope.zip(draw(line).or_else(|| zeroed(line, &members)));
        lines.push(match draw {
            None => line.to_owned(),
            Some((scope, draw)) => {
                is_changed = true;
                draw.named(scope, &design)
            }
        });
    }
    lines.push(String::new());
    Ok(is_changed.then(|| lines.join("\n")))
}

/// The C++ expression for the name of an instance of a class with these members.
fn name_in(members: &str) -> &'static str {
    // Newer Verilators store the name itself.
    if members.contains(" vlNamep;") { "vlSelf->vlNamep" } else { "vlSelf->name()" }
}

/// A line that draws the value of a variable.
#[derive(Debug, PartialEq, Eq)]
struct Draw<'a> {
    /// The suffix of Verilator's function: I up to 32 bits, Q up to 64 bits, W beyond.
    kind: char,
    width: u32,
    /// The variable with its indices.
    variable: &'a str,
}

/// Parses a line as a draw.
fn draw(line: &str) -> Option<Draw<'_>> {
    let (before, call) = line.trim().split_once("RAND_RESET_")?;
    let before = before.strip_suffix("VL_").or_else(|| before.strip_suffix("VL_SCOPED_"))?;
    let arguments = call.get(1..)?.strip_prefix('(')?.strip_suffix(");")?;
    let mut arguments = arguments.split(',').map(str::trim);
    let width = arguments.next()?.parse().ok()?;
    let kind = call.chars().next().filter(|kind| "IQW".contains(*kind))?;
    let variable = match kind {
        'W' => arguments.next()?,
        _ => before.trim_end().strip_suffix('=')?.trim_end(),
    };
    variable.starts_with("vlSelf->").then_some(Draw { kind, width, variable })
}

/// The draw that replaces a line which sets an output net to zero. `members` are those of its
/// class.
fn zeroed<'a>(line: &'a str, members: &str) -> Option<Draw<'a>> {
    let line = line.trim();
    let wide = line.strip_prefix("VL_ZERO_RESET_W(").and_then(|call| call.strip_suffix(");"));
    let (width, variable) = match wide {
        Some(arguments) => {
            let (width, variable) = arguments.split_once(',')?;
            (Some(width.parse().ok()?), variable.trim())
        }
        None => (None, line.strip_suffix(" = 0;")?),
    };
    let name = variable.strip_prefix("vlSelf->")?.split('[').next()?;
    if !name.contains(OUTPUT) {
        return None;
    }
    let width = width.or_else(|| declared(name, members))?;
    let kind = match width {
        ..=32 => 'I',
        33..=64 => 'Q',
        _ => 'W',
    };
    Some(Draw { kind, width, variable })
}

/// The width of a member, from a declaration such as `VlUnpacked<CData/*7:0*/, 2> name;`.
fn declared(name: &str, members: &str) -> Option<u32> {
    let mut members = members.lines().filter_map(|line| line.strip_suffix(';')?.rsplit_once(' '));
    let (r#type, _) = members.find(|(_, member)| *member == name)?;
    let (left, right) = r#type.split_once("/*")?.1.split_once("*/")?.0.split_once(':')?;
    let (left, right): (u32, u32) = (left.parse().ok()?, right.parse().ok()?);
    left.checked_sub(right)?.checked_add(1)
}

impl Draw<'_> {
    /// The C++ code of the draw by name, in the instance named `scope`.
    fn named(&self, scope: Option<&str>, design: &str) -> String {
        let Self { kind, width, variable } = self;
        let place = variable.trim_start_matches("vlSelf->");
        let (name, indices) = place.split_at(place.find('[').unwrap_or(place.len()));
        // Names in the root are constants.
        let (storage, scope) = match scope {
            None => ("static const", "\"TOP\""),
            Some(scope) => ("const", scope),
        };
        let element = indices
            .split(['[', ']'])
            .filter(|index| !index.is_empty())
            .fold("name".to_owned(), |name, index| format!("vl_shim_element({name}, {index})"));
        let draw = match kind {
            'W' => format!("vl_shim_before_reset_W({width}, {variable}, {element})"),
            _ => format!("{variable} = vl_shim_before_reset_{kind}({width}, {element})"),
        };
        format!(
            "    {{ {storage} uint64_t name = vl_shim_register({scope}, \"{name}\", \"{design}\"); {draw}; }}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_parsed_with_its_variable() {
        let narrow = Draw { kind: 'I', width: 6, variable: "vlSelf->a__DOT__b" };
        let wide = Draw { kind: 'W', width: 96, variable: "vlSelf->mem[__Vi0]" };
        for (line, expected) in [
            ("    vlSelf->a__DOT__b = VL_RAND_RESET_I(6);", Some(&narrow)),
            (
                "    vlSelf->a__DOT__b = VL_SCOPED_RAND_RESET_I(6, __VscopeHash, 7ull);",
                Some(&narrow),
            ),
            ("        VL_RAND_RESET_W(96, vlSelf->mem[__Vi0]);", Some(&wide)),
            (
                "    VL_SCOPED_RAND_RESET_W(96, vlSelf->mem[__Vi0], __VscopeHash, 7ull);",
                Some(&wide),
            ),
            ("    vlSelf->a = 0;", None),
            ("    x = VL_RAND_RESET_I(6);", None),
        ] {
            assert_eq!(draw(line).as_ref(), expected, "{line}");
        }
    }

    #[test]
    fn draws_are_named_where_registers_begin_and_nowhere_else() {
        let text = "\
VL_ATTR_COLD void Vx___024root___ctor_var_reset(Vx___024root* vlSelf) {
    vlSelf->cosim_top__DOT__dut__DOT__q = VL_RAND_RESET_Q(33);
}
void Vx_sub___ctor_var_reset(Vx_sub* vlSelf) {
    for (int __Vi0 = 0; __Vi0 < 2; ++__Vi0) {
        VL_RAND_RESET_W(96, vlSelf->__PVT__mem[__Vi0][__Vi1]);
    }
}
void Vx_sub___eval(Vx_sub* vlSelf) {
    vlSelf->r = VL_RAND_RESET_I(8);
}
";
        let expected = r#"#include "verilated_shim.hpp"
VL_ATTR_COLD void Vx___024root___ctor_var_reset(Vx___024root* vlSelf) {
    { static const uint64_t name = vl_shim_register("TOP", "cosim_top__DOT__dut__DOT__q", "cosim_top.dut"); vlSelf->cosim_top__DOT__dut__DOT__q = vl_shim_before_reset_Q(33, name); }
}
void Vx_sub___ctor_var_reset(Vx_sub* vlSelf) {
    for (int __Vi0 = 0; __Vi0 < 2; ++__Vi0) {
    { const uint64_t name = vl_shim_register(vlSelf->name(), "__PVT__mem", "cosim_top.dut"); vl_shim_before_reset_W(96, vlSelf->__PVT__mem[__Vi0][__Vi1], vl_shim_element(vl_shim_element(name, __Vi0), __Vi1)); }
    }
}
void Vx_sub___eval(Vx_sub* vlSelf) {
    vlSelf->r = VL_RAND_RESET_I(8);
}
"#;
        let named = |text, top| named(text, top, |_| Ok(String::new())).unwrap();
        assert_eq!(named(text, "cosim_top").as_deref(), Some(expected));
        assert_eq!(named("int x;\n", "cosim_top"), None);
        assert!(named(text, "design").unwrap().contains(r#""__PVT__mem", "design")"#));
    }

    #[test]
    fn nets_of_outputs_that_newer_versions_set_to_zero_are_drawn() {
        let members = "    const char* vlNamep;\n    CData/*3:0*/ __Vcellout__a__q;\n    VlUnpacked<QData/*39:0*/, 2> x__DOT____Vcellout__a__m;\n";
        let draw = |kind, width, variable| Some(Draw { kind, width, variable });
        for (line, expected) in [
            ("    vlSelf->__Vcellout__a__q = 0;", draw('I', 4, "vlSelf->__Vcellout__a__q")),
            (
                "        vlSelf->x__DOT____Vcellout__a__m[__Vi0] = 0;",
                draw('Q', 40, "vlSelf->x__DOT____Vcellout__a__m[__Vi0]"),
            ),
            (
                "    VL_ZERO_RESET_W(100, vlSelf->__Vcellout__b__q);",
                draw('W', 100, "vlSelf->__Vcellout__b__q"),
            ),
            ("    vlSelf->__Vcellout__other = 0;", None),
            ("    vlSelf->__VstlFirstIteration = 0;", None),
        ] {
            assert_eq!(zeroed(line, members), expected, "{line}");
        }
        let text = "void Vx_sub___ctor_var_reset(Vx_sub* vlSelf) {\n    vlSelf->__Vcellout__a__q = 0;\n}\n";
        let named = named(text, "t", |class| {
            assert_eq!(class, "Vx_sub");
            Ok(members.to_owned())
        });
        let draw = r#"vl_shim_register(vlSelf->vlNamep, "__Vcellout__a__q", "t"); vlSelf->__Vcellout__a__q = "#;
        assert!(named.unwrap().unwrap().contains(draw));
    }
}

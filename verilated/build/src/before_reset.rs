//! Registers before reset: what each one holds follows from the seed and its name in the hierarchy.
//!
//! Verilator draws them one after the other, in the order of the variables of its classes. That order, and
//! how many there are, depends on what stands around the design (registered inputs, the golden model beside
//! it) and on what is kept for waves, so the same seed would give a register other values in each of these
//! models, and a failure that needs one of the values would not be seen in all of them. So the draws in
//! Verilator's output are replaced by ones that know the register's name.

use crate::ports::INSTANCE;
use crate::{Error, Verilated};
use std::fs;

/// How the names of tops that stand around a design begin.
const AROUND: &str = "cosim_";
/// The end of the names of functions that draw.
const FUNCTION: &str = "___ctor_var_reset(";
/// The class of everything that is not in a class of its own.
const ROOT: &str = "___024root";

/// Names every draw in the output of a design with this top.
///
/// # Errors
/// [`Error::Io`].
pub fn name_draws(verilated: &Verilated, top: &str) -> Result<(), Error> {
    for path in &verilated.sources {
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        if let Some(named) = named(&text, top) {
            fs::write(path, named).map_err(Error::io(path))?;
        }
    }
    Ok(())
}

/// A source with its draws named; `None` if there are none.
fn named(text: &str, top: &str) -> Option<String> {
    let design = match top.starts_with(AROUND) {
        true => format!("{top}.{INSTANCE}"),
        false => top.to_owned(),
    };
    let mut lines = vec!["#include \"verilated_shim.hpp\"".to_owned()];
    let mut scope = None;
    let mut is_changed = false;
    for line in text.lines() {
        if !line.starts_with([' ', '}', '#', '/']) && line.contains(FUNCTION) {
            // There is one of the root; the instances of other classes know their names.
            scope = Some(if line.contains(ROOT) { None } else { Some("vlSelf->name()") });
        } else if line.starts_with('}') {
            scope = None;
        }
        let draw = scope.zip(draw(line));
        lines.push(match draw {
            None => line.to_owned(),
            Some((scope, draw)) => {
                is_changed = true;
                draw.named(scope, &design)
            }
        });
    }
    lines.push(String::new());
    is_changed.then(|| lines.join("\n"))
}

/// A line that draws a variable.
#[derive(Debug, PartialEq, Eq)]
struct Draw<'a> {
    /// The letter of Verilator's function: up to 32 bits, up to 64, more.
    kind: char,
    width: u32,
    /// The variable, with its indices.
    variable: &'a str,
}

/// What a line draws.
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

impl Draw<'_> {
    /// The same draw by name, inside the instance with the name `scope`.
    fn named(&self, scope: Option<&str>, design: &str) -> String {
        let Self { kind, width, variable } = self;
        let place = variable.trim_start_matches("vlSelf->");
        let (name, indices) = place.split_at(place.find('[').unwrap_or(place.len()));
        // The root's names are constants.
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
    fn a_line_that_draws_is_known_with_its_variable() {
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
        assert_eq!(named(text, "cosim_top").as_deref(), Some(expected));
        assert_eq!(named("int x;\n", "cosim_top"), None);
        assert!(named(text, "design").unwrap().contains(r#""__PVT__mem", "design")"#));
    }
}

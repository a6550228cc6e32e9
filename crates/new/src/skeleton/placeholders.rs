//! Parameters whose defaults only stand for a value: a module with them has no ports, or so many
//! that a tool does not end.

use super::GivenParameter;
use cosim_base::error::{Error, codes};
use cosim_rtl::models::{Header, HeaderParameter};
use verilated_build::module::{
    InterfacePort, ModuleDescription, ModuleParameter, ModulePort, PortKind, Type, number,
};

/// Whether the text of a type has a range as `[-1:0]` or `[0:-1]`, which nobody writes on purpose.
fn has_placeholder(text: &str) -> bool {
    text.split('[').skip(1).any(|rest| {
        let range = rest.split(']').next().and_then(|range| range.split_once(':'));
        matches!(range, Some((left, "0")) if left.starts_with('-'))
            || matches!(range, Some(("0", right)) if right.starts_with('-'))
    })
}

fn is_placeholder(kind: &Type) -> bool {
    match kind {
        Type::Bits(bits) => has_placeholder(&bits.text),
        Type::Array { bounds: (left, right), element } => {
            has_placeholder(&format!("[{left}:{right}]")) || is_placeholder(element)
        }
        Type::Struct { .. } | Type::Other(_) => false,
    }
}

/// A warning about ports whose width is a placeholder, as that of a field that is not used.
///
/// # Errors
/// [`Error::Usage`] with the parameters to give, if a quarter of the vectors are such ports.
pub fn check_ranges(top: &str, description: &ModuleDescription) -> Result<Option<String>, Error> {
    let (mut found, mut vectors) = (Vec::new(), 0);
    let mut add = |name: String, is_placeholder: bool, is_vector: bool| {
        vectors += usize::from(is_vector);
        found.extend(is_placeholder.then_some(name));
    };
    let is_vector = |kind: &Type| !matches!(kind, Type::Bits(bits) if bits.width == 1);
    for ModulePort { name, kind } in &description.ports {
        match kind {
            PortKind::Value(_, kind) => add(name.clone(), is_placeholder(kind), is_vector(kind)),
            PortKind::Interface(InterfacePort { bounds, signals, .. }) => {
                if let Some((left, right)) = bounds {
                    add(name.clone(), has_placeholder(&format!("[{left}:{right}]")), true);
                }
                for (signal, _, kind) in signals {
                    let name = format!("{name}.{signal}");
                    add(name, is_placeholder(kind), is_vector(kind));
                }
            }
        }
    }
    let Some(first) = found.first() else { return Ok(None) };
    let is_unset = |own: &&ModuleParameter| {
        matches!(own.value.as_deref().and_then(number), Some(0 | 0xffff_ffff))
    };
    let unset = description.parameters.iter().filter(is_unset).map(|own| &*own.name);
    let unset: Vec<&str> = unset.collect();
    let unset = if unset.is_empty() { "none" } else { &unset.join(", ") };
    let message = format!(
        "port `{first}` of {top} has a range that begins below 0; if the default of a parameter only \
         stands for a value, give one with --parameter NAME=VALUE, or PORT.NAME=VALUE for one of an \
         interface; parameters of {top} that are 0 or -1: {unset}"
    );
    match 4 * found.len() < vectors {
        true => Ok(Some(message)),
        false => Err(Error::Usage(codes::PARAMETER_MISSING, message)),
    }
}

/// Parts of names of parameters that are not 0.
const SIZES: [&str; 7] = ["width", "size", "depth", "num", "len", "no_", "ports"];

/// Whether the default of a parameter only stands for a value.
fn is_unset(parameter: &HeaderParameter) -> bool {
    let (value, name) = (parameter.value.as_deref(), parameter.name.to_ascii_lowercase());
    let value = value.unwrap_or_default().trim();
    let is_size = SIZES.iter().any(|size| name.contains(size));
    ["-1", "logic", "\"inv\"", "\"x\""].contains(&value)
        || is_size && ["0", "'0", "32'd0"].contains(&value)
}

fn is_given(parameter: &HeaderParameter, given: &[GivenParameter]) -> bool {
    given.iter().any(|given| given.name == parameter.name)
}

/// Whether a parameter with such a default was given a value.
pub fn are_given(header: &Header, given: &[GivenParameter]) -> bool {
    header.parameters.iter().any(|own| is_unset(own) && is_given(own, given))
}

/// The parameters that may be why Verilator refuses a module, as a line below its message.
pub fn hint(header: &Header, given: &[GivenParameter]) -> Option<String> {
    let unset = header.parameters.iter().filter(|own| is_unset(own) && !is_given(own, given));
    let texts = unset.map(|own| format!("{} is {}", own.name, own.value.as_deref().unwrap_or("")));
    let texts: Vec<String> = texts.collect();
    let texts = (!texts.is_empty()).then(|| texts.join(", "))?;
    let give = "Give one with --parameter NAME=VALUE, or NAME=PACKAGE::TYPE.";
    Some(format!("\nDefaults that may only stand for a value: {texts}. {give}"))
}

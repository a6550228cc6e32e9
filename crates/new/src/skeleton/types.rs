//! Structs and enums of the ports, for `src/types.rs` of a new crate.

use crate::names::{Ident, Scope, Text, Word};
use crate::wrapper::Wrapping;
use serde::Serialize;
use std::collections::BTreeMap;
use verilated_build::module::BitsType;
use verilated_build::{Port, Ports};

/// The widest field that the harness can show.
const WIDEST_FIELD: u32 = 64;

/// Structs and enums of the ports, for templates.
#[derive(Debug, Default, Serialize)]
pub struct Types {
    pub structs: Vec<StructText>,
    pub enums: Vec<EnumText>,
    pub fields: Vec<(Word, Ident)>,
    /// Fields or ports, and their enums.
    pub meanings: Vec<(Word, Ident)>,
}

#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct StructText {
    name: Ident,
    original: Text,
    width: u32,
    /// Name, most and least significant bit.
    fields: Vec<(Ident, u32, u32)>,
}

#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct EnumText {
    name: Ident,
    original: Text,
    /// Name in Rust, name in the RTL, value.
    values: Vec<(Ident, Text, u64)>,
}

struct Collector {
    found: Types,
    names: Scope,
}

impl Types {
    /// The fields of a port, if it is a struct whose fields are all of its bits.
    pub fn fields_of(&self, port: &Port) -> Option<&[(Ident, u32, u32)]> {
        let name = Word::new(&port.name);
        let (_, name) = self.fields.iter().find(|(port, _)| *port == name)?;
        let known = self.structs.iter().find(|known| known.name == *name)?;
        let bits: u32 = known.fields.iter().map(|(_, msb, lsb)| msb - lsb + 1).sum();
        (bits == port.width && known.width == port.width).then_some(&known.fields)
    }

    pub fn from_ports(ports: &Ports, wrapping: &Wrapping) -> Self {
        let mut all = Collector { found: Self::default(), names: Scope::for_types() };
        let mut meanings: BTreeMap<Word, Ident> = BTreeMap::new();
        for pin in &wrapping.pins {
            let is_port = |port: &&Port| port.name == pin.name && port.width == pin.bits.width;
            if !ports.inputs.iter().chain(&ports.outputs).any(|port| is_port(&port)) {
                continue;
            }
            let name = |bits: &BitsType| bits.name.clone().unwrap_or_else(|| pin.name.clone());
            if !pin.bits.values.is_empty() {
                let original = name(&pin.bits);
                let known = all.enumeration(&original, &pin.name, &pin.bits.values);
                meanings.insert(Word::new(&pin.name), known);
            }
            let mut fields = Vec::new();
            let mut names = Scope::default();
            for field in pin.bits.fields.iter().filter(|field| field.width <= WIDEST_FIELD) {
                let name = names.unique(Ident::field(&field.name));
                if !field.values.is_empty() {
                    let original = field.enumeration.as_ref().unwrap_or(&field.name);
                    let known = all.enumeration(original, &field.name, &field.values);
                    meanings.entry(name.word()).or_insert(known);
                }
                fields.push((name, field.lsb + field.width - 1, field.lsb));
            }
            if fields.is_empty() {
                continue;
            }
            let name = all.structure(&name(&pin.bits), &pin.name, pin.bits.width, fields);
            all.found.fields.push((Word::new(&pin.name), name));
        }
        all.found.meanings = meanings.into_iter().collect();
        all.found
    }
}

impl Collector {
    /// A name that no other type has.
    fn free(&mut self, original: &str, port: &str) -> Ident {
        let name = Ident::camel(original);
        let name = match self.names.has_free(&name) {
            true => name,
            false => name.joined(&Ident::camel(port)),
        };
        self.names.unique(name)
    }

    fn structure(
        &mut self,
        original: &str,
        port: &str,
        width: u32,
        fields: Vec<(Ident, u32, u32)>,
    ) -> Ident {
        let text = Text::new(original);
        let is_it = |known: &&StructText| {
            known.original == text && known.width == width && known.fields == fields
        };
        if let Some(known) = self.found.structs.iter().find(is_it) {
            return known.name.clone();
        }
        let name = self.free(original, port);
        let new = StructText { name: name.clone(), original: text, width, fields };
        self.found.structs.push(new);
        name
    }

    fn enumeration(&mut self, original: &str, port: &str, values: &[(String, u64)]) -> Ident {
        let mut names = Scope::default();
        let value = |(text, value): &(String, u64)| {
            (names.unique(Ident::camel(text)), Text::new(text), *value)
        };
        let values: Vec<(Ident, Text, u64)> = values.iter().map(value).collect();
        let text = Text::new(original);
        let is_it = |known: &&EnumText| known.original == text && known.values == values;
        if let Some(known) = self.found.enums.iter().find(is_it) {
            return known.name.clone();
        }
        let name = self.free(original, port);
        self.found.enums.push(EnumText { name: name.clone(), original: text, values });
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::tests::names as hostile_names;
    use crate::skeleton::texts::{TYPES, templates};
    use crate::wrapper::Pin;
    use std::fs;
    use std::process::Command;
    use tempfile::TempDir;
    use verilated_build::module::TypeField;

    const LAYOUT: &str = "#![deny(warnings)]
#![allow(non_camel_case_types, non_snake_case, dead_code)]
extern crate self as cosim_core;
#[macro_export]
macro_rules! layout {
    ($(#[$meta:meta])* pub struct $name:ident in $bits:ty {
        $( $(#[$field_meta:meta])* $field:ident [$msb:literal : $lsb:literal], )*
    }) => {
        $(#[$meta])*
        pub struct $name { $( $(#[$field_meta])* pub $field: [u8; $msb - $lsb + 1], )* }
    };
}
";

    /// Types whose names, fields and values have hostile names.
    fn hostile() -> (Ports, Wrapping) {
        let names: Vec<String> = hostile_names().take(300).collect();
        let values =
            |names: &[String]| -> Vec<(String, u64)> { names.iter().cloned().zip(0..).collect() };
        let mut pins = Vec::new();
        for (number, group) in names.chunks(10).enumerate() {
            let field = |(name, lsb): (&String, u32)| TypeField {
                name: name.clone(),
                lsb,
                width: 1,
                enumeration: Some(group[0].clone()),
                values: values(&group[..2]),
            };
            pins.push(Pin {
                name: format!("port{number}"),
                is_input: true,
                leaf: String::new(),
                bits: BitsType {
                    width: 64,
                    name: Some(group[1].clone()),
                    fields: group.iter().zip(0..).map(field).collect(),
                    values: values(group),
                    ..BitsType::default()
                },
            });
        }
        let port = |pin: &Pin| Port { name: pin.name.clone(), width: pin.bits.width };
        let inputs = pins.iter().map(port).collect();
        (Ports { inputs, ..Ports::default() }, Wrapping { pins, ..Wrapping::default() })
    }

    #[test]
    fn types_with_hostile_names_compile_and_contain_no_other_code() {
        let (ports, wrapping) = hostile();
        let types = Types::from_ports(&ports, &wrapping);
        let (structs, enums) = (types.structs.len(), types.enums.len());
        assert!(structs > 20 && enums > 20, "{structs} {enums}");
        let text = templates().render_named_str(TYPES.0, TYPES.1, &types).expect("a text");
        let items = text.lines().filter(|line| line.starts_with("pub enum")).count();
        assert_eq!(items, enums, "an enum is one item");
        let folder = TempDir::new().expect("a folder");
        let (source, library) = (folder.path().join("types.rs"), folder.path().join("lib.rs"));
        fs::write(&source, text).expect("a file");
        fs::write(&library, format!("{LAYOUT}pub mod types;\n")).expect("a file");
        let mut compiler = Command::new("rustc");
        compiler.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"]);
        let output = compiler.arg("--out-dir").arg(folder.path()).arg(&library).output();
        let output = output.expect("rustc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_text_without_a_place_is_an_error() {
        let (ports, wrapping) = hostile();
        let types = Types::from_ports(&ports, &wrapping);
        let template = "{{ structs[0].original }}";
        assert!(templates().render_named_str("x", template, &types).is_err());
    }
}

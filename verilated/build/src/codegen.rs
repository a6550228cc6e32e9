//! Generates the code around a model from templates: packed structs in C and Rust, and the C++ shim
//! that fills them.

use crate::ports::{Storage, member};
use crate::templates::render;
use crate::{DataFile, Driving, Error, Port, Ports, Verilated};
use minijinja::{Value, context};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use verilated_runtime::Tracing;

/// The function that returns the model's table in a shared library.
pub const LIBRARY_SYMBOL: &str = "vl_model_in_library";

/// The C header of the pins.
const PINS: &str = include_str!("../templates/pins.h");
/// The Rust tables of the pins.
const TABLES: &str = include_str!("../templates/tables.rs");
/// The parts of a model's C++ file, in order: the model, coverage counters, functions that drive
/// cycles, functions that pass in the golden model's values, and the table.
const PARTS: [(&str, &str); 5] = [
    ("model.cc", include_str!("../templates/model.cc")),
    ("counts.cc", include_str!("../templates/counts.cc")),
    ("batch.cc", include_str!("../templates/batch.cc")),
    ("observe.cc", include_str!("../templates/observe.cc")),
    ("table.cc", include_str!("../templates/table.cc")),
];

/// The texts that determine the generated code, for content hashes.
pub fn text() -> impl Iterator<Item = &'static str> {
    [include_str!("codegen.rs"), PINS, TABLES].into_iter().chain(PARTS.map(|(_, text)| text))
}

/// A port with its place in the packed struct of its direction, for templates.
#[derive(Serialize)]
struct Pin<'a> {
    name: &'a str,
    /// Its name in Verilator's C++.
    member: String,
    width: u32,
    offset: u32,
    /// Number of 32-bit words of a wide port.
    words: Option<u32>,
    /// Mask of the used bits of an integer, or of the last word. `None` if all bits are used.
    mask: Option<String>,
}

impl<'a> Pin<'a> {
    fn new(Port { name, width }: &'a Port, storage: Storage, offset: u32) -> Self {
        let (words, bits, used) = match storage {
            Storage::Integer(bits) => (None, bits, *width),
            Storage::Words(words) => (Some(words), 32 * words, width % 32),
        };
        let mask = (bits > *width).then(|| format!("{:#x}u", (1_u64 << used) - 1));
        Self { name, member: member(name), width: *width, offset, words, mask }
    }
}

/// The struct of a direction: its ports without gaps, and padding to a multiple of eight bytes. The
/// padding is never empty, so that code which names every field works for any ports.
#[derive(Serialize)]
struct Struct<'a> {
    name: &'static str,
    fields: Vec<Pin<'a>>,
    padding: u32,
    size: u32,
}

impl<'a> Struct<'a> {
    fn from_ports(name: &'static str, ports: &'a [Port]) -> Self {
        let (mut fields, mut end) = (Vec::new(), 0);
        for port in ports {
            let storage = Storage::from_width(port.width);
            fields.push(Pin::new(port, storage, end));
            end += storage.size();
        }
        let size = (end + 1).next_multiple_of(8);
        Self { name, fields, padding: size - end, size }
    }
}

/// `Inputs` and `Outputs`.
fn structs(ports: &Ports) -> [Struct<'_>; 2] {
    [Struct::from_ports("Inputs", &ports.inputs), Struct::from_ports("Outputs", &ports.outputs)]
}

/// The C header with `struct Inputs` and `struct Outputs`, the input of bindgen.
///
/// A field of N bits has the type `BitsN`, so that the width is part of the type.
///
/// # Errors
/// [`Error::Template`].
pub fn c_header(ports: &Ports) -> Result<String, Error> {
    let types: Vec<_> = widths(ports)
        .into_iter()
        .map(|width| {
            let member = match Storage::from_width(width) {
                Storage::Integer(bits) => format!("uint{bits}_t value"),
                Storage::Words(words) => format!("uint32_t value[{words}]"),
            };
            context! { width, member }
        })
        .collect();
    render("pins.h", PINS, &context! { types, structs => structs(ports) })
}

/// Widths that always have a type. Using a wrong width then is a type mismatch at the port instead
/// of an unknown type.
const NAMED_WIDTHS: u32 = 1024;

/// Rust type aliases of each width, to insert before the bindings. They refer to `Bits` of the
/// crate `verilated`.
pub fn rust_aliases(ports: &Ports, verilated: &str) -> Vec<String> {
    let wider = widths(ports).into_iter().filter(|width| *width > NAMED_WIDTHS);
    (1..=NAMED_WIDTHS)
        .chain(wider)
        .map(|width| {
            let storage = match Storage::from_width(width) {
                Storage::Integer(bits) => format!("u{bits}"),
                Storage::Words(words) => format!("[u32; {words}]"),
            };
            format!(
                "/// A port of {width} bits.\n\
                 pub type Bits{width} = {verilated}::Bits<{width}, {storage}>;"
            )
        })
        .collect()
}

/// The Rust port tables of the two structs, to insert after the bindings. `verilated` is the path
/// of that crate.
///
/// # Errors
/// [`Error::Template`].
pub fn rust_tables(ports: &Ports, verilated: &str) -> Result<String, Error> {
    render("tables.rs", TABLES, &context! { verilated, structs => structs(ports) })
}

/// Everything that determines the C++ file of a model.
#[derive(Debug)]
pub struct ModelFile<'a> {
    /// The verilated design.
    pub verilated: &'a Verilated,
    /// Its ports.
    pub ports: &'a Ports,
    /// Its top module.
    pub top: &'a str,
    /// The waveform format.
    pub tracing: Tracing,
    /// Whether it counts code coverage.
    pub coverage: bool,
    /// Whether it checks assertions.
    pub assertions: bool,
    /// How it is driven.
    pub driving: &'a Driving,
    /// The data files embedded in it.
    pub data: &'a [DataFile],
    /// The C function that returns its table.
    pub symbol: &'a str,
}

impl ModelFile<'_> {
    /// Writes the C++ and its header beside the model; `name` begins the names of the files.
    /// Returns the files to compile.
    ///
    /// # Errors
    /// [`Error::Template`] or [`Error::Io`].
    pub fn write(&self, name: &str) -> Result<Vec<PathBuf>, Error> {
        let write = |name: &str, text: &str| {
            let path = self.verilated.dir.join(name);
            fs::write(&path, text).map_err(Error::io(&path)).map(|()| path)
        };
        write("pins.h", &c_header(self.ports)?)?;
        let mut sources = vec![write(&format!("{name}.cc"), &self.text()?)?];
        if let Some(text) = self.slow_text() {
            sources.push(write(&format!("{name}_slow.cc"), &text)?);
        }
        Ok(sources)
    }

    /// The text of what runs only once, such as `initial` blocks; `None` if there is none. As a
    /// translation unit of its own it is compiled beside the other one.
    fn slow_text(&self) -> Option<String> {
        let sources = self.verilated.sources.iter().map(|source| file_name(source));
        let lines: String = sources
            .filter(|source| is_slow(source))
            .map(|source| format!("#include \"{source}\"\n"))
            .collect();
        (!lines.is_empty()).then(|| format!("#include \"verilated_model.h\"\n{lines}"))
    }

    /// The text of the rest: all other sources of the model, the port drivers and the table. One
    /// translation unit lets the compiler inline across them.
    ///
    /// # Errors
    /// [`Error::Template`].
    fn text(&self) -> Result<String, Error> {
        let Self { verilated, ports, top, tracing, coverage, assertions, driving, data, symbol } =
            *self;
        let [inputs, outputs] = structs(ports);
        let sources = verilated.sources.iter().map(|source| file_name(source));
        let sources: Vec<String> = sources.filter(|source| !is_slow(source)).collect();
        let writer = |kind, writer| context! { kind, writer };
        let trace = match tracing {
            Tracing::Off => None,
            Tracing::Vcd => Some(writer(1, "VerilatedVcdC")),
            Tracing::Fst => Some(writer(2, "VerilatedFstC")),
        };
        let two_evaluations = match driving {
            Driving::Registered => String::new(),
            // C++ knows Rust's escapes of ASCII characters only.
            Driving::TwoEvaluations(reason) => {
                let ascii = reason.replace(|c: char| !c.is_ascii(), "?");
                ascii.escape_default().to_string()
            }
        };
        let observing = ports.observing.then(|| {
            let [cycle, scope] = ["cycle", "golden"].map(|name| ports.own_name(name));
            let [state, rule] = ["state", "rule"].map(|name| ports.golden_name(name));
            let golden = format!("root.cosim_top__DOT__{scope}__DOT__");
            context! { cycle, golden, state, rule }
        });
        let data: Vec<Value> = data
            .iter()
            .map(|file| {
                let length = file.text.as_ref().map_or(0, |text| text.len());
                let text = file.text.as_deref().map(literal);
                context! { name => literal(file.name.as_bytes()), text, length }
            })
            .collect();
        let context = context! {
            class => verilated.prefix,
            clock => member(&ports.clock),
            registered => *driving == Driving::Registered,
            inputs => inputs.fields,
            outputs => outputs.fields,
            sources, trace, coverage, assertions, data, observing, top, symbol, two_evaluations,
        };
        PARTS.iter().map(|(name, part)| render(name, part, &context)).collect()
    }
}

/// Whether Verilator put only code into a file that runs once.
fn is_slow(source: &str) -> bool {
    source.ends_with("__Slow.cpp")
}

/// The inside of a C string literal. Every other character than letters and digits becomes a
/// three-digit octal escape, which a following digit cannot extend.
fn literal(bytes: &[u8]) -> String {
    let mut literal = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        match byte {
            letter if letter.is_ascii_alphanumeric() => literal.push(char::from(*letter)),
            other => {
                let _ = write!(literal, "\\{other:03o}");
            }
        }
    }
    literal
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The distinct widths of all ports, sorted.
fn widths(ports: &Ports) -> Vec<u32> {
    let mut widths: Vec<u32> =
        ports.inputs.iter().chain(&ports.outputs).map(|port| port.width).collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports() -> Ports {
        let port = |name: &str, width| Port { name: name.to_owned(), width };
        Ports {
            clock: "clk".to_owned(),
            inputs: vec![port("wide", 70), port("rst", 1)],
            outputs: vec![port("big", 41), port("narrow", 8)],
            observing: false,
        }
    }

    #[test]
    fn a_struct_is_padded_to_eight_bytes_and_a_width_is_a_type() {
        let header = c_header(&ports()).unwrap();
        assert!(header.contains("typedef struct { uint32_t value[3]; } Bits70;"), "{header}");
        assert!(header.contains("  Bits70 wide;\n  Bits1 rst;\n  uint8_t padding[3];"), "{header}");
        assert!(header.contains("_Static_assert(sizeof(Outputs) == 16"), "{header}");
    }

    #[test]
    fn bytes_are_a_text_in_c() {
        assert_eq!(literal(b"a1 \n\"\0\xff7"), "a1\\040\\012\\042\\000\\3777");
    }

    #[test]
    fn the_rust_tables_name_every_port() {
        let text = rust_tables(&ports(), "::verilated").unwrap();
        for expected in [
            "Port { name: \"wide\", width: 70, offset: 0 }",
            "Port { name: \"rst\", width: 1, offset: 12 }",
            "Port { name: \"narrow\", width: 8, offset: 8 }",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
}

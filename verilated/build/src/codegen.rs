//! The code around a model: packed structs in C and Rust, and the C++ shim that fills them.

use crate::ports::Storage;
use crate::{Driving, Port, Ports, Tracing, Verilated};
use std::fmt::Write as _;

/// Name of the function that returns the model's table in a shared library.
pub const LIBRARY_SYMBOL: &str = "vl_model_in_library";

/// The functions that drive cycles.
const BATCH: &str = include_str!("../templates/batch.cc");

/// What is counted in a model.
const COUNTS: &str = include_str!("../templates/counts.cc");
/// The same of a model in which nothing is.
const NO_COUNTS: &str = "namespace {
int32_t points(vl_context *, const vl_point **, size_t *count) noexcept {
  *count = 0;
  return 0;
}
void counts(const vl_model *, uint32_t *, size_t) noexcept {}
inline void shown(vl_model &, bool) {}
inline void before_edge(vl_model &) {}
}  // namespace

";

/// A port with its place in the packed struct of its direction.
struct Placed<'a> {
    port: &'a Port,
    storage: Storage,
    offset: u32,
}

/// The ports of one direction laid out without holes, and the padding that makes the struct's size a
/// multiple of eight bytes. There is always some: code that names every field is the same for any ports.
struct Layout<'a> {
    fields: Vec<Placed<'a>>,
    padding: u32,
    size: u32,
}

impl<'a> Layout<'a> {
    fn of(ports: &'a [Port]) -> Self {
        let mut end = 0;
        let fields = ports
            .iter()
            .map(|port| {
                let storage = Storage::of(port.width);
                let offset = end;
                end += storage.size();
                Placed { port, storage, offset }
            })
            .collect();
        let size = (end + 1).next_multiple_of(8);
        Self { fields, padding: size - end, size }
    }
}

/// The C header with `struct Inputs` and `struct Outputs`, the input of bindgen.
///
/// A field of N bits has the type `BitsN`, so that a width is part of the type.
pub fn c_header(ports: &Ports) -> String {
    let mut text = String::from("// Generated from the ports Verilator reports. Do not edit.\n\n");
    text.push_str("#pragma once\n#include <stddef.h>\n#include <stdint.h>\n\n");
    for width in widths(ports) {
        let member = match Storage::of(width) {
            Storage::Integer(bits) => format!("uint{bits}_t value"),
            Storage::Words(words) => format!("uint32_t value[{words}]"),
        };
        let _ = writeln!(text, "typedef struct {{ {member}; }} Bits{width};");
    }
    for (name, ports) in [("Inputs", &ports.inputs), ("Outputs", &ports.outputs)] {
        let layout = Layout::of(ports);
        let _ = writeln!(text, "\ntypedef struct {name} {{");
        for Placed { port, .. } in &layout.fields {
            let _ = writeln!(text, "  Bits{} {};", port.width, port.name);
        }
        let _ = writeln!(text, "  uint8_t padding[{}];", layout.padding);
        let _ = writeln!(text, "}} {name};");
        let check = |what: String, value: u32| {
            format!("_Static_assert({what} == {value}, \"{name} is not packed\");\n")
        };
        text.push_str("#ifndef __cplusplus\n");
        text.push_str(&check(format!("sizeof({name})"), layout.size));
        for field in &layout.fields {
            text.push_str(&check(format!("offsetof({name}, {})", field.port.name), field.offset));
        }
        text.push_str("#endif\n");
    }
    text
}

/// Widths that have a name whether or not a port has that width: code that uses the wrong one is told so at
/// the port, as a wrong type, and not that there is no such type.
const NAMED_WIDTHS: u32 = 1024;

/// Rust lines that go in front of the bindings: one alias per width to `Bits` of the crate `verilated`.
pub fn rust_aliases(ports: &Ports, verilated: &str) -> Vec<String> {
    let wider = widths(ports).into_iter().filter(|width| *width > NAMED_WIDTHS);
    (1..=NAMED_WIDTHS)
        .chain(wider)
        .map(|width| {
            let storage = match Storage::of(width) {
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

/// Rust code that goes behind the bindings: the port tables of the two structs, in words of the crate
/// `verilated`.
pub fn rust_tables(ports: &Ports, verilated: &str) -> String {
    let mut text = String::new();
    for (name, ports) in [("Inputs", &ports.inputs), ("Outputs", &ports.outputs)] {
        let _ = writeln!(
            text,
            "// SAFETY: generated from the same layout as the C struct and this table."
        );
        let _ = writeln!(text, "unsafe impl {verilated}::Pins for {name} {{");
        let _ = writeln!(text, "    const PORTS: &'static [{verilated}::Port] = &[");
        for Placed { port, offset, .. } in Layout::of(ports).fields {
            let Port { name, width } = port;
            let _ = writeln!(
                text,
                "        {verilated}::Port {{ name: \"{name}\", width: {width}, offset: {offset} }},"
            );
        }
        text.push_str("    ];\n}\n");
    }
    text
}

/// The C++ file of one model: its own sources, the drivers of its ports and its table, which the
/// C function `symbol` returns. One translation unit, so that the compiler sees through it.
pub fn model_cpp(
    verilated: &Verilated,
    ports: &Ports,
    top: &str,
    tracing: Tracing,
    coverage: bool,
    driving: &Driving,
    symbol: &str,
) -> String {
    let class = &verilated.prefix;
    let (inputs, outputs) = (Layout::of(&ports.inputs), Layout::of(&ports.outputs));
    let mut text = String::from("// Generated around one verilated model. Do not edit.\n\n");
    if coverage {
        text.push_str("#include \"verilated_points.hpp\"\n");
    }
    for source in &verilated.sources {
        let _ = writeln!(text, "#include \"{}\"", file_name(source));
    }
    text.push_str("#include \"verilated_shim.hpp\"\n#include \"pins.h\"\n#include <cstring>\n#include <memory>\n");
    let (trace_kind, trace_class) = match tracing {
        Tracing::Off => (0, None),
        Tracing::Vcd => (1, Some("VerilatedVcdC")),
        Tracing::Fst => (2, Some("VerilatedFstC")),
    };
    match tracing {
        Tracing::Off => {}
        Tracing::Vcd => text.push_str("#include \"verilated_vcd_c.h\"\n"),
        Tracing::Fst => text.push_str("#include \"verilated_fst_c.h\"\n"),
    }
    text.push_str("\nnamespace {\n\nvoid drive(");
    let _ = writeln!(text, "{class} &top, const Inputs &pins) {{");
    for field in &inputs.fields {
        let Port { name, width } = field.port;
        let _ = match field.storage {
            Storage::Integer(_) => {
                writeln!(
                    text,
                    "  top.{name} = pins.{name}.value{};",
                    field.storage.and_mask(*width)
                )
            }
            Storage::Words(_) => writeln!(
                text,
                "  std::memcpy(&top.{name}[0], pins.{name}.value, sizeof pins.{name}.value);{}",
                clean_top(&format!("top.{name}"), *width)
            ),
        };
    }
    let _ = writeln!(text, "}}\n\nvoid sample({class} &top, Outputs &pins) {{");
    for field in &outputs.fields {
        let Port { name, width } = field.port;
        let _ = match field.storage {
            Storage::Integer(_) => {
                writeln!(
                    text,
                    "  pins.{name}.value = top.{name}{};",
                    field.storage.and_mask(*width)
                )
            }
            Storage::Words(_) => writeln!(
                text,
                "  std::memcpy(pins.{name}.value, &top.{name}[0], sizeof pins.{name}.value);{}",
                clean_top(&format!("pins.{name}.value"), *width)
            ),
        };
    }
    let _ = writeln!(text, "}}\n\nuint64_t difference({class} &top, const Outputs &pins) {{");
    text.push_str("  uint64_t difference = 0;\n");
    for field in &outputs.fields {
        let Port { name, width } = field.port;
        let _ = match field.storage {
            Storage::Integer(_) => {
                let mask = field.storage.and_mask(*width);
                writeln!(text, "  difference |= (top.{name} ^ pins.{name}.value){mask};")
            }
            Storage::Words(words) => writeln!(
                text,
                "  for (int word = 0; word < {}; ++word)\n    difference |= top.{name}[word] ^ \
                 pins.{name}.value[word];\n  difference |= (top.{name}[{0}] ^ pins.{name}.value[{0}]) & \
                 {:#x}u;",
                words - 1,
                u32::MAX >> ((32 - width % 32) % 32),
            ),
        };
    }
    text.push_str("  return difference;\n");
    text.push_str("}\n\nconst vl_port ports[] = {\n");
    for (layout, output) in [(&inputs, 0), (&outputs, 1)] {
        for field in &layout.fields {
            let Port { name, width } = field.port;
            let _ = writeln!(text, "  {{\"{name}\", {width}, {}, {output}}},", field.offset);
        }
    }
    text.push_str("};\n\n}  // namespace\n\n");
    text.push_str(&model_table(class, trace_class, coverage));
    text.push_str(if coverage { COUNTS } else { NO_COUNTS });
    let (registered, two_evaluations) = match driving {
        Driving::Registered => ("true", String::new()),
        // C++ knows Rust's escapes of ASCII, and not those of other characters.
        Driving::TwoEvaluations(reason) => {
            let ascii = reason.replace(|c: char| !c.is_ascii(), "?");
            ("false", ascii.escape_default().to_string())
        }
    };
    text.push_str(
        &BATCH
            .replace("@CLOCK@", &ports.clock)
            .replace("@REGISTERED@", registered)
            .replace("@CLASS@", class),
    );
    text.push_str(&observer(ports));
    let port_count = inputs.fields.len() + outputs.fields.len();
    let _ = write!(
        text,
        "extern \"C\" __attribute__((visibility(\"default\"))) const vl_model_api *{symbol}(void) {{
  static const vl_model_api api = {{
    VL_SHIM_ABI, vl_runtime(), \"{top}\", ports, {port_count}, sizeof(Inputs), sizeof(Outputs),
    alignof(Inputs), alignof(Outputs), {trace_kind}, {coverage}, \"{two_evaluations}\", create, destroy, settle,
    edge, run_batch, run_recorded, finish,
    trace_open, trace_dump, trace_close, observe, probe, points, counts,
  }};
  return &api;
}}
",
        coverage = u32::from(coverage),
    );
    text
}

/// The functions that show an observing top the golden model, and read the RTL's state from it.
fn observer(ports: &Ports) -> String {
    if !ports.observing {
        return "namespace {
int32_t observe(vl_model *, uint64_t, const void *, const void *, const uint32_t *,
                const uint32_t *) noexcept {
  return 0;
}
uint64_t probe(vl_model *) noexcept { return 0; }
}  // namespace

"
        .to_owned();
    }
    let [cycle, scope] = ["cycle", "golden"].map(|name| ports.own_name(name));
    let [state, rule] = ["state", "rule"].map(|name| ports.golden_name(name));
    let golden = format!("root.cosim_top__DOT__{scope}__DOT__");
    let mut text = format!(
        "namespace {{
int32_t observe(vl_model *model, uint64_t cycle, const void *inputs, const void *outputs,
                const uint32_t *state, const uint32_t *rule) noexcept {{
  auto &root = *model->top->rootp;
  const Outputs &pins = *static_cast<const Outputs *>(outputs);
  root.cosim_top__DOT__{cycle} = cycle;
  std::memcpy(&{golden}{state}[0], state, sizeof(uint32_t) * VL_TEXT_WORDS);
  std::memcpy(&{golden}{rule}[0], rule, sizeof(uint32_t) * VL_TEXT_WORDS);
",
    );
    for Port { name, width } in &ports.outputs {
        let golden = format!("{golden}{name}");
        let _ = match Storage::of(*width) {
            storage @ Storage::Integer(_) => {
                writeln!(text, "  {golden} = pins.{name}.value{};", storage.and_mask(*width))
            }
            Storage::Words(_) => writeln!(
                text,
                "  std::memcpy(&{golden}[0], pins.{name}.value, sizeof pins.{name}.value);{}",
                clean_top(&golden, *width)
            ),
        };
    }
    text.push_str(
        "  return call(model, [&] {
    drive(*model->top, *static_cast<const Inputs *>(inputs));
    model->top->eval();
  });
}
uint64_t probe(vl_model *model) noexcept { return model->top->cosim_dut_state; }
}  // namespace

",
    );
    text
}

/// C++ that clears the bits above a wide port's width. Verilator indexes by values of ports without a
/// look at their range, so no other bits may reach it, whatever bytes a caller's struct is made of.
fn clean_top(words: &str, width: u32) -> String {
    match width % 32 {
        0 => String::new(),
        used => format!(" {words}[{}] &= {:#x}u;", width / 32, (1u32 << used) - 1),
    }
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The functions of the model's table; `trace_class` is Verilator's writer, if the model traces.
fn model_table(class: &str, trace_class: Option<&str>, coverage: bool) -> String {
    let (trace_member, trace_bodies) = match trace_class {
        None => (
            String::new(),
            "int32_t trace_open(vl_model *, const char *) noexcept {
  vl_shim_record_error(\"this model was built without trace\");
  return 1;
}
int32_t trace_dump(vl_model *, uint64_t) noexcept { return 0; }
int32_t trace_close(vl_model *) noexcept { return 0; }
"
            .to_owned(),
        ),
        Some(writer) => (
            format!("  std::unique_ptr<{writer}> trace;\n"),
            format!(
                "int32_t trace_open(vl_model *model, const char *path) noexcept {{
  return vl_shim_guarded([&] {{
    vl_shim_enter(model->context);
    model->trace.reset(new {writer});
    model->top->trace(model->trace.get(), 99);
    model->trace->open(path);
    if (!model->trace->isOpen()) throw vl_shim_stopped{{std::string{{\"cannot write \"}} + path}};
  }});
}}
int32_t trace_dump(vl_model *model, uint64_t time) noexcept {{
  return vl_shim_guarded([&] {{
    vl_shim_enter(model->context);
    if (model->trace) model->trace->dump(time);
  }});
}}
int32_t trace_close(vl_model *model) noexcept {{
  vl_shim_adopt(model->context);
  const vl_shim_closing quietly;
  if (model->trace) model->trace->close();
  model->trace.reset();
  return quietly.failed();
}}
"
            ),
        ),
    };
    // The points are noted in the constructor of the model.
    let (points_member, noting) = match coverage {
        true => (
            "  vl_points::list points;\n",
            "  model->points.with_names = with_names;\n  const vl_points::noting noting{model->points};\n",
        ),
        false => ("", ""),
    };
    format!(
        "struct vl_model {{
  vl_context *context;
  // An exception left it, so what it holds is no state of the RTL.
  bool stopped = false;
{trace_member}{points_member}  std::unique_ptr<{class}> top;
  // The last cycle of a batch has not had its rising edge.
  bool edge_due = false;
}};

namespace {{

// Runs `body` in the model's context.
template <class Body>
inline int32_t call(vl_model *model, Body body) noexcept {{
  try {{
    if (__builtin_expect(model->stopped, 0)) throw vl_shim_stopped{{\"the model has stopped\"}};
    vl_shim_enter(model->context);
    body();
    return 0;
  }} catch (const std::exception &e) {{
    vl_shim_record_error(e.what());
  }} catch (...) {{
    vl_shim_record_error(\"an exception of unknown type left the model\");
  }}
  model->stopped = true;
  model->context->leaves_traces = true;
  return 1;
}}

std::unique_ptr<vl_model> make(vl_context *context, bool with_names) {{
  vl_shim_enter(context);
  std::unique_ptr<vl_model> model{{new vl_model}};
  model->context = context;
{noting}  model->top.reset(new {class}{{context, \"TOP\"}});
  context->leaves_traces = VM_TRACE;
  return model;
}}

vl_model *create(vl_context *context) noexcept {{
  vl_model *created = nullptr;
  vl_shim_guarded([&] {{ created = make(context, false).release(); }});
  return created;
}}

void destroy(vl_model *model) noexcept {{
  vl_shim_adopt(model->context);
  const vl_shim_closing quietly;
  delete model;
}}

int32_t finish(vl_model *model) noexcept {{
  return call(model, [&] {{ model->top->final(); }});
}}

{trace_bodies}
}}  // namespace

"
    )
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
        let header = c_header(&ports());
        assert!(header.contains("typedef struct { uint32_t value[3]; } Bits70;"), "{header}");
        assert!(header.contains("  Bits70 wide;\n  Bits1 rst;\n  uint8_t padding[3];"), "{header}");
        assert!(header.contains("_Static_assert(sizeof(Outputs) == 16"), "{header}");
    }

    #[test]
    fn the_rust_tables_name_every_port() {
        let text = rust_tables(&ports(), "::verilated");
        for expected in [
            "Port { name: \"wide\", width: 70, offset: 0 }",
            "Port { name: \"rst\", width: 1, offset: 12 }",
            "Port { name: \"narrow\", width: 8, offset: 8 }",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
}

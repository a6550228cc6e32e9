//! The top module around the DUT for waves of both models.

use cosim_harness::harness::BlockInfo;
use verilated::Port;
pub use verilated_build::OBSERVING_TOP;
use verilated_build::own_name;

/// Width in bits of a text in a trace.
pub const TEXT_BITS: u32 = 192;

/// A Verilog top that holds the DUT as `dut`, a cycle counter and a scope `golden` with the golden
/// model's outputs, state and rules. The pins of the top are not traced: each is in one of the
/// scopes. A name that is also that of a port gets the prefix of [`own_name`].
///
/// `parameters` are those of the DUT.
pub fn observing_top(info: &'static BlockInfo, parameters: &[String]) -> String {
    let clock = info.rtl.clock;
    let (inputs, outputs) = (info.inputs, info.outputs);
    let declare = |direction: &str, port: &Port| {
        format!("  {direction} wire [{}:0] {}", port.width - 1, port.name)
    };
    let mut ports = vec![format!("  input wire {clock}")];
    ports.extend(inputs.iter().map(|port| declare("input", port)));
    ports.extend(outputs.iter().map(|port| declare("output", port)));
    ports.push("  output wire [63:0] cosim_dut_state".to_owned());
    let mut dut_pins = vec![format!("    .{clock}({clock})")];
    let names = inputs.iter().chain(outputs).map(|port| port.name);
    dut_pins.extend(names.map(|name| format!("    .{name}({name})")));
    // The harness writes these registers through the model's class.
    let shown = |name: &str, width: u32| {
        format!("  reg [{}:0] {name} /*verilator public_flat_rw*/;\n", width - 1)
    };
    let own = |name: &str| observed_name(info, name);
    let mut golden: String = outputs.iter().map(|port| shown(port.name, port.width)).collect();
    golden.extend(["state", "rule"].map(|name| shown(&own(name), TEXT_BITS)));
    let cycle = shown(&own("cycle"), 64);
    let scope = own("golden");
    let mask = info.rtl.mask_parameter.map(|name| (format!("[7:0] {name} = 8'h00"), name));
    let others = info
        .parameters
        .iter()
        .map(|parameter| (format!("{} = {}", parameter.name, parameter.default), parameter.name));
    let (declared, arguments): (Vec<String>, Vec<String>) = mask
        .into_iter()
        .chain(others)
        .filter(|(_, name)| parameters.iter().any(|has| has == name))
        .map(|(declared, name)| (format!("parameter {declared}"), format!(".{name}({name})")))
        .unzip();
    let list = |list: Vec<String>| match list.is_empty() {
        true => String::new(),
        false => format!(" #({})", list.join(", ")),
    };
    let (parameter, argument) = (list(declared), list(arguments));
    let state = info.state_register.map_or("64'd0".to_owned(), |name| format!("64'(dut.{name})"));
    format!(
        "module {OBSERVING_TOP}{parameter} (\n/*verilator tracing_off*/\n{}\n\
         /*verilator tracing_on*/\n);\n{cycle}  {}{argument} dut (\n{}\n  );\n  cosim_golden {scope} ();\n  \
         assign cosim_dut_state = {state};\nendmodule\n\nmodule cosim_golden ();\n{golden}endmodule\n",
        ports.join(",\n"),
        info.rtl.top,
        dut_pins.join(",\n"),
    )
}

/// The name in a trace of something that the observing top adds: `golden`, `cycle`, or `state` and
/// `rule` in the scope `golden`.
pub fn observed_name(info: &BlockInfo, name: &str) -> String {
    let BlockInfo { inputs, outputs, .. } = *info;
    let is_output = |name: &str| outputs.iter().any(|port| port.name == name);
    let is_port = |name: &str| {
        name == info.rtl.clock || is_output(name) || inputs.iter().any(|port| port.name == name)
    };
    match name {
        "state" | "rule" => own_name(name, is_output),
        _ => own_name(name, is_port),
    }
}

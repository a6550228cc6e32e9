/// The RTL and its models.
pub const RTL: CORE::harness::LinkedRtl<Inputs, Outputs> = CORE::harness::LinkedRtl {
    rtl: CORE::harness::BuiltInRtl {
        top: TOP,
        clock: CLOCK,
        wrapper: WRAPPER,
        mask_parameter: MASK,
        sources: &[
SOURCES        ],
        data: &[
DATA        ],
        roots: &ROOTS,
        defines: &DEFINES,
        options: &OPTIONS,
        assertions: ASSERTIONS,
        embedded: &[
EMBEDDED        ],
    },
    model,
};

unsafe extern "C" {
DECLARED}

/// The linked model with an index.
fn model(index: usize) -> Option<VERILATED::ModelKind<Inputs, Outputs>> {
    let function: VERILATED::ModelFunction = match index {
ARMS        _ => return None,
    };
    // SAFETY: the generated shim defines the function, and it is linked into this program.
    unsafe { VERILATED::ModelKind::linked(function) }.ok()
}


unsafe extern "C" {
    fn PREFIX_golden_new(
        parameters: *const VERILATED::CParameter,
        count: usize,
    ) -> *mut ::core::ffi::c_void;
    fn PREFIX_golden_free(model: *mut ::core::ffi::c_void);
    fn PREFIX_golden_outputs(
        model: *const ::core::ffi::c_void,
        inputs: *const Inputs,
        outputs: *mut Outputs,
        open: *mut Outputs,
    );
    fn PREFIX_golden_clock(
        model: *mut ::core::ffi::c_void,
        inputs: *const Inputs,
        rules: *mut u64,
    );
    fn PREFIX_golden_state(model: *const ::core::ffi::c_void) -> *const ::core::ffi::c_char;
}

/// The golden model in C.
// SAFETY: the crate's model does what `PREFIX_golden.h` says.
pub const GOLDEN: VERILATED::CModelKind<Inputs, Outputs> = unsafe {
    VERILATED::CModelKind::new(VERILATED::CFunctions {
        new: PREFIX_golden_new,
        free: PREFIX_golden_free,
        outputs: PREFIX_golden_outputs,
        clock: PREFIX_golden_clock,
        state: PREFIX_golden_state,
    })
};

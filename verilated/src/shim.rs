//! Bindings of `verilated_shim.h`, which a test compares with those of bindgen.

pub const VL_SHIM_ABI: u32 = 6;
pub const VL_TEXT_WORDS: u32 = 6;
#[repr(C)]
#[derive(Debug)]
pub struct vl_context {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct vl_model {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct vl_port {
    pub name: *const ::std::os::raw::c_char,
    pub width: u32,
    pub offset: u32,
    pub output: u32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct vl_point {
    pub file: *const ::std::os::raw::c_char,
    pub line: u32,
    pub column: u32,
    pub page: *const ::std::os::raw::c_char,
    pub comment: *const ::std::os::raw::c_char,
    pub lines: *const ::std::os::raw::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct vl_runtime_api {
    pub abi: u32,
    pub version: ::std::option::Option<
        unsafe extern "C" fn() -> *const ::std::os::raw::c_char,
    >,
    pub context_create: ::std::option::Option<unsafe extern "C" fn() -> *mut vl_context>,
    pub context_destroy: ::std::option::Option<
        unsafe extern "C" fn(context: *mut vl_context),
    >,
    pub context_begin: ::std::option::Option<
        unsafe extern "C" fn(context: *mut vl_context, mode: i32, seed: i32),
    >,
    pub context_argument: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut vl_context,
            argument: *const ::std::os::raw::c_char,
        ) -> i32,
    >,
    pub context_time: ::std::option::Option<
        unsafe extern "C" fn(context: *const vl_context) -> u64,
    >,
    pub context_advance: ::std::option::Option<
        unsafe extern "C" fn(context: *mut vl_context, ticks: u64),
    >,
    pub last_error: ::std::option::Option<
        unsafe extern "C" fn() -> *const ::std::os::raw::c_char,
    >,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct vl_model_api {
    pub abi: u32,
    pub runtime: *const vl_runtime_api,
    pub top: *const ::std::os::raw::c_char,
    pub ports: *const vl_port,
    pub port_count: u32,
    pub inputs_size: u32,
    pub outputs_size: u32,
    pub inputs_alignment: u32,
    pub outputs_alignment: u32,
    pub traces: u32,
    pub covers: u32,
    pub two_evaluations: *const ::std::os::raw::c_char,
    pub create: ::std::option::Option<
        unsafe extern "C" fn(context: *mut vl_context) -> *mut vl_model,
    >,
    pub destroy: ::std::option::Option<unsafe extern "C" fn(model: *mut vl_model)>,
    pub settle: ::std::option::Option<
        unsafe extern "C" fn(
            model: *mut vl_model,
            inputs: *const ::std::os::raw::c_void,
            outputs: *mut ::std::os::raw::c_void,
        ) -> i32,
    >,
    pub edge: ::std::option::Option<unsafe extern "C" fn(model: *mut vl_model) -> i32>,
    pub run_batch: ::std::option::Option<
        unsafe extern "C" fn(
            model: *mut vl_model,
            inputs: *const ::std::os::raw::c_void,
            expected: *const ::std::os::raw::c_void,
            open: *const ::std::os::raw::c_void,
            count: usize,
            done: *mut usize,
            actual: *mut ::std::os::raw::c_void,
        ) -> i32,
    >,
    pub run_recorded: ::std::option::Option<
        unsafe extern "C" fn(
            model: *mut vl_model,
            inputs: *const ::std::os::raw::c_void,
            count: usize,
            outputs: *mut ::std::os::raw::c_void,
        ) -> i32,
    >,
    pub finish: ::std::option::Option<unsafe extern "C" fn(model: *mut vl_model) -> i32>,
    pub trace_open: ::std::option::Option<
        unsafe extern "C" fn(
            model: *mut vl_model,
            path: *const ::std::os::raw::c_char,
        ) -> i32,
    >,
    pub trace_dump: ::std::option::Option<
        unsafe extern "C" fn(model: *mut vl_model, time: u64) -> i32,
    >,
    pub trace_close: ::std::option::Option<
        unsafe extern "C" fn(model: *mut vl_model) -> i32,
    >,
    pub observe: ::std::option::Option<
        unsafe extern "C" fn(
            model: *mut vl_model,
            cycle: u64,
            inputs: *const ::std::os::raw::c_void,
            outputs: *const ::std::os::raw::c_void,
            state: *const u32,
            rule: *const u32,
        ) -> i32,
    >,
    pub probe: ::std::option::Option<unsafe extern "C" fn(model: *mut vl_model) -> u64>,
    pub points: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut vl_context,
            points: *mut *const vl_point,
            count: *mut usize,
        ) -> i32,
    >,
    pub counts: ::std::option::Option<
        unsafe extern "C" fn(model: *const vl_model, counts: *mut u32, count: usize),
    >,
}
unsafe extern "C" {
    pub fn vl_runtime() -> *const vl_runtime_api;
}

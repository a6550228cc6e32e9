//! Models: life cycle, cycles, traces and coverage.

use crate::shim::{self, vl_context, vl_model, vl_model_api, vl_point, vl_runtime_api};
use crate::{Error, Pins, Port, PortDifference};
use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::NonNull;

/// A C function that returns the table of a linked model, as the generated shim defines it.
///
/// The return type is opaque: tables are made by the shim only.
pub type ModelFunction = unsafe extern "C" fn() -> *const std::ffi::c_void;

/// What registers hold until they are reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeforeReset {
    /// All zeros.
    Zeros,
    /// All ones: a forgotten reset is seen, and every run is the same.
    Ones,
    /// Random bits that the seed decides, as it decides what `$random` gives.
    Random(u32),
}

/// The waveform format a model was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// Value change dump.
    Vcd,
    /// GTKWave's compressed format.
    Fst,
}

/// A place of the RTL that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The file, as Verilator was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// Verilator's word for its kind: `v_line`, `v_branch`, `v_toggle`.
    pub kind: String,
    /// Which of its kind: `block`, `else`, `case`, or a bit of a signal.
    pub what: String,
    /// The lines that are gone through with it, as in `117-120,122`.
    pub lines: String,
}

/// A compiled model whose ports are known to be `I` and `O`.
#[derive(Debug)]
pub struct ModelKind<I, O> {
    api: &'static vl_model_api,
    /// The mutation that is switched on in its models, if it has some.
    mutation: Option<u32>,
    /// How many points its models count.
    counted: usize,
    pins: PhantomData<fn(I) -> O>,
}

// SAFETY: tables are constants of the program or of a library that is never unloaded; the functions in
// them only touch the model or context they are given, and thread-local state.
unsafe impl<I, O> Send for ModelKind<I, O> {}
// SAFETY: as above.
unsafe impl<I, O> Sync for ModelKind<I, O> {}

impl<I, O> Clone for ModelKind<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for ModelKind<I, O> {}

impl<I: Pins, O: Pins> ModelKind<I, O> {
    /// The model behind a linked function.
    ///
    /// # Safety
    /// `function` must be one that the generated shim defines, linked into this program.
    ///
    /// # Errors
    /// [`Error::Ports`] if its ports are not those of `I` and `O`.
    pub unsafe fn linked(function: ModelFunction) -> Result<Self, Error> {
        // SAFETY: the caller vouches for the function; its table is a static constant.
        let api = unsafe { function().cast::<vl_model_api>().as_ref() };
        Self::checked(api.ok_or_else(|| Error::Stopped("the model has no table".to_owned()))?)
    }

    /// Takes a table whose ports are those of `I` and `O`.
    pub(crate) fn checked(api: &'static vl_model_api) -> Result<Self, Error> {
        let differences = differences::<I, O>(api);
        if differences.is_empty()
            && api.inputs_size as usize == size_of::<I>()
            && api.outputs_size as usize == size_of::<O>()
            && api.inputs_alignment as usize == align_of::<I>()
            && api.outputs_alignment as usize == align_of::<O>()
        {
            Ok(Self { api, mutation: None, counted: 0, pins: PhantomData })
        } else {
            Err(Error::Ports { top: text(api.top), differences })
        }
    }

    /// Name of the top module.
    pub fn top(&self) -> String {
        text(self.api.top)
    }

    /// Verilator's product and version, as in `5.006 2023-01-22`.
    pub fn verilator(&self) -> String {
        text(call(self.runtime().version))
    }

    /// The format of traces, if the model was built with one.
    pub fn trace_format(&self) -> Option<TraceFormat> {
        match self.api.traces {
            1 => Some(TraceFormat::Vcd),
            2 => Some(TraceFormat::Fst),
            _ => None,
        }
    }

    /// Whether the model was built with coverage.
    pub fn covers(&self) -> bool {
        self.api.covers == 1
    }

    /// The points that its models count, if it was built with coverage; its models count them for [`Model::counts`].
    ///
    /// # Errors
    /// [`Error::Stopped`] if the model's constructor fails.
    pub fn points(&mut self) -> Result<Vec<Point>, Error> {
        let context = Context::new(self.runtime(), BeforeReset::Zeros)?;
        let (mut points, mut count) = (std::ptr::null::<vl_point>(), 0);
        let ask = function(self.api.points);
        // SAFETY: the context is valid, and the shim fills both or fails.
        succeeded(unsafe { ask(context.raw.as_ptr(), &mut points, &mut count) }, self.runtime())?;
        self.counted = count;
        if count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: the shim gives so many points, which stay as long as the library.
        let points = unsafe { std::slice::from_raw_parts(points, count) };
        let point = |point: &vl_point| Point {
            file: text(point.file),
            line: point.line,
            column: point.column,
            kind: text(point.page).split('/').next().unwrap_or_default().to_owned(),
            what: text(point.comment),
            lines: text(point.lines),
        };
        Ok(points.iter().map(point).collect())
    }

    /// Why a cycle of a batch takes two heavy evaluations; `None` if its inputs are registered and one
    /// does.
    pub fn two_evaluations(&self) -> Option<String> {
        Some(text(self.api.two_evaluations)).filter(|reason| !reason.is_empty())
    }

    /// The same, with one of the mutations switched on that the RTL was compiled with; 0 for none. The RTL
    /// finds its number by `$value$plusargs`, as `cosim_mutation=%d`.
    #[must_use]
    pub fn with_mutation(self, mutation: u32) -> Self {
        Self { mutation: Some(mutation), ..self }
    }

    /// A new model in a context of its own, not yet evaluated.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the model's constructor fails.
    pub fn create(&self, before_reset: BeforeReset) -> Result<Model<I, O>, Error> {
        let context = Context::new(self.runtime(), before_reset)?;
        if let Some(mutation) = self.mutation {
            context.argument(&format!("+cosim_mutation={mutation}"))?;
        }
        let create = function(self.api.create);
        // SAFETY: the context is valid and outlives the model, which is dropped first.
        let model = NonNull::new(unsafe { create(context.raw.as_ptr()) })
            .ok_or_else(|| last_error(self.runtime()))?;
        Ok(Model {
            settle: function(self.api.settle),
            edge: function(self.api.edge),
            raw: model,
            kind: *self,
            before_reset,
            context,
            tracing: false,
        })
    }

    fn runtime(&self) -> &'static vl_runtime_api {
        // SAFETY: every table points to the constant runtime table of its library.
        unsafe { &*self.api.runtime }
    }
}

/// The ports on which a table and the structs disagree.
fn differences<I: Pins, O: Pins>(api: &vl_model_api) -> Vec<PortDifference> {
    // SAFETY: the shim gives a table of `port_count` entries with static names.
    let ports = unsafe { std::slice::from_raw_parts(api.ports, api.port_count as usize) };
    let found: Vec<(String, u32, bool)> =
        ports.iter().map(|port| (text(port.name), port.width, port.output == 1)).collect();
    let expected = || {
        let inputs = I::PORTS.iter().map(|port| (port, false));
        inputs.chain(O::PORTS.iter().map(|port| (port, true)))
    };
    let mut differences = Vec::new();
    for (Port { name, width, .. }, output) in expected() {
        let port = (*name).to_owned();
        match found.iter().find(|(name, ..)| *name == port) {
            None => differences.push(PortDifference::Missing { port }),
            Some((_, _, found)) if *found != output => {
                differences.push(PortDifference::Direction { port });
            }
            Some((_, found, _)) if found != width => {
                differences.push(PortDifference::Width { port, expected: *width, found: *found });
            }
            // The layout follows from names and widths alone.
            Some(_) => {}
        }
    }
    for (name, ..) in found {
        if !expected().any(|(port, _)| port.name == name) {
            differences.push(PortDifference::Unknown { port: name });
        }
    }
    differences
}

/// Simulation time and seeds of one model.
///
/// No two models that live at the same time share one, and it never leaves its model, whose C++ side
/// points to it: there is no way to a `&mut Context`, which could be swapped with that of another model.
/// The runtime keeps one that the model left nothing in for the next model of the thread.
#[derive(Debug)]
struct Context {
    raw: NonNull<vl_context>,
    runtime: &'static vl_runtime_api,
}

impl Context {
    fn new(runtime: &'static vl_runtime_api, before_reset: BeforeReset) -> Result<Self, Error> {
        let raw = NonNull::new(call(runtime.context_create)).ok_or_else(|| last_error(runtime))?;
        let (mode, seed) = match before_reset {
            BeforeReset::Zeros => (0, 1),
            BeforeReset::Ones => (1, 1),
            BeforeReset::Random(seed) => (2, seed),
        };
        // SAFETY: the context was just created.
        unsafe {
            function(runtime.context_begin)(raw.as_ptr(), mode, seed.cast_signed());
        }
        Ok(Self { raw, runtime })
    }

    /// What `$value$plusargs` finds.
    fn argument(&self, text: &str) -> Result<(), Error> {
        let text = CString::new(text)
            .map_err(|_| Error::Stopped(format!("{text:?}: an argument cannot hold NUL")))?;
        // SAFETY: the context is alive and no model is in it yet; the text ends in NUL and is copied.
        let status =
            unsafe { function(self.runtime.context_argument)(self.raw.as_ptr(), text.as_ptr()) };
        succeeded(status, self.runtime)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: created by the same runtime, destroyed once.
        unsafe { function(self.runtime.context_destroy)(self.raw.as_ptr()) }
    }
}

/// A running model.
///
/// One cycle is [`settle`](Model::settle) with the cycle's inputs, then [`edge`](Model::edge).
#[derive(Debug)]
pub struct Model<I, O> {
    settle: Settle,
    edge: Edge,
    raw: NonNull<vl_model>,
    kind: ModelKind<I, O>,
    before_reset: BeforeReset,
    context: Context,
    tracing: bool,
}

/// How a batch of cycles ended.
#[derive(Debug)]
pub enum BatchEnd<O> {
    /// Every output was as expected in every cycle.
    Equal,
    /// The outputs of a cycle differ.
    Differs {
        /// The cycle's index in the batch.
        cycle: usize,
        /// The model's outputs in it.
        actual: O,
    },
    /// The model stopped by itself, at the edge before a cycle or in it.
    Stopped {
        /// The cycle's index in the batch.
        cycle: usize,
        /// What it said.
        error: Error,
    },
}

type Settle =
    unsafe extern "C" fn(*mut vl_model, *const std::ffi::c_void, *mut std::ffi::c_void) -> i32;
type Edge = unsafe extern "C" fn(*mut vl_model) -> i32;

// SAFETY: a model and its context share nothing mutable with other models, and every function of the
// table first makes the context that of the calling thread; so a model may move to another thread
// between calls.
unsafe impl<I, O> Send for Model<I, O> {}

impl<I: Pins, O: Pins> Model<I, O> {
    /// Drives the inputs with the clock low, lets the model settle and reads the outputs.
    ///
    /// # Errors
    /// [`Error::Stopped`]; every further call returns the like then.
    #[inline]
    pub fn settle(&mut self, inputs: &I, outputs: &mut O) -> Result<(), Error> {
        // SAFETY: the model is alive and the sizes of the structs were checked with its kind.
        let status = unsafe {
            (self.settle)(
                self.raw.as_ptr(),
                std::ptr::from_ref(inputs).cast(),
                std::ptr::from_mut(outputs).cast(),
            )
        };
        if status == 0 { Ok(()) } else { Err(last_error(self.kind.runtime())) }
    }

    /// The rising clock edge.
    ///
    /// # Errors
    /// As [`settle`](Model::settle).
    #[inline]
    pub fn edge(&mut self) -> Result<(), Error> {
        // SAFETY: the model is alive.
        let status = unsafe { (self.edge)(self.raw.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(last_error(self.kind.runtime())) }
    }

    /// Drives a batch of cycles and compares every output with what is expected, up to the first
    /// difference; nothing but that difference is stored. The rising edge that ends the batch comes with
    /// the next one, or with [`edge`](Model::edge). A model that did not behave as expected must not be
    /// used further.
    ///
    /// # Panics
    /// If there are not as many outputs as inputs.
    pub fn run_batch(&mut self, inputs: &[I], expected: &[O]) -> BatchEnd<O> {
        assert_eq!(inputs.len(), expected.len(), "a batch has outputs for each of its inputs");
        let mut actual = O::new_zeroed();
        let mut cycle = 0;
        // SAFETY: the model is alive; both slices hold that many structs, whose sizes were checked with
        // its kind.
        let status = unsafe {
            function(self.kind.api.run_batch)(
                self.raw.as_ptr(),
                inputs.as_ptr().cast(),
                expected.as_ptr().cast(),
                inputs.len(),
                &raw mut cycle,
                std::ptr::from_mut(&mut actual).cast(),
            )
        };
        match status {
            0 if cycle == inputs.len() => BatchEnd::Equal,
            0 => BatchEnd::Differs { cycle, actual },
            _ => BatchEnd::Stopped { cycle, error: last_error(self.kind.runtime()) },
        }
    }

    /// A new model of the same kind, with the same registers before reset.
    ///
    /// # Errors
    /// As [`ModelKind::create`].
    pub fn afresh(&self) -> Result<Self, Error> {
        self.kind.create(self.before_reset)
    }

    /// Runs whole cycles over recorded inputs inside C++, with nothing around the model: the
    /// baseline of benchmarks. Returns the outputs of the last cycle.
    ///
    /// # Errors
    /// As [`settle`](Model::settle).
    pub fn run_recorded(&mut self, inputs: &[I]) -> Result<O, Error> {
        let mut outputs = O::new_zeroed();
        // SAFETY: as in `settle`; `inputs` is a slice of that many structs.
        let status = unsafe {
            function(self.kind.api.run_recorded)(
                self.raw.as_ptr(),
                inputs.as_ptr().cast(),
                inputs.len(),
                std::ptr::from_mut(&mut outputs).cast(),
            )
        };
        succeeded(status, self.kind.runtime())?;
        Ok(outputs)
    }

    /// Runs the Verilog `final` blocks.
    ///
    /// # Errors
    /// As [`settle`](Model::settle).
    pub fn finish(&mut self) -> Result<(), Error> {
        // SAFETY: the model is alive.
        let status = unsafe { function(self.kind.api.finish)(self.raw.as_ptr()) };
        succeeded(status, self.kind.runtime())
    }

    /// Starts a trace of all signals in `path`; the format is that of the model's kind.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the model was built without trace or the file cannot be written.
    pub fn open_trace(&mut self, path: &Path) -> Result<(), Error> {
        let path = c_path(path)?;
        self.close_trace()?;
        // SAFETY: the model is alive; the path ends in NUL.
        let status =
            unsafe { function(self.kind.api.trace_open)(self.raw.as_ptr(), path.as_ptr()) };
        succeeded(status, self.kind.runtime())?;
        self.tracing = true;
        Ok(())
    }

    /// Adds the present values at the context's time, if a trace is open; then lets one tick pass.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the trace cannot be written.
    pub fn dump(&mut self) -> Result<(), Error> {
        if self.tracing {
            // SAFETY: the model is alive.
            let status =
                unsafe { function(self.kind.api.trace_dump)(self.raw.as_ptr(), self.time()) };
            succeeded(status, self.kind.runtime())?;
        }
        self.advance(1);
        Ok(())
    }

    /// Ends the trace; the file is whole afterwards. Dropping the model does so, too, but tells of no
    /// error.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the rest could not be written.
    pub fn close_trace(&mut self) -> Result<(), Error> {
        if !std::mem::take(&mut self.tracing) {
            return Ok(());
        }
        // SAFETY: the model is alive.
        let status = unsafe { function(self.kind.api.trace_close)(self.raw.as_ptr()) };
        succeeded(status, self.kind.runtime())
    }

    /// Shows the golden model of a cycle to a model inside an observing top, so that a trace holds both,
    /// drives the cycle's inputs with the clock as it is, and lets the model settle; does nothing in others.
    /// Texts keep their first 24 characters.
    ///
    /// # Errors
    /// As [`settle`](Model::settle).
    pub fn observe(
        &mut self,
        cycle: u64,
        inputs: &I,
        outputs: &O,
        state: &str,
        rule: &str,
    ) -> Result<(), Error> {
        let (state, rule) = (text_words(state), text_words(rule));
        // SAFETY: the model is alive; the sizes of the structs were checked with its kind; the texts
        // have the length the shim reads.
        let status = unsafe {
            function(self.kind.api.observe)(
                self.raw.as_ptr(),
                cycle,
                std::ptr::from_ref(inputs).cast(),
                std::ptr::from_ref(outputs).cast(),
                state.as_ptr(),
                rule.as_ptr(),
            )
        };
        succeeded(status, self.kind.runtime())
    }

    /// The RTL's state register, of a model inside an observing top; else 0.
    pub fn probe(&mut self) -> u64 {
        // SAFETY: the model is alive.
        unsafe { function(self.kind.api.probe)(self.raw.as_ptr()) }
    }

    /// Simulation time in ticks.
    pub fn time(&self) -> u64 {
        // SAFETY: the context lives as long as the model.
        unsafe { function(self.kind.runtime().context_time)(self.context.raw.as_ptr()) }
    }

    /// Lets `ticks` of simulation time pass.
    pub fn advance(&mut self, ticks: u64) {
        // SAFETY: as in `time`.
        unsafe { function(self.kind.runtime().context_advance)(self.context.raw.as_ptr(), ticks) }
    }

    /// How often the model went through each of its kind's [points](ModelKind::points); nothing if it was built without coverage.
    /// It counts from the edge that ends the second cycle that it is shown: power comes up in the first, the second is in reset.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.kind.counted];
        // SAFETY: the model is alive, and so many counts are written.
        unsafe {
            function(self.kind.api.counts)(self.raw.as_ptr(), counts.as_mut_ptr(), counts.len());
        }
        counts
    }
}

impl<I, O> Drop for Model<I, O> {
    fn drop(&mut self) {
        let api = self.kind.api;
        // SAFETY: created by the same table, destroyed once, before its context.
        unsafe {
            function(api.trace_close)(self.raw.as_ptr());
            function(api.destroy)(self.raw.as_ptr());
        }
    }
}

/// A text as a Verilog string: ASCII, the last character in the low byte.
fn text_words(text: &str) -> [u32; shim::VL_TEXT_WORDS as usize] {
    let mut words = [0; shim::VL_TEXT_WORDS as usize];
    let shown = &text.as_bytes()[..text.len().min(words.len() * 4)];
    for (index, byte) in shown.iter().rev().enumerate() {
        words[index / 4] |= u32::from(*byte) << (index % 4 * 8);
    }
    words
}

/// An entry of a table; the shim fills all of them.
fn function<F>(entry: Option<F>) -> F {
    entry.expect("the shim fills every entry of its tables")
}

fn call<R>(entry: Option<unsafe extern "C" fn() -> R>) -> R {
    // SAFETY: the entries without arguments have no precondition.
    unsafe { function(entry)() }
}

fn text(pointer: *const c_char) -> String {
    // SAFETY: the shim's strings are static, or thread-local until the next failure, and end in NUL.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn last_error(runtime: &vl_runtime_api) -> Error {
    let text = text(call(runtime.last_error));
    failed_assertion(&text).unwrap_or(Error::Stopped(text))
}

/// The error for a failed assertion, from the shim's words `assertion failed: top.instance.label (folder/file.sv:7)`.
fn failed_assertion(text: &str) -> Option<Error> {
    let (path, place) = text.strip_prefix("assertion failed: ")?.rsplit_once(" (")?;
    let last = |text: &str, separator| text.rsplit(separator).next().unwrap_or(text).to_owned();
    let (label, place) = (last(path, '.'), last(place.trim_end_matches(')'), '/'));
    Some(Error::Assertion { label, place })
}

fn succeeded(status: i32, runtime: &vl_runtime_api) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(last_error(runtime)) }
}

fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| Error::Stopped(format!("{}: a path cannot hold NUL", path.display())))
}

/// Checks that a table was made by this version of the shim.
pub(crate) fn same_abi(api: &vl_model_api) -> bool {
    // SAFETY: the runtime pointer of a table is the address of a constant.
    api.abi == shim::VL_SHIM_ABI && unsafe { &*api.runtime }.abi == shim::VL_SHIM_ABI
}

#[cfg(test)]
mod tests {
    use super::text_words;

    #[test]
    fn texts_are_verilog_strings() {
        assert_eq!(text_words("AB")[0], 0x4142);
        assert_eq!(text_words("IDLE_s")[..2], [0x4c45_5f73, 0x4944]);
        assert_eq!(text_words(&"x".repeat(40)), [0x7878_7878; 6]);
    }
}

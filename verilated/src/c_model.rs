//! Models of a block in C or C++, behind five functions.

use crate::Pins;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// A parameter of a block, as C receives it.
#[repr(C)]
#[derive(Debug)]
pub struct CParameter {
    name: *const c_char,
    value: u64,
}

/// The functions of a model in C. The generated header says what each must do.
#[derive(Debug)]
pub struct CFunctions<I, O> {
    /// Makes a model in reset from parameters and their number.
    pub new: unsafe extern "C" fn(*const CParameter, usize) -> *mut c_void,
    /// Frees a model.
    pub free: unsafe extern "C" fn(*mut c_void),
    /// Computes the outputs before the rising edge, and the bits of them that are open.
    pub outputs: unsafe extern "C" fn(*const c_void, *const I, *mut O, *mut O),
    /// Takes the rising edge and sets the bits of the rules that applied.
    pub clock: unsafe extern "C" fn(*mut c_void, *const I, *mut u64),
    /// The name of the state, as a string literal.
    pub state: unsafe extern "C" fn(*const c_void) -> *const c_char,
}

impl<I, O> Clone for CFunctions<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for CFunctions<I, O> {}

/// A kind of model in C, with the pins of its block.
#[derive(Debug)]
pub struct CModelKind<I, O> {
    functions: CFunctions<I, O>,
}

impl<I: Pins, O: Pins> CModelKind<I, O> {
    /// A kind of model with these functions.
    ///
    /// # Safety
    /// The functions do what the generated header says: they access nothing but their arguments
    /// and memory of their own, they never throw, models are independent of each other and of the
    /// thread, and the name of a state is a string literal.
    pub const unsafe fn new(functions: CFunctions<I, O>) -> Self {
        Self { functions }
    }

    /// A model in reset. `None` if the model refuses the parameters.
    pub fn create<'a>(
        &self,
        parameters: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Option<CModel<I, O>> {
        let (names, values): (Vec<CString>, Vec<u64>) = parameters
            .into_iter()
            // The names are identifiers of Verilog, so none holds a NUL.
            .map(|(name, value)| (CString::new(name).unwrap_or_default(), value))
            .unzip();
        let pairs = names.iter().zip(&values);
        let list: Vec<CParameter> =
            pairs.map(|(name, value)| CParameter { name: name.as_ptr(), value: *value }).collect();
        // SAFETY: the list and its names live until the function returns, and `new` promises
        // that the function keeps no pointer to them.
        let state = unsafe { (self.functions.new)(list.as_ptr(), list.len()) };
        NonNull::new(state).map(|state| CModel {
            functions: self.functions,
            state,
            pins: PhantomData,
        })
    }
}

/// A model in C.
pub struct CModel<I, O> {
    functions: CFunctions<I, O>,
    state: NonNull<c_void>,
    pins: PhantomData<fn() -> (I, O)>,
}

// SAFETY: `CModelKind::new` promises that a model does not depend on the thread.
unsafe impl<I, O> Send for CModel<I, O> {}

impl<I, O> fmt::Debug for CModel<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CModel").finish_non_exhaustive()
    }
}

impl<I, O> Drop for CModel<I, O> {
    fn drop(&mut self) {
        // SAFETY: the model is alive, and nothing uses it afterwards.
        unsafe { (self.functions.free)(self.state.as_ptr()) }
    }
}

impl<I: Pins, O: Pins> CModel<I, O> {
    /// The outputs before the rising edge, and the bits of them that the specification leaves open.
    /// Bits outside of ports are cleared.
    pub fn outputs(&self, inputs: &I) -> [O; 2] {
        let (mut outputs, mut open) = (O::default(), O::default());
        // SAFETY: the model is alive; both structs have the layout of the header, and any bits in
        // them are valid, because they consist of integers.
        unsafe {
            (self.functions.outputs)(
                self.state.as_ptr(),
                ptr::from_ref(inputs),
                &raw mut outputs,
                &raw mut open,
            );
        }
        [outputs, open].map(|pins| O::from_bytes(pins.as_bytes()))
    }

    /// Takes the rising edge. Returns the rules that applied, a bit for each.
    pub fn clock(&mut self, inputs: &I) -> u128 {
        let mut rules = [0_u64; 2];
        // SAFETY: the model is alive, and the array has the two words that the header promises.
        unsafe {
            (self.functions.clock)(self.state.as_ptr(), ptr::from_ref(inputs), rules.as_mut_ptr());
        }
        u128::from(rules[0]) | u128::from(rules[1]) << 64
    }

    /// The name of the state.
    pub fn state(&self) -> &'static str {
        // SAFETY: the model is alive, and `CModelKind::new` promises a string literal.
        let name = unsafe {
            let name = (self.functions.state)(self.state.as_ptr());
            if name.is_null() { c"" } else { CStr::from_ptr(name) }
        };
        name.to_str().unwrap_or("a name that is not UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Port;

    /// One port of 5 bits and one of 9.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    #[repr(C)]
    struct Two([u8; 8]);

    // SAFETY: the ports lie in the struct, which consists of bytes.
    unsafe impl Pins for Two {
        const PORTS: &'static [Port] = &[
            Port { name: "five", width: 5, offset: 0 },
            Port { name: "nine", width: 9, offset: 2 },
        ];
    }

    /// A counter that begins at the parameter START and counts what its input says.
    unsafe extern "C" fn new(list: *const CParameter, count: usize) -> *mut c_void {
        // SAFETY: the caller passes a list of this length.
        let list = unsafe { std::slice::from_raw_parts(list, count) };
        // SAFETY: each name is a C string.
        let name = |one: &CParameter| unsafe { CStr::from_ptr(one.name) }.to_owned();
        let start = list.iter().find(|one| name(one).as_c_str() == c"START");
        start.map_or(ptr::null_mut(), |start| Box::into_raw(Box::new(start.value)).cast())
    }

    unsafe extern "C" fn free(model: *mut c_void) {
        // SAFETY: `new` made it.
        drop(unsafe { Box::from_raw(model.cast::<u64>()) });
    }

    unsafe extern "C" fn outputs(
        model: *const c_void,
        _: *const Two,
        outputs: *mut Two,
        open: *mut Two,
    ) {
        // SAFETY: the caller passes a model and two structs.
        unsafe {
            let count = *model.cast::<u64>() as u8;
            (*outputs).0 = [0xff, 0xff, count, 0xff, 0xff, 0xff, 0xff, 0xff];
            (*open).0[0] = 0x81;
        }
    }

    unsafe extern "C" fn clock(model: *mut c_void, inputs: *const Two, rules: *mut u64) {
        // SAFETY: the caller passes a model, a struct and two words.
        unsafe {
            *model.cast::<u64>() += u64::from((*inputs).0[0]);
            *rules = 2;
            *rules.add(1) = 1 << 63;
        }
    }

    unsafe extern "C" fn state(model: *const c_void) -> *const c_char {
        // SAFETY: the caller passes a model.
        match unsafe { *model.cast::<u64>() } {
            0 => c"EMPTY".as_ptr(),
            1 => c"\xff".as_ptr(),
            _ => ptr::null(),
        }
    }

    // SAFETY: the functions above do what the header says.
    const KIND: CModelKind<Two, Two> =
        unsafe { CModelKind::new(CFunctions { new, free, outputs, clock, state }) };

    #[test]
    fn a_model_in_c_keeps_its_state() {
        let mut model = KIND.create([("OTHER", 9), ("START", 0)]).unwrap();
        assert_eq!(model.state(), "EMPTY");
        assert_eq!(model.clock(&Two([3, 0, 0, 0, 0, 0, 0, 0])), 2 | 1 << 127);
        // Bits outside of ports are cleared.
        assert_eq!(model.outputs(&Two::default())[0], Two([0x1f, 0, 3, 1, 0, 0, 0, 0]));
        assert_eq!(model.outputs(&Two::default())[1], Two([1, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(model.state(), "", "no name");
        assert_eq!(KIND.create([("START", 1)]).unwrap().state(), "a name that is not UTF-8");
    }

    #[test]
    fn a_model_may_refuse_its_parameters() {
        assert!(KIND.create([("OTHER", 1)]).is_none());
    }
}

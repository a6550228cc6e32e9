//! The parameters of the RTL beside its mask of fixes, the profiles, and the parameters of inner
//! blocks.

use super::super::Rx;
use crate::blocks::dll::{self, Dll};
use crate::blocks::recv::{self, Recv};
use crate::blocks::thread2::Thread2;
use cosim_core::harness::{Parameter, Parameters, Profile};

/// The parameters of dll, then those of recv, as in section 1 of the specification.
pub const PARAMETERS: [Parameter; 6] = {
    let [depth, limit, latency] = dll::rules::parameters::PARAMETERS;
    let [low, high, keep] = recv::rules::parameters::PARAMETERS;
    [depth, limit, latency, low, high, keep]
};

/// Index of the first parameter of recv.
const OF_RECV: usize = dll::rules::parameters::PARAMETERS.len();

const SMALL: Parameters = {
    let [depth, limit, latency] = [2, 12, 2];
    let [low, high, keep] = [1, 2, 3];
    let all = Parameters::with_fixes::<Rx>(0xab).with(0, depth).with(1, limit).with(2, latency);
    all.with(OF_RECV, low).with(OF_RECV + 1, high).with(OF_RECV + 2, keep)
};

/// The profiles of section 1 of the specification. `small` sets some fixes and not their
/// neighbours, so that RTL that uses the bit of another fix fails.
pub const PROFILES: [Profile; 3] = [
    Profile::new("spec", Parameters::with_fixes::<Rx>(0x00)),
    Profile::new("repaired", Parameters::with_fixes::<Rx>(0xff)),
    Profile::new("small", SMALL),
];

/// The parameters `inner` with values of the system from index `first` on.
fn handed_down(mut inner: Parameters, system: &Parameters, first: usize) -> Parameters {
    for index in 0..inner.values().count() {
        inner = inner.with(index, system.get(first + index));
    }
    inner
}

/// The parameters of dll.
pub fn of_dll(system: &Parameters) -> Parameters {
    handed_down(Parameters::with_fixes::<Dll>(system.fixes()), system, 0)
}

/// The parameters of recv.
pub fn of_recv(system: &Parameters) -> Parameters {
    handed_down(Parameters::with_fixes::<Recv>(system.fixes()), system, OF_RECV)
}

/// The parameters of thread2.
pub fn of_thread2(system: &Parameters) -> Parameters {
    Parameters::with_fixes::<Thread2>(system.fixes())
}

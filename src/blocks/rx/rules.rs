//! The rules of the top-level logic, with their names in section 7 of the specification. The
//! rules of the inner blocks are counted in the regressions of these blocks.

pub(super) mod descriptor;
pub mod parameters;
#[macro_use]
pub(super) mod pins;

cosim_core::rules! {
    R1: "reset";
    CR1: "a descriptor is taken: a credit more is in use";
    CR2: "a descriptor is taken and a packet leaves";
    CR3: "a packet leaves: a credit comes back";
    CR4: "a packet leaves that was never taken";
    CR5: "a descriptor waits for a credit";
    FI1: "a delivery goes into the FIFO";
    FI2: "a delivery to a full FIFO is lost";
    FI3: "the head leaves the FIFO";
    RQ1: "a request packet waits for its context";
    RQ2: "a request packet waits until qp has taken an event";
    RQ3: "a request packet waits for thread2";
    RQ4: "a request packet is taken by thread2";
    RQ5: "a request packet is refused with a Nak";
    RQ6: "a request packet is dropped";
    PK1: "a message packet waits for its lengths";
    PK2: "a message packet waits for recv";
    PK3: "a message packet is taken by recv";
    EV1: "the first request packet of a QP in RTR: an event is owed";
    EV2: "a length error: an event is owed";
    EV3: "the first request packet is reported to qp";
    EV4: "the length error is reported to qp";
    EV5: "an external event is reported to qp";
    EV6: "an external event waits";
}

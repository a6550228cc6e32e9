//! Packets of beats, as entries of a source.

use super::source::Burst;
use crate::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// A packet of beats, whose payload increases from beat to beat, so that a vector stores a number
/// of beats instead of each of them. `T` is the item, and `WIDTH` the width of its payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(bound = "")]
pub struct Packet<T, const WIDTH: u32> {
    /// Number of beats, at least 1.
    pub beats: Uint<10>,
    /// Cycles between two beats in which none is offered.
    #[serde(default, skip_serializing_if = "Uint::is_zero")]
    pub delay: Uint<6>,
    /// Payload of the first beat; it increases by 1 for each further one.
    pub data: Uint<WIDTH>,
    #[serde(skip)]
    item: PhantomData<T>,
}

impl<T, const WIDTH: u32> Packet<T, WIDTH> {
    /// A packet of so many beats.
    pub fn new(beats: u64, delay: Uint<6>, data: Uint<WIDTH>) -> Self {
        Self { beats: Uint::new(beats), delay, data, item: PhantomData }
    }
}

/// An item that is a beat of a packet.
pub trait PacketBeat<const WIDTH: u32> {
    /// The beat with this payload, which is the last one of its packet or not.
    fn beat(payload: Uint<WIDTH>, is_last: bool) -> Self;
}

impl<T: PacketBeat<WIDTH>, const WIDTH: u32> Burst for Packet<T, WIDTH> {
    type Item = T;

    #[inline]
    fn item(&self, number: u64) -> T {
        let payload = Uint::new(self.data.get().wrapping_add(number));
        T::beat(payload, number + 1 == self.beats.get())
    }

    #[inline]
    fn items(&self) -> u64 {
        self.beats.get()
    }

    #[inline]
    fn pause(&self) -> u64 {
        self.delay.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Beat(u64, bool);

    impl PacketBeat<8> for Beat {
        fn beat(payload: Uint<8>, is_last: bool) -> Self {
            Self(payload.get(), is_last)
        }
    }

    #[test]
    fn the_payload_counts_up_and_the_last_beat_is_marked() {
        let packet: Packet<Beat, 8> = serde_json::from_str(r#"{"beats":2,"data":255}"#).unwrap();
        assert_eq!([packet.item(0), packet.item(1)], [Beat(255, false), Beat(0, true)]);
        assert_eq!((packet.items(), packet.pause()), (2, 0));
        assert_eq!(serde_json::to_string(&packet).unwrap(), r#"{"beats":2,"data":255}"#);
    }
}

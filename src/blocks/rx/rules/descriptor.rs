//! Descriptors on the link: 32 bits for each packet (specification, section 2).

use super::super::rtl::Bits32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptor {
    /// A packet for a QP.
    Request(Request),
    /// A packet of the message layer.
    Message(Message),
}

/// The contents of a request packet's descriptor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// It is the packet of its message that uses the RQ WQE.
    pub consumes_wqe: bool,
    /// It cannot be executed.
    pub error: bool,
    /// The handle for fetching header and contexts.
    pub handle: u8,
    pub qpn: u8,
}

/// The contents of a message packet's descriptor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message {
    pub last: bool,
    pub kind: u8,
    /// The handle for fetching its lengths, which is also that of its buffer.
    pub handle: u8,
}

impl Descriptor {
    /// Decodes 32 bits; ignored bits are dropped.
    #[inline]
    pub fn decode(bits: Bits32) -> Self {
        let bits = bits.get() as u32;
        let [flags, handle, qpn, _] = bits.to_le_bytes();
        let is = |bit: u32| bits >> bit & 1 == 1;
        match is(0) {
            true => Self::Request(Request { consumes_wqe: is(1), error: is(2), handle, qpn }),
            false => Self::Message(Message { last: is(3), kind: flags >> 5, handle }),
        }
    }

    /// Encodes to 32 bits; ignored bits are taken from `ignored`.
    #[inline]
    pub fn encode(self, ignored: u32) -> Bits32 {
        let (defined, value) = match self {
            Self::Request(Request { consumes_wqe, error, handle, qpn }) => {
                let flags = 1 | u8::from(consumes_wqe) << 1 | u8::from(error) << 2;
                (0x00ff_ff07, u32::from_le_bytes([flags, handle, qpn, 0]))
            }
            Self::Message(Message { last, kind, handle }) => {
                let flags = u8::from(last) << 3 | kind << 5;
                (0x0000_ffe9, u32::from_le_bytes([flags, handle, 0, 0]))
            }
        };
        Bits32::new(u64::from(value | ignored & !defined))
    }

    #[inline]
    pub fn handle(self) -> u8 {
        match self {
            Self::Request(Request { handle, .. }) | Self::Message(Message { handle, .. }) => handle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_specification_and_ignored_ones_say_nothing() {
        let request = Request { consumes_wqe: true, error: true, handle: 0x5a, qpn: 0xc3 };
        let message = Message { last: true, kind: 5, handle: 0x5a };
        for (descriptor, ignored, bits) in [
            (Descriptor::Request(request), 0, 0x00c3_5a07),
            (Descriptor::Request(request), u32::MAX, 0xffc3_5aff),
            (Descriptor::Request(Request::default()), 0, 1),
            (Descriptor::Message(message), 0, 0x0000_5aa8),
            (Descriptor::Message(message), u32::MAX, 0xffff_5abe),
            (Descriptor::Message(Message::default()), 0x10, 0x10),
        ] {
            assert_eq!(descriptor.encode(ignored).get(), bits);
            assert_eq!(Descriptor::decode(Bits32::new(bits)), descriptor);
        }
    }
}

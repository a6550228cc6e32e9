//! Unconstrained stimulus in JSON: one line for each cycle, an object of port names and hex
//! strings. The first cycle names every port. Each further cycle names the ports that differ from
//! the cycle before, and may name others.

use crate::json::MisreadText;
use crate::value::{Uint, hex_pattern, read_digits};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use serde_path_to_error::{Deserializer as PathDeserializer, Track};
use std::fmt;
use verilated::{Pins, Port};

const DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Maximum size of all cycles in memory, in bytes.
const MOST_BYTES: usize = 1 << 30;

/// Number of cycles of a case with this number of packets. A vector holds no more than
/// `MOST_BYTES` of them.
pub fn count<P: Pins>(per_packet: Uint<8>, packets: u32) -> u32 {
    let most = most_cycles::<P>() as u64;
    (per_packet.get() * u64::from(packets)).min(most) as u32
}

fn most_cycles<P: Pins>() -> usize {
    MOST_BYTES / size_of::<P>().max(1)
}

/// The cycles of some pins, to write them.
#[derive(Debug, Clone, Copy)]
pub struct RawCycles<'a> {
    ports: &'static [Port],
    /// The bytes of all cycles, and the number of cycles.
    bytes: &'a [u8],
    count: usize,
}

impl<'a> RawCycles<'a> {
    /// Cycles of pins.
    pub fn new<P: Pins>(cycles: &'a [P]) -> Self {
        Self { ports: P::PORTS, bytes: P::all_bytes(cycles), count: cycles.len() }
    }
}

impl Serialize for RawCycles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.count))?;
        let size = self.bytes.len() / self.count.max(1);
        let mut before = None;
        for cycle in 0..self.count {
            let pins = &self.bytes[cycle * size..][..size];
            // Raw text stays on one line, whatever the layout of the rest.
            let text = line(self.ports, pins, before);
            let cycle = RawValue::from_string(text).map_err(serde::ser::Error::custom)?;
            sequence.serialize_element(&cycle)?;
            before = Some(pins);
        }
        sequence.end()
    }
}

/// A cycle after the one `before`.
fn line(ports: &[Port], pins: &[u8], before: Option<&[u8]>) -> String {
    let mut text = String::from("{");
    for port in ports {
        let value = port.bytes(pins);
        if before.is_some_and(|before| port.bytes(before) == value) {
            continue;
        }
        let separator = if text.len() == 1 { "" } else { ", " };
        text.push_str(separator);
        text.push('"');
        text.push_str(port.name);
        text.push_str("\": \"0x");
        push_digits(&mut text, value);
        text.push('"');
    }
    text.push('}');
    text
}

/// Writes a number without leading zeros, because a vector has tens of millions of them.
fn push_digits(text: &mut String, bytes: &[u8]) {
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    let Some(top) = bytes.iter().rposition(|byte| *byte != 0) else { return text.push('0') };
    if bytes[top] > 0xf {
        text.push(digit(bytes[top] >> 4));
    }
    text.push(digit(bytes[top] & 0xf));
    for byte in bytes[..top].iter().rev() {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 0xf));
    }
}

/// Reads cycles from JSON. The first one must name every port, no port may be unknown, and every
/// value must fit.
///
/// # Errors
/// With line, column and field.
pub fn from_text<P: Pins>(text: &str) -> Result<Vec<P>, MisreadText> {
    let mut cycles = Vec::new();
    let mut next = Next {
        ports: P::PORTS,
        pins: vec![0; size_of::<P>()],
        seen: vec![false; P::PORTS.len()],
        cycles: 0,
        most: most_cycles::<P>(),
        take: &mut |pins| cycles.push(P::from_bytes(pins)),
    };
    next.read(text)?;
    Ok(cycles)
}

/// The state between two cycles.
struct Next<'a> {
    ports: &'static [Port],
    /// The pins of the cycle before.
    pins: Vec<u8>,
    /// The ports that the cycle named.
    seen: Vec<bool>,
    /// Cycles so far, and the maximum.
    cycles: usize,
    most: usize,
    take: &'a mut dyn FnMut(&[u8]),
}

impl Next<'_> {
    fn read(&mut self, text: &str) -> Result<(), MisreadText> {
        let mut track = Track::new();
        let mut from = serde_json::Deserializer::from_str(text);
        let read = PathDeserializer::new(&mut from, &mut track).deserialize_seq(Cycles(self));
        read.map_err(|error| MisreadText { place: track.path().to_string(), error })
    }
}

struct Cycles<'a, 'b>(&'a mut Next<'b>);

impl<'de> Visitor<'de> for Cycles<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cycles")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let Self(next) = self;
        while sequence.next_element_seed(&mut *next)?.is_some() {
            if next.cycles >= next.most {
                let message = format!(
                    "more than {} cycles, which take more than {} MiB",
                    next.most,
                    MOST_BYTES >> 20
                );
                return Err(A::Error::custom(message));
            }
            next.cycles += 1;
            (next.take)(&next.pins);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Next<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Next<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.ports.len();
        write!(f, "an object with input ports of the block, {ports} in the first cycle")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.seen.fill(false);
        while let Some(index) = map.next_key_seed(Name(self.ports))? {
            let port = &self.ports[index];
            if std::mem::replace(&mut self.seen[index], true) {
                return Err(A::Error::custom(format!("port `{}` is given twice", port.name)));
            }
            let bytes = &mut self.pins[port.offset..][..port.size()];
            map.next_value_seed(Digits { port, bytes })?;
        }
        if self.cycles == 0
            && let Some((port, _)) = self.ports.iter().zip(&self.seen).find(|(_, seen)| !**seen)
        {
            let message = format!("missing port `{}`; the first cycle names every port", port.name);
            return Err(A::Error::custom(message));
        }
        Ok(())
    }
}

/// The JSON schema of cycles.
pub fn schema(ports: &[Port]) -> Value {
    let value = |port: &Port| json!({ "type": "string", "pattern": hex_pattern(port.width) });
    let names: Vec<&str> = ports.iter().map(|port| port.name).collect();
    let ports: Map<String, Value> =
        ports.iter().map(|port| (port.name.to_owned(), value(port))).collect();
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": ports,
            "additionalProperties": false,
        },
        "allOf": [{ "prefixItems": [{ "required": names }] }],
    })
}

/// Reads the name of a port as its index, without an allocation.
struct Name(&'static [Port]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an input port")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let index = self.0.iter().position(|port| port.name == name);
        index.ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|port| port.name).collect();
            E::custom(format!("unknown port `{name}`: expected an input, {}", names.join(", ")))
        })
    }
}

/// Reads the value of a port into the bytes of its pins.
struct Digits<'a> {
    port: &'static Port,
    bytes: &'a mut [u8],
}

impl<'de> DeserializeSeed<'de> for Digits<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Digits<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a hex string of at most {} bits", self.port.width)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let Port { name, width, .. } = *self.port;
        read_digits(text, width, self.bytes).ok_or_else(|| {
            let message = format!("`{text}` is not a hex string of at most {width} bits");
            E::custom(format!("port `{name}`: {message}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::push_digits;

    #[test]
    fn numbers_are_written_in_as_few_digits_as_they_need() {
        let written = |bytes: &[u8]| {
            let mut text = String::new();
            push_digits(&mut text, bytes);
            text
        };
        for (bytes, text) in [
            (&[0, 0][..], "0"),
            (&[5], "5"),
            (&[0x50, 0], "50"),
            (&[0, 0xa], "a00"),
            (&[1, 0xab], "ab01"),
        ] {
            assert_eq!(written(bytes), text);
        }
    }
}

//! Raw pins in JSON: one object per cycle, port name to value; wide ports are hex strings.

use crate::value::hex_pattern;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserializer, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::marker::PhantomData;
use verilated::{Pins, Port};

/// Writes cycles.
pub fn serialize<P: Pins, S: Serializer>(cycles: &[P], serializer: S) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(Some(cycles.len()))?;
    for pins in cycles {
        sequence.serialize_element(&Cycle(pins))?;
    }
    sequence.end()
}

struct Cycle<'a, P>(&'a P);

impl<P: Pins> serde::Serialize for Cycle<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(P::PORTS.len()))?;
        for port in P::PORTS {
            map.serialize_entry(port.name, &hex_of(port, self.0.as_bytes()))?;
        }
        map.end()
    }
}

/// The port's value as `0x…`.
fn hex_of(port: &Port, pins: &[u8]) -> String {
    let shown = port.show(pins);
    format!("0x{}", shown.rsplit('h').next().unwrap_or("0"))
}

/// Reads cycles; every port must be there, none may be unknown, every value must fit.
pub fn deserialize<'de, P: Pins, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<P>, D::Error> {
    deserializer.deserialize_seq(Cycles(PhantomData))
}

struct Cycles<P>(PhantomData<P>);

impl<'de, P: Pins> Visitor<'de> for Cycles<P> {
    type Value = Vec<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cycles")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<P>, A::Error> {
        let mut cycles = Vec::new();
        while let Some(ReadCycle(pins)) = sequence.next_element()? {
            cycles.push(pins);
        }
        Ok(cycles)
    }
}

struct ReadCycle<P>(P);

impl<'de, P: Pins> serde::Deserialize<'de> for ReadCycle<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CycleVisitor(PhantomData)).map(ReadCycle)
    }
}

struct CycleVisitor<P>(PhantomData<P>);

impl<'de, P: Pins> Visitor<'de> for CycleVisitor<P> {
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the {} input ports of the block", P::PORTS.len())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<P, A::Error> {
        let mut pins = P::new_zeroed().as_bytes().to_vec();
        let mut seen = vec![false; P::PORTS.len()];
        while let Some(name) = map.next_key::<String>()? {
            let index = P::PORTS
                .iter()
                .position(|port| port.name == name)
                .ok_or_else(|| A::Error::custom(format!("unknown port `{name}`")))?;
            if std::mem::replace(&mut seen[index], true) {
                return Err(A::Error::custom(format!("port `{name}` is given twice")));
            }
            let text: String = map.next_value()?;
            let port = &P::PORTS[index];
            let bytes = bytes_of(&text, port.width).ok_or_else(|| {
                A::Error::custom(format!(
                    "port `{name}`: `{text}` is not a hex string of at most {} bits",
                    port.width
                ))
            })?;
            pins[port.offset..][..bytes.len()].copy_from_slice(&bytes);
        }
        match P::PORTS.iter().zip(seen).find(|(_, seen)| !seen) {
            Some((port, _)) => Err(A::Error::custom(format!("missing port `{}`", port.name))),
            None => Ok(P::of_bytes(&pins)),
        }
    }
}

/// The JSON schema of cycles.
pub fn schema<P: Pins>() -> Value {
    let value = |port: &Port| json!({ "type": "string", "pattern": hex_pattern(port.width) });
    let ports: Map<String, Value> =
        P::PORTS.iter().map(|port| (port.name.to_owned(), value(port))).collect();
    let names: Vec<&str> = P::PORTS.iter().map(|port| port.name).collect();
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": ports,
            "required": names,
            "additionalProperties": false,
        },
    })
}

/// Little-endian bytes of `0x…` if it fits `width` bits.
fn bytes_of(text: &str, width: u32) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.is_empty() || digits.len() > 1024 {
        return None;
    }
    let mut bytes = vec![0u8; width.div_ceil(8) as usize];
    for (index, digit) in digits.chars().rev().enumerate() {
        let value = digit.to_digit(16)? as u8;
        for bit in 0..4 {
            if value >> bit & 1 == 1 {
                let position = index as u32 * 4 + bit;
                if position >= width {
                    return None;
                }
                bytes[position as usize / 8] |= 1 << (position % 8);
            }
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_strings_are_checked_against_the_width() {
        assert_eq!(bytes_of("0x1ff", 9), Some(vec![0xff, 1]));
        assert_eq!(bytes_of("0x00001", 1), Some(vec![1]));
        for bad in ["0x2", "1", "0x", "0xg", "-0x1", ""] {
            assert_eq!(bytes_of(bad, 1), None, "{bad}");
        }
    }
}

//! Raw pins in JSON: one line for each cycle, an object of port names and hex strings. The first cycle names
//! every port; each further one names those that differ from the cycle before, and may name others.

use crate::value::hex_pattern;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Deserializer, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::fmt::{self, Write as _};
use std::marker::PhantomData;
use verilated::{Pins, Port};

/// Writes cycles.
pub fn serialize<P: Pins, S: Serializer>(cycles: &[P], serializer: S) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(Some(cycles.len()))?;
    let mut before = None;
    for pins in cycles {
        // Raw text stays on one line, however the rest is laid out.
        let cycle = RawValue::from_string(line(pins, before)).map_err(S::Error::custom)?;
        sequence.serialize_element(&cycle)?;
        before = Some(pins);
    }
    sequence.end()
}

/// A cycle after the one `before`.
fn line<P: Pins>(pins: &P, before: Option<&P>) -> String {
    let mut text = String::from("{");
    for port in P::PORTS {
        let value = port.bytes(pins.as_bytes());
        if before.is_some_and(|before| port.bytes(before.as_bytes()) == value) {
            continue;
        }
        let separator = if text.len() == 1 { "" } else { ", " };
        let shown = port.show(pins.as_bytes());
        let digits = shown.rsplit('h').next().unwrap_or("0");
        // A String takes all that is written to it.
        let _ = write!(text, "{separator}\"{}\": \"0x{digits}\"", port.name);
    }
    text.push('}');
    text
}

/// Reads cycles. Every port must be in the first, none may be unknown, every value must fit.
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
        let mut next = Next::<P> {
            pins: P::new_zeroed().as_bytes().to_vec(),
            seen: vec![false; P::PORTS.len()],
            is_first: true,
            of: PhantomData,
        };
        while let Some(pins) = sequence.next_element_seed(&mut next)? {
            cycles.push(pins);
        }
        Ok(cycles)
    }
}

/// What the next cycle begins with.
struct Next<P> {
    /// The pins of the cycle before.
    pins: Vec<u8>,
    /// The ports the cycle has named.
    seen: Vec<bool>,
    is_first: bool,
    of: PhantomData<P>,
}

impl<'de, P: Pins> DeserializeSeed<'de> for &mut Next<P> {
    type Value = P;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<P, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, P: Pins> Visitor<'de> for &mut Next<P> {
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with input ports of the block, {} in the first cycle", P::PORTS.len())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<P, A::Error> {
        self.seen.fill(false);
        while let Some(name) = map.next_key::<String>()? {
            let index = P::PORTS
                .iter()
                .position(|port| port.name == name)
                .ok_or_else(|| A::Error::custom(format!("unknown port `{name}`")))?;
            if std::mem::replace(&mut self.seen[index], true) {
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
            self.pins[port.offset..][..bytes.len()].copy_from_slice(&bytes);
        }
        if std::mem::take(&mut self.is_first)
            && let Some((port, _)) = P::PORTS.iter().zip(&self.seen).find(|(_, seen)| !**seen)
        {
            let message = format!("missing port `{}`; the first cycle names every port", port.name);
            return Err(A::Error::custom(message));
        }
        Ok(P::of_bytes(&self.pins))
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
            "additionalProperties": false,
        },
        "allOf": [{ "prefixItems": [{ "required": names }] }],
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
        let used = u8::BITS - value.leading_zeros();
        if used > 0 && index as u32 * 4 + used > width {
            return None;
        }
        if let Some(byte) = bytes.get_mut(index / 2) {
            *byte |= value << (index % 2 * 4);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn hex_strings_are_checked_against_the_width() {
        assert_eq!(bytes_of("0x1ff", 9), Some(vec![0xff, 1]));
        assert_eq!(bytes_of("0x00001", 1), Some(vec![1]));
        assert_eq!(bytes_of("0x2fe", 10), Some(vec![0xfe, 2]));
        assert_eq!(bytes_of("0x400", 10), None);
        for bad in ["0x2", "0x10", "1", "0x", "0xg", "-0x1", ""] {
            assert_eq!(bytes_of(bad, 1), None, "{bad}");
        }
    }
}

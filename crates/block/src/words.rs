//! Pins as words of a Verilog memory file: one word per cycle, with whole hex digits for each port.

use std::fmt::Write;
use verilated::Port;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The layout of a word: the first port is on the left.
#[derive(Debug, Clone)]
pub struct Words {
    ports: &'static [Port],
}

fn digits_of(port: &Port) -> u32 {
    port.width.div_ceil(4)
}

impl Words {
    /// The layout of a list of ports.
    pub fn from_ports(ports: &'static [Port]) -> Self {
        Self { ports }
    }

    /// Width of a word in bits.
    pub fn bits(&self) -> u32 {
        4 * self.ports.iter().map(digits_of).sum::<u32>()
    }

    /// The lowest bit of a port in the word.
    pub fn lowest_bit(&self, name: &str) -> u32 {
        let behind = self.ports.iter().rev().take_while(|port| port.name != name);
        4 * behind.map(digits_of).sum::<u32>()
    }

    /// The hex digits of a word, with `between` as the separator of ports. Ports whose index
    /// satisfies `is_x` are X.
    pub fn digits(&self, pins: &[u8], between: &str, is_x: impl Fn(usize) -> bool) -> String {
        let mut text = String::new();
        for (place, port) in self.ports.iter().enumerate() {
            if !text.is_empty() {
                text.push_str(between);
            }
            if is_x(place) {
                text.extend((0..digits_of(port)).map(|_| 'x'));
                continue;
            }
            let bytes = port.bytes(pins);
            for digit in (0..digits_of(port)).rev() {
                let value = bytes[digit as usize / 2] >> (digit % 2 * 4) & 0xf;
                text.push(char::from(DIGITS[usize::from(value)]));
            }
        }
        text
    }

    /// A memory file with one line per cycle.
    pub fn file(&self, cycles: &[Vec<u8>]) -> Vec<u8> {
        let names: Vec<&str> = self.ports.iter().map(|port| port.name).collect();
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "// {}", names.join(" "));
        for pins in cycles {
            text.push_str(&self.digits(pins, "_", |_| false));
            text.push('\n');
        }
        text.into_bytes()
    }
}

/// Splits `data[3]` into name and bit; the bit is 0 if there is none.
pub fn split(name: &str) -> (&str, u32) {
    let parts = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    let bit = parts.and_then(|(name, bit)| Some((name, bit.parse().ok()?)));
    bit.unwrap_or((name, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_takes_whole_digits() {
        static PORTS: [Port; 3] = [
            Port { name: "wide", width: 69, offset: 0 },
            Port { name: "five", width: 5, offset: 12 },
            Port { name: "one", width: 1, offset: 13 },
        ];
        let words = Words { ports: &PORTS };
        assert_eq!(words.bits(), 4 * (18 + 2 + 1));
        assert_eq!(["wide", "five", "one"].map(|name| words.lowest_bit(name)), [12, 4, 0]);
        let pins = [0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x1f, 0, 0, 0, 0x1a, 1];
        assert_eq!(words.digits(&pins, "_", |_| false), "1f0123456789abcdef_1a_1");
        assert_eq!(words.digits(&pins, "", |place| place == 1), "1f0123456789abcdefxx1");
    }
}

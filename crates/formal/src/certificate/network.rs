//! A network in binary AIGER: the file that ABC decides, parsed again.

/// A network with one output that is 1 where a property fails. All latches begin with 0.
///
/// Node 0 is false. Inputs follow, then latches, then gates, each behind its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) inputs: usize,
    pub(crate) latches: Vec<u32>,
    pub(crate) bad: u32,
    pub(crate) gates: Vec<[u32; 2]>,
}

impl Network {
    /// Parses binary AIGER with one output; `None` if it is malformed.
    pub(crate) fn parse(file: &[u8]) -> Option<Self> {
        let mut rest = file;
        let mut line = || {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            std::str::from_utf8(line).ok()
        };
        let header = line()?.strip_prefix("aig ")?;
        let numbers: Vec<usize> =
            header.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [highest, inputs, latches, 1, gates] = numbers[..] else { return None };
        let before = inputs.checked_add(latches)?;
        if before.checked_add(gates)? != highest {
            return None;
        }
        let literal = |text: &str| {
            text.parse::<u32>().ok().filter(|literal| (*literal / 2) as usize <= highest)
        };
        let latches: Vec<u32> = (0..latches).map(|_| literal(line()?)).collect::<Option<_>>()?;
        let bad = literal(line()?)?;
        let mut bytes = rest.iter();
        let mut number = || {
            let mut number = 0_u32;
            for shift in (0..32).step_by(7) {
                let byte = *bytes.next()?;
                number |= u32::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return Some(number);
                }
            }
            None
        };
        let mut all = Vec::new();
        for gate in 0..gates {
            let own = u32::try_from(before + gate + 1).ok()?.checked_mul(2)?;
            let left = own.checked_sub(number()?).filter(|left| *left < own)?;
            let right = left.checked_sub(number()?)?;
            all.push([left, right]);
        }
        Some(Self { inputs, latches, bad, gates: all })
    }

    /// Computes all nodes from the inputs and the state, for 64 cycles at once.
    pub(crate) fn values(&self, inputs: &[u64], state: &[u64]) -> Vec<u64> {
        let mut values = Vec::with_capacity(1 + inputs.len() + state.len() + self.gates.len());
        values.push(0);
        values.extend_from_slice(inputs);
        values.extend_from_slice(state);
        for [left, right] in &self.gates {
            values.push(value(&values, *left) & value(&values, *right));
        }
        values
    }

    /// The state after a cycle with these values.
    pub(crate) fn next(&self, values: &[u64]) -> Vec<u64> {
        self.latches.iter().map(|next| value(values, *next)).collect()
    }

    /// Whether these inputs, one row of bits for each cycle from the initial state on, make the
    /// output 1 in one of the cycles.
    pub(crate) fn is_violated_by<'a>(&self, rows: impl IntoIterator<Item = &'a [u8]>) -> bool {
        let mut state = vec![0; self.latches.len()];
        let mut is_bad = false;
        for row in rows {
            if row.len() != self.inputs {
                return false;
            }
            let inputs: Vec<u64> = row.iter().map(|bit| u64::from(*bit == b'1')).collect();
            let values = self.values(&inputs, &state);
            is_bad |= value(&values, self.bad) & 1 == 1;
            state = self.next(&values);
        }
        is_bad
    }
}

pub(crate) fn value(values: &[u64], literal: u32) -> u64 {
    let value = values[(literal / 2) as usize];
    if literal & 1 == 1 { !value } else { value }
}

//! Coverage of a channel: the gap before an offer, crossed with the stall until it is taken.

crate::coverage! {
    /// Cycles without an offer before an item. 0: back to back with the item before.
    axis pub GAP = "gap" {
        "0": "back to back with the item before", "1": "one cycle without an offer",
        "2-7": "2 to 7 cycles", "8+": "8 cycles or more"
    }
    /// Cycles in which an offer waits.
    axis pub STALL = "stall" {
        "0": "taken at once", "1": "waits one cycle", "2-7": "waits 2 to 7 cycles",
        "8+": "waits 8 cycles or more"
    }
}

/// Samples a channel. Its bin is `4 * gap + stall` with the indices of [`GAP`] and [`STALL`].
#[derive(Debug, Clone, Default)]
pub struct ChannelSampler {
    gap: u64,
    stall: u64,
}

impl ChannelSampler {
    /// The number of bins of a channel.
    pub const BINS: usize = GAP.values.len() * STALL.values.len();

    /// Takes an edge. Returns gap and stall, as indices of their axes, of an item that was taken.
    #[inline]
    pub fn clock(&mut self, in_reset: bool, valid: bool, ready: bool) -> Option<[usize; 2]> {
        if in_reset {
            *self = Self::default();
            return None;
        }
        if !valid {
            self.gap += 1;
            return None;
        }
        if !ready {
            self.stall += 1;
            return None;
        }
        let hit = [cycles_index(self.gap), cycles_index(self.stall)];
        *self = Self::default();
        Some(hit)
    }
}

/// The index of a number of cycles in [`GAP`] and [`STALL`].
#[inline]
pub fn cycles_index(cycles: u64) -> usize {
    match cycles {
        0 => 0,
        1 => 1,
        2..=7 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_its_gap_and_its_stall() {
        let mut sampler = ChannelSampler::default();
        let mut hit = |cycles: &[(bool, bool)]| {
            let hits = cycles.iter().map(|(valid, ready)| sampler.clock(false, *valid, *ready));
            hits.last().flatten()
        };
        let (idle, wait, taken) = ((false, true), (true, false), (true, true));
        assert_eq!(hit(&[taken]), Some([0, 0]));
        assert_eq!(hit(&[idle, wait, wait, taken]), Some([1, 2]));
        assert_eq!(hit(&[[idle; 8].as_slice(), &[wait, taken]].concat()), Some([3, 1]));
        assert_eq!(hit(&[wait]), None);
    }
}

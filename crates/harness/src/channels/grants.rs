//! The grants of an arbiter.

use super::expected::violate;
use crate::harness::Violation;

/// The names of the checks of the grants of a source: several lanes have one; a lane has one
/// without room for its item, or in reset; there is room, a lane that may send offers an item, and
/// none has one; one interrupts the packet of another lane; and one is out of turn.
pub fn grant_checks(source: &str) -> Vec<String> {
    let rules = ["several-grants", "grant-without-room", "idle", "interleaved", "out-of-turn"];
    rules.map(|rule| format!("{source}-{rule}")).to_vec()
}

/// Checks the grants of a round-robin arbiter with packets: it keeps the lanes in a row, and moves
/// a lane to the end of the row when its packet ends.
#[derive(Debug, Clone)]
pub struct RoundRobin<const LANES: usize> {
    source: &'static str,
    /// The lanes in the order of their turns.
    row: [u32; LANES],
    /// The lane whose packet is not at its end.
    owner: Option<u32>,
}

impl<const LANES: usize> RoundRobin<LANES> {
    /// After reset lane 0 is first.
    pub fn new(source: &'static str) -> Self {
        Self { source, row: std::array::from_fn(|lane| lane as u32), owner: None }
    }

    /// Returns to the state after reset.
    pub fn reset(&mut self) {
        *self = Self::new(self.source);
    }

    /// Checks the grants of a cycle: bit n of `valid` and of `grants` belongs to lane n. Within a
    /// packet its lane has the grant whether it offers an item or not. Returns the lane whose item
    /// is taken.
    ///
    /// # Errors
    /// The first check that fails.
    #[inline]
    pub fn observe(
        &self,
        valid: u64,
        grants: u64,
        has_room: bool,
    ) -> Result<Option<u32>, Violation> {
        let in_turn = || self.row.iter().find(|lane| valid >> **lane & 1 == 1).copied();
        let expected = self.owner.or_else(in_turn).filter(|_| has_room);
        if grants == expected.map_or(0, |lane| 1 << lane) {
            return Ok(expected.filter(|lane| valid >> lane & 1 == 1));
        }
        let check = match (grants.count_ones(), has_room, self.owner) {
            (2.., ..) => "several-grants",
            (_, false, _) => "grant-without-room",
            (0, ..) => "idle",
            (_, _, Some(_)) => "interleaved",
            (_, _, None) => "out-of-turn",
        };
        let (row, owner) = (&self.row, self.owner);
        let message = format_args!(
            "grants {grants:#b}, requests {valid:#b}, turns {row:?}, packet of {owner:?}"
        );
        Err(violate(self.source, check, message))
    }

    /// An item of a lane was taken, and its packet ends with it or goes on.
    #[inline]
    pub fn record_item(&mut self, lane: u32, ends: bool) {
        self.owner = (!ends).then_some(lane);
        if ends && let Some(place) = self.row.iter().position(|other| *other == lane) {
            self.row.rotate_left(place + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_fires() {
        let mut grants = RoundRobin::<4>::new("req");
        let failed = |grants: &RoundRobin<4>, valid, ready, room| {
            grants.observe(valid, ready, room).err().map(|violation| violation.check)
        };
        assert_eq!(failed(&grants, 0b11, 0b11, true).as_deref(), Some("req-several-grants"));
        assert_eq!(failed(&grants, 0b11, 0b01, false).as_deref(), Some("req-grant-without-room"));
        assert_eq!(failed(&grants, 0b11, 0b00, true).as_deref(), Some("req-idle"));
        assert_eq!(failed(&grants, 0b11, 0b10, true).as_deref(), Some("req-out-of-turn"));
        assert_eq!(grants.observe(0b11, 0b01, true), Ok(Some(0)));
        grants.record_item(0, false);
        assert_eq!(grants.observe(0b10, 0b01, true), Ok(None));
        assert_eq!(failed(&grants, 0b10, 0b10, true).as_deref(), Some("req-interleaved"));
    }

    #[test]
    fn the_lanes_behind_the_winner_go_first() {
        let mut grants = RoundRobin::<4>::new("req");
        grants.record_item(1, true);
        assert_eq!(grants.row, [2, 3, 0, 1]);
        grants.record_item(3, true);
        assert_eq!(grants.row, [0, 1, 2, 3]);
    }
}

//! The constrained-random generator of traffic and of link faults.

pub(crate) mod chaos;
pub mod scenarios;

use super::rules::parameters::{ACKNAK_LATENCY, REPLAY_LIMIT};
use super::traffic::{DllpDamage, LinkEffect, TlpDamage, Tlps, Traffic};
use cosim_core::harness::{CaseRng, Draw, Parameters, Percent, Span};
use cosim_core::value::Uint;
use rand::RngExt;
use scenarios::{LinkFaults, Weights};

/// A reset follows its TLP within this number of cycles.
const RESET_WITHIN: u64 = 60;

/// DLLPs aimed at the expiry of REPLAY_TIMER arrive within this number of cycles before or after
/// it.
const AROUND_LIMIT: u64 = 10;

/// Percentage of lost or damaged TLPs from which on replays dominate a case.
const HEAVY: u64 = 25;
/// Default ACKNAK_LATENCY, for which the lengths of the lists were tuned.
const USUAL_LATENCY: u64 = 16;

/// Draws traffic of `packets` packets. It is legal for all parameters.
pub fn traffic(
    weights: &Weights,
    parameters: &Parameters,
    packets: u32,
    rng: &mut CaseRng,
) -> Traffic {
    // One Ack answers all TLPs within this number of cycles.
    let latency = parameters.get(ACKNAK_LATENCY);
    let acks_per_usual_one = USUAL_LATENCY.div_ceil(latency);
    let mut generator = Generator { weights, rng };
    let noise = generator.rng.bits();
    let untroubled = generator.untroubled();
    let rest = (u32::from(untroubled.is_some())..packets).map(|_| generator.packet());
    let rest: Vec<Tlps> = rest.collect();
    let total: u64 = rest.iter().map(Tlps::count).sum();
    // About as many effects as the case needs, including replays. Later transmissions pass.
    let (sent, answers) = match weights.tlps.spoiled() {
        HEAVY.. => (9 * total, 2 * total * acks_per_usual_one + 16),
        _ => (total + total / 2, total * acks_per_usual_one / 2 + 16),
    };
    let tlps_before = untroubled.as_ref().map_or(0, Tlps::count);
    let acks_before = tlps_before / latency;
    let tlp_link = generator.effects(tlps_before, sent, &weights.tlps, |generator| TlpDamage {
        seq: generator.flips(),
        data: generator.flips(),
    });
    let dllp = |generator: &mut Generator| DllpDamage {
        nak: generator.rng.bits(),
        seq: generator.flips(),
    };
    let link_stall = (weights.link_stall, weights.longest_link_stall);
    let dllp_stall = (weights.dllp_stall, weights.longest_dllp_stall);
    let [tlp_delay, dllp_delay] =
        [weights.tlp_delay, weights.dllp_delay].map(|delay| Uint::new(delay.draw(generator.rng)));
    let travel = tlp_delay.get() + dllp_delay.get();
    let dllp_stalls = match weights.dllp_at_limit.get() {
        0 => generator.stalls(acks_before, answers, dllp_stall),
        _ => generator.stalls_to_limit(answers, parameters, travel),
    };
    Traffic {
        noise,
        tlps: untroubled.into_iter().chain(rest).collect(),
        tlp_delay,
        tlp_link,
        dllp_delay,
        ack_link: generator.effects(acks_before, answers, &weights.acks, dllp),
        nak_link: generator.effects(0, answers, &weights.naks, dllp),
        link_stalls: generator.stalls(tlps_before, sent, link_stall),
        dllp_stalls,
    }
}

struct Generator<'a> {
    weights: &'a Weights,
    rng: &'a mut CaseRng,
}

impl Generator<'_> {
    /// Random bit flips. Half of the time a field is intact, so that only the CRC shows the damage.
    fn flips<const WIDTH: u32>(&mut self) -> Uint<WIDTH> {
        if self.rng.random() { self.rng.bits() } else { Uint::new(0) }
    }

    /// The first packet, on which the link has no effect, if the weights ask for one.
    fn untroubled(&mut self) -> Option<Tlps> {
        let count = self.weights.untroubled_tlps;
        (count != Span::new(0, 0)).then(|| Tlps {
            data: self.rng.bits_or_corner(self.weights.corners),
            count: many(count.draw(self.rng)),
            ..Tlps::default()
        })
    }

    fn packet(&mut self) -> Tlps {
        Tlps {
            gap: self.rng.wait(self.weights.gap, self.weights.longest_gap),
            data: self.rng.bits_or_corner(self.weights.corners),
            count: many(self.weights.tlps_per_packet.draw(self.rng)),
            reset: self.rng.reset(self.weights.reset, RESET_WITHIN),
        }
    }

    /// Delays of `count` transmissions, after `before` undelayed ones; empty if there are none.
    fn stalls(
        &mut self,
        before: u64,
        count: u64,
        (chance, longest): (Percent, Uint<12>),
    ) -> Vec<Uint<12>> {
        let stalls = self.rng.waits(count, chance, longest);
        if stalls.is_empty() {
            stalls
        } else {
            [vec![Uint::new(0); before as usize], stalls].concat()
        }
    }

    /// Delays of DLLPs. Many make them arrive close to the expiry of REPLAY_TIMER, if the timer
    /// started with the TLP that they answer. `travel` is the total link delay of both.
    fn stalls_to_limit(
        &mut self,
        count: u64,
        parameters: &Parameters,
        travel: u64,
    ) -> Vec<Uint<12>> {
        let (limit, latency) = (parameters.get(REPLAY_LIMIT), parameters.get(ACKNAK_LATENCY));
        let stall = |generator: &mut Self| {
            if !generator.rng.chance(generator.weights.dllp_at_limit) {
                return Uint::new(0);
            }
            // An Ack has waited for its timer, a Nak has not. Some wait until the replay is
            // answered.
            let rest = match generator.rng.random_range(0..4) {
                0 => (limit + latency + travel).saturating_sub(AROUND_LIMIT),
                1 => (limit + travel).saturating_sub(AROUND_LIMIT),
                2 => limit.saturating_sub(latency + travel + AROUND_LIMIT),
                _ => limit.saturating_sub(travel + AROUND_LIMIT),
            };
            let longest = Uint::<12>::MAX;
            Uint::new((rest + generator.rng.random_range(0..2 * AROUND_LIMIT)).min(longest))
        };
        (0..count).map(|_| stall(self)).collect()
    }

    /// Effects on about `count` transmissions, after some that pass. Equal consecutive ones are
    /// merged.
    fn effects<Damage: Clone + Default + PartialEq>(
        &mut self,
        before: u64,
        count: u64,
        mishaps: &LinkFaults,
        damage: impl Fn(&mut Self) -> Damage,
    ) -> Vec<LinkEffect<Damage>> {
        let mut effects: Vec<LinkEffect<Damage>> = Vec::new();
        if *mishaps == LinkFaults::default() {
            return effects;
        }
        if before > 0 {
            effects.push(LinkEffect { count: many(before), ..LinkEffect::default() });
        }
        for _ in 0..count {
            let effect = self.effect(mishaps, &damage);
            match effects.last_mut() {
                Some(last)
                    if last.count() < Uint::<16>::MAX
                        && effect == (LinkEffect { count: None, ..last.clone() }) =>
                {
                    last.count = many(last.count() + 1);
                }
                _ => effects.push(effect),
            }
        }
        effects
    }

    fn effect<Damage: Default>(
        &mut self,
        mishaps: &LinkFaults,
        damage: &impl Fn(&mut Self) -> Damage,
    ) -> LinkEffect<Damage> {
        let mut effect = LinkEffect::default();
        if self.rng.chance(mishaps.blackout) {
            effect.count = many(mishaps.blackout_length.draw(self.rng));
            effect.lost = Uint::new(1);
            return effect;
        }
        if self.rng.chance(mishaps.lost) {
            effect.lost = Uint::new(1);
            return effect;
        }
        let delay = |generator: &mut Self| {
            Uint::new(generator.rng.random_range(0..=generator.weights.longest_delay.get()))
        };
        effect.delay = self.rng.chance(mishaps.delayed).then(|| delay(self));
        effect.damage = self.rng.chance(mishaps.damaged).then(|| damage(self));
        effect.again = self.rng.chance(mishaps.again).then(|| delay(self));
        effect
    }
}

/// A repetition count, omitted if it is 1.
fn many(count: u64) -> Option<Uint<16>> {
    (count > 1).then(|| Uint::new(count))
}

#[cfg(test)]
mod tests {
    use super::super::Dll;
    use super::*;
    use cosim_core::harness::Weights as _;
    use rand::SeedableRng;

    #[test]
    fn heavy_losses_last_through_the_replays() {
        let parameters = Parameters::with_fixes::<Dll>(0);
        let scenarios = Weights::scenarios();
        let heavy = scenarios.iter().find(|scenario| scenario.name == "heavy-loss").unwrap();
        for seed in 0..20 {
            let mut rng = CaseRng::seed_from_u64(seed);
            let traffic = traffic(&heavy.weights, &parameters, 64, &mut rng);
            let spoiled = traffic.tlp_link.iter().filter(|effect| effect.spoils());
            let spoiled: u64 = spoiled.map(LinkEffect::count).sum();
            assert!(spoiled > 3 * traffic.total() / 2, "{spoiled} of {}", traffic.total());
        }
    }
}

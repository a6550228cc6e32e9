//! The cases of a run, their names and their seeds.

use super::header::Header;
use cosim_block::shard::Shard;
use cosim_harness::harness::{BlockInfo, Case, Profile, parse_index};
use std::ops::Range;

pub use cosim_harness::harness::MOST_CASES;

/// All cases of a run in order: by index, then profile, then scenario. So a run that ends early has
/// covered all of them evenly.
#[derive(Debug, Clone)]
pub struct Plan {
    pub block: &'static str,
    pub seed: u64,
    pub profiles: Vec<Profile>,
    pub scenarios: Vec<String>,
    /// Indices of the cases of each profile and scenario.
    pub indices: Range<u64>,
    pub shard: Shard,
}

impl Plan {
    /// The plan of a whole run, ignoring the header's shard.
    ///
    /// # Errors
    /// A message if the block does not know something in the header, or if there are no cases.
    pub fn from_header(header: &Header, block: &'static BlockInfo) -> Result<Self, String> {
        let mut profiles = Vec::new();
        for name in &header.profiles {
            let of_name = Profile::parse(name, block.profiles);
            profiles.extend(of_name.map_err(|error| error.to_string())?);
        }
        if header.first >= MOST_CASES || header.cases.is_some_and(|cases| cases >= MOST_CASES) {
            return Err(format!("has more than {MOST_CASES} cases of a profile and scenario"));
        }
        let end = header.cases.map_or(u64::MAX, |cases| header.first + cases);
        let plan = Self {
            block: block.name,
            seed: header.seed,
            profiles,
            scenarios: header.scenarios.clone(),
            indices: header.first..end,
            shard: Shard::WHOLE,
        };
        match plan.columns() {
            0 => Err("names no profile or no scenario".to_owned()),
            _ => Ok(plan),
        }
    }

    /// The cases of this shard, in order.
    pub fn iter(&self) -> impl Iterator<Item = Case> + '_ {
        self.from(0)
    }

    /// The cases of this shard from a position on, in order.
    pub fn from(&self, place: u64) -> impl Iterator<Item = Case> + '_ {
        let places = self.places();
        let first = self.shard.first_from(places.start.max(place));
        let step = usize::try_from(self.shard.count()).unwrap_or(usize::MAX);
        (first..places.end).step_by(step).map(|place| self.case(place))
    }

    pub fn first_place(&self) -> u64 {
        self.shard.first_from(self.places().start)
    }

    /// The distance between indices of one profile and scenario in this shard.
    pub fn index_step(&self) -> u64 {
        let (mut one, mut other) = (self.shard.count(), self.columns().max(1));
        while other > 0 {
            (one, other) = (other, one % other);
        }
        self.shard.count() / one
    }

    /// The case at a position of the whole run.
    pub fn case(&self, place: u64) -> Case {
        let columns = self.columns();
        let (index, column) = (place / columns, (place % columns) as usize);
        let (profile, scenario) = (column / self.scenarios.len(), column % self.scenarios.len());
        let (of_profile, of_scenario) = (&self.profiles[profile].name, &self.scenarios[scenario]);
        let (profile, scenario) =
            ((profile, of_profile.as_ref()), (scenario, of_scenario.as_str()));
        Case::of_run(self.seed, self.block, place, profile, scenario, index)
    }

    /// Whether a case belongs to the run and has the name and seed that the run gives it.
    pub fn contains(&self, case: &Case) -> bool {
        self.columns() > 0 && self.places().contains(&case.place) && self.case(case.place) == *case
    }

    /// The position of the case with this name, if it belongs to the run.
    pub fn place(&self, name: &str) -> Option<u64> {
        let mut parts = name.split('/');
        let mut next = || parts.next();
        let (block, profile, scenario, index) = (next()?, next()?, next()?, next()?);
        if block != self.block || parts.next().is_some() {
            return None;
        }
        let profile = self.profiles.iter().position(|other| other.name == profile)? as u64;
        let scenario = self.scenarios.iter().position(|other| other == scenario)? as u64;
        let index = parse_index(index)?;
        let column = profile * self.scenarios.len() as u64 + scenario;
        index.checked_mul(self.columns())?.checked_add(column)
    }

    pub fn len(&self) -> u64 {
        let Range { start, end } = self.places();
        self.shard.below(end) - self.shard.below(start)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of cases per index: one for each profile and scenario.
    pub fn columns(&self) -> u64 {
        (self.profiles.len() * self.scenarios.len()) as u64
    }

    /// The positions of all cases of the run. A case has an index below [`MOST_CASES`], also in a
    /// run without a number of cases.
    pub fn places(&self) -> Range<u64> {
        let Range { start, end } = self.indices;
        let place = |index: u64| index.min(MOST_CASES).saturating_mul(self.columns());
        place(start)..place(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_harness::harness::{Parameters, Profile};

    fn plan(shard: Shard) -> Plan {
        Plan {
            block: "b",
            seed: 7,
            profiles: ["spec", "repaired"].map(|name| Profile::new(name, Parameters::NONE)).into(),
            scenarios: vec!["x".to_owned(), "y".to_owned(), "z".to_owned()],
            indices: 0..5,
            shard,
        }
    }

    #[test]
    fn shards_part_the_cases_and_keep_names_and_seeds() {
        let whole: Vec<Case> = plan(Shard::WHOLE).iter().collect();
        assert_eq!(whole.len(), 30);
        let mut parts = Vec::new();
        for index in 1..=4 {
            let part = plan(format!("{index}/4").parse().unwrap());
            assert_eq!(part.len(), part.iter().count() as u64);
            parts.extend(part.iter());
        }
        parts.sort_by_key(|case| case.place);
        assert_eq!(parts, whole);
    }

    #[test]
    fn the_name_of_a_case_says_where_it_stands() {
        let whole = plan(Shard::WHOLE);
        for case in whole.iter() {
            assert_eq!(whole.place(&case.name), Some(case.place));
            assert_eq!(whole.case(case.place), case);
            assert!(whole.contains(&case));
            assert!(!whole.contains(&Case { place: case.place + 1, ..case.clone() }));
            assert!(!whole.contains(&Case { scenario: usize::MAX, ..case.clone() }));
        }
        for foreign in ["b/spec/x", "c/spec/x/0", "b/none/x/0", "b/spec/none/0", "b/spec/x/0/1"] {
            assert_eq!(whole.place(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn one_case_can_be_run_alone() {
        let mut alone = plan(Shard::WHOLE);
        alone.indices = 3..4;
        let whole: Vec<Case> = plan(Shard::WHOLE).iter().collect();
        assert_eq!(alone.iter().collect::<Vec<_>>(), whole[18..24]);
        assert_eq!(alone.len(), 6);
    }

    #[test]
    fn a_seed_depends_on_the_name_and_not_on_the_place() {
        let mut fewer = plan(Shard::WHOLE);
        fewer.scenarios.remove(0);
        let seed = |plan: &Plan, name: &str| {
            plan.iter().find(|case| case.name == name).map(|case| case.seed)
        };
        let name = "b/repaired/y/3";
        assert!(seed(&fewer, name).is_some());
        assert_eq!(seed(&fewer, name), seed(&plan(Shard::WHOLE), name));
    }

    /// With the largest numbers, `index - 1 + count` overflowed 64 bits.
    #[test]
    fn no_shard_and_no_number_of_cases_wraps() {
        let (most, end) = (u64::MAX, MOST_CASES * plan(Shard::WHOLE).columns());
        for (shard, indices, first, len) in [
            (format!("1/{most}"), 0..5, Some(0), 1),
            (format!("{most}/{most}"), 0..5, None, 0),
            // An endless run ends with the last index that a name can have.
            (format!("{end}/{end}"), 0..most, Some(end - 1), 1),
            (format!("{end}/{end}"), 7..most, Some(end - 1), 1),
            (format!("{most}/{most}"), 0..most, None, 0),
            ("1/1".to_owned(), most - 1..most, None, 0),
        ] {
            let plan = Plan { indices, ..plan(shard.parse().unwrap()) };
            assert_eq!(plan.len(), len, "{shard}");
            let mut places = plan.iter().map(|case| case.place);
            assert_eq!(places.next(), first, "{shard}");
            assert_eq!(places.next(), None, "{shard}");
        }
    }

    #[test]
    fn a_place_is_in_one_shard() {
        let of = |shard: &str| {
            let shard: Shard = shard.parse().unwrap();
            (0..7).filter(|place| shard.contains(*place)).collect::<Vec<u64>>()
        };
        assert_eq!([of("1/3"), of("2/3"), of("3/3")], [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    }

    #[test]
    fn a_shard_is_i_of_n() {
        for bad in ["0/4", "5/4", "1", "a/b", "1/0", "-1/2", "1/18446744073709551616"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}

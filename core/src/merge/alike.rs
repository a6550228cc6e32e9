//! Shards of a run that ends when enough is covered: each knows what came of all cases, and has the whole run. They have to say the same.

use super::shard::ShardFile;
use super::{Shards, Told};
use crate::coverage::Database;
use crate::error::{Error, codes};
use crate::report::Results;
use crate::runner::{Plan, RunDirectory};

/// More shards than there are cases: those that would have none have run nothing.
pub(super) fn keep_those_with_cases(shards: &mut Vec<ShardFile>, plan: &Plan) {
    shards.retain(|shard| {
        let shard = shard.header.shard;
        shard.index() == 1 || !Plan { shard, ..plan.clone() }.is_empty()
    });
}

impl Shards {
    /// Writes the cases, in the order of the run.
    pub(super) fn same_cases(&mut self, directory: &mut RunDirectory) -> Result<Told, Error> {
        let plan = self.plan.clone();
        let mut told = Told::default();
        loop {
            let ended = self.shards[0].next(&plan)?;
            for index in 1..self.shards.len() {
                let other = self.shards[index].next(&plan)?;
                if other == ended {
                    continue;
                }
                // One of them may have been interrupted.
                for (index, _) in [(0, &ended), (index, &other)].iter().filter(|(_, e)| e.is_none())
                {
                    self.results(*index)?;
                }
                let place = ended.or(other).map_or(0, |ended| ended.place);
                let what = plan.case(place).name;
                return Err(differs(&self.shards[0], &self.shards[index], &what));
            }
            match ended {
                Some(ended) => self.case(ended, 0, directory, &mut told)?,
                None => return Ok(told),
            }
        }
    }

    /// What was covered.
    pub(super) fn same_coverage(&self, results: &[Results]) -> Result<Database, Error> {
        let first = Self::covered(&self.shards[0], &results[0])?;
        for (other, results) in self.shards.iter().zip(results).skip(1) {
            if Self::covered(other, results)? != first {
                return Err(differs(&self.shards[0], other, "what was covered"));
            }
        }
        Ok(first)
    }
}

fn differs(first: &ShardFile, other: &ShardFile, what: &str) -> Error {
    let message = format!(
        "says something else of {what} than {}: on one of the machines the models do something else, or one folder was changed; run \
         them again, each with a new --exchange",
        first.folder.display()
    );
    Error::File { code: codes::OTHER_RUN, path: other.folder.clone(), message }
}

//! The stimulus of a comparison that has not run yet.
//!
//! A worker ends a batch at the first case or vector in which the models differ. If the inputs are
//! not legal traffic, the rest of the batch must run, too.

use cosim_base::error::{Error, codes};
use cosim_block::vector::VectorFile;
use cosim_harness::harness::Case;

/// Cases that a worker runs at once.
const CHUNK: usize = 32;

/// The stimulus that has not run yet.
#[derive(Debug)]
pub(super) struct Queue {
    vectors: Vec<VectorFile>,
    chunks: Vec<Vec<Case>>,
}

/// What a worker runs at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Batch {
    pub cases: Vec<Case>,
    pub vectors: Vec<VectorFile>,
}

/// The stimulus in which two models differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner<'a> {
    Case(&'a Case),
    Vector(&'a VectorFile),
}

impl Batch {
    /// The case or vector of this name.
    ///
    /// # Errors
    /// [`Error::Environment`] if the batch has none.
    pub fn owner(&self, name: &str) -> Result<Owner<'_>, Error> {
        let case = self.cases.iter().find(|case| case.name == name).map(Owner::Case);
        let is_named = |vector: &&VectorFile| vector.path.display().to_string() == name;
        let vector = || self.vectors.iter().find(is_named);
        case.or_else(|| vector().map(Owner::Vector)).ok_or_else(|| {
            let message = format!("both models differ in {name}, which was not to run");
            Error::Environment(codes::INTERNAL, message)
        })
    }
}

impl Queue {
    pub fn new(cases: &[Case], vectors: Vec<VectorFile>) -> Self {
        Self { vectors, chunks: cases.chunks(CHUNK).map(<[Case]>::to_vec).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty() && self.chunks.is_empty()
    }

    /// Takes the next batches: all vectors, and chunks of cases for so many threads.
    pub fn next(&mut self, threads: usize) -> Vec<Batch> {
        let now = self.chunks.len().min(threads);
        // The vectors go with no case, so that their batch is as long as the others.
        let vectors = Batch { cases: Vec::new(), vectors: std::mem::take(&mut self.vectors) };
        let some = self.chunks.drain(..now).map(|cases| Batch { cases, vectors: Vec::new() });
        std::iter::once(vectors).filter(|batch| !batch.vectors.is_empty()).chain(some).collect()
    }

    /// Queues the rest of a batch in which the models differ with illegal inputs. The cases of the
    /// same scenario are unconstrained as well and are left out; the others may show a legal
    /// difference.
    pub fn continue_behind(&mut self, batch: &Batch, owner: &Owner<'_>) {
        match owner {
            Owner::Case(found) => {
                let is_other = |case: &Case| case.scenario != found.scenario;
                self.chunks.iter_mut().for_each(|chunk| chunk.retain(is_other));
                self.chunks.retain(|chunk| !chunk.is_empty());
                let rest = batch.cases.iter().skip_while(|case| case.name != found.name);
                let rest: Vec<Case> = rest.filter(|case| is_other(case)).cloned().collect();
                if !rest.is_empty() {
                    self.chunks.insert(0, rest);
                }
            }
            Owner::Vector(found) => {
                let rest = batch.vectors.iter().skip_while(|vector| vector.path != found.path);
                self.vectors.extend(rest.skip(1).cloned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn vector(name: &str) -> VectorFile {
        let text = r#"{"format": "cosim-vector", "version": 1, "block": "recv"}"#;
        VectorFile::from_text(text.to_owned(), Path::new(name)).unwrap()
    }

    fn case(scenario: usize, index: u64) -> Case {
        let name = format!("recv/spec/{scenario}/{index}");
        Case { place: index, profile: 0, scenario, name, seed: 1 }
    }

    #[test]
    fn vectors_behind_an_illegal_difference_run() {
        let vectors = ["a.json", "b.json", "c.json", "d.json"].map(vector);
        let mut queue = Queue::new(&[], vectors.to_vec());
        let batches = queue.next(2);
        assert_eq!(batches, [Batch { cases: vec![], vectors: vectors.to_vec() }]);
        assert!(queue.is_empty());
        let owner = batches[0].owner("b.json").unwrap();
        assert_eq!(owner, Owner::Vector(&vectors[1]));
        queue.continue_behind(&batches[0], &owner);
        let batches = queue.next(2);
        assert_eq!(batches, [Batch { cases: vec![], vectors: vectors[2..].to_vec() }]);
        // The last one has nothing behind it.
        queue.continue_behind(&batches[0], &batches[0].owner("d.json").unwrap());
        assert!(queue.is_empty());
    }

    #[test]
    fn cases_of_other_scenarios_behind_an_illegal_difference_run() {
        let cases: Vec<Case> =
            (0..2 * CHUNK as u64).map(|index| case(index as usize % 2, index)).collect();
        let mut queue = Queue::new(&cases, vec![vector("a.json")]);
        let batches = queue.next(1);
        assert_eq!(batches[0].vectors.len(), 1);
        assert_eq!((batches.len(), &batches[1].cases[..]), (2, &cases[..CHUNK]));
        let owner = batches[1].owner(&cases[3].name).unwrap();
        queue.continue_behind(&batches[1], &owner);
        let is_other = |case: &&Case| case.scenario == 0;
        let rest: Vec<Case> = cases[4..].iter().filter(is_other).cloned().collect();
        let batches = queue.next(9);
        let left: Vec<Case> = batches.into_iter().flat_map(|batch| batch.cases).collect();
        assert_eq!(left, rest);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_difference_that_belongs_to_nothing_is_an_error() {
        let batch = Batch { cases: vec![case(0, 1)], vectors: vec![vector("a.json")] };
        for name in ["b.json", "recv/spec/0/2", ""] {
            assert_eq!(batch.owner(name).unwrap_err().code(), codes::INTERNAL, "{name}");
        }
    }
}

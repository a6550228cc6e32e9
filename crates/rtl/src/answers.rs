//! A cache of answers from Yosys and ABC, keyed by content.
//!
//! A key covers everything that an answer depends on: the query, the command and the program
//! versions. So an entry never becomes stale. This module looks answers up and counts them;
//! `formal` decides which of them may be cached, and [`store`] holds the files.

pub mod store;

use cosim_base::program;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::{Key, Store};

/// The cache that a command uses. Clones share their counters.
#[derive(Debug, Clone, Default)]
pub struct Answers(Option<Arc<Session>>);

/// The use of the store by one process.
#[derive(Debug)]
struct Session {
    store: Store,
    /// Identifies the versions of Yosys and ABC.
    programs: String,
    queries: AtomicU64,
    found: AtomicU64,
    has_warned: AtomicBool,
}

impl Answers {
    /// A cache that finds and stores nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// A cache in a store. `programs` identifies the versions of Yosys and ABC.
    pub fn new(store: Store, programs: String) -> Self {
        Self(Some(Arc::new(Session {
            store,
            programs,
            queries: AtomicU64::new(0),
            found: AtomicU64::new(0),
            has_warned: AtomicBool::new(false),
        })))
    }

    /// Number of lookups, and how many of them were hits.
    pub fn counts(&self) -> [u64; 2] {
        let count = |session: &Arc<Session>| {
            [&session.queries, &session.found].map(|counter| counter.load(Ordering::Relaxed))
        };
        self.0.as_ref().map_or([0; 2], count)
    }

    /// Looks up the answer to a query. `parts` are everything that it depends on, except for the
    /// programs. `read` parses the bytes and returns `None` if they are malformed.
    pub fn look_up<T>(
        &self,
        parts: &[&[u8]],
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> CacheLookup<'_, T> {
        let Some(session) = &self.0 else { return CacheLookup::Missing(PendingAnswer(None)) };
        let key = Key::new([session.programs.as_bytes()].into_iter().chain(parts.iter().copied()));
        session.queries.fetch_add(1, Ordering::Relaxed);
        match session.store.get(&key).and_then(|value| read(&value)) {
            Some(answer) => {
                session.found.fetch_add(1, Ordering::Relaxed);
                CacheLookup::Found(answer)
            }
            None => CacheLookup::Missing(PendingAnswer(Some((session, key)))),
        }
    }
}

pub enum CacheLookup<'a, T> {
    Found(T),
    /// There is none; store a new one here.
    Missing(PendingAnswer<'a>),
}

pub struct PendingAnswer<'a>(Option<(&'a Session, Key)>);

impl PendingAnswer<'_> {
    /// Stores an answer. A failure only prints a warning, once per process.
    pub fn keep(&self, value: &[u8]) {
        let Some((session, key)) = &self.0 else { return };
        if let Err(error) = session.store.write(key, value)
            && !session.has_warned.swap(true, Ordering::Relaxed)
        {
            program::warn(format_args!(
                "cannot write to {}, so answers of ABC are not cached: {error}; set \
                 COSIM_CACHE to another folder",
                session.store.folder().display()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn text(bytes: &[u8]) -> Option<String> {
        String::from_utf8(bytes.to_vec()).ok()
    }

    fn find_answer(answers: &Answers, parts: &[&[u8]]) -> Option<String> {
        match answers.look_up(parts, text) {
            CacheLookup::Found(answer) => Some(answer),
            CacheLookup::Missing(_) => None,
        }
    }

    fn keep(answers: &Answers, parts: &[&[u8]], value: &str) {
        let CacheLookup::Missing(slot) = answers.look_up(parts, text) else { panic!("it is kept") };
        slot.keep(value.as_bytes());
    }

    #[test]
    fn an_answer_is_that_of_its_question_its_command_and_its_programs() {
        let folder = TempDir::new().unwrap();
        let of =
            |version: &str| Answers::new(Store::new(folder.path(), u64::MAX), version.to_owned());
        let answers = of("ABC 1");
        keep(&answers, &[b"graph", b"pdr -T 2"], "proved");
        assert_eq!(find_answer(&answers, &[b"graph", b"pdr -T 2"]).as_deref(), Some("proved"));
        assert_eq!(find_answer(&answers, &[b"other", b"pdr -T 2"]), None);
        assert_eq!(find_answer(&answers, &[b"graph", b"pdr -T 3"]), None);
        assert_eq!(find_answer(&of("ABC 2"), &[b"graph", b"pdr -T 2"]), None);
        assert_eq!(find_answer(&Answers::none(), &[b"graph", b"pdr -T 2"]), None);
        assert_eq!(answers.counts(), [4, 1]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_failure() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let answers = Answers::new(Store::new(file.join("answers"), u64::MAX), String::new());
        keep(&answers, &[b"graph"], "proved");
        assert_eq!(find_answer(&answers, &[b"graph"]), None);
    }
}

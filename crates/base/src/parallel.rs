//! Work on several threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// The result for each item, in their order, on a thread for each processor. A panic of `each` is
/// one of the caller.
pub fn map<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    map_on(threads, "parallel", items, each)
}

/// As [`map`], on so many threads of this name; on that of the caller if none can be started.
pub fn map_on<T: Sync, R: Send>(
    threads: usize,
    name: &str,
    items: &[T],
    each: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, R)> {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        places.map_while(|place| Some((place, each(items.get(place)?)))).collect()
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let start = |_| Builder::new().name(name.to_owned()).spawn_scoped(scope, work).ok();
        let hands: Vec<_> = (0..threads.min(items.len())).filter_map(start).collect();
        let mut all = if hands.is_empty() { work() } else { Vec::new() };
        for hand in hands {
            all.extend(hand.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let items: Vec<u64> = (0..1000).collect();
        let squares = map_on(7, "squares", &items, |item| item * item);
        assert_eq!(squares, items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert!(map(&[] as &[u64], |item| *item).is_empty());
    }

    #[test]
    #[should_panic = "the third"]
    fn a_panic_is_one_of_the_caller() {
        map(&[1, 2, 3], |item| assert!(*item != 3, "the third"));
    }
}

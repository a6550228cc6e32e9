//! The names of checks.

/// Declares the names of checks: a constant for each, and a constant with all of them for
/// [`Scoreboard::CHECKS`](crate::harness::Scoreboard::CHECKS). A list after `+` has the names of a
/// part or of another module.
///
/// ```
/// cosim_harness::check_names! {
///     CHECKS;
///     /// Each item leaves once.
///     ONCE = "item-once";
///     /// The queue holds at most as many items as it has places.
///     OVERFLOW = "overflow";
///     + &["pop-held"];
/// }
/// assert_eq!(CHECKS, [ONCE, OVERFLOW, "pop-held"]);
/// ```
#[macro_export]
macro_rules! check_names {
    ($all:ident; $( $(#[$meta:meta])* $name:ident = $text:literal; )* $( + $list:expr; )*) => {
        $( $(#[$meta])* const $name: &str = $text; )*

        /// Every check.
        const $all: &[&str] = {
            const LISTS: &[&[&str]] = &[&[$( $name ),*], $( $list ),*];
            &$crate::harness::joined_names::<{ $crate::harness::count_names(LISTS) }>(LISTS)
        };
    };
}

/// The number of names in some lists.
pub const fn count_names(lists: &[&[&str]]) -> usize {
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

/// The names of some lists one after the other.
///
/// # Panics
/// Unless there are `COUNT` of them; at compile time in a constant.
pub const fn joined_names<const COUNT: usize>(lists: &[&[&'static str]]) -> [&'static str; COUNT] {
    assert!(count_names(lists) == COUNT, "each name has a place");
    let (mut all, mut place, mut list) = ([""; COUNT], 0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            all[place] = lists[list][index];
            (place, index) = (place + 1, index + 1);
        }
        list += 1;
    }
    all
}

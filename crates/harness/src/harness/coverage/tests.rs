use super::*;

const fn value(name: &'static str) -> Value {
    Value { name, meaning: "" }
}

const COLOUR: Axis = Axis::new("colour", &[value("red"), value("green")]);
const SIZE: Axis = Axis::new("size", &[value("S"), value("M"), value("L")]);
const GROUPS: [Covergroup; 2] = [
    Covergroup::new("size", "", &[SIZE]),
    Covergroup::new("both", "", &[COLOUR, SIZE]).unless(|at, _| match at {
        [1, 2] => Some("no large ones are green"),
        _ => None,
    }),
];

#[test]
fn bins_are_numbered_group_by_group_and_the_last_axis_runs_first() {
    const SIZES: Place<1> = Place::find_group(&GROUPS, "size");
    const BOTH: Place<2> = Place::find_group(&GROUPS, "both");
    assert_eq!(GROUPS.map(|group| group.bins()), [3, 6]);
    assert_eq!(SIZES.bin([2]), Bin(2));
    assert_eq!(BOTH.bin([0, 0]), Bin(3));
    assert_eq!(BOTH.bin([0, 2]), Bin(5));
    assert_eq!(BOTH.bin([1, 0]), Bin(6));
}

#[test]
fn a_reason_is_given_to_the_bin_of_its_values_and_to_no_other() {
    let parameters = Parameters::NONE;
    let reasons: Vec<_> =
        (0..6).map(|bin| GROUPS[1].unreachable(bin, &parameters).is_some()).collect();
    assert_eq!(reasons, [false, false, false, false, false, true]);
}

#[test]
#[should_panic(expected = "no covergroup has this name")]
fn a_place_of_no_group_is_refused() {
    let _ = Place::<1>::find_group(&GROUPS, "shape");
}

#[test]
fn a_case_counts_once_and_in_its_bin_alone() {
    let mut counts = [0; 9];
    let mut bins = Bins { groups: &mut counts };
    const BOTH: Place<2> = Place::find_group(&GROUPS, "both");
    bins.record(BOTH.bin([1, 1]));
    bins.record(BOTH.bin([1, 1]));
    assert_eq!(counts, [0, 0, 0, 0, 0, 0, 0, 1, 0]);
}

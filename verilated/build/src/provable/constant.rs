//! Constants and places of Verilator's tree.

use crate::tree::Element;

/// The digits of a constant such as `8'h1f`, in lower case, and their base.
fn digits(constant: &Element) -> Option<(String, u32)> {
    let (_, digits) = constant.name().split_once('\'')?;
    let digits = digits.strip_prefix('s').unwrap_or(digits);
    let mut letters = digits.chars();
    let base = match letters.next()?.to_ascii_lowercase() {
        'h' => 16,
        'd' => 10,
        'o' => 8,
        'b' => 2,
        _ => return None,
    };
    let plain = letters.filter(|letter| *letter != '_').collect::<String>().to_ascii_lowercase();
    Some((plain, base))
}

/// The digits of a constant without X and Z, and their base. Not of strings and reals.
pub(super) fn bits(constant: &Element) -> Option<(String, u32)> {
    digits(constant).filter(|(digits, base)| {
        !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(*base))
    })
}

/// The value of a constant of at most 127 bits.
pub(super) fn number(constant: &Element) -> Option<u128> {
    let (digits, base) = bits(constant)?;
    u128::from_str_radix(&digits, base).ok()
}

/// The digits of a constant that stand for any value: what is left without 0 to f.
pub(super) fn wildcards(constant: &Element) -> Option<String> {
    let (digits, base) = digits(constant)?;
    Some(digits.chars().filter(|digit| !digit.is_digit(base)).collect())
}

/// A place such as `d,2,8,2,11` or `d,2:8,2:11`: the letter of the file, then first and last line
/// and column.
pub(super) fn place(element: &Element) -> Option<(&str, [u32; 4])> {
    let (file, numbers) = element.get("loc")?.split_once(',')?;
    let mut numbers = numbers.split([',', ':']).map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten();
    Some((file, [next()?, next()?, next()?, next()?]))
}

/// The length of the token at which an element is.
pub(super) fn token(element: &Element) -> Option<u32> {
    let (_, [line, column, last, end]) = place(element)?;
    end.checked_sub(column).filter(|_| line == last)
}

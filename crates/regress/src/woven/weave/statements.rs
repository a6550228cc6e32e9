//! Weaves the statements of several bugs into one statement, with an `if` on the bug's number
//! around each difference.
//!
//! The weaver descends while both statements have the same shape, so it duplicates only the
//! smallest differing statement. Every bug executes exactly the statements of its own RTL, in the
//! same order.

use super::syntax::Statement;
use super::tokens::{Tokens, words};

/// A bug's number, and its version of a statement.
pub type Variant<'a> = (u32, &'a Statement);

/// The good statement with its variants.
pub fn woven(good: &Statement, variants: &[Variant<'_>]) -> Statement {
    let differing = variants.iter().copied().filter(|(_, statement)| *statement != good);
    let (alike, others): (Vec<Variant<'_>>, Vec<Variant<'_>>) =
        differing.partition(|(_, statement)| have_one_shape(good, statement));
    let woven = if alike.is_empty() { good.clone() } else { descended(good, &alike) };
    others.into_iter().fold(woven, |woven, (number, statement)| Statement::If {
        condition: is_selected(number),
        then: Box::new(statement.clone()),
        otherwise: Some(Box::new(woven)),
    })
}

/// Restricts a statement to one bug.
pub fn only(number: u32, statement: &Statement) -> Statement {
    Statement::If {
        condition: is_selected(number),
        then: Box::new(statement.clone()),
        otherwise: None,
    }
}

/// Excludes a statement for some bugs.
pub fn without(numbers: &[u32], statement: Statement) -> Statement {
    if numbers.is_empty() {
        return statement;
    }
    let others = numbers.iter().map(|number| format!("cosim_mutation::selected != {number}"));
    let condition = words(&others.collect::<Vec<_>>().join(" && "));
    Statement::If { condition, then: Box::new(statement), otherwise: None }
}

/// The condition that a bug is enabled.
pub fn is_selected(number: u32) -> Tokens {
    words(&format!("cosim_mutation::selected == {number}"))
}

fn have_one_shape(left: &Statement, right: &Statement) -> bool {
    match (left, right) {
        (Statement::Block { head: left, .. }, Statement::Block { head: right, .. }) => {
            left == right
        }
        (Statement::If { .. }, Statement::If { .. }) => true,
        (
            Statement::Case { head: left, items: these },
            Statement::Case { head: right, items: those },
        ) => {
            let labels = |items: &[(Tokens, Statement)]| -> Vec<Tokens> {
                items.iter().map(|(labels, _)| labels.clone()).collect()
            };
            left == right && labels(these) == labels(those)
        }
        _ => false,
    }
}

/// A statement with variants of the same shape.
fn descended(good: &Statement, variants: &[Variant<'_>]) -> Statement {
    match good {
        Statement::Plain(_) => good.clone(),
        Statement::Block { head, statements } => {
            let variants = variants.iter().filter_map(|(number, variant)| match variant {
                Statement::Block { statements, .. } => Some((*number, statements.as_slice())),
                _ => None,
            });
            let statements = sequence(statements, &variants.collect::<Vec<_>>());
            Statement::Block { head: head.clone(), statements }
        }
        Statement::If { condition, then, otherwise } => {
            let nothing = Statement::Plain(words(";"));
            let mut conditions = Vec::new();
            let (mut thens, mut others) = (Vec::new(), Vec::new());
            for (number, variant) in variants {
                if let Statement::If { condition, then, otherwise } = variant {
                    conditions.push((*number, condition));
                    thens.push((*number, &**then));
                    others.push((*number, otherwise.as_deref().unwrap_or(&nothing)));
                }
            }
            let has_else = otherwise.is_some() || others.iter().any(|(_, s)| **s != nothing);
            let otherwise = otherwise.as_deref().unwrap_or(&nothing);
            Statement::If {
                condition: chosen_condition(condition, &conditions),
                then: Box::new(woven(then, &thens)),
                otherwise: has_else.then(|| Box::new(woven(otherwise, &others))),
            }
        }
        Statement::Case { head, items } => {
            let item = |(index, (labels, good)): (usize, &(Tokens, Statement))| {
                let bodies = variants.iter().filter_map(|(number, variant)| match variant {
                    Statement::Case { items, .. } => Some((*number, &items.get(index)?.1)),
                    _ => None,
                });
                (labels.clone(), woven(good, &bodies.collect::<Vec<_>>()))
            };
            Statement::Case {
                head: head.clone(),
                items: items.iter().enumerate().map(item).collect(),
            }
        }
    }
}

/// Selects a condition. The operand of `!` is self-determined, as the condition of an `if`.
fn chosen_condition(good: &Tokens, variants: &[(u32, &Tokens)]) -> Tokens {
    let differing: Vec<_> = variants.iter().filter(|(_, condition)| *condition != good).collect();
    if differing.is_empty() {
        return good.clone();
    }
    let truth = |condition: &Tokens| {
        let mut tokens = words("! ! (");
        tokens.extend_from_slice(condition);
        tokens.extend(words(")"));
        tokens
    };
    let mut chosen = Tokens::new();
    for (number, condition) in differing {
        chosen.extend(is_selected(*number));
        chosen.extend(words("?"));
        chosen.extend(truth(condition));
        chosen.extend(words(":"));
    }
    chosen.extend(truth(good));
    chosen
}

/// Weaves the statements of a block.
fn sequence(good: &[Statement], variants: &[(u32, &[Statement])]) -> Vec<Statement> {
    // For each good statement: its replacements, the bugs that lack it, and the statements inserted
    // before it. The last entry of `inserted` is for the end of the block.
    let mut replaced: Vec<Vec<Variant<'_>>> = vec![Vec::new(); good.len()];
    let mut left_out: Vec<Vec<u32>> = vec![Vec::new(); good.len()];
    let mut inserted: Vec<Vec<Variant<'_>>> = vec![Vec::new(); good.len() + 1];
    for (number, statements) in variants {
        let mut begin = (0, 0);
        for end in common(good, statements).into_iter().chain([(good.len(), statements.len())]) {
            let (here, there) = (begin.0..end.0, begin.1..end.1);
            let paired = here.len().min(there.len());
            for index in 0..paired {
                replaced[here.start + index].push((*number, &statements[there.start + index]));
            }
            here.skip(paired).for_each(|index| left_out[index].push(*number));
            inserted[end.0].extend(there.skip(paired).map(|index| (*number, &statements[index])));
            begin = (end.0 + 1, end.1 + 1);
        }
    }
    let mut all = Vec::new();
    for (index, inserted) in inserted.iter().enumerate() {
        all.extend(inserted.iter().map(|(number, statement)| only(*number, statement)));
        if let Some(good) = good.get(index) {
            all.push(without(&left_out[index], woven(good, &replaced[index])));
        }
    }
    all
}

/// The indices of a longest common subsequence in both lists.
fn common<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            lengths[i][j] = match left[i] == right[j] {
                true => lengths[i + 1][j + 1] + 1,
                false => lengths[i + 1][j].max(lengths[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut places) = (0, 0, Vec::new());
    while i < left.len() && j < right.len() {
        if left[i] == right[j] {
            places.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    places
}

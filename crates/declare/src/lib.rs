//! `declare!` declares the interfaces of a block: channels, agents of protocols, clocks, resets and
//! other inputs. `docs/reference/block.md` lists the statements, and `parse.rs` has the grammar.
//!
//! The macro checks the declaration against the ports that the build script found, so a mistake is
//! one error at its token. What it generates is small: the types of items, traffic and weights, and
//! an implementation of `Declaration` of `cosim-harness`, which runs the rest.

mod check;
mod expand;
mod parse;
mod ports;

#[cfg(test)]
mod tests;

use parse::Declaration;
use proc_macro2::TokenStream;

/// Declares the interfaces of a block, and the block.
///
/// ```ignore
/// cosim_core::declare! {
///     rtl "fifo";
///     reset rst high;
///     source push: Push { data: push_data[8] } on push_valid, push_ready;
///     sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready;
///     golden golden::Golden;
///     scoreboard scoreboard::Scoreboard;
///     block Fifo = "fifo": "FIFO of one clock";
/// }
/// ```
///
/// It generates `Traffic`, `Weights`, `Environment`, `Coverage` and `in_reset`, a type for the
/// items of each channel, and a constant with the ports of each agent. `docs/reference/block.md`
/// lists the statements.
#[proc_macro]
pub fn declare(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expanded(input.into()).into()
}

/// The code of a declaration. With errors, functions that use pins have no bodies, so that no other
/// error follows.
fn expanded(input: TokenStream) -> TokenStream {
    let declaration = match syn::parse2::<Declaration>(input) {
        Ok(declaration) => checked(declaration),
        Err(error) => return error.to_compile_error(),
    };
    let errors = declaration.errors.iter().map(syn::Error::to_compile_error);
    let code = expand::code(&declaration);
    errors.chain([code]).collect()
}

/// A declaration with all its errors. What a wrong statement would have said is unknown, so each
/// step needs the one before.
fn checked(mut declaration: Declaration) -> Declaration {
    if declaration.errors.is_empty() {
        check::check(&mut declaration);
    }
    if declaration.errors.is_empty()
        && let Some(pins) = &declaration.pins
    {
        match pins.ports() {
            Ok(ports) => ports::check(&mut declaration, ports),
            Err(error) => declaration.errors.push(error),
        }
    }
    declaration
}

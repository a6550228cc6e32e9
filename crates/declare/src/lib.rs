//! `declare!` declares the interfaces of a block: channels, agents of protocols, clocks, resets and
//! other inputs. `cosim_core::declare!` documents the grammar.
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

/// Declares the interfaces of a block; see `cosim_core::declare!`.
#[proc_macro]
pub fn declare(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expanded(input.into()).into()
}

/// The code of a declaration. With errors, its functions do nothing, so that no other errors
/// follow from them.
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

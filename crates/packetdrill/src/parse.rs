//! Reads a [`Script`] from text.
//!
//! Recursive descent over the characters: what a word means depends on where
//! it stands (`.` is a flag, the start of a number, or two thirds of an
//! ellipsis away from one), which a separate lexer would only hide.
//!
//! Comments and the branches of `#ifdef` that are not taken are blanked
//! first, so that every place in an error is one in the file.

mod call;
mod code;
mod cursor;
mod error;
mod event;
mod mptcp;
mod options;
mod packet;
mod sctp;
mod source;

pub use error::{Definitions, ParseError};

use crate::script::Script;
use cursor::Cursor;

/// Reads the script `text` that is called `name`.
///
/// # Errors
/// The first place where the text is not of the language.
pub fn parse(name: &str, text: &str, definitions: &Definitions) -> Result<Script, ParseError> {
    let text = source::prepare(name, text, definitions)?;
    let mut cursor = Cursor::new(name, &text, definitions);
    event::script(&mut cursor)
}

#[cfg(test)]
mod tests;

//! From text to [`Script`].
//!
//! Recursive descent over the characters: what a word means depends on where
//! it stands (`.` is a flag, the start of a number, or two thirds of an
//! ellipsis away from one), which a separate lexer would only hide.
//!
//! Comments and the branches of `#ifdef` that are not taken are blanked
//! first, so that every place in an error is one in the file.

mod call;
mod cursor;
mod event;
mod mptcp;
mod options;
mod packet;
mod sctp;
mod source;

use crate::script::{Pos, Script};
use cursor::Cursor;
use std::collections::BTreeMap;
use std::fmt;

/// Symbols that a script may test with `#ifdef`, or use in the place of a
/// value: as `-D NAME` and `-D NAME=VALUE` give them.
pub type Definitions = BTreeMap<String, String>;

/// A script that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Name of the script.
    pub script: String,
    /// Where.
    pub pos: Pos,
    /// What would be right there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { script, pos, expected, found } = self;
        write!(f, "{script}:{pos}: expected {expected}, found {found}")
    }
}
impl std::error::Error for ParseError {}

/// Reads the script `text` that is called `name`.
///
/// # Errors
/// The first place where the text is not of the language.
pub fn parse(name: &str, text: &str, definitions: &Definitions) -> Result<Script, ParseError> {
    let text = source::prepare(name, text, definitions)?;
    let mut cursor = Cursor::new(name, &text, definitions);
    event::script(&mut cursor)
}

/// What the parts of the parser return.
type Parsed<T> = Result<T, ParseError>;

#[cfg(test)]
mod tests;

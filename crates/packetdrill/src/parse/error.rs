//! What the parts of the parser share: symbols that are defined, and where a
//! text is not of the language.

use crate::script::Pos;
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
    /// Place in the script at which reading stopped.
    pub pos: Pos,
    /// What would be right there.
    pub expected: String,
    /// The text that stands there.
    pub found: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { script, pos, expected, found } = self;
        write!(f, "{script}:{pos}: expected {expected}, found {found}")
    }
}
impl std::error::Error for ParseError {}

/// What the parts of the parser return.
pub(super) type Parsed<T> = Result<T, ParseError>;

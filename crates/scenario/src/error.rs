//! What is wrong with an input, said so that it can be corrected: the file,
//! the field, the value and what is allowed.

use std::fmt;

/// A scenario that cannot be run as written.
///
/// Displays as ``FILE: field `flows[0].tcp.recovery`: value `foo`: allowed: reno, newreno, …``;
/// the parts that do not apply are left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError {
    /// The file, as the caller named it.
    pub file: String,
    /// Path of the field, like `flows[0].tcp.recovery`; empty when the file as
    /// a whole is wrong.
    pub field: String,
    /// The value found; empty when there is none.
    pub value: String,
    /// What is wrong, or what is allowed instead.
    pub allowed: String,
}

/// The value of a field that is not there and has to be.
pub(crate) const ABSENT: &str = "(absent)";

/// Longest value that a message repeats, in characters.
const LONGEST_VALUE: usize = 120;

impl InputError {
    /// A field holds `value` where only `allowed` is.
    pub fn field(
        field: impl Into<String>,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> InputError {
        let mut value = value.to_string();
        if let Some((cut, _)) = value.char_indices().nth(LONGEST_VALUE) {
            value.truncate(cut);
            value.push('…');
        }
        InputError {
            file: String::new(),
            field: field.into(),
            value: value.replace('\n', "\\n"),
            allowed: allowed.into(),
        }
    }

    /// A field is not there and has to be; `allowed` says what it may hold.
    pub fn required(field: impl Into<String>, allowed: impl Into<String>) -> InputError {
        InputError::field(field, ABSENT, allowed)
    }

    /// The file as a whole is wrong.
    pub fn whole_file(file: impl Into<String>, problem: impl Into<String>) -> InputError {
        InputError {
            file: file.into(),
            field: String::new(),
            value: String::new(),
            allowed: problem.into(),
        }
    }

    /// Adds the name of the file to the error.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> InputError {
        self.file = file.to_owned();
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if self.field.is_empty() {
            return f.write_str(&self.allowed);
        }
        if self.value == ABSENT {
            return write!(f, "field `{}` is required: {}", self.field, self.allowed);
        }
        write!(f, "field `{}`: ", self.field)?;
        if !self.value.is_empty() {
            write!(f, "value `{}`: ", self.value)?;
        }
        write!(f, "allowed: {}", self.allowed)
    }
}

impl std::error::Error for InputError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_file_field_value_and_what_is_allowed() {
        let e =
            InputError::required("links[0].delay", "a time such as \"35 ms\"").in_file("a.toml");
        assert_eq!(
            e.to_string(),
            "a.toml: field `links[0].delay` is required: a time such as \"35 ms\""
        );
        let e = InputError::field("flows[0].tcp.recovery", "foo", "reno, sack").in_file("a.toml");
        assert_eq!(
            e.to_string(),
            "a.toml: field `flows[0].tcp.recovery`: value `foo`: allowed: reno, sack"
        );
        assert_eq!(InputError::whole_file("a.toml", "is empty").to_string(), "a.toml: is empty");
    }

    #[test]
    fn long_values_are_cut() {
        let e = InputError::field("name", "é".repeat(1000), "short names");
        assert_eq!(e.value.chars().count(), LONGEST_VALUE + 1);
    }
}

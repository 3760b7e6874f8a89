//! A place in the text, and the small things that stand at it.

use super::error::{Definitions, ParseError, Parsed};
use crate::script::Pos;

/// Reads a text from its start to its end.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    name: &'a str,
    text: &'a str,
    at: usize,
    /// Number of lists, structures and calls that are open here.
    depth: u32,
    pub definitions: &'a Definitions,
}

/// Greatest depth of values within each other.
const DEEPEST: u32 = 32;

/// Line and column of an octet.
pub(super) fn position(text: &str, at: usize) -> Pos {
    let before = &text[..at];
    let line = before.bytes().filter(|octet| *octet == b'\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32 + 1;
    Pos { line, column }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl<'a> Cursor<'a> {
    pub fn new(name: &'a str, text: &'a str, definitions: &'a Definitions) -> Cursor<'a> {
        Cursor { name, text, at: 0, depth: 0, definitions }
    }

    pub fn name(&self) -> &'a str {
        self.name
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn pos(&self) -> Pos {
        position(self.text, self.at)
    }

    pub fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    pub fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    /// The next character, spaces skipped.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Reads with `inner` what stands within another value.
    pub fn within<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return self.fail(format!("at most {DEEPEST} values within each other"));
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    /// Something else should stand here.
    pub fn fail<T>(&mut self, expected: impl Into<String>) -> Parsed<T> {
        self.skip_space();
        let rest = self.rest();
        let word: String = rest.chars().take_while(|c| is_word(*c)).take(40).collect();
        let found = match (rest.chars().next(), word.is_empty()) {
            (None, _) => "the end of the script".to_owned(),
            (Some(_), false) => format!("`{word}`"),
            (Some(c), true) => format!("`{c}`"),
        };
        Err(ParseError {
            script: self.name.into(),
            pos: self.pos(),
            expected: expected.into(),
            found,
        })
    }

    /// Takes `token` if it stands here.
    pub fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// `token` must stand here.
    pub fn expect(&mut self, token: &str) -> Parsed<()> {
        match self.take(token) {
            true => Ok(()),
            false => self.fail(format!("`{token}`")),
        }
    }

    /// The word that stands here, empty if there is none.
    pub fn peek_word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    }

    /// Takes `word` if it stands here as a whole word.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// A word must stand here.
    pub fn word(&mut self, expected: &str) -> Parsed<&'a str> {
        let word = self.peek_word();
        if word.is_empty() {
            return self.fail(expected);
        }
        self.at += word.len();
        Ok(word)
    }

    /// Takes the characters for which `good` holds; no spaces are skipped.
    pub fn take_while(&mut self, good: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !good(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Takes up to `end`, which is taken too.
    pub fn until(&mut self, end: &str) -> Parsed<&'a str> {
        match self.rest().find(end) {
            Some(len) => {
                let taken = &self.rest()[..len];
                self.at += len + end.len();
                Ok(taken)
            }
            None => {
                self.at = self.text.len();
                self.fail(format!("`{end}`"))
            }
        }
    }

    /// A number stands here: digits, or `-` and digits.
    pub fn at_number(&mut self) -> bool {
        self.skip_space();
        let mut chars = self.rest().chars();
        match chars.next() {
            Some('-') => chars.next().is_some_and(|c| c.is_ascii_digit()),
            Some(c) => c.is_ascii_digit(),
            None => false,
        }
    }

    /// A number must stand here: decimal, or hexadecimal after `0x`.
    pub fn number(&mut self, expected: &str) -> Parsed<i64> {
        if !self.at_number() {
            if let Some(value) = self.defined()
                && let Some(value) = parse_number(value)
            {
                self.word(expected)?;
                return Ok(value);
            }
            return self.fail(expected);
        }
        let before = self.clone();
        let negative = self.take("-");
        let digits = self.take_while(|c| c.is_ascii_alphanumeric());
        match parse_number(digits) {
            Some(n) if !negative || n >= 0 => Ok(if negative { -n } else { n }),
            _ => {
                *self = before;
                self.fail(expected)
            }
        }
    }

    /// A number from 0 to the largest of its type.
    pub fn unsigned<T: TryFrom<i64>>(&mut self, expected: &str) -> Parsed<T> {
        let before = self.clone();
        let n = self.number(expected)?;
        match T::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => {
                *self = before;
                self.fail(expected)
            }
        }
    }

    /// What the word that stands here is defined as.
    pub fn defined(&mut self) -> Option<&'a str> {
        let word = self.peek_word();
        self.definitions.get(word).map(String::as_str).filter(|value| !value.is_empty())
    }
}

fn parse_number(digits: &str) -> Option<i64> {
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        // Sixteen digits are an MPTCP key.
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|n| n as i64),
        None => digits.parse::<u64>().ok().map(|n| n as i64),
    }
}

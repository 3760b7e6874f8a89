//! Reads statements from text.

use super::error::{ParseError, Parsed};
use crate::code::{Expression, Operator, Statement};
use crate::script::Pos;

/// Reads the code `text` of `script`, which starts at `start`.
///
/// # Errors
/// The first place that is not of the language of [`crate::code`].
pub(super) fn parse(script: &str, text: &str, start: Pos) -> Result<Vec<Statement>, ParseError> {
    let mut p = Parser { script, text, at: 0, start, operands: 0, depth: 0 };
    let mut statements = Vec::new();
    loop {
        p.skip(true);
        if p.rest().is_empty() {
            return Ok(statements);
        }
        p.operands = 0;
        statements.push(p.statement()?);
        p.skip(false);
        if !p.rest().is_empty() && !p.rest().starts_with(['\n', ';', '#']) {
            return p.fail("the end of the statement");
        }
    }
}

struct Parser<'a> {
    script: &'a str,
    text: &'a str,
    at: usize,
    start: Pos,
    /// Operands of the statement so far.
    operands: u32,
    /// Number of parentheses and signs that are open here.
    depth: u32,
}

/// Most operands of a statement.
const MOST_OPERANDS: u32 = 500;
/// Greatest depth of parentheses and signs within each other.
const DEEPEST: u32 = 16;

/// Binary operators, those that bind least first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("<<", Operator::Left), (">>", Operator::Right)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("//", Operator::Divide),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

const COMPARISONS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessEqual),
    (">=", Operator::GreaterEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips spaces and continued lines; ends of lines, statements and
    /// comments too between statements.
    fn skip(&mut self, between: bool) {
        loop {
            let rest = self.rest();
            let comment = rest.starts_with('#') || rest.starts_with("//");
            let len = match rest.chars().next() {
                Some(' ' | '\t' | '\r') => 1,
                Some('\\') if rest[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                    rest.find('\n').map_or(1, |end| end + 1)
                }
                Some('\n' | ';') if between => 1,
                _ if comment && between => rest.find('\n').unwrap_or(rest.len()),
                _ => return,
            };
            self.at += len;
        }
    }

    fn fail<T>(&self, expected: &str) -> Parsed<T> {
        let before = &self.text[..self.at];
        let lines = before.matches('\n').count() as u32;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32;
        let first = if lines == 0 { self.start.column } else { 1 };
        let pos = Pos { line: self.start.line + lines, column: first + column };
        let found = match self.rest().split_whitespace().next() {
            Some(word) => format!("`{word}`"),
            None => "the end of the code".into(),
        };
        Err(ParseError { script: self.script.into(), pos, expected: expected.into(), found })
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip(false);
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn word(&mut self) -> &'a str {
        self.skip(false);
        let rest = self.rest();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn take_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.word() == word;
        if !found {
            self.at = before;
        }
        found
    }

    fn statement(&mut self) -> Parsed<Statement> {
        if self.take_word("assert") {
            let condition = self.expression()?;
            let message = match self.take(",") {
                true => Some(self.expression()?),
                false => None,
            };
            return Ok(Statement::Assert(condition, message));
        }
        if self.take_word("print") {
            return Ok(Statement::Print(match self.take("(") {
                true => self.list(")")?,
                false => vec![self.expression()?],
            }));
        }
        let before = self.at;
        let name = self.word();
        if !name.is_empty() && self.take("=") {
            return Ok(Statement::Set(name.into(), self.expression()?));
        }
        self.at = before;
        self.fail("`assert EXPRESSION`, `NAME = EXPRESSION` or `print(...)`")
    }

    /// Reads with `inner` what stands in parentheses or behind a sign.
    fn within<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return self
                .fail(&format!("at most {DEEPEST} parentheses and signs within each other"));
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    fn list(&mut self, close: &str) -> Parsed<Vec<Expression>> {
        self.within(|p| p.listed(close))
    }

    fn listed(&mut self, close: &str) -> Parsed<Vec<Expression>> {
        let mut parts = Vec::new();
        loop {
            if self.take(close) {
                return Ok(parts);
            }
            parts.push(self.expression()?);
            if !self.take(",") && !self.rest().trim_start().starts_with(close) {
                return self.fail(&format!("`,` or `{close}`"));
            }
        }
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.logical("or", Operator::Or, |p| p.logical("and", Operator::And, Parser::negation))
    }

    fn logical(
        &mut self,
        word: &str,
        operator: Operator,
        mut inner: impl FnMut(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Expression> {
        let mut left = inner(self)?;
        while self.take_word(word) {
            left = Expression::Binary(Box::new(left), operator, Box::new(inner(self)?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expression> {
        match self.take_word("not") {
            true => {
                let inner = self.within(Self::negation)?;
                Ok(Expression::Unary(Operator::Not, Box::new(inner)))
            }
            false => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Parsed<Expression> {
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        'next: loop {
            for (token, operator) in COMPARISONS {
                if self.take(token) {
                    rest.push((operator, self.binary(0)?));
                    continue 'next;
                }
            }
            return Ok(match rest.is_empty() {
                true => first,
                false => Expression::Compare(Box::new(first), rest),
            });
        }
    }

    fn binary(&mut self, level: usize) -> Parsed<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        'next: loop {
            for (token, operator) in *operators {
                if self.take(token) {
                    let right = Box::new(self.binary(level + 1)?);
                    left = Expression::Binary(Box::new(left), *operator, right);
                    continue 'next;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self) -> Parsed<Expression> {
        if self.take("-") {
            let inner = self.within(Self::unary)?;
            return Ok(Expression::Unary(Operator::Subtract, Box::new(inner)));
        }
        if self.take("~") {
            let inner = self.within(Self::unary)?;
            return Ok(Expression::Unary(Operator::Invert, Box::new(inner)));
        }
        if self.take("+") {
            return self.within(Self::unary);
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Expression> {
        self.skip(false);
        if self.operands == MOST_OPERANDS {
            return self.fail(&format!("at most {MOST_OPERANDS} operands in a statement"));
        }
        self.operands += 1;
        let first = self.rest().chars().next().unwrap_or(' ');
        if self.take("(") {
            let mut parts = self.list(")")?;
            return Ok(match parts.len() {
                1 => parts.remove(0),
                _ => Expression::Tuple(parts),
            });
        }
        if first == '\'' || first == '"' {
            self.at += 1;
            let Some(len) = self.rest().find(first) else {
                return self.fail("the end of the text");
            };
            let text = self.rest()[..len].to_owned();
            self.at += len + 1;
            return Ok(Expression::Text(text));
        }
        let before = self.at;
        let word = self.word();
        if first.is_ascii_digit() {
            let number = match word.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).ok(),
                None => word.parse().ok(),
            };
            if let Some(number) = number {
                return Ok(Expression::Number(number));
            }
        } else if !word.is_empty() {
            return Ok(match self.take("(") {
                true => Expression::Call(word.into(), self.list(")")?),
                false => Expression::Name(word.into()),
            });
        }
        self.at = before;
        self.fail("a value: a number, a name, a text or parentheses")
    }
}

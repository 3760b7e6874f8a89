//! The code between `%{` and `}%`: assertions over what a socket reports, in
//! the part of Python that scripts use.
//!
//! `assert EXPRESSION[, MESSAGE]`, `NAME = EXPRESSION` and `print(...)`, one a
//! line or with `;` between them. Expressions have integers, strings, names,
//! tuples, chains of comparisons, `and`, `or`, `not`, `| ^ & << >> + - * // / %`,
//! unary `- + ~`, `abs`, `min`, `max` and `int`. Anything else of Python is an
//! error of the script.

mod eval;

pub use eval::{CodeError, Names, run};

use std::fmt;

/// A statement of the code between `%{` and `}%`.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// The first must hold; the second is what is said otherwise.
    Assert(Expression, Option<Expression>),
    /// Gives a name to a value.
    Set(String, Expression),
    /// `print(...)`: nothing here.
    Print(Vec<Expression>),
}

/// An expression of Python, as far as scripts use it.
#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    /// An integer, as written.
    Number(i64),
    /// A text in quotes.
    Text(String),
    /// What a name stands for.
    Name(String),
    /// A tuple: `(a, b)`.
    Tuple(Vec<Expression>),
    /// One of `- + ~ not` before an operand.
    Unary(Operator, Box<Expression>),
    /// All other operators but comparisons.
    Binary(Box<Expression>, Operator, Box<Expression>),
    /// `a < b <= c`: each pair must hold.
    Compare(Box<Expression>, Vec<(Operator, Expression)>),
    /// A call of a function: `abs(x)`.
    Call(String, Vec<Expression>),
}

/// An operator of Python, as far as scripts use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is its symbol")]
pub enum Operator {
    Or,
    And,
    Not,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitXor,
    BitAnd,
    Left,
    Right,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Invert,
}

impl Operator {
    /// Returns the operator as Python writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Not => "not ",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::BitOr => "|",
            Operator::BitXor => "^",
            Operator::BitAnd => "&",
            Operator::Left => "<<",
            Operator::Right => ">>",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "//",
            Operator::Remainder => "%",
            Operator::Invert => "~",
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Expression]) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Number(n) => write!(f, "{n}"),
            Expression::Text(text) => write!(f, "{text:?}"),
            Expression::Name(name) => write!(f, "{name}"),
            Expression::Unary(operator, inner) => write!(f, "{}{inner}", operator.symbol()),
            Expression::Binary(a, operator, b) => write!(f, "({a} {} {b})", operator.symbol()),
            Expression::Compare(first, rest) => {
                write!(f, "{first}")?;
                rest.iter().try_for_each(|(op, operand)| write!(f, " {} {operand}", op.symbol()))
            }
            Expression::Tuple(parts) => {
                write!(f, "(")?;
                joined(f, parts)?;
                write!(f, ")")
            }
            Expression::Call(name, parts) => {
                write!(f, "{name}(")?;
                joined(f, parts)?;
                write!(f, ")")
            }
        }
    }
}

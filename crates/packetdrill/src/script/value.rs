//! Values: arguments of calls, and what SCTP chunks are made of.

use std::fmt;

/// A value as the script writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// `...`: chosen by who runs the script, or not compared.
    Any,
    /// A number, decimal or hexadecimal.
    Number(i64),
    /// A symbol: `SOCK_STREAM`.
    Word(String),
    /// Alternatives of flags: `O_RDWR|O_NONBLOCK`.
    Or(Vec<Value>),
    /// A text between double quotes.
    Text(String),
    /// A list: `[a, b]`.
    List(Vec<Field>),
    /// A structure: `{a=1, b=2}`.
    Struct(Vec<Field>),
    /// A function of its arguments: `htons(80)`.
    Call(String, Vec<Value>),
    /// A name with fields: `NAME[a=1, b=2]`.
    Tree(String, Vec<Field>),
    /// A range of numbers: `2:8`.
    Range(i64, i64),
}

/// A part of a list or structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name before the equals sign.
    pub name: Option<String>,
    /// What stands in parentheses behind the name: `msg_iov(1)=`.
    pub count: Option<Value>,
    /// The value behind the equals sign.
    pub value: Value,
}

impl Value {
    /// The number, where it is one.
    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// The parts of a list or structure.
    pub fn fields(&self) -> Option<&[Field]> {
        match self {
            Value::List(fields) | Value::Struct(fields) | Value::Tree(_, fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the value of the field of that name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let named = |f: &&Field| f.name.as_deref() == Some(name);
        self.fields()?.iter().find(named).map(|f| &f.value)
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T], separator: &str) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        let before = if i == 0 { "" } else { separator };
        write!(f, "{before}{item}")?;
    }
    Ok(())
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Any => write!(f, "..."),
            Value::Number(n) => write!(f, "{n}"),
            Value::Word(word) => write!(f, "{word}"),
            Value::Or(values) => list(f, values, "|"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Range(a, b) => write!(f, "{a}:{b}"),
            Value::Call(name, values) => {
                write!(f, "{name}(")?;
                list(f, values, ", ")?;
                write!(f, ")")
            }
            Value::List(fields) | Value::Tree(_, fields) => {
                if let Value::Tree(name, _) = self {
                    write!(f, "{name}")?;
                }
                write!(f, "[")?;
                list(f, fields, ", ")?;
                write!(f, "]")
            }
            Value::Struct(fields) => {
                write!(f, "{{")?;
                list(f, fields, ", ")?;
                write!(f, "}}")
            }
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}")?;
            if let Some(count) = &self.count {
                write!(f, "({count})")?;
            }
            write!(f, "=")?;
        }
        write!(f, "{}", self.value)
    }
}

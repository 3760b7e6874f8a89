//! What code amounts to.

use super::{Expression, Operator, Statement};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// The values of the names that code may use.
pub type Names = BTreeMap<String, i64>;

/// Code that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CodeError {
    /// An assertion that does not hold: it, and the values of its names.
    Failed {
        /// The assertion, as the script has it.
        assertion: String,
        /// `name = value` for each of its names.
        values: String,
    },
    /// A name that nothing stands for.
    Unknown(String),
    /// Something that cannot be computed.
    Invalid(String),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeError::Failed { assertion, values } => {
                write!(f, "assert {assertion} does not hold: {values}")
            }
            CodeError::Unknown(name) => write!(f, "`{name}` is not known"),
            CodeError::Invalid(what) => write!(f, "{what}"),
        }
    }
}
impl std::error::Error for CodeError {}

/// Runs the statements; assignments stay in `names`.
///
/// # Errors
/// The first assertion that does not hold, or what cannot be computed.
pub fn run(statements: &[Statement], names: &mut Names) -> Result<(), CodeError> {
    for statement in statements {
        match statement {
            Statement::Assert(condition, _) => {
                if value(condition, names)? == 0 {
                    let mut used = BTreeMap::new();
                    collect(condition, names, &mut used);
                    let values: Vec<String> =
                        used.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                    let (assertion, values) = (condition.to_string(), values.join(", "));
                    return Err(CodeError::Failed { assertion, values });
                }
            }
            Statement::Set(name, expression) => {
                let value = value(expression, names)?;
                names.insert(name.clone(), value);
            }
            Statement::Print(_) => {}
        }
    }
    Ok(())
}

fn collect<'a>(expression: &'a Expression, names: &Names, used: &mut BTreeMap<&'a str, i64>) {
    let mut visit = |part: &'a Expression| collect(part, names, used);
    match expression {
        Expression::Name(name) => {
            if let Some(value) = names.get(name) {
                used.insert(name, *value);
            }
        }
        Expression::Unary(_, inner) => visit(inner),
        Expression::Binary(a, _, b) => {
            visit(a);
            visit(b);
        }
        Expression::Compare(first, rest) => {
            visit(first);
            rest.iter().for_each(|(_, operand)| visit(operand));
        }
        Expression::Tuple(parts) | Expression::Call(_, parts) => parts.iter().for_each(visit),
        Expression::Number(_) | Expression::Text(_) => {}
    }
}

fn value(expression: &Expression, names: &Names) -> Result<i64, CodeError> {
    match expression {
        Expression::Number(n) => Ok(*n),
        Expression::Name(name) => match (names.get(name), name.as_str()) {
            (Some(value), _) => Ok(*value),
            (None, "True") => Ok(1),
            (None, "False" | "None") => Ok(0),
            _ => Err(CodeError::Unknown(name.clone())),
        },
        Expression::Unary(operator, inner) => {
            let inner = value(inner, names)?;
            Ok(match operator {
                Operator::Not => (inner == 0) as i64,
                Operator::Invert => !inner,
                _ => inner.wrapping_neg(),
            })
        }
        Expression::Binary(a, Operator::Or, b) => match value(a, names)? {
            0 => value(b, names),
            held => Ok(held),
        },
        Expression::Binary(a, Operator::And, b) => match value(a, names)? {
            0 => Ok(0),
            _ => value(b, names),
        },
        Expression::Binary(a, operator, b) => {
            arithmetic(value(a, names)?, *operator, value(b, names)?)
        }
        Expression::Compare(first, rest) => {
            let mut left = value(first, names)?;
            for (operator, right) in rest {
                let right = value(right, names)?;
                if !holds(left.cmp(&right), *operator) {
                    return Ok(0);
                }
                left = right;
            }
            Ok(1)
        }
        Expression::Call(name, parts) => {
            let parts: Vec<i64> =
                parts.iter().map(|part| value(part, names)).collect::<Result<_, _>>()?;
            match (name.as_str(), parts.as_slice()) {
                ("abs", [n]) => Ok(n.saturating_abs()),
                ("int", [n]) => Ok(*n),
                ("min", [first, rest @ ..]) => Ok(rest.iter().fold(*first, |a, b| a.min(*b))),
                ("max", [first, rest @ ..]) => Ok(rest.iter().fold(*first, |a, b| a.max(*b))),
                _ => Err(CodeError::Unknown(format!("{name}()"))),
            }
        }
        Expression::Text(_) | Expression::Tuple(_) => {
            Err(CodeError::Invalid(format!("{expression} is not a number")))
        }
    }
}

fn holds(order: Ordering, operator: Operator) -> bool {
    match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}

fn arithmetic(a: i64, operator: Operator, b: i64) -> Result<i64, CodeError> {
    let result = match operator {
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::BitAnd => Some(a & b),
        Operator::Left => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
        Operator::Right => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        // Python rounds down, and the remainder has the divisor's sign.
        Operator::Divide => a.checked_div(b).map(|q| q - (a % b != 0 && (a < 0) != (b < 0)) as i64),
        Operator::Remainder => {
            a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
        }
        _ => None,
    };
    result.ok_or_else(|| CodeError::Invalid(format!("{a} {} {b}", operator.symbol())))
}

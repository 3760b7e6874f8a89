//! Code points of differentiated services, by number or by the name that an RFC gives them.

use super::form::{Kind, by, integer};
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_endpoint::DSCP;
use toml::Value;

/// What a code point may be, for messages.
pub(super) const ALLOWED: &str =
    "a whole number from 0 to 63, or a name: df, le, cs0 to cs7, af11 to af43, va, ef";

/// Names: class selectors and the default (RFC 2474 §4.2.2, §4.1), assured forwarding (RFC 2597 §6),
/// expedited forwarding (RFC 3246 §2.7), voice-admit (RFC 5865 §4), lower effort (RFC 8622 §5).
const NAMES: [(&str, u8); 24] = [
    ("df", 0),
    ("le", 1),
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("va", 44),
    ("ef", 46),
];

/// The code point that a value means.
pub(super) fn point(value: &Value) -> Option<u8> {
    match value {
        Value::String(name) => {
            NAMES.iter().find(|(known, _)| known == name).map(|(_, point)| *point)
        }
        _ => u8::try_from(value.as_integer()?).ok().filter(|point| DSCP.contains(*point)),
    }
}

/// The shape of a code point.
pub(super) fn shape() -> Shape {
    Shape::Any(vec![integer(DSCP).shape(), Shape::words(&NAMES)]).named("dscp")
}

/// A code point, which is written as a number.
pub(super) fn code_point() -> impl Kind<Value = u8> {
    let read = |f: &Fields<'_>, name: &'static str| match f.get(name) {
        None => Ok(None),
        Some(value) => point(value).map(Some).ok_or_else(|| f.error(name, ALLOWED)),
    };
    by(shape, read, |point: &u8| Value::Integer((*point).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AFxy is 8 x + 2 y, CSx is 8 x.
    #[test]
    fn names_have_the_numbers_of_their_rfcs() {
        for class in 0..8 {
            assert_eq!(point(&format!("cs{class}").into()), Some(8 * class));
        }
        for (class, drop) in (1..5).flat_map(|class| (1..4).map(move |drop| (class, drop))) {
            assert_eq!(point(&format!("af{class}{drop}").into()), Some(8 * class + 2 * drop));
        }
        let others = ["df", "le", "va", "ef"].map(|name| point(&name.into()));
        assert_eq!(others, [0, 1, 44, 46].map(Some));
        assert_eq!([63, 64, -1].map(|n: i64| point(&n.into())), [Some(63), None, None]);
        assert_eq!(point(&"EF".into()), None);
    }
}

//! `setsockopt` and `getsockopt`: values as octets and back.

use super::{Context, Held, Prepared, Ready, Refusal, int, is_null, list_of, named, number};
use crate::worker::Answer;
use anabranch_live::kernel::call;
use anabranch_packetdrill::script::{Call, Field, Value};
use std::os::fd::AsFd;

/// Structures that options have as their value: their fields in order, each of so
/// many octets.
const STRUCTURES: [&[(&str, usize)]; 2] =
    [&[("onoff", 4), ("linger", 4)], &[("tv_sec", 8), ("tv_usec", 8)]];

/// More than any value that a script asks for.
const LARGEST: i64 = 4096;

/// The structure that has all these fields.
fn structure(fields: &[Field]) -> Option<&'static [(&'static str, usize)]> {
    let has = |names: &[(&str, usize)]| {
        let known =
            |field: &Field| names.iter().any(|(name, _)| field.name.as_deref() == Some(name));
        fields.iter().all(known)
    };
    STRUCTURES.into_iter().find(|names| has(names))
}

/// Makes octets of an option's value.
fn encode(value: &Value) -> Result<Vec<u8>, Refusal> {
    let not = || Refusal::NotApplicable(format!("the value {value} of an option"));
    match value {
        Value::Text(text) => Ok(text.as_bytes().to_vec()),
        Value::Struct(fields) => {
            let names = structure(fields).ok_or_else(not)?;
            let mut octets = Vec::new();
            for (name, len) in names {
                let number = value.field(name).and_then(number).unwrap_or(0);
                match len {
                    8 => octets.extend(number.to_ne_bytes()),
                    _ => octets.extend((number as i32).to_ne_bytes()),
                }
            }
            Ok(octets)
        }
        value => Ok((number(value).ok_or_else(not)? as i32).to_ne_bytes().to_vec()),
    }
}

/// What the kernel wrote, in the form that the script expects.
fn decode(expected: &Value, octets: &[u8]) -> Value {
    match expected {
        Value::Text(_) => {
            let text = octets.split(|octet| *octet == 0).next().unwrap_or_default();
            Value::Text(String::from_utf8_lossy(text).into_owned())
        }
        Value::Struct(fields) => {
            let mut at = 0;
            let names = structure(fields).unwrap_or_default().iter();
            let read = names.map(|(name, len)| {
                let number = int_of(octets.get(at..at + len).unwrap_or_default());
                at += len;
                named(name, Value::Number(number))
            });
            Value::Struct(read.collect())
        }
        _ => list_of(int_of(octets)),
    }
}

/// A number of 1, 4 or 8 octets with its sign.
fn int_of(octets: &[u8]) -> i64 {
    match *octets {
        [octet] => octet.into(),
        [a, b, c, d] => i32::from_ne_bytes([a, b, c, d]).into(),
        _ => octets.try_into().map_or(0, i64::from_ne_bytes),
    }
}

/// `setsockopt(fd, level, option, [value], length)`.
pub(super) fn set(call: &Call, context: &Context<'_>) -> Ready {
    let (fd, level, option) = (context.fd(call, 0)?, int(call, 1)?, int(call, 2)?);
    let Some(value) = call.arguments.get(3) else {
        return Err(Refusal::NotApplicable("setsockopt() without a value".into()));
    };
    let len = call.arguments.get(4).and_then(number);
    let len = len.and_then(|len| usize::try_from(len).ok()).filter(|len| *len <= LARGEST as usize);
    let held = match is_null(value) {
        true => Held::Null(len.unwrap_or(0)),
        false => {
            let mut octets = encode(value)?;
            if octets.len() == 4 && len == Some(1) {
                octets =
                    vec![i32::from_ne_bytes([octets[0], octets[1], octets[2], octets[3]]) as u8];
            }
            octets.resize(len.unwrap_or(octets.len()), 0);
            Held::Octets(octets)
        }
    };
    Ok(Prepared::job(move || {
        let set = call::set_option(fd.as_fd(), level, option, held.octets());
        Answer::of(set.map(|()| 0))
    }))
}

/// `getsockopt(fd, level, option, [value], [length])`.
pub(super) fn get(call: &Call, context: &Context<'_>) -> Ready {
    let (fd, level, option) = (context.fd(call, 0)?, int(call, 1)?, int(call, 2)?);
    let expected = call.arguments.get(3).cloned().unwrap_or(Value::Any);
    let natural = || match &expected {
        Value::Text(text) => text.len(),
        Value::Struct(fields) => {
            structure(fields).unwrap_or_default().iter().map(|(_, len)| len).sum()
        }
        _ => 4,
    };
    let given = call.arguments.get(4).and_then(number).filter(|len| (0..=LARGEST).contains(len));
    let mut octets = vec![0; given.map_or_else(natural, |len| len as usize)];
    Ok(Prepared::job(move || match call::option(fd.as_fd(), level, option, &mut octets) {
        Ok(len) => {
            let value = decode(&expected, octets.get(..len).unwrap_or(&octets));
            let outputs = vec![(3, value), (4, list_of(len as i64))];
            Answer { outputs, ..Answer::of(Ok(0)) }
        }
        Err(errno) => Answer::of(Err(errno)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(names: [&str; 2], values: [i64; 2]) -> Value {
        let fields = names.into_iter().zip(values);
        Value::Struct(fields.map(|(name, n)| named(name, Value::Number(n))).collect())
    }

    #[test]
    fn values_are_the_same_there_and_back() {
        let time = pair(["tv_sec", "tv_usec"], [1, 600_000]);
        for value in [
            pair(["onoff", "linger"], [1, -1]),
            time.clone(),
            list_of(-7),
            Value::Text("reno".into()),
        ] {
            let Ok(octets) = encode(&value) else { panic!("{value}") };
            assert_eq!(decode(&value, &octets), value);
        }
        assert!(encode(&time).is_ok_and(|octets| octets.len() == 16));
        assert!(encode(&pair(["onoff", "what"], [1, 1])).is_err());
        assert_eq!(decode(&list_of(0), &[200]), list_of(200));
    }
}

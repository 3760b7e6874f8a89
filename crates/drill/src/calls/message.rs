//! Calls that move data. What is written are zeros.

use super::address::{self, Default};
use super::{Context, Held, MOST, Prepared, Ready, Refusal, int, is_null, len, named, number};
use crate::worker::Answer;
use anabranch_live::kernel::call;
use anabranch_packetdrill::script::{Call, Field, Value};
use std::os::fd::AsFd;

/// Octets of a `struct cmsghdr`, and what control messages are aligned to.
const CONTROL_HEADER: usize = size_of::<usize>() + 8;
const ALIGNED: usize = size_of::<usize>();

/// Lengths of the parts that stand in an argument (`[{..., 1000}, {..., 500}]`).
fn parts(value: Option<&Value>) -> Result<Vec<usize>, Refusal> {
    let vectors = value.and_then(Value::fields).unwrap_or_default();
    let len = |field: &Field| {
        let parts = field.value.fields().unwrap_or_default();
        let last = parts.iter().rev().find_map(|part| number(&part.value)).unwrap_or(0);
        usize::try_from(last).unwrap_or(0)
    };
    let lengths: Vec<usize> = vectors.iter().map(len).collect();
    match lengths.iter().try_fold(0_usize, |all, len| all.checked_add(*len)) {
        Some(all) if all <= MOST => Ok(lengths),
        _ => Err(Refusal::NotApplicable("a message of that length".into())),
    }
}

/// `read`, `readv`, `recv`, `recvfrom`.
pub(super) fn read(call: &Call, context: &Context<'_>) -> Ready {
    let fd = context.fd(call, 0)?;
    let len = match call.name.as_str() {
        "readv" => parts(call.arguments.get(1))?.iter().sum::<usize>(),
        _ => len(call, 2)?,
    };
    let mut buffer = vec![0; len];
    if matches!(call.name.as_str(), "recv" | "recvfrom") {
        let flags = int(call, 3)?;
        return Ok(Prepared::job(move || {
            Answer::of(call::receive(fd.as_fd(), &mut buffer, flags).map(|n| n as i64))
        }));
    }
    Ok(Prepared::job(move || Answer::of(rustix::io::read(&fd, &mut buffer[..]).map(|n| n as i64))))
}

/// `write`, `writev`, `send`, `sendto`.
pub(super) fn write(call: &Call, context: &Context<'_>) -> Ready {
    let (fd, at) = (context.fd(call, 0)?, |at: usize| call.arguments.get(at));
    let len = match call.name.as_str() {
        "writev" => parts(at(1))?.iter().sum::<usize>(),
        _ => len(call, 2)?,
    };
    let data = match at(1) {
        Some(value) if is_null(value) => Held::Null(len),
        _ => Held::Octets(vec![0; len]),
    };
    if matches!((call.name.as_str(), &data), ("write" | "writev", Held::Octets(_))) {
        let buffer = vec![0; len];
        return Ok(Prepared::job(move || {
            Answer::of(rustix::io::write(&fd, &buffer).map(|n| n as i64))
        }));
    }
    let named_flags = matches!(call.name.as_str(), "send" | "sendto");
    let flags = if named_flags { int(call, 3)? } else { 0 };
    let address = match call.name.as_str() {
        "sendto" => Some(address::of(at(4), at(5), context, Default::Remote)?),
        _ => None,
    };
    Ok(Prepared::job(move || {
        let address = address.as_ref().map(Held::octets);
        Answer::of(call::send(fd.as_fd(), data.octets(), flags, address).map(|n| n as i64))
    }))
}

/// `sendmsg(fd, {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}, flags)`.
pub(super) fn send(call: &Call, context: &Context<'_>) -> Ready {
    let (fd, flags) = (context.fd(call, 0)?, int(call, 2)?);
    let message = call.arguments.get(1);
    let field = |name| message.and_then(|message| message.field(name));
    let parts = parts(field("msg_iov"))?;
    let connects = flags as i64 & 0x2000_0000 != 0;
    // An address of a connected socket says nothing, but for Fast Open.
    let address = match field("msg_name") {
        Some(Value::Any) if !connects => Vec::new(),
        Some(value) => match address::of(Some(value), None, context, Default::Remote)? {
            Held::Octets(octets) => octets,
            Held::Null(_) => Vec::new(),
        },
        None => Vec::new(),
    };
    let control = field("msg_control").map_or(Ok(Vec::new()), encode)?;
    Ok(Prepared::job(move || {
        let buffers: Vec<Vec<u8>> = parts.iter().map(|len| vec![0; *len]).collect();
        let parts: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
        let sent = call::send_message(fd.as_fd(), &address, &parts, &control, flags);
        Answer::of(sent.map(|n| n as i64))
    }))
}

/// Control messages as octets, each with a number of 32 bits.
fn encode(messages: &Value) -> Result<Vec<u8>, Refusal> {
    let mut octets = Vec::new();
    for message in messages.fields().unwrap_or_default() {
        let part = |name| message.value.field(name).and_then(number);
        let (Some(level), Some(kind), Some(data)) =
            (part("cmsg_level"), part("cmsg_type"), part("cmsg_data"))
        else {
            return Err(Refusal::NotApplicable(format!("the message {}", message.value)));
        };
        octets.extend((CONTROL_HEADER + 4).to_ne_bytes());
        for number in [level, kind, data] {
            octets.extend((number as i32).to_ne_bytes());
        }
        octets.resize(octets.len().next_multiple_of(ALIGNED), 0);
    }
    Ok(octets)
}

/// `recvmsg`: what came stands in the message as far as scripts ask for it.
pub(super) fn receive(call: &Call, context: &Context<'_>) -> Ready {
    let (fd, flags) = (context.fd(call, 0)?, int(call, 2)?);
    let message = call.arguments.get(1);
    let parts = parts(message.and_then(|message| message.field("msg_iov")))?;
    let asked = message.is_some_and(|message| message.field("msg_control").is_some());
    let room = if asked { 512 } else { 0 };
    Ok(Prepared::job(move || {
        let received = call::receive_message(fd.as_fd(), &parts, room, flags);
        let answer = received.map(|came| {
            let mut fields = vec![named("msg_flags", Value::Number(came.flags.into()))];
            if asked {
                fields.push(named("msg_control", decode(&came.control)));
            }
            (came.len as i64, Value::Struct(fields))
        });
        Answer::with(answer, 1)
    }))
}

/// Control messages that came; data other than a number is not told.
fn decode(mut octets: &[u8]) -> Value {
    let mut messages = Vec::new();
    while let Some((len, rest)) = octets.split_first_chunk() {
        let len = usize::from_ne_bytes(*len);
        let int = |at: usize| {
            let part = rest.get(at..at + 4)?;
            Some(i32::from_ne_bytes(part.try_into().ok()?))
        };
        let (Some(level), Some(kind)) = (int(0), int(4)) else { break };
        let data = match (len == CONTROL_HEADER + 4, int(8)) {
            (true, Some(data)) => Value::Number(data.into()),
            _ => Value::Any,
        };
        let fields = vec![
            named("cmsg_level", Value::Number(level.into())),
            named("cmsg_type", Value::Number(kind.into())),
            named("cmsg_data", data),
        ];
        messages.push(Field { name: None, count: None, value: Value::Struct(fields) });
        let Some(next) = octets.get(len.max(CONTROL_HEADER).next_multiple_of(ALIGNED)..) else {
            break;
        };
        octets = next;
    }
    Value::List(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_are_the_same_there_and_back() {
        let fields = ["cmsg_level", "cmsg_type", "cmsg_data"].into_iter().zip([6, 36, 1000]);
        let message =
            Value::Struct(fields.map(|(name, n)| named(name, Value::Number(n))).collect());
        let one = |value| Field { name: None, count: None, value };
        let list = Value::List(vec![one(message.clone()), one(message)]);
        let Ok(octets) = encode(&list) else { panic!("numbers all") };
        assert_eq!(octets.len(), 2 * (CONTROL_HEADER + 4).next_multiple_of(ALIGNED));
        assert_eq!(decode(&octets), list);
        assert_eq!(decode(&octets[..7]), Value::List(Vec::new()));
    }

    #[test]
    fn parts_of_a_message_are_lengths() {
        let part = |len| Field {
            name: None,
            count: None,
            value: Value::Struct(vec![
                Field { name: None, count: None, value: Value::Any },
                Field { name: None, count: None, value: Value::Number(len) },
            ]),
        };
        let list = |lens: &[i64]| Value::List(lens.iter().map(|len| part(*len)).collect());
        assert!(parts(Some(&list(&[10, 20]))).is_ok_and(|lengths| lengths == [10, 20]));
        assert!(parts(Some(&list(&[1 << 40]))).is_err());
        assert!(parts(None).is_ok_and(|lengths| lengths.is_empty()));
    }
}

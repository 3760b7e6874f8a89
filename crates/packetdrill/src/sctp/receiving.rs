//! Calls that receive.

use super::attempt::{Attempt, returns, waits};
use super::notifications;
use super::values::{
    argument, length_of_vectors, list, numbers, one, part, socket_address, structure,
};
use crate::constants::FREEBSD_MSG_EOR;
use crate::script::{Call, Value};
use crate::stack::Returned;
use anabranch_socket::sctp::{Arrival, Options, Part, SctpSockets};
use anabranch_socket::{Errno, Fd};
use anabranch_wire::Addr;

const UNORDERED: i64 = 0x400;
const COMPLETE: i64 = 0x20;

/// The buffer of a call that receives, in octets, and the call's flags.
pub fn room(call: &Call) -> (u64, i64) {
    let vectors = match call.name.as_str() {
        "recvmsg" => call.arguments.get(1).and_then(|message| message.field("msg_iov")),
        "readv" | "sctp_recvv" => call.arguments.get(1),
        _ => None,
    };
    let len = match vectors {
        Some(_) => length_of_vectors(vectors),
        None => argument(call, 2).unwrap_or(0).max(0) as u64,
    };
    let flags = match call.name.as_str() {
        "recv" | "recvfrom" => argument(call, 3).unwrap_or(0),
        "recvmsg" => argument(call, 2).unwrap_or(0),
        _ => 0,
    };
    (len, flags)
}

pub(super) fn receive(sockets: &mut SctpSockets, fd: Fd, call: &Call) -> Attempt {
    let (len, flags) = room(call);
    let arrival = match sockets.receive(fd, u32::try_from(len).unwrap_or(u32::MAX)) {
        Err(Errno::EAGAIN) if waits(sockets, fd, flags) => return Attempt::Blocks,
        Err(errno) => return returns(Err(errno)),
        Ok(arrival) => arrival,
    };
    let Ok(options) = sockets.options(fd) else { return returns(Err(Errno::EBADF)) };
    Attempt::Returns(match arrival {
        Arrival::End => Returned::value(0),
        Arrival::Data(part) => received(call, &message_of(&part, options)),
        Arrival::Notification(notification) => {
            let (written, octets) = notifications::structure_of(&notification);
            notified(call, written, octets.min(len), octets <= len)
        }
    })
}

/// Flags of a receive, as the script writes them: a number is one of FreeBSD's.
fn message_flags(expected: Option<&Value>, end: bool, notification: bool) -> Value {
    let inner = match expected {
        Some(Value::List(fields)) if fields.len() == 1 => Some(&fields[0].value),
        other => other,
    };
    if let Some(Value::Number(_)) = inner {
        let bits = if end { FREEBSD_MSG_EOR } else { 0 } | if notification { 0x2000 } else { 0 };
        return Value::Number(bits);
    }
    let word = |name: &str| Value::Word(name.into());
    match (notification, end) {
        (true, true) => Value::Or(vec![word("MSG_NOTIFICATION"), word("MSG_EOR")]),
        (true, false) => word("MSG_NOTIFICATION"),
        (false, true) => word("MSG_EOR"),
        (false, false) => Value::Number(0),
    }
}

/// What a call returns that receives a notification, whose `octets` fill the buffer; with its `end` or without.
pub fn notified(call: &Call, written: Value, octets: u64, end: bool) -> Returned {
    let buffer = list([structure(vec![("iov_base", written)])]);
    let outputs = match call.name.as_str() {
        "recvmsg" => {
            let expected = call.arguments.get(1).and_then(|message| message.field("msg_flags"));
            let flags = message_flags(expected, end, true);
            vec![(1, structure(vec![("msg_iov", buffer), ("msg_flags", flags)]))]
        }
        "sctp_recvmsg" => vec![(6, message_flags(call.arguments.get(6), end, true))],
        "sctp_recvv" => vec![
            (1, buffer),
            (6, one(0)),
            (7, one(0)),
            (8, list([message_flags(call.arguments.get(8), end, true)])),
        ],
        _ => Vec::new(),
    };
    Returned { outputs, ..Returned::value(octets as i64) }
}

/// A message that was received, or a part of one.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Address and port that it came from.
    pub from: (Addr, u16),
    /// Octets that were received.
    pub len: u64,
    /// It ends with them (`MSG_EOR`).
    pub end: bool,
    /// `struct sctp_rcvinfo`, where the socket's options ask for it.
    pub info: Option<Value>,
    /// `struct sctp_nxtinfo` of the message behind it, where there is one and the options ask for it.
    pub next: Option<Value>,
    /// `struct sctp_sndrcvinfo`, where they ask for that, and whether it is in truth a
    /// `struct sctp_extrcvinfo`.
    pub old: Option<(Value, bool)>,
}

/// What our sockets say of a message.
fn message_of(part: &Part, options: &Options) -> Message {
    let unordered = |is_unordered: bool| if is_unordered { UNORDERED } else { 0 };
    let id = part.association.0 as i64;
    let info = numbers(&[
        ("rcv_sid", part.stream as i64),
        ("rcv_ssn", part.number as u16 as i64),
        ("rcv_flags", unordered(part.unordered)),
        ("rcv_ppid", part.ppid as i64),
        ("rcv_tsn", part.tsn.0 as i64),
        ("rcv_cumtsn", part.cumulative_tsn.0 as i64),
        ("rcv_context", 0),
        ("rcv_assoc_id", id),
    ]);
    let next = part.next.map(|next| {
        numbers(&[
            ("nxt_sid", next.stream as i64),
            ("nxt_flags", COMPLETE | unordered(next.unordered)),
            ("nxt_ppid", next.ppid as i64),
            ("nxt_length", next.len as i64),
            ("nxt_assoc_id", id),
        ])
    });
    let extended = options.extended_info;
    let old = old_info(&info, next.as_ref(), extended);
    Message {
        from: part.from,
        len: part.payload.len().into(),
        end: part.end,
        info: options.receive_info.then_some(info),
        next: next.filter(|_| options.next_info),
        old: options.old_receive_info.then_some((old, extended)),
    }
}

/// `struct sctp_sndrcvinfo`, or with `extended` `struct sctp_extrcvinfo` (RFC 6458 §5.3.2, §5.3.3), of
/// what the newer structures say.
pub fn old_info(info: &Value, next: Option<&Value>, extended: bool) -> Value {
    let n = |name| part(info, name).unwrap_or(0);
    let mut fields = vec![
        ("sinfo_stream", n("rcv_sid")),
        ("sinfo_ssn", n("rcv_ssn")),
        ("sinfo_flags", n("rcv_flags")),
        ("sinfo_ppid", n("rcv_ppid")),
        ("sinfo_context", n("rcv_context")),
        (if extended { "sinfo_pr_value" } else { "sinfo_timetolive" }, 0),
        ("sinfo_tsn", n("rcv_tsn")),
        ("sinfo_cumtsn", n("rcv_cumtsn")),
        ("sinfo_assoc_id", n("rcv_assoc_id")),
    ];
    if extended {
        let n = |name| next.and_then(|next| part(next, name)).unwrap_or(0);
        let bit = |of, to| if n("nxt_flags") & of == 0 { 0 } else { to };
        fields.extend([
            ("serinfo_next_flags", next.map_or(0, |_| 1) | bit(COMPLETE, 2) | bit(UNORDERED, 4)),
            ("serinfo_next_stream", n("nxt_sid")),
            ("serinfo_next_aid", n("nxt_assoc_id")),
            ("serinfo_next_length", n("nxt_length")),
            ("serinfo_next_ppid", n("nxt_ppid")),
        ]);
    }
    numbers(&fields)
}

/// What a call returns that receives a message.
pub fn received(call: &Call, message: &Message) -> Returned {
    let from = socket_address(message.from);
    let flags = |at: usize| message_flags(call.arguments.get(at), message.end, false);
    let outputs = match call.name.as_str() {
        "recvfrom" => vec![(4, from)],
        "sctp_recvmsg" => {
            let mut outputs = vec![(3, from), (6, flags(6))];
            outputs.extend(message.old.iter().map(|(old, _)| (5, old.clone())));
            outputs
        }
        "recvmsg" => {
            let expected = call.arguments.get(1).and_then(|message| message.field("msg_flags"));
            vec![(
                1,
                structure(vec![
                    ("msg_name", from),
                    ("msg_control", list(control(message))),
                    ("msg_flags", message_flags(expected, message.end, false)),
                ]),
            )]
        }
        "sctp_recvv" => {
            let no_room =
                matches!(call.arguments.get(5), Some(Value::Word(word)) if word == "NULL");
            let asked = |value: &Option<Value>| value.clone().filter(|_| !no_room);
            let (info, len, kind) = match (asked(&message.info), asked(&message.next)) {
                (Some(info), Some(next)) => {
                    let both = vec![("recvv_rcvinfo", info), ("recvv_nxtinfo", next)];
                    (Some(structure(both)), 44, 3)
                }
                (Some(info), None) => (Some(info), 28, 1),
                (None, Some(next)) => (Some(next), 16, 2),
                (None, None) => (None, 0, 0),
            };
            let mut outputs = vec![(3, from), (6, one(len)), (7, one(kind)), (8, list([flags(8)]))];
            outputs.extend(info.map(|info| (5, info)));
            outputs
        }
        _ => Vec::new(),
    };
    // An address that the script does not want is none.
    let wanted = |(at, _): &(usize, Value)| {
        *at == 6 || !matches!(call.arguments.get(*at), Some(Value::Word(word)) if word == "NULL")
    };
    let outputs = outputs.into_iter().filter(wanted).collect();
    Returned { outputs, ..Returned::value(message.len as i64) }
}

/// Control messages of a message, in the order of FreeBSD.
fn control(message: &Message) -> Vec<Value> {
    let one = |kind: &str, len: i64, data: &Value| {
        structure(vec![
            ("cmsg_len", Value::Number(len)),
            ("cmsg_level", Value::Word("IPPROTO_SCTP".into())),
            ("cmsg_type", Value::Word(kind.into())),
            ("cmsg_data", data.clone()),
        ])
    };
    let info = message.info.iter().map(|info| one("SCTP_RCVINFO", 40, info));
    let next = message.next.iter().map(|next| one("SCTP_NXTINFO", 28, next));
    let old = message.old.iter().map(|(old, extended)| {
        one(if *extended { "SCTP_EXTRCV" } else { "SCTP_SNDRCV" }, 140, old)
    });
    info.chain(next).chain(old).collect()
}

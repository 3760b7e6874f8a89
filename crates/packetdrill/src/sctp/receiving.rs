//! Calls that receive.

use super::attempt::{Attempt, returns, waits};
use super::notifications;
use super::values::{argument, length_of_vectors, list, numbers, one, socket_address, structure};
use crate::constants::FREEBSD_MSG_EOR;
use crate::script::{Call, Value};
use crate::stack::Returned;
use anabranch_socket::sctp::{Arrival, Options, Part, SctpSockets};
use anabranch_socket::{Errno, Fd};

const UNORDERED: i64 = 0x400;
const COMPLETE: i64 = 0x20;

pub(super) fn receive(sockets: &mut SctpSockets, fd: Fd, call: &Call) -> Attempt {
    let vectors = match call.name.as_str() {
        "recvmsg" => call.arguments.get(1).and_then(|it| it.field("msg_iov")),
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
    let arrival = match sockets.receive(fd, u32::try_from(len).unwrap_or(u32::MAX)) {
        Err(Errno::EAGAIN) if waits(sockets, fd, flags) => return Attempt::Blocks,
        Err(errno) => return returns(Err(errno)),
        Ok(arrival) => arrival,
    };
    let Ok(options) = sockets.options(fd) else { return returns(Err(Errno::EBADF)) };
    Attempt::Returns(match arrival {
        Arrival::End => Returned::value(0),
        Arrival::Data(part) => message(call, &part, options),
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

/// A notification, which fills the buffer.
fn notified(call: &Call, written: Value, octets: u64, end: bool) -> Returned {
    let buffer = list([structure(vec![("iov_base", written)])]);
    let outputs = match call.name.as_str() {
        "recvmsg" => {
            let expected = call.arguments.get(1).and_then(|it| it.field("msg_flags"));
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

/// What a message says about itself, in the forms that there are.
struct Facts<'a>(&'a Part);

impl Facts<'_> {
    fn id(&self) -> i64 {
        self.0.association.0 as i64
    }

    fn received(&self) -> Value {
        let part = self.0;
        numbers(&[
            ("rcv_sid", part.stream as i64),
            ("rcv_ssn", part.number as u16 as i64),
            ("rcv_flags", if part.unordered { UNORDERED } else { 0 }),
            ("rcv_ppid", part.ppid as i64),
            ("rcv_tsn", part.tsn.0 as i64),
            ("rcv_cumtsn", part.cumulative_tsn.0 as i64),
            ("rcv_context", 0),
            ("rcv_assoc_id", self.id()),
        ])
    }

    fn next(&self) -> Option<Value> {
        let next = self.0.next?;
        Some(numbers(&[
            ("nxt_sid", next.stream as i64),
            ("nxt_flags", COMPLETE | if next.unordered { UNORDERED } else { 0 }),
            ("nxt_ppid", next.ppid as i64),
            ("nxt_length", next.len as i64),
            ("nxt_assoc_id", self.id()),
        ]))
    }

    /// `struct sctp_sndrcvinfo`, or with `extended` `struct sctp_extrcvinfo`.
    fn old(&self, extended: bool) -> Value {
        let part = self.0;
        let mut fields = vec![
            ("sinfo_stream", part.stream as i64),
            ("sinfo_ssn", part.number as u16 as i64),
            ("sinfo_flags", if part.unordered { UNORDERED } else { 0 }),
            ("sinfo_ppid", part.ppid as i64),
            ("sinfo_context", 0),
            (if extended { "sinfo_pr_value" } else { "sinfo_timetolive" }, 0),
            ("sinfo_tsn", part.tsn.0 as i64),
            ("sinfo_cumtsn", part.cumulative_tsn.0 as i64),
            ("sinfo_assoc_id", self.id()),
        ];
        if extended {
            let next = part.next;
            let flags = next.map_or(0, |next| 3 | if next.unordered { 4 } else { 0 });
            fields.extend([
                ("serinfo_next_flags", flags),
                ("serinfo_next_stream", next.map_or(0, |next| next.stream as i64)),
                ("serinfo_next_aid", next.map_or(0, |_| self.id())),
                ("serinfo_next_length", next.map_or(0, |next| next.len as i64)),
                ("serinfo_next_ppid", next.map_or(0, |next| next.ppid as i64)),
            ]);
        }
        numbers(&fields)
    }
}

fn message(call: &Call, part: &Part, options: &Options) -> Returned {
    let facts = Facts(part);
    let from = socket_address(part.from);
    let flags = |at: usize| message_flags(call.arguments.get(at), part.end, false);
    let outputs = match call.name.as_str() {
        "recvfrom" => vec![(4, from)],
        "sctp_recvmsg" => {
            let mut outputs = vec![(3, from), (6, flags(6))];
            if options.old_receive_info {
                outputs.push((5, facts.old(options.extended_info)));
            }
            outputs
        }
        "recvmsg" => {
            let expected = call.arguments.get(1).and_then(|it| it.field("msg_flags"));
            vec![(
                1,
                structure(vec![
                    ("msg_name", from),
                    ("msg_control", list(control(&facts, options))),
                    ("msg_flags", message_flags(expected, part.end, false)),
                ]),
            )]
        }
        "sctp_recvv" => {
            let no_room =
                matches!(call.arguments.get(5), Some(Value::Word(word)) if word == "NULL");
            let received = (options.receive_info && !no_room).then(|| facts.received());
            let next = facts.next().filter(|_| options.next_info && !no_room);
            let (info, len, kind) = match (received, next) {
                (Some(received), Some(next)) => {
                    let both = vec![("recvv_rcvinfo", received), ("recvv_nxtinfo", next)];
                    (Some(structure(both)), 44, 3)
                }
                (Some(received), None) => (Some(received), 28, 1),
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
    Returned { outputs, ..Returned::value(part.payload.len() as i64) }
}

/// Control messages of a message, in the order of FreeBSD.
fn control(facts: &Facts<'_>, options: &Options) -> Vec<Value> {
    let message = |kind: &str, len: i64, data: Value| {
        structure(vec![
            ("cmsg_len", Value::Number(len)),
            ("cmsg_level", Value::Word("IPPROTO_SCTP".into())),
            ("cmsg_type", Value::Word(kind.into())),
            ("cmsg_data", data),
        ])
    };
    let mut all = Vec::new();
    if options.receive_info {
        all.push(message("SCTP_RCVINFO", 40, facts.received()));
    }
    if let Some(next) = facts.next().filter(|_| options.next_info) {
        all.push(message("SCTP_NXTINFO", 28, next));
    }
    if options.old_receive_info {
        let extended = options.extended_info;
        let kind = if extended { "SCTP_EXTRCV" } else { "SCTP_SNDRCV" };
        all.push(message(kind, 140, facts.old(extended)));
    }
    all
}

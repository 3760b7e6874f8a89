//! The socket calls.

use super::attempt::{Attempt, association, returns, value, waits};
use super::values::{address, argument, list, one, socket_address};
use super::{options, receiving, sending};
use crate::constants::number;
use crate::script::{Call, Value};
use crate::stack::Returned;
use anabranch_socket::sctp::{AssociationId, SctpSockets, Style};
use anabranch_socket::{Errno, Fd, Shutdown};
use anabranch_units::Time;
use anabranch_wire::SctpPacket;

const SOCK_STREAM: i64 = 1;
const SOCK_SEQPACKET: i64 = 5;
const SOCK_NONBLOCK: i64 = 0x800;

/// Tries a call, for the first time or `again`.
pub(super) fn attempt(sockets: &mut SctpSockets, now: Time, call: &Call, again: bool) -> Attempt {
    let fd = Fd(argument(call, 0).and_then(|fd| u32::try_from(fd).ok()).unwrap_or(u32::MAX));
    match call.name.as_str() {
        "socket" => socket(sockets, call),
        "bind" => returns(sockets.bind(fd, address(call.arguments.get(1)).1)),
        "sctp_bindx" => bindx(sockets, fd, call),
        "listen" => {
            let backlog = argument(call, 1).unwrap_or(0);
            returns(sockets.listen(fd, u32::try_from(backlog).unwrap_or(0)))
        }
        "accept" | "accept4" => match sockets.accept(fd) {
            Ok(new) => {
                if argument(call, 3).unwrap_or(0) & SOCK_NONBLOCK != 0 {
                    _ = sockets.set_blocking(new, false);
                }
                Attempt::Returns(Returned::value(new.0 as i64))
            }
            Err(Errno::EAGAIN) if waits(sockets, fd, 0) => Attempt::Blocks,
            Err(errno) => returns(Err(errno)),
        },
        "connect" | "sctp_connectx" => connect(sockets, now, fd, call, again),
        "sctp_peeloff" => {
            let id = association(argument(call, 1)).unwrap_or(AssociationId(0));
            value(sockets.peel_off(fd, id).map(|fd| fd.0 as i64))
        }
        "read" | "readv" | "recv" | "recvfrom" | "recvmsg" | "sctp_recvmsg" | "sctp_recvv" => {
            receiving::receive(sockets, fd, call)
        }
        "write" | "writev" | "send" | "sendto" | "sendmsg" | "sctp_sendmsg" | "sctp_send"
        | "sctp_sendx" | "sctp_sendv" => sending::send(sockets, now, fd, call),
        "shutdown" => match argument(call, 1) {
            Some(0) => returns(sockets.shutdown(fd, Shutdown::Read)),
            Some(1) => returns(sockets.shutdown(fd, Shutdown::Write)),
            Some(2) => returns(sockets.shutdown(fd, Shutdown::Both)),
            _ => returns(Err(Errno::EINVAL)),
        },
        "close" => returns(sockets.close(fd)),
        "setsockopt" => options::set(sockets, now, fd, call),
        "getsockopt" => options::get(sockets, fd, call),
        "fcntl" => fcntl(sockets, fd, call),
        "sctp_getpaddrs" => addresses(sockets.peer_addresses(fd, association(argument(call, 1)))),
        "sctp_getladdrs" => addresses(sockets.local_addresses(fd)),
        "sctp_freepaddrs" | "sctp_freeladdrs" => Attempt::Returns(Returned::value(0)),
        name => Attempt::NotApplicable(format!("the call {name}()")),
    }
}

fn socket(sockets: &mut SctpSockets, call: &Call) -> Attempt {
    let kind = argument(call, 1).unwrap_or(0);
    if argument(call, 2) != Some(SctpPacket::PROTOCOL as i64) {
        let protocol = call.arguments.get(2).map_or("none".into(), Value::to_string);
        return Attempt::NotApplicable(format!("sockets of {protocol}"));
    }
    let style = match kind & 0xf {
        SOCK_STREAM => Style::OneToOne,
        SOCK_SEQPACKET => Style::OneToMany,
        _ => return Attempt::Returns(Returned::error("EPROTONOSUPPORT")),
    };
    let fd = sockets.socket(style);
    if kind & SOCK_NONBLOCK != 0 {
        _ = sockets.set_blocking(fd, false);
    }
    Attempt::Returns(Returned::value(fd.0 as i64))
}

/// The addresses of a host are fixed: binding to one more is done, since a
/// socket has them all.
fn bindx(sockets: &mut SctpSockets, fd: Fd, call: &Call) -> Attempt {
    let first = call.arguments.get(1).and_then(Value::fields).and_then(|all| all.first());
    let port = address(first.map(|field| &field.value)).1;
    let bound = sockets.local_addresses(fd).is_some();
    match call.arguments.get(3) {
        Some(Value::Word(word)) if word == "SCTP_BINDX_ADD_ADDR" && bound => returns(Ok(())),
        Some(Value::Word(word)) if word == "SCTP_BINDX_ADD_ADDR" => returns(sockets.bind(fd, port)),
        _ => returns(Err(Errno::EINVAL)),
    }
}

fn connect(sockets: &mut SctpSockets, now: Time, fd: Fd, call: &Call, again: bool) -> Attempt {
    let many = call.name == "sctp_connectx";
    if again {
        return match sockets.is_connecting(fd) {
            true => Attempt::Blocks,
            false => returns(sockets.take_error(fd).map_or(Ok(()), Err)),
        };
    }
    let to = call.arguments.get(1);
    let all: Vec<_> = match to.and_then(Value::fields) {
        Some(fields) if many => fields.iter().map(|field| address(Some(&field.value))).collect(),
        _ => vec![address(to)],
    };
    let peers: Vec<_> = all.iter().map(|(addr, _)| *addr).collect();
    let port = all.first().map_or(crate::stack::PORT, |(_, port)| *port);
    match sockets.connect(fd, now, &peers, port) {
        Err(Errno::EINPROGRESS) if many => {
            // It does not wait (RFC 6458 §9.9), and says which association it is.
            let id = sockets.associations(fd).last().map_or(0, |id| id.0 as i64);
            Attempt::Returns(Returned { outputs: vec![(3, one(id))], ..Returned::value(0) })
        }
        Err(Errno::EINPROGRESS) if sockets.style(fd) == Ok(Style::OneToMany) => returns(Ok(())),
        Err(Errno::EINPROGRESS) if waits(sockets, fd, 0) => Attempt::Blocks,
        result => returns(result),
    }
}

fn addresses(found: Option<(Vec<anabranch_wire::Addr>, u16)>) -> Attempt {
    let Some((all, port)) = found else { return returns(Err(Errno::EINVAL)) };
    let count = all.len() as i64;
    let written = list(all.into_iter().map(|addr| socket_address((addr, port))));
    Attempt::Returns(Returned { outputs: vec![(2, written)], ..Returned::value(count) })
}

const NONBLOCK: i64 = 0x800;
const READ_WRITE: i64 = 2;

/// `fcntl(fd, F_GETFL)` and `fcntl(fd, F_SETFL, flags)`.
fn fcntl(sockets: &mut SctpSockets, fd: Fd, call: &Call) -> Attempt {
    match call.arguments.get(1) {
        Some(Value::Word(word)) if word == "F_GETFL" => value(
            sockets
                .is_blocking(fd)
                .map(|blocking| READ_WRITE | if blocking { 0 } else { NONBLOCK }),
        ),
        Some(Value::Word(word)) if word == "F_SETFL" => {
            let flags = call.arguments.get(2).and_then(number).unwrap_or(0);
            returns(sockets.set_blocking(fd, flags & NONBLOCK == 0))
        }
        other => Attempt::NotApplicable(format!("fcntl() with {other:?}")),
    }
}

//! The socket calls of a script, made of usrsctp. What it does not have makes the script not applicable.

use super::options;
use super::program::{Ask, Reply, Request};
use super::run::{Run, Socket};
use crate::errno;
use anabranch_packetdrill::constants;
use anabranch_packetdrill::script::{Call, Value};
use anabranch_packetdrill::sctp::receiving::{Message, notified, old_info, received, room};
use anabranch_packetdrill::sctp::sending::{Outgoing, outgoing};
use anabranch_packetdrill::sctp::values::{address, list, numbers, socket_address, structure};
use anabranch_packetdrill::stack::{LOCAL, REMOTE, Returned};
use anabranch_units::Time;
use anabranch_wire::SctpPacket;
use rustix::io::Errno;

const SOCK_STREAM: i64 = 1;
const SOCK_SEQPACKET: i64 = 5;
const SOCK_NONBLOCK: i64 = 0x800;
const READ_WRITE: i64 = 2;
const MSG_DONTWAIT: i64 = 0x40;

/// The outcome of a call.
pub(super) enum Came {
    Returns(Returned),
    /// The call would block.
    Blocks,
    NotApplicable(String),
}

pub(super) fn fails(errno: Errno) -> Came {
    Came::Returns(Returned::error(errno::name(errno)))
}

/// The number and the error of a reply.
pub(super) fn returned(reply: &Reply) -> Returned {
    match reply.error {
        0 => Returned::value(reply.value),
        errno => Returned::error(errno::name(Errno::from_raw_os_error(errno))),
    }
}

pub(super) fn argument(call: &Call, at: usize) -> Option<i64> {
    call.arguments.get(at).and_then(constants::number)
}

/// Makes a call, for the first time or `again`.
///
/// # Errors
/// The program has ended.
pub(super) fn attempt(run: &mut Run, now: Time, call: &Call, again: bool) -> Result<Came, String> {
    if call.name == "socket" {
        return socket(run, now, call);
    }
    let fd = argument(call, 0).unwrap_or(-1);
    let Some(socket) = run.sockets.get(&fd).copied() else { return Ok(fails(Errno::BADF)) };
    let n = |at: usize| argument(call, at).unwrap_or(0);
    let mut plain = |ask, numbers| -> Result<Came, String> {
        let reply = run.ask(now, Request { numbers, ..Request::of(ask, fd) })?;
        Ok(Came::Returns(returned(&reply)))
    };
    match call.name.as_str() {
        "bind" => plain(Ask::Bind, [address(call.arguments.get(1)).1.into(), 0, 0]),
        "sctp_bindx" => match call.arguments.get(3) {
            Some(Value::Word(word)) if word == "SCTP_BINDX_ADD_ADDR" => {
                let first = call.arguments.get(1).and_then(Value::fields).and_then(<[_]>::first);
                plain(Ask::Bind, [address(first.map(|field| &field.value)).1.into(), 0, 0])
            }
            _ => Ok(Came::NotApplicable("sctp_bindx() that takes addresses away".into())),
        },
        "listen" => plain(Ask::Listen, [n(1), 0, 0]),
        "shutdown" => plain(Ask::Shutdown, [n(1), 0, 0]),
        "close" => {
            run.sockets.remove(&fd);
            let reply = run.ask(now, Request::of(Ask::Close, fd))?;
            Ok(Came::Returns(returned(&reply)))
        }
        "accept" | "accept4" => {
            let reply = run.ask(now, Request::of(Ask::Accept, fd))?;
            if waits(socket, 0, &reply) {
                return Ok(Came::Blocks);
            }
            let blocking = n(3) & SOCK_NONBLOCK == 0;
            run.enter(reply.value, Socket { blocking, ..socket });
            Ok(Came::Returns(returned(&reply)))
        }
        "sctp_peeloff" => {
            let numbers = [n(1), 0, 0];
            let reply = run.ask(now, Request { numbers, ..Request::of(Ask::PeelOff, fd) })?;
            run.enter(reply.value, Socket { one_to_many: false, blocking: true, ..socket });
            Ok(Came::Returns(returned(&reply)))
        }
        "connect" if again => connected(run, now, fd),
        "connect" => connect(run, now, (fd, socket), call),
        // usrsctp_connectx() takes addresses of IP alone.
        "sctp_connectx" => Ok(Came::NotApplicable("sctp_connectx() over AF_CONN".into())),
        "read" | "readv" | "recv" | "recvfrom" | "recvmsg" | "sctp_recvmsg" | "sctp_recvv" => {
            receive(run, now, (fd, socket), call)
        }
        "write" | "writev" | "send" | "sendto" | "sendmsg" | "sctp_sendmsg" | "sctp_send"
        | "sctp_sendx" | "sctp_sendv" => match outgoing(call) {
            Ok(message) => send(run, now, (fd, socket), &message),
            Err(reason) => Ok(Came::NotApplicable(reason)),
        },
        "setsockopt" => options::set(run, now, fd, call),
        "getsockopt" => options::get(run, now, fd, call),
        "fcntl" => Ok(control(run, fd, call)),
        "sctp_getpaddrs" => addresses(run, now, (fd, 1), n(1)),
        "sctp_getladdrs" => addresses(run, now, (fd, 0), n(1)),
        "sctp_freepaddrs" | "sctp_freeladdrs" => Ok(Came::Returns(Returned::value(0))),
        name => Ok(Came::NotApplicable(format!("the call {name}()"))),
    }
}

/// The call is to be made again.
fn waits(socket: Socket, flags: i64, reply: &Reply) -> bool {
    socket.blocking && flags & MSG_DONTWAIT == 0 && is(reply, Errno::AGAIN)
}

fn is(reply: &Reply, errno: Errno) -> bool {
    reply.error == errno.raw_os_error()
}

fn socket(run: &mut Run, now: Time, call: &Call) -> Result<Came, String> {
    if argument(call, 2) != Some(SctpPacket::PROTOCOL.into()) {
        let protocol = call.arguments.get(2).map_or("none".into(), Value::to_string);
        return Ok(Came::NotApplicable(format!("sockets of {protocol}")));
    }
    let kind = argument(call, 1).unwrap_or(0);
    let one_to_many = kind & 0xf == SOCK_SEQPACKET;
    if !one_to_many && kind & 0xf != SOCK_STREAM {
        return Ok(fails(Errno::PROTONOSUPPORT));
    }
    let numbers = [kind & 0xf, run.mtu.into(), 0];
    let reply = run.ask(now, Request { numbers, ..Request::of(Ask::Socket, -1) })?;
    let blocking = kind & SOCK_NONBLOCK == 0;
    run.enter(reply.value, Socket { one_to_many, blocking, ..Socket::default() });
    Ok(Came::Returns(returned(&reply)))
}

fn connect(
    run: &mut Run,
    now: Time,
    (fd, socket): (i64, Socket),
    call: &Call,
) -> Result<Came, String> {
    let numbers = [address(call.arguments.get(1)).1.into(), 0, 0];
    let reply = run.ask(now, Request { numbers, ..Request::of(Ask::Connect, fd) })?;
    match socket.blocking && is(&reply, Errno::INPROGRESS) {
        true => Ok(Came::Blocks),
        false => Ok(Came::Returns(returned(&reply))),
    }
}

/// What a call to connect came to that had to wait.
fn connected(run: &mut Run, now: Time, fd: i64) -> Result<Came, String> {
    const WRITE_OR_ERROR: i64 = 2 | 4;
    if run.ask(now, Request::of(Ask::Events, fd))?.value & WRITE_OR_ERROR == 0 {
        return Ok(Came::Blocks);
    }
    let errno = options::error_of(run, now, fd)?;
    Ok(errno.map_or(Came::Returns(Returned::value(0)), fails))
}

fn send(
    run: &mut Run,
    now: Time,
    (fd, socket): (i64, Socket),
    message: &Outgoing,
) -> Result<Came, String> {
    const INFO: i64 = 1;
    const POLICY: i64 = 2;
    let mut valid = 0;
    let mut fields = Vec::new();
    if let Some(info) = message.info {
        valid |= INFO;
        let info = numbers(&[
            ("snd_sid", info.stream.into()),
            ("snd_flags", info.flags),
            ("snd_ppid", info.ppid.into()),
            ("snd_context", info.context.into()),
            ("snd_assoc_id", info.association.unwrap_or(0)),
        ]);
        fields.push(("sendv_sndinfo", info));
    }
    if let Some((policy, value)) = message.policy {
        valid |= POLICY;
        let policy = numbers(&[("pr_policy", policy), ("pr_value", value)]);
        fields.push(("sendv_prinfo", policy));
    }
    fields.push(("sendv_flags", Value::Number(valid)));
    let octets = match valid {
        0 => Vec::new(),
        _ => run.layout.write("sctp_sendv_spa", &structure(fields))?,
    };
    // A socket of one association has no other peer.
    let to = message.to.filter(|_| socket.one_to_many).map_or(0, |(_, port)| port);
    let len = i64::try_from(message.len).unwrap_or(i64::MAX).min(i32::MAX.into());
    let numbers = [len, message.flags, to.into()];
    let reply = run.ask(now, Request { numbers, octets: &octets, ..Request::of(Ask::Send, fd) })?;
    match waits(socket, message.flags, &reply) {
        true => Ok(Came::Blocks),
        false => Ok(Came::Returns(returned(&reply))),
    }
}

fn receive(
    run: &mut Run,
    now: Time,
    (fd, socket): (i64, Socket),
    call: &Call,
) -> Result<Came, String> {
    let (room, flags) = room(call);
    let numbers = [i64::try_from(room).unwrap_or(i64::MAX).min(i32::MAX.into()), 0, 0];
    let reply = run.ask(now, Request { numbers, ..Request::of(Ask::Receive, fd) })?;
    if waits(socket, flags, &reply) {
        return Ok(Came::Blocks);
    }
    let word = |at: usize| {
        let octets = reply.octets.get(at * 4..).and_then(|rest| rest.first_chunk());
        octets.map_or(0, |octets| i32::from_ne_bytes(*octets))
    };
    let (port, end, notification, kind) = (word(0), word(1) != 0, word(2) != 0, word(3));
    let (info_size, next_size) = (run.layout.size("sctp_rcvinfo"), run.layout.size("sctp_nxtinfo"));
    let rest = reply.octets.get(16..).unwrap_or_default();
    if reply.error != 0 || reply.value <= 0 {
        return Ok(Came::Returns(returned(&reply)));
    }
    let len = reply.value as u64;
    if notification {
        let octets = rest.get(info_size + next_size..).unwrap_or_default();
        return Ok(match run.layout.notification(octets) {
            Some(value) => Came::Returns(notified(call, value, len, end)),
            None => Came::NotApplicable("a notification that usrsctp.h does not describe".into()),
        });
    }
    // In the order of `struct sctp_recvv_rn`, or alone (RFC 6458 §9.13).
    let (info_at, next_at) = match kind {
        1 => (Some(0), None),
        2 => (None, Some(0)),
        3 => (Some(0), Some(info_size)),
        _ => (None, None),
    };
    let read = |at: Option<usize>, structure: &str, size: usize| {
        let octets = rest.get(at?..)?.get(..size)?;
        Some(run.layout.read(structure, octets))
    };
    let info = read(info_at, "sctp_rcvinfo", info_size);
    let next = read(next_at, "sctp_nxtinfo", next_size);
    let old = info.as_ref().filter(|_| socket.old_info);
    let old = old.map(|info| (old_info(info, next.as_ref(), socket.extended), socket.extended));
    let message = Message {
        from: (REMOTE, port as u16),
        len,
        end,
        info: info.filter(|_| socket.info),
        next: next.filter(|_| socket.next),
        old,
    };
    Ok(Came::Returns(received(call, &message)))
}

fn addresses(run: &mut Run, now: Time, (fd, of_peer): (i64, i64), id: i64) -> Result<Came, String> {
    let numbers = [of_peer, id, 0];
    let reply = run.ask(now, Request { numbers, ..Request::of(Ask::Addresses, fd) })?;
    let port = reply.octets.first_chunk().map_or(0, |port| i32::from_ne_bytes(*port));
    let addr = if of_peer == 1 { REMOTE } else { LOCAL };
    let all = (0..reply.value).map(|_| socket_address((addr, port as u16)));
    Ok(Came::Returns(match reply.error {
        0 => Returned { outputs: vec![(2, list(all))], ..returned(&reply) },
        _ => returned(&reply),
    }))
}

/// `fcntl()` with `F_GETFL` and `F_SETFL`: who waits is this side.
fn control(run: &mut Run, fd: i64, call: &Call) -> Came {
    let socket = run.sockets.entry(fd).or_default();
    match call.arguments.get(1) {
        Some(Value::Word(word)) if word == "F_GETFL" => {
            let flags = READ_WRITE | if socket.blocking { 0 } else { SOCK_NONBLOCK };
            Came::Returns(Returned::value(flags))
        }
        Some(Value::Word(word)) if word == "F_SETFL" => {
            socket.blocking = argument(call, 2).unwrap_or(0) & SOCK_NONBLOCK == 0;
            Came::Returns(Returned::value(0))
        }
        other => Came::NotApplicable(format!("fcntl() with {other:?}")),
    }
}

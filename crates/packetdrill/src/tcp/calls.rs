//! The socket calls.

use super::options::{fcntl, get, ioctl, returns, set};
use super::{Attempt, Waiting, epoll};
use crate::constants::{millis, number};
use crate::script::{Call, Field, Value};
use crate::stack::{PORT, REMOTE, Returned};
use anabranch_socket::{Data, Errno, Fd, SendFlags, Shutdown, Sockets};
use anabranch_units::Time;

const MPTCP: i64 = 262;
const MSG_OOB: i64 = 1;
const MSG_PEEK: i64 = 2;
const MSG_ERRQUEUE: i64 = 0x2000;
const MSG_DONTWAIT: i64 = 0x40;
const MSG_EOR: i64 = 0x80;
const MSG_MORE: i64 = 0x8000;
const MSG_WAITALL: i64 = 0x100;
const MSG_FASTOPEN: i64 = 0x2000_0000;
const SOCK_NONBLOCK: i64 = 0x800;

/// Tries a call, for the first time or, with `waiting`, again.
pub(super) fn attempt(
    sockets: &mut Sockets,
    now: Time,
    call: &Call,
    waiting: Option<&Waiting>,
) -> Attempt {
    let argument = |at: usize| call.arguments.get(at).and_then(number);
    let fd = Fd(argument(0).and_then(|fd| u32::try_from(fd).ok()).unwrap_or(u32::MAX));
    let deadline = |writes| patience(sockets, fd, now, waiting, writes);
    let (to_write, to_read) = (deadline(true), deadline(false));
    let blocks = |progress, deadline| Attempt::Blocks { progress, deadline };
    match call.name.as_str() {
        "socket" => socket(sockets, call),
        "bind" => returns(sockets.bind(fd, port_of(call.arguments.get(1)))),
        "listen" => {
            let backlog = argument(1).unwrap_or(0);
            returns(sockets.listen(fd, u32::try_from(backlog).unwrap_or(0)))
        }
        "accept" | "accept4" => match sockets.accept(fd, now) {
            Ok(new) => {
                if argument(3).unwrap_or(0) & SOCK_NONBLOCK != 0 {
                    _ = sockets.set_blocking(new, false);
                }
                Attempt::Returns(Returned::value(new.0 as i64))
            }
            Err(Errno::EAGAIN) if waits(sockets, fd, 0) && now < to_read => blocks(0, to_read),
            Err(errno) => returns(Err(errno)),
        },
        "connect" if waiting.is_some() => match sockets.is_connecting(fd) {
            true if now >= to_write => returns(Err(Errno::EINPROGRESS)),
            true => blocks(0, to_write),
            false => returns(sockets.end_connect(fd)),
        },
        "connect" if is_unspecified(call.arguments.get(1)) => returns(sockets.disconnect(fd)),
        "connect" => {
            let port = port_of(call.arguments.get(1));
            match sockets.connect(fd, now, (REMOTE, port)) {
                Err(Errno::EINPROGRESS | Errno::EALREADY) if waits(sockets, fd, 0) => {
                    blocks(0, to_write)
                }
                result => returns(result),
            }
        }
        "read" | "readv" | "recv" | "recvfrom" | "recvmsg" => read(sockets, now, fd, call, to_read),
        "write" | "writev" | "send" | "sendto" | "sendmsg" => {
            let flags = flags_of(call);
            if flags & MSG_OOB != 0 {
                return Attempt::NotApplicable("MSG_OOB".into());
            }
            write(sockets, now, fd, call, flags, waiting)
        }
        "shutdown" => match argument(1) {
            Some(0) => returns(sockets.shutdown(fd, Shutdown::Read)),
            Some(1) => returns(sockets.shutdown(fd, Shutdown::Write)),
            Some(2) => returns(sockets.shutdown(fd, Shutdown::Both)),
            _ => returns(Err(Errno::EINVAL)),
        },
        "close" => returns(sockets.close(fd)),
        "setsockopt" => set(sockets, fd, call),
        "getsockopt" => get(sockets, fd, call),
        "fcntl" => fcntl(sockets, fd, call),
        "ioctl" => ioctl(sockets, fd, call),
        "poll" => poll(sockets, now, call, waiting),
        "epoll_create" | "epoll_create1" => {
            Attempt::Returns(Returned::value(sockets.epoll().0 as i64))
        }
        "epoll_ctl" => epoll::control(sockets, fd, call),
        "epoll_wait" => epoll::wait(sockets, now, fd, call, waiting),
        name => Attempt::NotApplicable(format!("the call {name}()")),
    }
}

fn socket(sockets: &mut Sockets, call: &Call) -> Attempt {
    let kind = call.arguments.get(1).and_then(number).unwrap_or(0);
    let protocol = call.arguments.get(2);
    match protocol.and_then(number) {
        Some(0 | 6 | MPTCP) if kind & 0xf == 1 => {}
        _ => {
            let protocol = protocol.map_or("none".into(), Value::to_string);
            return Attempt::NotApplicable(format!("sockets of {protocol}"));
        }
    }
    let fd = match protocol.and_then(number) {
        Some(MPTCP) => sockets.multipath_socket(),
        _ => sockets.socket(),
    };
    if kind & SOCK_NONBLOCK != 0 {
        _ = sockets.set_blocking(fd, false);
    }
    Attempt::Returns(Returned::value(fd.0 as i64))
}

/// The address is of no family: a `connect` to it ends a connection.
fn is_unspecified(address: Option<&Value>) -> bool {
    let family = address.and_then(|address| address.field("sa_family"));
    family.and_then(number) == Some(0)
}

/// The port of an address, [`PORT`] where the script leaves it open.
fn port_of(address: Option<&Value>) -> u16 {
    let port = address.and_then(|address| address.field("sin_port").or(address.field("sin6_port")));
    port.and_then(number).and_then(|port| u16::try_from(port).ok()).unwrap_or(PORT)
}

/// The call waits rather than fails.
fn waits(sockets: &Sockets, fd: Fd, flags: i64) -> bool {
    flags & MSG_DONTWAIT == 0 && sockets.is_blocking(fd) == Ok(true)
}

/// Returns the address that a write names, if it does.
fn addressee(call: &Call) -> Option<&Value> {
    let address = match call.name.as_str() {
        "sendto" => call.arguments.get(4),
        "sendmsg" => call.arguments.get(1).and_then(|message| message.field("msg_name")),
        _ => None,
    };
    address.filter(|address| !matches!(number(address), Some(0)))
}

/// The flags of a read or write that has any.
fn flags_of(call: &Call) -> i64 {
    let at = match call.name.as_str() {
        "send" | "sendto" | "recv" | "recvfrom" => 3,
        "sendmsg" | "recvmsg" => 2,
        _ => return 0,
    };
    call.arguments.get(at).and_then(number).unwrap_or(0)
}

/// Returns how many octets a read or write is about.
fn length_of(call: &Call) -> u64 {
    let vectors = match call.name.as_str() {
        "sendmsg" | "recvmsg" => call.arguments.get(1).and_then(|message| message.field("msg_iov")),
        "readv" | "writev" => call.arguments.get(1),
        _ => return call.arguments.get(2).and_then(number).unwrap_or(0).max(0) as u64,
    };
    let vectors = vectors.and_then(Value::fields).unwrap_or_default();
    let len = |vector: &Field| vector.value.fields()?.get(1).and_then(|len| number(&len.value));
    vectors.iter().filter_map(len).fold(0, |all, len| all.saturating_add(len.max(0) as u64))
}

/// Returns when a call gives up (`SO_SNDTIMEO`, `SO_RCVTIMEO`).
fn patience(sockets: &Sockets, fd: Fd, now: Time, waiting: Option<&Waiting>, writes: bool) -> Time {
    let begins = || {
        let patience = sockets.patience(fd, writes);
        patience.map_or(Time::NEVER, |patience| now.saturating_add(patience))
    };
    waiting.map_or_else(begins, |waiting| waiting.deadline)
}

fn read(sockets: &mut Sockets, now: Time, fd: Fd, call: &Call, deadline: Time) -> Attempt {
    let (flags, max) = (flags_of(call), length_of(call));
    if flags & MSG_ERRQUEUE != 0 {
        return returns(Err(Errno::EAGAIN)); // nothing here is ever reported there
    }
    if flags & MSG_PEEK != 0
        && let Ok(waiting @ 1..) = sockets.readable(fd)
    {
        return Attempt::Returns(Returned::value(waiting.min(max) as i64));
    }
    if waits(sockets, fd, flags)
        && now < deadline
        && !sockets.wakes_reader(fd, max, flags & MSG_WAITALL != 0)
    {
        return Attempt::Blocks { progress: 0, deadline };
    }
    match sockets.read(fd, max) {
        Ok(octets) => Attempt::Returns(Returned::value(octets as i64)),
        Err(Errno::EAGAIN) if waits(sockets, fd, flags_of(call)) && now < deadline => {
            Attempt::Blocks { progress: 0, deadline }
        }
        Err(errno) => returns(Err(errno)),
    }
}

fn write(
    sockets: &mut Sockets,
    now: Time,
    fd: Fd,
    call: &Call,
    flags: i64,
    waiting: Option<&Waiting>,
) -> Attempt {
    let before = waiting.map_or(0, |waiting| waiting.progress);
    let len = length_of(call);
    let send_flags = SendFlags { more: flags & MSG_MORE != 0, end_of_record: flags & MSG_EOR != 0 };
    let data = Data::Counted(len - before);
    let deadline = patience(sockets, fd, now, waiting, true);
    let waits = waits(sockets, fd, flags) && now < deadline;
    let blocks = |progress| Attempt::Blocks { progress, deadline };
    if waiting.is_some() && now >= deadline && before > 0 {
        return Attempt::Returns(Returned::value(before as i64));
    }
    if waiting.is_some() && waits && (sockets.is_connecting(fd) || !sockets.wakes_writer(fd)) {
        return blocks(before);
    }
    if before > 0 && before == len {
        return Attempt::Returns(Returned::value(len as i64));
    }
    if call.name == "sendto" && sockets.connects_by_sending(fd) && call.arguments.len() > 4 {
        let remote = (REMOTE, port_of(call.arguments.get(4)));
        return match sockets.connect_and_write(fd, now, remote, data) {
            Ok(octets) => Attempt::Returns(Returned::value(octets as i64)),
            Err(errno) => returns(Err(errno)),
        };
    }
    let result = match flags & MSG_FASTOPEN != 0 && waiting.is_none() {
        true => {
            let remote = addressee(call).map(|address| (REMOTE, port_of(Some(address))));
            sockets.write_and_connect(fd, now, remote, data, send_flags)
        }
        false => sockets.write(fd, now, data, send_flags),
    };
    if waits && sockets.is_connecting(fd) && matches!(result, Ok(_) | Err(Errno::EINPROGRESS)) {
        // With Fast Open it returns when the connection is open.
        let progress = before + result.unwrap_or(0);
        if progress < len {
            sockets.await_connection(fd);
        }
        return blocks(progress);
    }
    let progress = before + *result.as_ref().unwrap_or(&0);
    match result {
        Ok(_) | Err(Errno::EAGAIN) if progress < len && waits => {
            Attempt::Blocks { progress, deadline }
        }
        Err(errno) if progress == 0 => returns(Err(errno)),
        _ => Attempt::Returns(Returned::value(progress as i64)),
    }
}

/// `poll([{fd=, events=, revents=}], count, milliseconds)`.
fn poll(sockets: &Sockets, now: Time, call: &Call, waiting: Option<&Waiting>) -> Attempt {
    let timeout = call.arguments.get(2).and_then(number).unwrap_or(-1);
    let deadline = waiting.map_or_else(
        || match timeout {
            0.. => now.saturating_add(millis(timeout)),
            _ => Time::NEVER,
        },
        |waiting| waiting.deadline,
    );
    let entries = call.arguments.first().and_then(Value::fields).unwrap_or_default();
    let mut ready = 0;
    let mut outputs = Vec::new();
    for entry in entries {
        let part = |name| entry.value.field(name).and_then(number).unwrap_or(0);
        let fd = u32::try_from(part("fd")).unwrap_or(u32::MAX);
        let revents = events(sockets, Fd(fd)) & (part("events") | 8 | 16 | 32);
        ready += (revents != 0) as i64;
        let revents =
            Field { name: Some("revents".into()), count: None, value: Value::Number(revents) };
        outputs.push(Field { name: None, count: None, value: Value::Struct(vec![revents]) });
    }
    if ready == 0 && now < deadline {
        return Attempt::Blocks { progress: 0, deadline };
    }
    Attempt::Returns(Returned {
        outputs: vec![(0, Value::List(outputs))],
        ..Returned::value(ready)
    })
}

/// What a descriptor is ready for, as `poll` reports it.
fn events(sockets: &Sockets, fd: Fd) -> i64 {
    let Ok(readiness) = sockets.readiness(fd) else { return 32 };
    let bits = [
        (readiness.readable, 1 | 0x40),
        (readiness.writable, 4 | 0x100),
        (readiness.error, 8),
        (readiness.hang_up, 16),
        (readiness.peer_ended, 0x2000),
    ];
    bits.iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum()
}

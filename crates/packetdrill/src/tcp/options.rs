//! `setsockopt`, `getsockopt`, `fcntl` and `ioctl`.

use super::Attempt;
use crate::constants::number;
use crate::script::{Call, Field, Value};
use crate::stack::Returned;
use anabranch_socket::{Errno, Fd, Name, Sockets};

/// The option of a level and name.
fn named(level: &Value, option: &Value) -> Option<Name> {
    let (Value::Word(level), Value::Word(option)) = (level, option) else { return None };
    Some(match (level.as_str(), option.as_str()) {
        ("SOL_SOCKET", "SO_REUSEADDR") => Name::ReuseAddress,
        ("SOL_SOCKET", "SO_SNDBUF") => Name::SendBuffer,
        ("SOL_SOCKET", "SO_RCVBUF") => Name::ReceiveBuffer,
        ("SOL_SOCKET", "SO_LINGER") => Name::Linger,
        ("SOL_SOCKET", "SO_KEEPALIVE") => Name::KeepAlive,
        ("SOL_SOCKET", "SO_ERROR") => Name::Error,
        ("SOL_SOCKET", "SO_SNDTIMEO") => Name::SendTimeout,
        ("SOL_SOCKET", "SO_RCVTIMEO") => Name::ReceiveTimeout,
        ("SOL_SOCKET", "SO_RCVLOWAT") => Name::ReceiveLowWater,
        ("SOL_TCP" | "IPPROTO_TCP", option) => match option {
            "TCP_NODELAY" => Name::NoDelay,
            "TCP_CORK" => Name::Cork,
            "TCP_MAXSEG" => Name::MaxSegment,
            "TCP_SYNCNT" => Name::SynRetries,
            "TCP_USER_TIMEOUT" => Name::UserTimeout,
            "TCP_KEEPIDLE" => Name::KeepIdle,
            "TCP_KEEPINTVL" => Name::KeepInterval,
            "TCP_KEEPCNT" => Name::KeepCount,
            "TCP_NOTSENT_LOWAT" => Name::NotSentLowWater,
            "TCP_QUICKACK" => Name::QuickAck,
            "TCP_MD5SIG" => Name::Md5,
            "TCP_FASTOPEN_NO_COOKIE" => Name::FastOpenNoCookie,
            "TCP_FASTOPEN" => Name::FastOpen,
            "TCP_FASTOPEN_CONNECT" => Name::FastOpenConnect,
            "TCP_KEEPINIT" => Name::OpeningTimeout,
            "TCP_NOOPT" => Name::NoOptions,
            "TCP_REMOTE_UDP_ENCAPS_PORT" => Name::RemoteUdpPort,
            _ => return None,
        },
        ("SOL_IP" | "IPPROTO_IP", "IP_TOS") => Name::TypeOfService,
        ("SOL_IP" | "IPPROTO_IP", "IP_TTL") => Name::TimeToLive,
        ("SOL_IPV6" | "IPPROTO_IPV6", "IPV6_TCLASS") => Name::TypeOfService,
        ("SOL_IPV6" | "IPPROTO_IPV6", "IPV6_UNICAST_HOPS") => Name::TimeToLive,
        ("SOL_IP" | "IPPROTO_IP", "IP_MTU_DISCOVER") => Name::MtuDiscover,
        ("SOL_IP" | "IPPROTO_IP", "IP_RECVERR") => Name::ReceiveErrors,
        _ => return None,
    })
}

/// Options of FreeBSD's RACK and BBR stacks, which its default stack does not know.
fn is_of_another_stack(option: &Value) -> bool {
    matches!(option, Value::Word(word) if word.starts_with("TCP_RACK_") || word.starts_with("TCP_BBR_"))
}

fn list_of(value: i64) -> Value {
    Value::List(vec![Field { name: None, count: None, value: Value::Number(value) }])
}

pub(super) fn returns(result: Result<(), Errno>) -> Attempt {
    Attempt::Returns(match result {
        Ok(()) => Returned::value(0),
        Err(errno) => Returned::error(errno.name()),
    })
}

/// `setsockopt(fd, level, option, [value], length)`.
pub(super) fn set(sockets: &mut Sockets, fd: Fd, call: &Call) -> Attempt {
    let [_, level, option, value, ..] = call.arguments.as_slice() else {
        return Attempt::NotApplicable("setsockopt() without a value".into());
    };
    if is_of_another_stack(option) {
        return returns(Err(Errno::ENOPROTOOPT));
    }
    let Some(name) = named(level, option) else {
        return Attempt::NotApplicable(format!("the option {option} of {level}"));
    };
    let value = match (name, value) {
        (Name::Linger, value) => {
            let part = |name| value.field(name).and_then(number).unwrap_or(0);
            if part("onoff") != 0 { part("linger") } else { -1 }
        }
        (Name::SendTimeout | Name::ReceiveTimeout, value) => {
            let part = |name| value.field(name).and_then(number).unwrap_or(0);
            part("tv_sec").saturating_mul(1_000_000).saturating_add(part("tv_usec"))
        }
        (_, value) => match number(value) {
            Some(value) => value,
            None => return Attempt::NotApplicable(format!("the value {value} of {option}")),
        },
    };
    returns(sockets.set_option(fd, name, value))
}

/// `getsockopt(fd, level, option, [value], [length])`.
pub(super) fn get(sockets: &mut Sockets, fd: Fd, call: &Call) -> Attempt {
    let [_, level, option, ..] = call.arguments.as_slice() else {
        return Attempt::NotApplicable("getsockopt() without an option".into());
    };
    if is_of_another_stack(option) {
        return returns(Err(Errno::ENOPROTOOPT));
    }
    let Some(name) = named(level, option) else {
        return Attempt::NotApplicable(format!("the option {option} of {level}"));
    };
    Attempt::Returns(match sockets.option(fd, name) {
        Ok(value) => {
            let part = |name: &str, value: i64| Field {
                name: Some(name.into()),
                count: None,
                value: Value::Number(value),
            };
            let value = match name {
                Name::SendTimeout | Name::ReceiveTimeout => Value::Struct(vec![
                    part("tv_sec", value / 1_000_000),
                    part("tv_usec", value % 1_000_000),
                ]),
                Name::Linger => Value::Struct(vec![
                    part("onoff", (value >= 0) as i64),
                    part("linger", value.max(0)),
                ]),
                _ => list_of(value),
            };
            Returned { outputs: vec![(3, value)], ..Returned::value(0) }
        }
        Err(errno) => Returned::error(errno.name()),
    })
}

const NONBLOCK: i64 = 0x800;
const READ_WRITE: i64 = 2;

/// `fcntl(fd, F_GETFL)` and `fcntl(fd, F_SETFL, flags)`.
pub(super) fn fcntl(sockets: &mut Sockets, fd: Fd, call: &Call) -> Attempt {
    match call.arguments.get(1) {
        Some(Value::Word(word)) if word == "F_GETFL" => match sockets.is_blocking(fd) {
            Ok(blocking) => {
                let flags = READ_WRITE | if blocking { 0 } else { NONBLOCK };
                Attempt::Returns(Returned::value(flags))
            }
            Err(errno) => returns(Err(errno)),
        },
        Some(Value::Word(word)) if word == "F_SETFL" => {
            let flags = call.arguments.get(2).and_then(number).unwrap_or(0);
            returns(sockets.set_blocking(fd, flags & NONBLOCK == 0))
        }
        other => Attempt::NotApplicable(format!("fcntl() with {other:?}")),
    }
}

/// `ioctl(fd, SIOCINQ, [value])` and `SIOCOUTQ`.
pub(super) fn ioctl(sockets: &mut Sockets, fd: Fd, call: &Call) -> Attempt {
    let octets = match call.arguments.get(1) {
        Some(Value::Word(word)) if word == "SIOCINQ" || word == "FIONREAD" => sockets.readable(fd),
        Some(Value::Word(word)) if word == "SIOCOUTQ" => sockets.unacknowledged(fd),
        other => return Attempt::NotApplicable(format!("ioctl() with {other:?}")),
    };
    Attempt::Returns(match octets {
        Ok(octets) => Returned { outputs: vec![(2, list_of(octets as i64))], ..Returned::value(0) },
        Err(errno) => Returned::error(errno.name()),
    })
}

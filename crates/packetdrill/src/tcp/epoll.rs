//! `epoll_create`, `epoll_ctl` and `epoll_wait`.

use super::options::returns;
use super::{Attempt, Waiting};
use crate::constants::{millis, number};
use crate::script::{Call, Field, Value};
use crate::stack::Returned;
use anabranch_socket::{Errno, Fd, Sockets};
use anabranch_units::Time;

/// `epoll_ctl(set, operation, fd, {events=..., ...})`.
pub(super) fn control(sockets: &mut Sockets, set: Fd, call: &Call) -> Attempt {
    let argument = |at: usize| call.arguments.get(at).and_then(number);
    let fd = Fd(argument(2).and_then(|fd| u32::try_from(fd).ok()).unwrap_or(u32::MAX));
    let events = call.arguments.get(3).and_then(|event| event.field("events")).and_then(number);
    let events = events.map(|bits| bits as u32);
    returns(match (argument(1), events) {
        (Some(1), Some(events)) => sockets.watch(set, fd, Some(events), false),
        (Some(3), Some(events)) => sockets.watch(set, fd, Some(events), true),
        (Some(2), _) => sockets.watch(set, fd, None, true),
        _ => Err(Errno::EINVAL),
    })
}

/// `epoll_wait(set, {events=..., ...}, count, milliseconds)`.
pub(super) fn wait(
    sockets: &mut Sockets,
    now: Time,
    set: Fd,
    call: &Call,
    waiting: Option<&Waiting>,
) -> Attempt {
    let argument = |at: usize| call.arguments.get(at).and_then(number);
    let most = argument(2).and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let begins = || match argument(3) {
        Some(ms @ 0..) => now.saturating_add(millis(ms)),
        _ => Time::NEVER,
    };
    let deadline = waiting.map_or_else(begins, |waiting| waiting.deadline);
    let ready = match sockets.ready(set, most) {
        Ok(ready) => ready,
        Err(errno) => return returns(Err(errno)),
    };
    if ready.is_empty() && now < deadline {
        return Attempt::Blocks { progress: 0, deadline };
    }
    // The numbers that scripts give with the events are their own.
    let asked = call.arguments.get(1).and_then(|asked| match asked {
        Value::Struct(_) => asked.field("events").and_then(number),
        _ => None,
    });
    // EPOLLRDNORM and EPOLLWRNORM are reported where they were asked for.
    let shown = |events: u32| (events as i64) & (asked.unwrap_or(-1) | !(0x40 | 0x100));
    let value = |events: u32| {
        let value = Value::Number(shown(events));
        Value::Struct(vec![Field { name: Some("events".into()), count: None, value }])
    };
    let outputs = ready.first().map(|(_, events)| (1, value(*events))).into_iter().collect();
    Attempt::Returns(Returned { outputs, ..Returned::value(ready.len() as i64) })
}

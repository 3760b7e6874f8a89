//! `poll` and `epoll`: which descriptors are ready.

use super::{Context, Prepared, Ready, Refusal, int, named, number};
use crate::worker::Answer;
use anabranch_packetdrill::script::{Call, Field, Value};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Events that an `epoll_wait` of a script may ask for at once.
const MOST_EVENTS: usize = 64;
const ADD: i32 = 1;
const REMOVE: i32 = 2;

/// Milliseconds as the calls have them: below zero is for ever.
fn timeout(milliseconds: i32) -> Option<Timespec> {
    let milliseconds = i64::from(milliseconds);
    (milliseconds >= 0)
        .then(|| Timespec { tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000 })
}

/// `poll([{fd=, events=, revents=}], count, milliseconds)`.
pub(super) fn poll(call: &Call, context: &Context<'_>) -> Ready {
    let milliseconds = int(call, 2)?;
    let entries = call.arguments.first().and_then(Value::fields).unwrap_or_default();
    let entry = |field: &Field| {
        let part = |name| field.value.field(name).and_then(number).unwrap_or(0);
        let fd = context.descriptors.get(&part("fd")).cloned();
        (fd, PollFlags::from_bits_retain(part("events") as u16))
    };
    let entries: Vec<(Option<Arc<OwnedFd>>, PollFlags)> = entries.iter().map(entry).collect();
    Ok(Prepared::job(move || wait_for(&entries, timeout(milliseconds))))
}

fn wait_for(entries: &[(Option<Arc<OwnedFd>>, PollFlags)], timeout: Option<Timespec>) -> Answer {
    let known =
        entries.iter().filter_map(|(fd, events)| fd.as_ref().map(|fd| PollFd::new(&**fd, *events)));
    let mut known: Vec<PollFd<'_>> = known.collect();
    let invalid = entries.len() - known.len();
    // Something that is none of the descriptors is ready at once.
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let timeout = if invalid > 0 { Some(at_once) } else { timeout };
    let ready = match rustix::event::poll(&mut known, timeout.as_ref()) {
        Ok(ready) => ready,
        Err(errno) => return Answer::of(Err(errno)),
    };
    let mut told = known.iter().map(PollFd::revents);
    let fields = entries.iter().map(|(fd, _)| {
        let revents = match fd {
            Some(_) => told.next().unwrap_or(PollFlags::empty()),
            None => PollFlags::NVAL,
        };
        let revents = named("revents", Value::Number(revents.bits().into()));
        Field { name: None, count: None, value: Value::Struct(vec![revents]) }
    });
    let output = Value::List(fields.collect());
    Answer::with(Ok(((ready + invalid) as i64, output)), 0)
}

/// Prepares `epoll_create`.
pub(super) fn create() -> Prepared {
    Prepared::job(|| Answer::made(epoll::create(CreateFlags::CLOEXEC)))
}

/// `epoll_ctl(set, operation, fd, {events=..., fd=...})`.
pub(super) fn control(call: &Call, context: &Context<'_>) -> Ready {
    let (set, operation, fd) = (context.fd(call, 0)?, int(call, 1)?, context.fd(call, 2)?);
    let part = |name| call.arguments.get(3).and_then(|event| event.field(name)).and_then(number);
    let events = EventFlags::from_bits_retain(part("events").unwrap_or(0) as u32);
    let data = ["u64", "u32", "fd", "ptr"].into_iter().find_map(part).unwrap_or(0);
    Ok(Prepared::job(move || {
        let data = EventData::new_u64(data as u64);
        let done = match operation {
            ADD => epoll::add(&*set, &*fd, data, events),
            REMOVE => epoll::delete(&*set, &*fd),
            3 => epoll::modify(&*set, &*fd, data, events),
            _ => Err(Errno::INVAL),
        };
        Answer::of(done.map(|()| 0))
    }))
}

/// `epoll_wait(set, {events=..., ...}, count, milliseconds)`: the first event is
/// told.
pub(super) fn wait(call: &Call, context: &Context<'_>) -> Ready {
    let (set, milliseconds) = (context.fd(call, 0)?, int(call, 3)?);
    let most = match usize::try_from(int(call, 2)?) {
        Ok(most @ 1..) => most.min(MOST_EVENTS),
        _ => return Err(Refusal::Fails(Errno::INVAL)),
    };
    Ok(Prepared::job(move || {
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }; MOST_EVENTS];
        let timeout = timeout(milliseconds);
        match epoll::wait(&*set, &mut events[..most], timeout.as_ref()) {
            Ok((ready, _)) => {
                let first = ready.first().map(|event| {
                    let flags = event.flags;
                    let events = Value::Number(flags.bits().into());
                    (1, Value::Struct(vec![named("events", events)]))
                });
                Answer {
                    outputs: first.into_iter().collect(),
                    ..Answer::of(Ok(ready.len() as i64))
                }
            }
            Err(errno) => Answer::of(Err(errno)),
        }
    }))
}

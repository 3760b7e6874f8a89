//! Sets of sockets that are watched together (`epoll`), as Linux has them: what is
//! ready is reported each time it is asked for, or with `EPOLLET` when there is
//! something new.

use super::{Fd, Kind, Sockets};
use crate::errno::Errno;
use anabranch_endpoint::Observe;
use std::collections::BTreeMap;

/// `EPOLLIN`, `EPOLLOUT`, `EPOLLERR`, `EPOLLHUP`, `EPOLLRDHUP`.
const IN: u32 = 1;
const OUT: u32 = 4;
const ERROR: u32 = 8;
const HANG_UP: u32 = 16;
const PEER_ENDED: u32 = 0x2000;
/// `EPOLLRDNORM` and `EPOLLWRNORM`, which mean the same as the first two.
const NORMAL: (u32, u32) = (0x40, 0x100);
/// Reported once, then not before it is changed (`EPOLLONESHOT`).
const ONE_SHOT: u32 = 1 << 30;
/// Only what is new (`EPOLLET`).
const EDGE: u32 = 1 << 31;

/// The events that are watched of a socket.
#[derive(Clone, Copy, Debug)]
struct Interest {
    events: u32,
    /// The events that were reported last, and what had happened then.
    reported: (u32, Activity),
    armed: bool,
}

/// What has happened on a socket: it is new when it differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Activity {
    /// Octets that came, or connections that wait.
    came: u64,
    /// Times that a writer found no room.
    starved: u64,
}

/// A set of sockets that are watched together.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoll {
    watched: BTreeMap<Fd, Interest>,
}

impl Epoll {
    /// Forgets a socket that is closed.
    pub fn forget(&mut self, fd: Fd) {
        self.watched.remove(&fd);
    }
}

impl Sockets {
    /// A new set (`epoll_create1`).
    pub fn epoll(&mut self) -> Fd {
        let fd = self.free_descriptor();
        self.epolls.insert(fd, Epoll::default());
        fd
    }

    /// Watches `fd` for the events of the mask, or with `None` no longer;
    /// `change`: it is watched already.
    ///
    /// # Errors
    /// `EBADF`; `EEXIST` and `ENOENT` when it is watched already, or not yet.
    pub fn watch(
        &mut self,
        set: Fd,
        fd: Fd,
        events: Option<u32>,
        change: bool,
    ) -> Result<(), Errno> {
        if !self.table.contains_key(&fd) {
            return Err(Errno::EBADF);
        }
        let watched = &mut self.epolls.get_mut(&set).ok_or(Errno::EBADF)?.watched;
        let known = watched.contains_key(&fd);
        match events {
            None => watched.remove(&fd).map(|_| ()).ok_or(Errno::ENOENT),
            Some(_) if change && !known => Err(Errno::ENOENT),
            Some(_) if !change && known => Err(Errno::EEXIST),
            Some(events) => {
                let reported = (0, Activity::default());
                watched.insert(fd, Interest { events, reported, armed: true });
                Ok(())
            }
        }
    }

    /// Up to `most` sockets of the set that are ready, and for what
    /// (`epoll_wait` without waiting).
    ///
    /// # Errors
    /// `EBADF`.
    pub fn ready(&mut self, set: Fd, most: usize) -> Result<Vec<(Fd, u32)>, Errno> {
        let mut epoll = self.epolls.remove(&set).ok_or(Errno::EBADF)?;
        let mut ready = Vec::new();
        for (fd, interest) in &mut epoll.watched {
            let (events, activity) = self.events_of(*fd);
            let events = events & (interest.events | ERROR | HANG_UP);
            let (before, was) = interest.reported;
            let mut fresh = events & !before;
            if activity.came != was.came {
                fresh |= events & (IN | NORMAL.0);
            }
            if activity.starved != was.starved {
                fresh |= events & (OUT | NORMAL.1);
            }
            let edge = interest.events & EDGE != 0;
            if !interest.armed || edge && fresh == 0 || events == 0 {
                // What is no longer so will be new when it is so again.
                interest.reported.0 &= events;
                continue;
            }
            if ready.len() == most {
                break;
            }
            interest.reported = (events, activity);
            interest.armed = interest.events & ONE_SHOT == 0;
            ready.push((*fd, events));
        }
        self.epolls.insert(set, epoll);
        Ok(ready)
    }

    fn events_of(&self, fd: Fd) -> (u32, Activity) {
        let Ok(readiness) = self.readiness(fd) else { return (0, Activity::default()) };
        let bits = [
            (readiness.readable, IN | NORMAL.0),
            (readiness.writable, OUT | NORMAL.1),
            (readiness.error, ERROR),
            (readiness.hang_up, HANG_UP),
            (readiness.peer_ended, PEER_ENDED),
        ];
        let events = bits.iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum();
        let activity = match self.table.get(&fd).map(|socket| &socket.kind) {
            Some(Kind::Stream(stream)) => Activity {
                came: stream.connection.observe().bytes_received,
                starved: stream.starvations,
            },
            Some(Kind::Multipath(multipath)) => {
                Activity { came: multipath.connection.observe().bytes_received, starved: 0 }
            }
            Some(Kind::Listening(listener)) => {
                Activity { came: listener.lengths().1 as u64, starved: 0 }
            }
            _ => Activity::default(),
        };
        (events, activity)
    }
}

//! What the loop sleeps on: epoll with a timeout in nanoseconds.

use crate::LiveError;
use crate::error::Doing;
use anabranch_sim::{FlowId, Side};
use anabranch_units::Span;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Names who is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// A port, by its number.
    Port(u32),
    /// The socket of an endpoint.
    Endpoint(FlowId, Side),
    /// Somebody outside the loop wants to be heard.
    Alarm,
}

impl Token {
    fn encode(self) -> u64 {
        match self {
            Token::Alarm => 0,
            Token::Port(number) => 1 << 40 | u64::from(number),
            Token::Endpoint(flow, side) => 2 << 40 | u64::from(flow.0) << 1 | side as u64,
        }
    }

    fn decode(word: u64) -> Token {
        let low = word as u32;
        match word >> 40 {
            0 => Token::Alarm,
            1 => Token::Port(low),
            _ => {
                let side = if word & 1 == 0 { Side::Client } else { Side::Server };
                Token::Endpoint(FlowId((word >> 1) as u32 & (u32::MAX >> 1)), side)
            }
        }
    }
}

/// Descriptors and who has them. Clones share them.
#[derive(Clone, Debug)]
pub struct Reactor {
    epoll: Arc<OwnedFd>,
    alarm: Arc<OwnedFd>,
}

impl Reactor {
    /// With nothing but the alarm.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new() -> Result<Reactor, LiveError> {
        let make = || {
            let alarm = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            let reactor = Reactor {
                epoll: Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?),
                alarm: Arc::new(alarm),
            };
            reactor.add(&reactor.alarm, Token::Alarm, epoll::EventFlags::IN)?;
            Ok::<_, Errno>(reactor)
        };
        make().doing("epoll")
    }

    /// Makes `token` ready whenever `fd` can be read.
    pub(crate) fn add_reader(&self, fd: impl AsFd, token: Token) -> Result<(), Errno> {
        self.add(fd, token, epoll::EventFlags::IN)
    }

    /// Makes `token` ready whenever `fd` becomes readable, writable or fails.
    pub(crate) fn add_edges(&self, fd: impl AsFd, token: Token) -> Result<(), Errno> {
        use epoll::EventFlags as Flags;
        self.add(fd, token, Flags::IN | Flags::OUT | Flags::RDHUP | Flags::ET)
    }

    fn add(&self, fd: impl AsFd, token: Token, flags: epoll::EventFlags) -> Result<(), Errno> {
        epoll::add(&*self.epoll, fd, epoll::EventData::new_u64(token.encode()), flags)
    }

    /// Waits for at most `timeout`; `None` waits for ever.
    pub(crate) fn wait(&self, ready: &mut Vec<Token>, timeout: Option<Span>) -> Result<(), Errno> {
        const MOST: usize = 64;
        let mut events: [std::mem::MaybeUninit<epoll::Event>; MOST] =
            [const { std::mem::MaybeUninit::uninit() }; MOST];
        let timeout = timeout.map(|span| {
            // Upwards: nothing is due before.
            let nanos = span.as_picos().div_ceil(1000);
            let (tv_sec, tv_nsec) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
            Timespec { tv_sec: tv_sec as i64, tv_nsec: tv_nsec as i64 }
        });
        ready.clear();
        match epoll::wait(&*self.epoll, &mut events, timeout.as_ref()) {
            Ok((events, _)) => {
                ready.extend(events.iter().map(|event| Token::decode(event.data.u64())));
                Ok(())
            }
            // A signal, or the process was suspended.
            Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Makes the loop look around.
    pub(crate) fn ring(&self) {
        // A full counter rings as well.
        let _ = rustix::io::write(&*self.alarm, &1_u64.to_ne_bytes());
    }

    /// The alarm has been heard.
    pub(crate) fn silence(&self) {
        let _ = rustix::io::read(&*self.alarm, &mut [0_u8; 8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_apart() {
        let ends = [Side::Client, Side::Server];
        let endpoints = [0, 1, (1 << 30) - 1]
            .into_iter()
            .flat_map(|flow| ends.map(|side| Token::Endpoint(FlowId(flow), side)));
        let others = [Token::Alarm, Token::Port(0), Token::Port(u32::MAX)];
        for token in endpoints.chain(others) {
            assert_eq!(Token::decode(token.encode()), token);
        }
    }

    #[test]
    fn it_sleeps_as_long_as_told_and_hears_the_alarm() {
        let reactor = Reactor::new().unwrap();
        let (clock, mut ready) = (crate::Clock::start(), Vec::new());
        reactor.wait(&mut ready, Some(Span::from_micros(2500))).unwrap();
        assert!(ready.is_empty() && clock.now().as_picos() >= 2_500_000_000);
        reactor.ring();
        reactor.wait(&mut ready, None).unwrap();
        assert_eq!(ready, [Token::Alarm]);
        reactor.silence();
        reactor.wait(&mut ready, Some(Span::ZERO)).unwrap();
        assert!(ready.is_empty());
    }
}

//! Where an association is in RFC 9260's diagram, with what exists only there.

use crate::paths::Removal;
use crate::state::State;
use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// `Opening` is what exists while this side opens the association (RFC 9260 §5.1).
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// `due`: INIT or COOKIE ECHO must leave.
    pub due: bool,
    /// `retries` of INIT, or of COOKIE ECHO.
    pub retries: u32,
    /// `path` of the last INIT or COOKIE ECHO.
    pub path: usize,
    /// `sent` is when INIT or COOKIE ECHO left last.
    pub sent: Time,
    /// `t1` is T1-init or T1-cookie.
    pub t1: Timer,
    /// `stale` counts the cookies that were too old.
    pub stale: u32,
    /// `unrecognized` parameters of the INIT ACK, for an ERROR with the cookie.
    pub unrecognized: Vec<u8>,
    /// `close` says that the user has closed already.
    pub close: bool,
}

/// `Ending` is what exists while SHUTDOWN or SHUTDOWN ACK waits for its answer (RFC 9260 §9.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    /// `t2` is T2-shutdown.
    pub t2: Timer,
    /// `path` that SHUTDOWN or SHUTDOWN ACK left on last.
    pub path: usize,
    /// `guard` is T5-shutdown-guard; it runs where this side sent SHUTDOWN.
    pub guard: Timer,
}

/// `Phase` is a state of [`State`]'s diagram with what exists only there. CLOSED is three of them: an
/// association lives once.
#[derive(Debug)]
pub(crate) enum Phase {
    /// CLOSED: nothing was begun, and INITs are refused.
    Idle,
    /// CLOSED: INITs are answered.
    Listening,
    /// COOKIE-WAIT.
    CookieWait {
        /// INIT, and how often it has left.
        opening: Box<Opening>,
        /// More life that the next INIT asks for, in ms (RFC 9260 §5.2.6).
        preservative: Option<u32>,
    },
    /// COOKIE-ECHOED.
    CookieEchoed {
        /// COOKIE ECHO, and how often it has left.
        opening: Box<Opening>,
        /// The cookie to echo.
        cookie: Box<[u8]>,
    },
    /// ESTABLISHED.
    Established,
    /// SHUTDOWN-PENDING.
    ShutdownPending {
        /// The user has closed since the last packet: perhaps nothing is outstanding.
        due: bool,
    },
    /// SHUTDOWN-SENT.
    ShutdownSent(Ending),
    /// SHUTDOWN-RECEIVED.
    ShutdownReceived,
    /// SHUTDOWN-ACK-SENT.
    ShutdownAckSent(Ending),
    /// CLOSED, after all that: nothing is sent or expected any more.
    Ended,
}

impl Phase {
    /// The state of RFC 9260.
    #[inline]
    pub fn state(&self) -> State {
        match self {
            Phase::Idle | Phase::Listening | Phase::Ended => State::Closed,
            Phase::CookieWait { .. } => State::CookieWait,
            Phase::CookieEchoed { .. } => State::CookieEchoed,
            Phase::Established => State::Established,
            Phase::ShutdownPending { .. } => State::ShutdownPending,
            Phase::ShutdownSent(_) => State::ShutdownSent,
            Phase::ShutdownReceived => State::ShutdownReceived,
            Phase::ShutdownAckSent(_) => State::ShutdownAckSent,
        }
    }

    /// Returns whether the association is over.
    pub fn has_ended(&self) -> bool {
        matches!(self, Phase::Ended)
    }

    /// Returns whether nothing has been sent or received.
    pub fn is_unopened(&self) -> bool {
        matches!(self, Phase::Idle | Phase::Listening)
    }

    /// Returns whether this side opens the association.
    pub fn is_opening(&self) -> bool {
        self.opening().is_some()
    }

    /// Returns whether the user may give more data: not after the end, and not after closing.
    #[inline]
    pub fn accepts_user_data(&self) -> bool {
        match self {
            Phase::Established => true,
            Phase::Ended => false,
            _ => self.state().accepts_user_data() && !self.is_closing(),
        }
    }

    /// What exists while this side opens the association.
    pub fn opening(&self) -> Option<&Opening> {
        match self {
            Phase::CookieWait { opening, .. } | Phase::CookieEchoed { opening, .. } => {
                Some(opening)
            }
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn opening_mut(&mut self) -> Option<&mut Opening> {
        match self {
            Phase::CookieWait { opening, .. } | Phase::CookieEchoed { opening, .. } => {
                Some(opening)
            }
            _ => None,
        }
    }

    /// Returns whether the user has closed before the association was established.
    pub fn is_closing(&self) -> bool {
        self.opening().is_some_and(|opening| opening.close)
    }

    /// The first INIT is to leave on `path`.
    pub fn open(&mut self, path: usize) {
        let opening = Box::new(Opening { due: true, path, ..Opening::default() });
        *self = Phase::CookieWait { opening, preservative: None };
    }

    /// INIT ACK came: its cookie is to leave on `path`, with an ERROR that has these parameters.
    pub fn echo(&mut self, cookie: Box<[u8]>, path: usize, unrecognized: &[u8]) {
        let Phase::CookieWait { opening, .. } = self else { return };
        let mut opening = std::mem::take(opening);
        (opening.due, opening.retries, opening.path) = (true, 0, path);
        opening.unrecognized.extend_from_slice(unrecognized);
        *self = Phase::CookieEchoed { opening, cookie };
    }

    /// The cookie was too old (§5.2.6): an INIT is to leave on `path` that asks for a life longer by
    /// the round trip until `now` and a second.
    pub fn open_again(&mut self, now: Time, path: usize) {
        let Phase::CookieEchoed { opening, .. } = self else { return };
        let mut opening = std::mem::take(opening);
        (opening.due, opening.path) = (true, path);
        let rtt = now.saturating_since(opening.sent).as_millis();
        let preservative = Some((rtt + 1000).min(u32::MAX as u64) as u32);
        *self = Phase::CookieWait { opening, preservative };
    }

    /// The user has closed since the last packet: true once, while this matters.
    #[inline]
    pub fn take_shutdown_due(&mut self) -> bool {
        match self {
            Phase::ShutdownPending { due } => std::mem::take(due),
            _ => false,
        }
    }

    /// What exists while SHUTDOWN or SHUTDOWN ACK waits for its answer.
    pub fn ending_mut(&mut self) -> Option<&mut Ending> {
        match self {
            Phase::ShutdownSent(ending) | Phase::ShutdownAckSent(ending) => Some(ending),
            _ => None,
        }
    }

    /// SHUTDOWN ACK is to leave; where SHUTDOWN was sent the guard goes on.
    pub fn acknowledge_shutdown(&mut self) {
        let ending = self.ending_mut().map_or(Ending::default(), |ending| *ending);
        *self = Phase::ShutdownAckSent(ending);
    }

    /// SHUTDOWN or SHUTDOWN ACK leaves on `path`, whose RTO is `rto`.
    pub fn start_t2(&mut self, now: Time, path: usize, rto: Span) {
        if let Some(ending) = self.ending_mut() {
            ending.path = path;
            ending.t2.set(now + rto);
        }
    }

    /// A path goes: indices follow.
    pub fn follow(&mut self, removal: Removal) {
        if let Some(ending) = self.ending_mut() {
            ending.path = removal.moved(ending.path);
        }
    }

    /// The next deadline.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Phase::CookieWait { opening, .. } | Phase::CookieEchoed { opening, .. } => {
                opening.t1.deadline()
            }
            Phase::ShutdownSent(ending) | Phase::ShutdownAckSent(ending) => {
                ending.t2.deadline().min(ending.guard.deadline())
            }
            _ => Time::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// RFC 9260 §5.1, §5.2.6: the cookie goes with its state, the count of stale ones stays.
    #[test]
    fn an_opening_carries_what_its_state_needs() {
        let mut phase = Phase::Idle;
        assert!(phase.is_unopened() && phase.accepts_user_data());
        phase.open(1);
        let opening = phase.opening_mut().unwrap();
        assert!(opening.due && opening.path == 1);
        (opening.due, opening.retries, opening.stale) = (false, 3, 1);
        opening.sent = after(100);
        phase.echo([7].into(), 0, &[1, 2]);
        assert_eq!(phase.state(), State::CookieEchoed);
        let opening = phase.opening().unwrap();
        assert_eq!((opening.due, opening.retries, opening.path), (true, 0, 0));
        assert_eq!((opening.stale, opening.unrecognized.as_slice()), (1, &[1, 2][..]));
        phase.open_again(after(300), 1);
        assert!(matches!(phase, Phase::CookieWait { preservative: Some(1200), .. }));
        phase.opening_mut().unwrap().close = true;
        assert!(phase.is_closing() && !phase.accepts_user_data());
    }

    /// RFC 9260 §9.2: T5 runs on when both sides have sent SHUTDOWN.
    #[test]
    fn the_guard_outlives_a_shutdown_that_crosses_another() {
        let guard = Timer::IDLE;
        let mut phase = Phase::ShutdownSent(Ending { guard, ..Ending::default() });
        phase.ending_mut().unwrap().guard.set(after(9000));
        phase.start_t2(after(0), 1, Span::from_secs(1));
        assert_eq!(phase.deadline(), after(1000));
        phase.acknowledge_shutdown();
        assert_eq!(phase.state(), State::ShutdownAckSent);
        phase.ending_mut().unwrap().t2.stop();
        assert_eq!(phase.deadline(), after(9000));
        let mut other = Phase::ShutdownReceived;
        other.acknowledge_shutdown();
        assert_eq!(other.deadline(), Time::NEVER);
    }

    #[test]
    fn the_users_end_is_looked_at_once() {
        let mut phase = Phase::ShutdownPending { due: true };
        assert!(phase.take_shutdown_due() && !phase.take_shutdown_due());
        assert!(!Phase::Established.take_shutdown_due());
    }

    #[test]
    fn a_closed_association_takes_data_before_its_life_alone() {
        assert!(Phase::Listening.accepts_user_data() && !Phase::Ended.accepts_user_data());
        assert!(Phase::Ended.has_ended() && !Phase::Ended.is_unopened());
        assert_eq!(Phase::Ended.state(), Phase::Idle.state());
    }
}

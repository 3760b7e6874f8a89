//! A phase is a state of RFC 9260's diagram, with the data that exists in it only.

use crate::paths::Removal;
use crate::state::State;
use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// An `Opening` is what exists while this side opens the association (RFC 9260 §5.1).
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// `due` says that INIT or COOKIE ECHO must leave.
    pub due: bool,
    /// `retries` counts the expiries of T1 since the opening began, or since the INIT ACK came.
    pub retries: u32,
    /// `path` is the index of the path of the last INIT or COOKIE ECHO.
    pub path: usize,
    /// `sent` is the date at which INIT or COOKIE ECHO left last.
    pub sent: Time,
    /// `t1` is T1-init or T1-cookie.
    pub t1: Timer,
    /// `stale` counts the cookies that the peer found too old.
    pub stale: u32,
    /// `unrecognized` holds the unknown parameters of the INIT ACK, as octets; an ERROR reports
    /// them in the packet of the COOKIE ECHO.
    pub unrecognized: Vec<u8>,
    /// `close` says that the user has closed already.
    pub close: bool,
}

/// An `Ending` is what exists while SHUTDOWN or SHUTDOWN ACK waits for its answer (RFC 9260 §9.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    /// `t2` is T2-shutdown.
    pub t2: Timer,
    /// `path` is the index of the path that SHUTDOWN or SHUTDOWN ACK left on last.
    pub path: usize,
    /// `guard` is T5-shutdown-guard; it runs where this side sent SHUTDOWN.
    pub guard: Timer,
}

/// A `Phase` is a state of [`State`]'s diagram with the data that exists in it only. CLOSED is
/// split into three phases, since an association begins only once.
#[derive(Debug)]
pub(crate) enum Phase {
    /// The state is CLOSED: nothing was begun, and INITs are refused.
    Idle,
    /// The state is CLOSED, and INITs are answered.
    Listening,
    /// The state is COOKIE-WAIT: INIT is to leave, or has left.
    CookieWait {
        /// `opening` is what is kept of the INIT: when it left, how often it was repeated, its
        /// timer.
        opening: Box<Opening>,
        /// `preservative` is how much longer a life of the cookie the next INIT asks for, in ms
        /// (RFC 9260 §5.2.6).
        preservative: Option<u32>,
    },
    /// The state is COOKIE-ECHOED: COOKIE ECHO is to leave, or has left.
    CookieEchoed {
        /// `opening` is the same of the COOKIE ECHO.
        opening: Box<Opening>,
        /// `cookie` is the cookie to echo.
        cookie: Box<[u8]>,
    },
    /// The state is ESTABLISHED.
    Established,
    /// The state is SHUTDOWN-PENDING.
    ShutdownPending {
        /// `due` says that the user has closed since the last packet, so that it is yet to be seen
        /// whether anything is outstanding.
        due: bool,
    },
    /// The state is SHUTDOWN-SENT.
    ShutdownSent(Ending),
    /// The state is SHUTDOWN-RECEIVED.
    ShutdownReceived,
    /// The state is SHUTDOWN-ACK-SENT.
    ShutdownAckSent(Ending),
    /// The state is CLOSED, after the association: nothing is sent or expected any more.
    Ended,
}

impl Phase {
    /// Returns the state of RFC 9260's diagram.
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

    /// Returns whether the user may give more data: not once the user has closed, and not after the
    /// end.
    #[inline]
    pub fn accepts_user_data(&self) -> bool {
        match self {
            Phase::Established => true,
            Phase::Ended => false,
            _ => self.state().accepts_user_data() && !self.is_closing(),
        }
    }

    /// Returns what exists while this side opens the association; `None` in other states.
    pub fn opening(&self) -> Option<&Opening> {
        match self {
            Phase::CookieWait { opening, .. } | Phase::CookieEchoed { opening, .. } => {
                Some(opening)
            }
            _ => None,
        }
    }

    /// Returns the same as [`Phase::opening`], to be changed.
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

    /// Begins the opening: the first INIT is to leave on `path`.
    pub fn open(&mut self, path: usize) {
        let opening = Box::new(Opening { due: true, path, ..Opening::default() });
        *self = Phase::CookieWait { opening, preservative: None };
    }

    /// Enters COOKIE-ECHOED, as an INIT ACK came: its cookie is to leave on `path`, with an ERROR
    /// that reports the `unrecognized` parameters.
    pub fn echo(&mut self, cookie: Box<[u8]>, path: usize, unrecognized: &[u8]) {
        let Phase::CookieWait { opening, .. } = self else { return };
        let mut opening = std::mem::take(opening);
        (opening.due, opening.retries, opening.path) = (true, 0, path);
        opening.unrecognized.extend_from_slice(unrecognized);
        *self = Phase::CookieEchoed { opening, cookie };
    }

    /// Goes back to COOKIE-WAIT, as the cookie was too old (§5.2.6): an INIT is to leave on `path`
    /// that asks for a life longer by the round trip until `now` and a second.
    pub fn open_again(&mut self, now: Time, path: usize) {
        let Phase::CookieEchoed { opening, .. } = self else { return };
        let mut opening = std::mem::take(opening);
        (opening.due, opening.path) = (true, path);
        let rtt = now.saturating_since(opening.sent).as_millis();
        let preservative = Some((rtt + 1000).min(u32::MAX as u64) as u32);
        *self = Phase::CookieWait { opening, preservative };
    }

    /// Returns whether the user has closed since the last packet; true once, and only in
    /// SHUTDOWN-PENDING.
    #[inline]
    pub fn take_shutdown_due(&mut self) -> bool {
        match self {
            Phase::ShutdownPending { due } => std::mem::take(due),
            _ => false,
        }
    }

    /// Returns what exists while SHUTDOWN or SHUTDOWN ACK waits for its answer; `None` in other
    /// states.
    pub fn ending_mut(&mut self) -> Option<&mut Ending> {
        match self {
            Phase::ShutdownSent(ending) | Phase::ShutdownAckSent(ending) => Some(ending),
            _ => None,
        }
    }

    /// Enters SHUTDOWN-ACK-SENT. Where SHUTDOWN was sent before T5-shutdown-guard runs on.
    pub fn acknowledge_shutdown(&mut self) {
        let ending = self.ending_mut().map_or(Ending::default(), |ending| *ending);
        *self = Phase::ShutdownAckSent(ending);
    }

    /// Starts T2-shutdown, as SHUTDOWN or SHUTDOWN ACK leaves on `path`, whose RTO is `rto`.
    pub fn start_t2(&mut self, now: Time, path: usize, rto: Span) {
        if let Some(ending) = self.ending_mut() {
            ending.path = path;
            ending.t2.set(now + rto);
        }
    }

    /// Changes the index of the path as the removal of a path asks.
    pub fn follow(&mut self, removal: Removal) {
        if let Some(ending) = self.ending_mut() {
            ending.path = removal.moved(ending.path);
        }
    }

    /// Returns the date at which the next timer of the phase expires.
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

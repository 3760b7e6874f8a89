//! Decides how long the sender waits for DATA_ACKs, how often it tries again, and when it
//! gives up (RFC 8684 §3.3.6, RFC 9293 §3.8.3 and §3.8.6.1).

use anabranch_units::{Span, Time};

/// What follows when data has waited for its DATA_ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overdue {
    /// A DATA_ACK has come since the timer was set: it is not overdue before this date.
    NotBefore(Time),
    /// The data is sent again.
    Retry,
    /// The data has been sent as often as TCP would: the connection gives up.
    GiveUp,
}

/// What follows when the window has been closed, or open by too little, with nothing outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    /// The best subflow asks the peer for its window.
    Best,
    /// All subflows ask the peer for its window.
    All,
    /// Nothing was acknowledged after as many probes as TCP sends.
    GiveUp,
}

/// Tries since the peer was last heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Persistence {
    /// The retransmission timer was started then, or the last new DATA_ACK came: the timer is
    /// moved when it expires, not with each of these.
    since: Time,
    /// The retransmission timer has expired so often since the last new DATA_ACK.
    retries: u32,
    /// The probe timer has expired so often since the window last opened.
    probes: u32,
    /// Probes since anything was acknowledged, be it the same again.
    silent_probes: u32,
}

impl Persistence {
    /// The state before anything has been sent.
    pub const NONE: Persistence =
        Persistence { since: Time::ZERO, retries: 0, probes: 0, silent_probes: 0 };

    /// Something came with a DATA_ACK.
    #[inline]
    pub fn on_heard(&mut self) {
        self.silent_probes = 0;
    }

    /// A DATA_ACK acknowledged something new.
    #[inline]
    pub fn on_acknowledged(&mut self, now: Time) {
        (self.since, self.retries) = (now, 0);
    }

    /// The window has opened: counts probes anew.
    #[inline]
    pub fn on_opened(&mut self) {
        self.probes = 0;
    }

    /// The retransmission timer starts. Its interval has been doubled so often: the first two are
    /// the same, as on Linux.
    pub fn start(&mut self, now: Time) -> u32 {
        self.since = now;
        self.retries.saturating_sub(1)
    }

    /// The interval of the probe timer has been doubled so often.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// The retransmission timer has expired so often since the last new DATA_ACK.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// The retransmission timer expired; `rto` is its interval without doublings. Up to `most`
    /// retries are made, and more where a subflow will find out itself whether the peer is there
    /// (`is_watched`).
    pub fn on_overdue(
        &mut self,
        now: Time,
        rto: Span,
        most: u32,
        is_watched: impl FnOnce() -> bool,
    ) -> Overdue {
        let due = self.since + rto;
        if self.retries == 0 && due > now {
            return Overdue::NotBefore(due);
        }
        if self.retries >= most && !is_watched() {
            return Overdue::GiveUp;
        }
        self.retries += 1;
        Overdue::Retry
    }

    /// The probe timer expired; the other arguments are those of
    /// [`on_overdue`](Self::on_overdue).
    pub fn on_probe_timer(&mut self, most: u32, is_watched: impl FnOnce() -> bool) -> Probe {
        self.probes += 1;
        self.silent_probes += 1;
        if self.silent_probes > most && !is_watched() {
            return Probe::GiveUp;
        }
        // What seemed the best may be dead: it has nothing outstanding that would show it.
        if self.silent_probes == 1 { Probe::Best } else { Probe::All }
    }

    /// The subflows were given up; others may be heard.
    pub fn start_over(&mut self) {
        (self.retries, self.silent_probes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_data_ack_moves_the_timer_when_it_expires() {
        let mut tries = Persistence::NONE;
        assert_eq!(tries.start(at(0)), 0);
        tries.on_acknowledged(at(700));
        let rto = Span::from_millis(1000);
        let never = || unreachable!("there are retries left");
        assert_eq!(tries.on_overdue(at(1000), rto, 2, never), Overdue::NotBefore(at(1700)));
        assert_eq!(tries.on_overdue(at(1700), rto, 2, never), Overdue::Retry);
        assert_eq!(tries.start(at(1700)), 0, "the second interval is the first");
        assert_eq!(tries.on_overdue(at(2700), rto, 2, never), Overdue::Retry);
        assert_eq!(tries.start(at(2700)), 1);
        assert_eq!(tries.on_overdue(at(4700), rto, 2, || true), Overdue::Retry, "a subflow waits");
        assert_eq!(tries.on_overdue(at(4700), rto, 2, || false), Overdue::GiveUp);
        tries.start_over();
        assert_eq!(tries.retries(), 0);
    }

    #[test]
    fn the_first_probe_takes_the_best_subflow_and_the_next_all() {
        let mut tries = Persistence::NONE;
        assert_eq!(tries.on_probe_timer(2, || false), Probe::Best);
        assert_eq!(tries.on_probe_timer(2, || false), Probe::All);
        assert_eq!(tries.on_probe_timer(2, || true), Probe::All);
        assert_eq!(tries.on_probe_timer(2, || false), Probe::GiveUp);
        tries.on_heard();
        assert_eq!(tries.on_probe_timer(2, || false), Probe::Best);
        assert_eq!(tries.probes(), 5, "the window has not opened");
        tries.on_opened();
        assert_eq!(tries.probes(), 0);
    }
}

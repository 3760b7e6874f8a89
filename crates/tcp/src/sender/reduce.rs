//! What loss does to the window and to the sequence variables, and how it is
//! undone: the rules that all schemes share.

use super::Sender;
use anabranch_congestion::Cause;
use anabranch_units::{Span, Time};

impl Sender {
    /// What is outstanding was too big for the path: it is sent again from
    /// `una`, in smaller segments, without a reduction of the window.
    pub fn resend_smaller(&mut self) {
        self.board.forget_retransmissions();
        self.nxt = self.una;
        self.recovery_point.go_back(self.max);
        self.dup_acks.forget();
    }

    /// Loss was detected by acknowledgments: shrinks the window, and remembers
    /// how far had been sent. What limited transmit sent is not in the flight
    /// that is halved (RFC 5681 §3.2 step 2).
    pub fn enter_recovery(&mut self, now: Time, prior_in_flight: u64) {
        let flight = match self.dup_acks.count {
            0 => prior_in_flight,
            _ => self.dup_acks.flight_before(self.una, self.nxt),
        };
        self.on_loss(now, flight);
        self.counters.fast_retransmits += 1;
    }

    /// A loss among `flight` octets: shrinks the window, and remembers how far
    /// had been sent. RFC 5681 §3.1 reduces all that is outstanding. A recovery
    /// that has just ended leaves more than a window of it, most of which has
    /// arrived (RFC 6675 counts it no more): of it no more than a window counts,
    /// or a loss would leave the window larger than it was.
    pub fn on_loss(&mut self, now: Time, flight: u64) {
        if let Some(undo) = &mut self.watch.undo {
            undo.on_fast_retransmit(self.una);
        }
        self.counters.reductions += 1;
        // Once per window of data, for marks and losses together
        // (RFC 3168 §6.1.2).
        if self.una >= self.recovery_point.cwr {
            let path = self.path(flight.min(self.cwnd()));
            self.congestion.on_congestion(now, Cause::Loss, &path);
        }
        self.recovery_point.set(self.max);
    }

    /// The retransmission timer expired (RFC 5681 §3.1, RFC 6675 §5.1):
    /// shrinks the window to one segment and goes back to `una`. SACKed octets
    /// are remembered and not sent again, unless `go_back_n` is on.
    pub fn go_back(&mut self, now: Time) {
        self.on_timeout(now);
        self.nxt = self.una;
        self.recovery_point.go_back(self.max);
        if self.sack.on_timeout() {
            self.forget_sacked();
        }
    }

    fn forget_sacked(&mut self) {
        self.board.forget_sacked();
        if let Some(log) = &mut self.watch.log {
            log.on_reneging();
        }
    }

    /// Loss was detected by duplicate ACKs, and is answered as a timeout is (Tahoe):
    /// shrinks the window to one segment and goes back to `una`. The timer has not
    /// expired, so that it is not backed off. What limited transmit sent is not in the
    /// flight that is halved, and of a flight no more than a window.
    pub fn go_back_at_loss(&mut self, now: Time) {
        if let Some(undo) = &mut self.watch.undo {
            undo.on_fast_retransmit(self.una);
        }
        let flight = self.dup_acks.flight_before(self.una, self.nxt);
        let path = self.path(flight.min(self.cwnd()));
        self.congestion.on_congestion(now, Cause::Timeout, &path);
        self.nxt = self.una;
        self.recovery_point.go_back(self.max);
        self.dup_acks.forget();
        self.counters.fast_retransmits += 1;
        self.counters.reductions += 1;
    }

    /// The retransmission timer expired: shrinks the window to one segment. RFC
    /// 5681 §3.1 halves all that is outstanding. While a lost retransmission
    /// waits for its timer that becomes many windows, most of which have
    /// arrived: of it no more than a window counts. What was SACKed is forgotten only
    /// where the receiver shows that it has discarded it: the first segment not
    /// acknowledged among it (RFC 2018 §8).
    pub fn on_timeout(&mut self, now: Time) {
        if let Some(undo) = &mut self.watch.undo {
            undo.on_timeout(self.una, self.recovery_point.at);
        }
        let path = self.path(self.flight().min(self.cwnd()));
        self.congestion.on_congestion(now, Cause::Timeout, &path);
        self.rtt.on_timeout();
        self.board.forget_retransmissions();
        if self.board.sacked().first().is_some_and(|r| r.start <= self.una) {
            self.forget_sacked();
        }
        self.recovery_point.set(self.max);
        self.dup_acks.on_timeout();
        self.counters.timeouts += 1;
        self.counters.reductions += 1;
    }

    /// What was outstanding at a timeout is acknowledged: SACK counts again, where it did not. Some
    /// of what was sent again may have been there, so that the first loss to be believed lies beyond
    /// (RFC 6582 §3.2 and §4).
    pub(super) fn hear_sack_again(&mut self) {
        if self.sack.resume() {
            self.recovery_point.at += 1;
        }
    }

    /// The last reduction was spurious (RFC 4015 §3.2): the window is what it
    /// was, nothing is sent again any more, and a new loss may be detected.
    ///
    /// Deviation: the window algorithm restores its own state, as Linux does,
    /// where §3.2 step 7 computes one from FlightSize.
    pub fn undo_reduction(&mut self) {
        self.congestion.on_undo();
        self.rtt.reset_backoff();
        self.board.forget_retransmissions();
        if let Some(log) = &mut self.watch.log {
            log.find_lost();
        }
        self.nxt = self.nxt.max(self.max); // §3.2 step 5
        self.hear_sack_again();
        self.recovery_point.withdraw(self.una);
        self.dup_acks.forget();
    }

    /// A round-trip sample. After a spurious timeout the estimate is lifted to
    /// it (RFC 4015 §3.2 step 8).
    pub fn on_rtt_sample(&mut self, rtt: Span) {
        self.rtt.on_sample_of(rtt, self.una, self.max);
        if let Some(undo) = &mut self.watch.undo
            && undo.take_adaptation()
        {
            self.rtt.lift(rtt);
        }
    }
}

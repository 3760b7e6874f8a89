//! Detects when a segment is lost: RFC 8985 §6.2 and §6.3. Names are the RFC's.

use super::recent_min::RecentMin;
use crate::ack::Ack;
use crate::range_set::RangeSet;
use crate::send_log::{Record, SendLog};
use anabranch_units::{Span, Time};

/// Recoveries without DSACK after which the reordering window is small again
/// (§6.2 step 4).
const PERSIST: u32 = 16;

/// RACK's state over the connection.
#[derive(Debug)]
pub(super) struct Detector {
    /// `RACK.xmit_ts` of the latest transmission that arrived, and its number.
    sent: Time,
    serial: u64,
    /// `RACK.rtt`: the round-trip time of the latest transmission that arrived.
    rtt: Span,
    /// `RACK.min_RTT`: the least of late, so that a path that has become longer is found out.
    min_rtt: RecentMin,
    /// `RACK.fack`: the offset after the highest octet acknowledged or SACKed.
    fack: u64,
    /// `RACK.reordering_seen`.
    reordering_seen: bool,
    /// `RACK.reo_wnd`: how long a segment may be overtaken before it counts as lost.
    reo_wnd: Span,
    /// `RACK.reo_wnd_mult`: the multiplier of `reo_wnd`, which DSACKs raise.
    mult: u32,
    /// `RACK.reo_wnd_persist`.
    persist: u32,
    /// `RACK.dsack_round`: the offset that ends the round of the last DSACK.
    dsack_round: Option<u64>,
}

impl Default for Detector {
    fn default() -> Detector {
        Detector {
            sent: Time::ZERO,
            serial: 0,
            rtt: Span::ZERO,
            min_rtt: RecentMin::default(),
            fack: 0,
            reordering_seen: false,
            reo_wnd: Span::ZERO,
            mult: 1,
            persist: PERSIST,
            dsack_round: None,
        }
    }
}

impl Detector {
    /// Steps 1 to 3, for what an ACK newly reports, in the order of sequence.
    /// `handshake` is the connection's least round trip, which counts before there
    /// is any of data.
    ///
    /// The echo of a timestamp speaks of what the ACK acknowledges up to `una`
    /// alone: for a segment beyond a gap the peer echoes an older one (RFC 7323
    /// §4.3).
    pub fn on_news(&mut self, news: &[Record], ack: &Ack, una: u64, handshake: Option<Span>) {
        let known = if self.min_rtt.get().is_none() { handshake } else { ack.rtt };
        if let Some(rtt) = known {
            self.min_rtt.on_sample(ack.now, rtt);
        }
        let mut newest = None;
        for segment in news {
            let rtt = ack.now - segment.sent;
            self.look_for_reordering(segment);
            if segment.retransmitted {
                // Does the ACK speak of the original? The echo says so, or a
                // round trip shorter than any.
                let echoed = ack.echoed_from.filter(|_| segment.range.end <= una);
                let older = echoed.is_some_and(|echo| echo < segment.sent.as_millis());
                if older || self.min_rtt.get().is_some_and(|least| rtt < least) {
                    continue;
                }
            }
            self.min_rtt.on_sample(ack.now, rtt);
            if newest.is_none_or(|serial| segment.serial > serial) {
                newest = Some(segment.serial);
                self.rtt = rtt;
            }
            if segment.serial > self.serial {
                self.serial = segment.serial;
                self.sent = segment.sent;
            }
        }
    }

    /// Step 3: notes whether segments arrive out of order.
    fn look_for_reordering(&mut self, segment: &Record) {
        let end = segment.range.end;
        if end > self.fack {
            self.fack = end;
        } else if end < self.fack && !segment.retransmitted {
            self.reordering_seen = true;
        }
    }

    /// Step 4, first part: the reordering window grows with each round trip
    /// that reports a duplicate, and is small again after 16 recoveries without.
    pub fn on_dsack(&mut self, reported: bool, left_recovery: bool, una: u64, nxt: u64) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if reported && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.mult = self.mult.saturating_add(1);
            self.persist = PERSIST;
        } else if left_recovery {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 1;
            }
        }
    }

    /// Step 4, second part: the window now. Without reordering seen there is
    /// none while losses are repaired, or once DupThresh segments are SACKed.
    pub fn update_window(&mut self, repairing: bool, many_sacked: bool, srtt: Option<Span>) {
        self.reo_wnd = if !self.reordering_seen && (repairing || many_sacked) {
            Span::ZERO
        } else {
            let least = self.min_rtt.get().unwrap_or(Span::ZERO);
            let window = least.saturating_mul(self.mult as u64) / 4;
            window.min(srtt.unwrap_or(window))
        };
    }

    /// Step 5: marks as lost what was sent before the latest arrival and whose
    /// time is over; returns the number of the last of these transmissions.
    pub fn detect_losses(&self, log: &mut SendLog, sacked: &RangeSet, now: Time) -> Option<u64> {
        let mut last = None;
        while let Some(segment) = log.oldest()
            && segment.serial < self.serial
            && self.lost_at(segment) <= now
        {
            last = Some(segment.serial);
            log.lose_oldest(sacked);
        }
        last
    }

    fn lost_at(&self, segment: &Record) -> Time {
        segment.sent + self.rtt + self.reo_wnd
    }

    /// Returns when all that was sent before the latest arrival will be lost.
    pub fn next_detection(&self, log: &mut SendLog) -> Option<Time> {
        log.latest_before(self.serial).map(|segment| self.lost_at(segment))
    }

    /// §6.3: after a timeout the first segment is lost, and each whose time is
    /// over.
    pub fn mark_on_timeout(&self, log: &mut SendLog, sacked: &RangeSet, now: Time) {
        log.lose_first(sacked);
        while let Some(segment) = log.oldest()
            && self.lost_at(segment) <= now
        {
            log.lose_oldest(sacked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    /// A detector whose least round trip is 100 ms and that has seen
    /// reordering.
    fn detector() -> Detector {
        let mut detector = Detector { reordering_seen: true, ..Detector::default() };
        detector.min_rtt.on_sample(Time::ZERO, ms(100));
        detector
    }

    fn window(d: &mut Detector, srtt: u64) -> Span {
        d.update_window(true, true, Some(ms(srtt)));
        d.reo_wnd
    }

    /// §6.2 step 4: a quarter of min_RTT more for each round trip with a DSACK,
    /// at most SRTT.
    #[test]
    fn duplicates_widen_the_window_once_a_round_trip() {
        let mut d = detector();
        assert_eq!(window(&mut d, 110), ms(25));
        d.on_dsack(true, false, 1000, 9000);
        d.on_dsack(true, false, 2000, 9500); // the same round trip
        assert_eq!(window(&mut d, 110), ms(50));
        d.on_dsack(true, false, 9000, 18_000);
        assert_eq!(window(&mut d, 110), ms(75));
        for una in 2..9 {
            d.on_dsack(true, false, una * 9000, una * 9000 + 9000);
        }
        assert_eq!(window(&mut d, 110), ms(110));
    }

    /// §6.2 step 4: small again after 16 recoveries without a DSACK.
    #[test]
    fn sixteen_recoveries_without_duplicates_narrow_it() {
        let mut d = detector();
        d.on_dsack(true, false, 1000, 9000);
        for n in 0..15 {
            d.on_dsack(false, true, 10_000 + n, 20_000);
            assert_eq!(window(&mut d, 110), ms(50), "after {} recoveries", n + 1);
        }
        d.on_dsack(false, true, 30_000, 40_000);
        assert_eq!(window(&mut d, 110), ms(25));
    }

    /// §6.2 step 4: no window while repairing or with DupThresh segments SACKed,
    /// before reordering is seen.
    #[test]
    fn without_reordering_losses_are_certain_at_once() {
        let mut d = Detector { reordering_seen: false, ..detector() };
        for (repairing, many, expected) in
            [(false, false, 25), (true, false, 0), (false, true, 0), (true, true, 0)]
        {
            d.update_window(repairing, many, Some(ms(110)));
            assert_eq!(d.reo_wnd, ms(expected));
        }
    }
}

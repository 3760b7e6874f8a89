//! Proportional rate reduction: RFC 9937 (after RFC 6937), §6.
//!
//! During recovery what may be sent follows what arrives, so that the flight
//! goes from RecoverFS to ssthresh evenly and neither stops nor bursts:
//!
//! ```text
//! on each ACK of recovery that delivers something:
//!   prr_delivered += DeliveredData
//!   if inflight > ssthresh:
//!     SndCnt = ceil(prr_delivered * ssthresh / RecoverFS) - prr_out
//!   else:
//!     SndCnt = max(prr_delivered - prr_out, DeliveredData)       // PRR-CRB
//!     if SafeACK: SndCnt += MSS                                  // PRR-SSRB
//!     SndCnt = min(ssthresh - inflight, SndCnt)
//!   if prr_out == 0 and SndCnt == 0: SndCnt = MSS
//!   cwnd = inflight + SndCnt
//! on each transmission: prr_out += octets sent
//! at the end:           cwnd = ssthresh
//! ```
//!
//! `SafeACK`: SND.UNA advances and no further loss is indicated. ssthresh is the
//! window that the window algorithm chose at the entry; it holds it meanwhile,
//! so that the end needs nothing.

use crate::ack::Ack;
use crate::sender::Sender;

/// The state of one recovery; counts are octets, with the names of RFC 9937 §6.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    delivered: u64,
    out: u64,
    recover_fs: u64,
    ssthresh: u64,
    /// What may be in flight until the next ACK.
    window: u64,
    /// Octets of a segment, to which the amount that may be sent is rounded up.
    unit: u64,
    /// Up to where losses are known, for schemes that count by an edge.
    edge: u64,
}

impl Prr {
    /// Recovery begins; the window has been reduced. `delivered` octets arrived
    /// with the ACK that detected the loss.
    pub fn enter(s: &Sender, delivered: u64) -> Prr {
        Prr {
            recover_fs: (s.nxt - s.una - s.board.sacked().total() + delivered).max(1),
            ssthresh: s.cwnd(),
            unit: 1,
            ..Prr::default()
        }
    }

    /// Counts as Linux does: in segments of `mss` octets, in proportion to `cwnd`, the window
    /// before.
    pub fn count_segments(&mut self, cwnd: u64, mss: u64) {
        (self.recover_fs, self.unit) = (cwnd.max(1), mss);
    }

    /// An ACK of this recovery, the first included; `in_flight` is what it
    /// leaves in the network, `lost` that it indicates further losses.
    pub fn on_ack(&mut self, mss: u64, ack: &Ack, in_flight: u64, lost: bool) {
        self.on_delivered(mss, ack.delivered, in_flight, ack.acked > 0 && !lost);
    }

    /// Does what [`Prr::on_ack`] does for `delivered` octets; a timer's detection delivers nothing.
    pub fn on_delivered(&mut self, mss: u64, delivered: u64, in_flight: u64, safe: bool) {
        if delivered == 0 && self.out > 0 {
            return;
        }
        self.delivered += delivered;
        let mut count = if in_flight > self.ssthresh {
            let target = (self.delivered as u128 * self.ssthresh as u128)
                .div_ceil(self.recover_fs as u128) as u64;
            target.next_multiple_of(self.unit.max(1)).saturating_sub(self.out)
        } else {
            let growth = if safe { mss } else { 0 };
            let count = self.delivered.saturating_sub(self.out).max(delivered) + growth;
            count.min(self.ssthresh - in_flight)
        };
        if self.out == 0 && count == 0 {
            count = mss;
        }
        self.window = in_flight + count;
    }

    /// Everything below `edge` that is not SACKed is lost: whether that is
    /// more than was known.
    pub fn finds_losses(&mut self, s: &Sender, edge: u64) -> bool {
        let known = self.edge.max(s.una);
        self.edge = known.max(edge);
        edge > known && s.board.holes_between(known, edge) > 0
    }

    /// So many octets have left.
    pub fn on_sent(&mut self, octets: u64) {
        self.out += octets;
    }

    /// Returns how many octets may be in flight.
    pub fn window(&self) -> u64 {
        self.window
    }
}

/// Returns how many octets may be in flight: what a reduction that is being spread allows, else the window.
pub(crate) fn window(spread: Option<&Prr>, s: &Sender) -> u64 {
    spread.map_or_else(|| s.cwnd(), Prr::window)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1000;

    fn prr(recover_fs: u64, ssthresh: u64) -> Prr {
        Prr { recover_fs: recover_fs * MSS, ssthresh: ssthresh * MSS, ..Prr::default() }
    }

    /// Sends whole segments while they fit, as a scheme does.
    fn send(p: &mut Prr, in_flight: &mut u64) -> u64 {
        let mut sent = 0;
        while *in_flight + MSS <= p.window() {
            p.on_sent(MSS);
            *in_flight += MSS;
            sent += 1;
        }
        sent
    }

    /// RFC 6937 §5, first figure: 20 segments, the first lost, ssthresh 10.
    /// After the fast retransmit a segment leaves with every second ACK.
    #[test]
    fn one_loss_of_twenty_sends_on_every_second_ack() {
        let mut p = prr(20, 10);
        let mut in_flight = 19 * MSS; // the first is lost
        let mut sent = Vec::new();
        for n in 1..=19 {
            in_flight -= MSS;
            p.on_delivered(MSS, MSS, in_flight, false);
            if n == 1 {
                p.on_sent(MSS); // the fast retransmit, regardless
                in_flight += MSS;
            }
            sent.push((n == 1) as u64 + send(&mut p, &mut in_flight));
        }
        // From the 16th ACK on the flight is ssthresh and is kept there.
        assert_eq!(sent, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert_eq!(in_flight, 10 * MSS);
    }

    /// RFC 6937 §5, second figure: 15 of 20 lost. The flight is below ssthresh:
    /// what arrives is replaced, and one segment more where it is safe.
    #[test]
    fn heavy_loss_conserves_packets_and_grows_where_safe() {
        for (safe, expected) in [(false, [1, 1, 1, 1]), (true, [2, 2, 2, 2])] {
            let mut p = prr(20, 10);
            let mut in_flight = 5 * MSS;
            for expected in expected {
                in_flight -= MSS;
                p.on_delivered(MSS, MSS, in_flight, safe);
                assert_eq!(send(&mut p, &mut in_flight), expected);
            }
        }
    }

    /// §6: the fast retransmit leaves even if nothing else may.
    #[test]
    fn the_first_retransmission_is_never_withheld() {
        let mut p = prr(20, 0);
        p.on_delivered(MSS, 0, 20 * MSS, false);
        assert_eq!(p.window(), 21 * MSS);
    }

    proptest! {
        /// Validation T13: while more than ssthresh is in flight, at most
        /// ceil(prr_delivered * ssthresh / RecoverFS) was sent; else at most
        /// one segment more than arrived, and never beyond ssthresh.
        #[test]
        fn what_is_sent_keeps_to_the_bound(
            recover_fs in 2..200_u64,
            part in 0.2..0.95_f64,
            lost in prop::collection::vec(any::<bool>(), 200),
            safe in prop::collection::vec(any::<bool>(), 200),
        ) {
            let ssthresh = ((recover_fs as f64 * part) as u64).max(2).min(recover_fs);
            let mut p = prr(recover_fs, ssthresh);
            let mut in_flight = recover_fs * MSS;
            let (mut delivered, mut sent) = (0, 0);
            for n in 0..recover_fs as usize {
                in_flight = in_flight.saturating_sub(MSS);
                if lost[n % 200] {
                    continue; // found lost: leaves the flight, delivers nothing
                }
                delivered += 1;
                let above = in_flight > p.ssthresh;
                p.on_delivered(MSS, MSS, in_flight, safe[n % 200]);
                sent += send(&mut p, &mut in_flight);
                if above {
                    prop_assert!(sent <= (delivered * ssthresh).div_ceil(recover_fs));
                } else {
                    let forced = sent == 1;
                    prop_assert!(in_flight <= p.ssthresh || forced);
                }
            }
        }
    }
}

//! Pacing: data leaves at a rate instead of when ACKs come.
//!
//! The rate is the window algorithm's, where it has one (BBR, or an option of
//! those that ACKs drive), and [its driver](anabranch_congestion::Driver) says when the next data
//! may leave.
//!
//! Retransmissions are paced too. SYNs, ACKs, resets and window probes are not.

use super::Connection;
use super::extras::ExtraDue;
use anabranch_units::Time;
use anabranch_wire::Packet;

impl Connection {
    /// Asked when the connection is established and with each round-trip
    /// sample, not for each packet: once there is a rate, there is one.
    pub(super) fn note_pacing(&mut self) {
        let srtt = self.sender.rtt.srtt();
        self.sender.congestion.note_pacing(srtt);
    }

    /// The pacer makes data wait; its timer is set.
    #[inline]
    pub(super) fn waits_for_pacer(&mut self, now: Time) -> bool {
        let Some(until) = self.sender.congestion.paced_until(now) else { return false };
        self.extras.get().timers[ExtraDue::Pacing as usize].set(until);
        true
    }

    /// Tells the pacer of a packet that has left.
    #[inline]
    pub(super) fn on_paced(&mut self, now: Time, packet: &Packet) {
        if self.sender.congestion.is_paced() {
            let (mss, srtt) = (self.sender.mss, self.sender.rtt.srtt());
            let burst = self.config.pacing_burst as u64 * mss;
            let sizes = (packet.payload_len() as u64, packet.wire_len());
            self.sender.congestion.on_paced(now, sizes, burst, srtt);
        }
    }
}

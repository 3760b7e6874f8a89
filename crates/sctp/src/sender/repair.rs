//! How much may be sent again at once is decided here (RFC 9260 §6.3.3 E3, §7.2.4 rule 3).

/// A `Pace` says what may be sent again until the next SACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Pace {
    /// What the windows take may leave.
    #[default]
    Windows,
    /// One packet may leave: T3-rtx expired, and nothing was sent again yet.
    OnePacket,
    /// Nothing may leave, since that packet has left. The others wait for a SACK, or for the next
    /// expiry.
    AwaitSack,
}

/// A `Repair` is what T3-rtx and SACKs let be sent again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repair {
    /// `pace` says what may be sent again until the next SACK.
    pace: Pace,
    /// `fast_due` says that the first packet of a fast retransmit is due, which ignores the window.
    fast_due: bool,
    /// `heard` says that a SACK came since this was asked last.
    heard: bool,
}

impl Repair {
    /// Notes that a SACK came that is not late.
    #[inline]
    pub fn on_sack(&mut self) {
        self.heard = true;
        self.pace = Pace::Windows;
    }

    /// Notes that chunks were newly found missing: the first packet of them leaves whatever the
    /// window.
    #[inline]
    pub fn on_lost(&mut self) {
        self.fast_due = true;
    }

    /// Notes that T3-rtx expired: one packet may leave.
    pub fn on_timeout(&mut self) {
        self.pace = Pace::OnePacket;
    }

    /// Returns whether a SACK came since this was asked last.
    pub fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.heard)
    }

    /// Returns whether nothing is sent again before a SACK comes.
    #[inline]
    pub fn awaits_sack(&self) -> bool {
        self.pace == Pace::AwaitSack
    }

    /// Returns whether the next packet of a fast retransmit ignores the window.
    #[inline]
    pub fn is_fast_due(&self) -> bool {
        self.fast_due
    }

    /// Notes that a packet of chunks that are sent again leaves. With `fast` it was let out by a
    /// fast retransmit; with `alone` it is the only one until the next SACK.
    pub fn on_packet(&mut self, fast: bool, alone: bool) {
        self.fast_due &= !fast;
        self.pace = match self.pace == Pace::OnePacket || alone {
            true => Pace::AwaitSack,
            false => Pace::Windows,
        };
    }

    /// Ends the wait for a SACK, as what was waited for is not coming.
    pub fn release(&mut self) {
        if self.awaits_sack() {
            self.pace = Pace::Windows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9260 §6.3.3 E3: one packet after T3-rtx, until a SACK or the next expiry.
    #[test]
    fn one_packet_leaves_after_a_timeout() {
        let mut repair = Repair::default();
        repair.on_timeout();
        assert!(!repair.awaits_sack());
        repair.on_packet(false, false);
        assert!(repair.awaits_sack());
        repair.on_timeout();
        assert!(!repair.awaits_sack());
        repair.on_packet(false, false);
        repair.on_sack();
        assert!(!repair.awaits_sack());
        repair.on_packet(false, false);
        assert!(!repair.awaits_sack(), "the windows decide");
        repair.on_packet(false, true);
        assert!(repair.awaits_sack(), "ns-2's rule");
        repair.release();
        assert!(!repair.awaits_sack());
    }

    /// RFC 9260 §7.2.4 rule 3: the window is ignored for one packet.
    #[test]
    fn a_fast_retransmit_ignores_the_window_once() {
        let mut repair = Repair::default();
        repair.on_lost();
        repair.on_packet(false, false);
        assert!(repair.is_fast_due(), "that packet had room");
        repair.on_packet(true, false);
        assert!(!repair.is_fast_due());
    }

    #[test]
    fn a_sack_is_heard_once() {
        let mut repair = Repair::default();
        assert!(!repair.take_heard());
        repair.on_sack();
        assert!(repair.take_heard() && !repair.take_heard());
    }
}

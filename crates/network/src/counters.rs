//! What a link counts, and the law that the counts obey.

/// `LinkCounters` are the totals of one direction of a link since the start, in packets unless
/// named otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// `received` counts packets offered to the link.
    pub received: u64,
    /// `delivered` counts packets that reached the far end.
    pub delivered: u64,
    /// `dropped_queue` counts packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// `dropped_aqm` counts packets dropped by a decision of active queue management.
    pub dropped_aqm: u64,
    /// `dropped_loss` counts packets dropped by a loss impairment.
    pub dropped_loss: u64,
    /// `dropped_corrupt` counts packets dropped because bits were in error.
    pub dropped_corrupt: u64,
    /// `dropped_mtu` counts packets dropped because they were larger than the MTU.
    pub dropped_mtu: u64,
    /// `marked` counts packets that the queue marked with CE.
    pub marked: u64,
    /// `duplicated` counts copies that the link made.
    pub duplicated: u64,
    /// Packets now in the link: waiting, being transmitted or under way.
    pub queued: u64,
    /// `bytes_received` counts octets offered (IP header included).
    pub bytes_received: u64,
    /// `bytes_delivered` counts octets that reached the far end.
    pub bytes_delivered: u64,
    /// `bytes_dropped` counts octets dropped, for any reason.
    pub bytes_dropped: u64,
    /// `bytes_duplicated` counts octets of the copies that the link made.
    pub bytes_duplicated: u64,
    /// `bytes_queued` is how many octets are in the link now.
    pub bytes_queued: u64,
}

impl LinkCounters {
    /// Returns how many packets were dropped, for any reason.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue
            + self.dropped_aqm
            + self.dropped_loss
            + self.dropped_corrupt
            + self.dropped_mtu
    }

    /// Returns whether packets and octets are conserved, exactly at every event: received +
    /// duplicated = delivered + dropped + queued.
    pub fn is_conserved(&self) -> bool {
        self.received + self.duplicated == self.delivered + self.dropped() + self.queued
            && self.bytes_received + self.bytes_duplicated
                == self.bytes_delivered + self.bytes_dropped + self.bytes_queued
    }
}

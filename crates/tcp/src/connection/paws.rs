//! Protection against wrapped sequence numbers (RFC 7323 §5) and what is
//! remembered of the peer's timestamps (§4.3).

use super::Connection;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{TcpFlags, TcpSegment};

/// After this long without an update TS.Recent is no longer valid (§5.5): a
/// millisecond clock wraps its sign bit in 24.8 days.
const INVALID_AFTER: Span = Span::from_secs(24 * 86_400);

/// A `TsRecent` is the peer's latest timestamp, which is echoed to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TsRecent {
    /// `value` is TS.Recent (RFC 7323 §4.3).
    pub value: u32,
    /// `at` is the date of its update.
    at: Time,
}

impl TsRecent {
    /// `value` came at the date `now`.
    pub fn new(now: Time, value: u32) -> TsRecent {
        TsRecent { value, at: now }
    }

    /// `value`, which comes at the date `now`, is older (§5.3 R1), and what it is held against is not
    /// too old to say so (§5.5).
    fn is_newer_than(&self, now: Time, value: u32) -> bool {
        Serial32(value).is_before(Serial32(self.value))
            && now.saturating_since(self.at) <= INVALID_AFTER
    }
}

impl Connection {
    /// §5.3 R1, with §3.2: a segment without timestamps where they were agreed on is dropped in
    /// silence, unless settings say otherwise. False: the segment is not to be processed.
    #[inline]
    pub(super) fn passes_paws(&mut self, now: Time, segment: &TcpSegment) -> bool {
        let Some(recent) = &self.agreed.timestamps else { return true };
        if segment.flags.contains(TcpFlags::RST) {
            return true;
        }
        let Some(ts) = segment.options.timestamps else {
            return !self.config.require_timestamps;
        };
        let passes = !recent.is_newer_than(now, ts.value) || !self.config.paws;
        if !passes {
            self.answer_unacceptable(now, segment);
        }
        passes
    }

    /// §4.3 (2), §5.3 R3: remembered when it is no older and the segment
    /// reaches down to the last ACK that was sent.
    #[inline]
    pub(super) fn remember_timestamp(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        if let Some(recent) = &mut self.agreed.timestamps
            && let Some(ts) = segment.options.timestamps
            && start <= self.receiver.acknowledged()
        {
            *recent = TsRecent::new(now, ts.value);
        }
    }
}

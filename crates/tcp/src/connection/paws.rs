//! Protection against wrapped sequence numbers (RFC 7323 §5) and what is
//! remembered of the peer's timestamps (§4.3).

use super::Connection;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{TcpFlags, TcpSegment};

/// After this long without an update TS.Recent is no longer valid (§5.5): a
/// millisecond clock wraps its sign bit in 24.8 days.
const INVALID_AFTER: Span = Span::from_secs(24 * 86_400);

impl Connection {
    /// §5.3 R1, with §3.2 (a segment without timestamps where they were agreed
    /// on is dropped in silence, unless settings say otherwise). False: the segment is not to be processed.
    #[inline]
    pub(super) fn passes_paws(&mut self, now: Time, segment: &TcpSegment) -> bool {
        if segment.flags.contains(TcpFlags::RST) {
            return true;
        }
        let Some(ts) = segment.options.timestamps else {
            return !self.config.require_timestamps;
        };
        if !Serial32(ts.value).is_before(Serial32(self.ts_recent)) {
            return true;
        }
        if !self.config.paws || now.saturating_since(self.ts_recent_at) > INVALID_AFTER {
            return true;
        }
        self.receiver.ack_now = true;
        false
    }

    /// §4.3 (2), §5.3 R3: remembered when it is no older and the segment
    /// reaches down to the last ACK that was sent.
    #[inline]
    pub(super) fn remember_timestamp(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        if let Some(ts) = segment.options.timestamps
            && self.agreed.timestamps
            && start <= self.receiver.acknowledged()
        {
            self.ts_recent = ts.value;
            self.ts_recent_at = now;
        }
    }
}

//! DATA_FIN: the end of the stream (RFC 8684 §3.3.3).

use super::Connection;
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping};

impl Connection {
    /// A DATA_FIN without data (§3.3.3): its sequence number is the mapping's.
    #[cold]
    pub(super) fn on_lone_fin(&mut self, i: usize, dss: &Dss) {
        let Some(Mapping { dsn, ssn: 0, len: 1, .. }) = dss.mapping else { return };
        if let Some(at) = self.peer.offset(dsn, self.inc.nxt) {
            self.peer_is_long |= matches!(dsn, DataNumber::Long(_));
            let arrival = self.inc.on_fin(at);
            self.note(arrival);
            // It may be the second time: the DATA_ACK was lost. While data before it
            // is missing there is nothing to say, and an answer with an own DATA_FIN
            // would be answered in turn, for as long as the gap lasts.
            if self.inc.has_ended() {
                self.subflows[i].tcp.ask_for_ack();
            }
        }
    }
}

//! TIME-WAIT as BSD stacks have it (FreeBSD's `tcp_twcheck`), where manners ask for it. The RFC's
//! TIME-WAIT is that of all synchronized states, in `input.rs`.
//!
//! | what arrives | what follows |
//! |---|---|
//! | a reset | nothing (RFC 1337) |
//! | a SYN beyond RCV.NXT | the connection may give way to another: [`Connection::gives_way_to`] |
//! | a segment without ACK | nothing |
//! | one without timestamps, where they were agreed on | nothing (RFC 7323 §3.2) |
//! | the ACK that is expected: RCV.NXT, SND.NXT, nothing else | nothing |
//! | anything else, wherever it lies | an ACK; 2 MSL begin again for the FIN that came before |

use super::Connection;
use anabranch_units::Time;
use anabranch_wire::{TcpFlags, TcpSegment};

impl Connection {
    pub(super) fn on_segment_in_bsd_time_wait(&mut self, now: Time, segment: &TcpSegment) {
        let flags = segment.flags;
        let stamped = self.agreed.timestamps.is_none() || segment.options.timestamps.is_some();
        if flags.contains(TcpFlags::RST) || !flags.contains(TcpFlags::ACK) || !stamped {
            return;
        }
        let expected = self.receiver.irs.at(self.receiver.nxt);
        if flags.contains(TcpFlags::FIN) && segment.seq.add(segment.seq_len()) == expected {
            self.enter_time_wait(now);
        }
        let acks = segment.ack == self.iss.at(self.sender.max);
        let control = TcpFlags::SYN.union(TcpFlags::FIN);
        let plain = !flags.intersects(control) && segment.payload.is_empty();
        self.receiver.ack_now |= !(plain && acks && segment.seq == expected);
    }
}

//! A COOKIE ECHO where there is an association already: simultaneous opening,
//! restart of the peer, delayed cookies (RFC 9260 §5.2.4, table 12).
//!
//! Deviation: action B is taken while opening alone. In a later state the
//! table would change the peer's tag of a working association, which only a
//! copy of an old cookie could ask for.

use super::Association;
use crate::cookie::Cookie;
use crate::flight::Flight;
use crate::state::State;
use anabranch_units::Time;
use anabranch_wire::Packet;
use anabranch_wire::sctp::{Cause, Chunk, SctpPacket};

impl Association {
    /// False when the rest of the packet is not to be read.
    pub(super) fn on_cookie_collision(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        cookie: &Cookie,
    ) -> bool {
        let opening = matches!(self.state, State::CookieWait | State::CookieEchoed);
        let local = cookie.local_tag == self.local_tag;
        let peer = cookie.peer_tag == self.peer_tag;
        match (local, peer) {
            // D: our own association; the COOKIE ACK was lost, or crossed.
            (true, true) => {
                if opening {
                    self.establish(now);
                }
                self.control.push(Chunk::CookieAck);
                true
            }
            // B: both sides sent INITs.
            (true, false) if opening => {
                // What left with our COOKIE ECHO was for the tag that the peer
                // gave up: it leaves again.
                self.flight.expire_all(&mut self.paths);
                let flight = std::mem::replace(&mut self.flight, Flight::starting_at(1));
                self.adopt(cookie);
                self.flight = flight.moved_to(self.primary as u8, &self.flight);
                self.establish(now);
                self.control.push(Chunk::CookieAck);
                true
            }
            // A: the peer restarted.
            (false, false) if cookie.tie_tags == self.tie_tags() => {
                if self.state == State::ShutdownAckSent {
                    let cause = vec![Cause::CookieWhileShuttingDown];
                    self.reply(packet, sctp, cookie.peer_tag, Chunk::Error(cause));
                    self.send_shutdown_ack(now, self.data_path());
                    return false;
                }
                self.restart(now, cookie);
                self.control.push(Chunk::CookieAck);
                true
            }
            // C, a cookie that came late, and everything else.
            _ => false,
        }
    }
}

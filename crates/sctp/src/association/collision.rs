//! A COOKIE ECHO may come where there is an association already: after simultaneous opening, a
//! restart of the peer, or a delay of the cookie (RFC 9260 §5.2.4, table 12).
//!
//! Deviation: action B is taken while opening alone. In a later state the
//! table would change the peer's tag of a working association, which only a
//! copy of an old cookie could ask for.

use super::Association;
use crate::cookie::Cookie;
use crate::state::State;
use anabranch_units::Time;
use anabranch_wire::sctp::{Cause, Chunk};

impl Association {
    /// Handles such a COOKIE ECHO. Returns false when the rest of the packet is not to be read.
    pub(super) fn on_cookie_collision(&mut self, now: Time, cookie: &Cookie) -> bool {
        let opening = self.phase.is_opening();
        let local = cookie.local_tag == self.identity.local_tag;
        let peer = cookie.peer_tag == self.identity.peer_tag;
        match (local, peer) {
            // D: our own association; the COOKIE ACK was lost, or crossed.
            (true, true) => {
                if opening {
                    self.establish(now);
                }
                self.control.waiting.insist(Chunk::CookieAck);
                true
            }
            // B: both sides sent INITs.
            (true, false) if opening => {
                // What left with our COOKIE ECHO was for the tag that the peer
                // gave up: it leaves again.
                self.sender.flight.expire_all(&mut self.paths);
                let fresh = self.sender.flight.restarting_at(1);
                let flight = std::mem::replace(&mut self.sender.flight, fresh);
                self.adopt(cookie);
                self.sender.flight = flight.moved_to(self.paths.primary as u8, &self.sender.flight);
                self.establish(now);
                self.control.waiting.insist(Chunk::CookieAck);
                true
            }
            // A: the peer restarted.
            (false, false) if cookie.tie_tags == self.identity.tie_tags() => {
                if self.state() == State::ShutdownAckSent {
                    // §3.3.10.10: in one packet, with the tag that the SHUTDOWN ACK has had.
                    let cause = vec![Cause::CookieWhileShuttingDown];
                    self.send_shutdown_ack(now, self.paths.data_path());
                    self.control.waiting.push(Chunk::Error(cause));
                    return false;
                }
                self.restart(now, cookie);
                self.control.waiting.insist(Chunk::CookieAck);
                true
            }
            // C, a cookie that came late, and everything else.
            _ => false,
        }
    }
}

//! Path MTUs (RFC 9260 §7.3) are learnt from what routers say, and from probes (DPLPMTUD, RFC 8899
//! §6.2). Each path has a search of its own ([`MtuSearch`](crate::paths::mtu_search::MtuSearch));
//! here its probes leave and their answers come.
//!
//! A probe is a packet of a HEARTBEAT and a PAD (RFC 4820 §3), which makes it as long as it is to
//! be. It carries no user data and is bound by no window; that it is lost is no error of the path.

use super::{Association, Notification};
use crate::config::MtuProbing;
use crate::paths::path::PathState;
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use anabranch_wire::sctp::{Chunk, Chunks};

/// PROBE_TIMER is this long at least (RFC 8899 §5.1.1).
const LEAST_WAIT: Span = Span::from_secs(1);

impl Association {
    /// Sends the probes that are due, at the end of each event, and gives packets the sizes that
    /// were found.
    #[inline]
    pub(super) fn search_mtus(&mut self, now: Time) {
        if self.config.mtu_probing != MtuProbing::Off {
            (0..self.paths.len()).for_each(|path| self.search_mtu(now, path));
        }
    }

    #[inline(never)]
    fn search_mtu(&mut self, now: Time, index: usize) {
        let may = self.state().is_synchronized() && !self.has_ended_heartbeats();
        let path = &mut self.paths[index];
        let rtt = path.rtt.srtt().unwrap_or(path.rtt.rto());
        let Some(search) = &mut path.search else { return };
        match path.state {
            PathState::Active => search.set_connected(now, may, rtt),
            PathState::Inactive | PathState::Unconfirmed => search.set_connected(now, false, rtt),
            PathState::PotentiallyFailed => {}
        }
        if let Some(size) = search.poll_probe(now) {
            let nonce = self.identity.generator.next_u64();
            let wait = self.config.mtu_probe_timer.unwrap_or(path.rtt.rto()).max(LEAST_WAIT);
            search.on_sent(now, size, nonce, wait);
            path.heartbeats += 1;
            let probe = self.mtu_probe(index, size, nonce);
            self.control.outbox.push(probe);
        }
        let path = &self.paths[index];
        if let Some(mtu) = path.search.as_ref().map(|search| search.mtu())
            && mtu != path.room.mtu
        {
            self.paths.set_mtu(index, mtu, &self.config);
        }
    }

    /// Returns a probe that is `size` octets long with all headers, those of IP, UDP and AUTH.
    fn mtu_probe(&self, index: usize, size: u32, nonce: u64) -> Packet {
        let info = [nonce.to_be_bytes(), (index as u64).to_be_bytes()].concat();
        let with = |pad| {
            let chunks = [Chunk::Heartbeat(info.clone().into()), Chunk::Pad(pad)];
            self.packet(index, chunks.into_iter().collect::<Chunks>())
        };
        let bare = with(0);
        let bare = match &self.control.auth {
            None => bare,
            Some(auth) => self.signed(auth, bare),
        };
        let bare = bare.wire_len().0 as u32 - Packet::IP_HEADER + self.config.ip_header;
        with(size.saturating_sub(bare) as u16)
    }

    /// Handles a HEARTBEAT ACK that may answer a probe (RFC 8899 §6.2.1.2), which shows too that
    /// the path works.
    pub(super) fn on_mtu_probe_answered(&mut self, now: Time, nonce: u64) {
        let waits = |path: &crate::paths::path::Path| path.search.as_ref()?.waits_for(nonce);
        let found = self.paths.iter().enumerate().find_map(|(i, path)| Some((i, waits(path)?)));
        let Some((index, sent)) = found else { return };
        let path = &mut self.paths[index];
        if let Some(search) = &mut path.search {
            search.on_answer(now);
        }
        path.rtt.on_sample(now - sent);
        path.known.heard = Some(now);
        if path.on_success() {
            let state = path.state;
            self.notify(Notification::Path { path: index, state });
        }
        self.paths.forget_failures();
    }

    /// Handles the word of a router that packets of `mtu` octets pass on this path, and that one of
    /// this side's was too large: packets get smaller, or, where probes find the MTU out, that size
    /// is tried (RFC 8899 §4.6.2).
    pub(super) fn on_too_big(&mut self, now: Time, index: usize, mtu: u32) {
        let path = &mut self.paths[index];
        let rtt = path.rtt.srtt().unwrap_or(path.rtt.rto());
        if let Some(search) = &mut path.search {
            search.on_too_big(now, mtu, rtt);
            return self.search_mtu(now, index);
        }
        let mtu = mtu.max(crate::Config::LEAST_MTU);
        if mtu < path.room.mtu {
            self.paths.set_mtu(index, mtu, &self.config);
        }
    }
}

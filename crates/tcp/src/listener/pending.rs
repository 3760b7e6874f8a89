//! Connections that a cookie opened and whose handshake is not over
//! (PendingFastOpenRequests, RFC 7413 §5.1), and how many there may be: an
//! attacker who collected cookies makes no more of them than that.

use crate::config::Config;
use crate::fast_open::{FastOpenOptions, Keys, Verdict};
use anabranch_endpoint::{Generator, RttEstimator};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, FastOpenOption, TcpSegment};
use std::collections::BTreeMap;

/// The state of Fast Open at a listening port.
#[derive(Debug)]
pub struct Pending {
    options: FastOpenOptions,
    pub(super) keys: Keys,
    /// For each peer, the time until which its connection counts.
    waiting: BTreeMap<(Addr, u16), Time>,
    /// Longest time that a handshake can take.
    longest: Span,
}

impl Pending {
    /// `None` where Fast Open is not accepted; else draws a key.
    pub fn new(config: &Config, generator: &mut Generator) -> Option<Pending> {
        let options = config.fast_open.filter(|options| options.server)?;
        let key = [generator.next_u64(), generator.next_u64()];
        let keys = Keys { key, lifetime: options.key_lifetime };
        Some(Pending { options, keys, waiting: BTreeMap::new(), longest: longest(config) })
    }

    /// Returns the same port with other settings; its key stays.
    pub fn reconfigured(self, config: &Config) -> Option<Pending> {
        let options = config
            .fast_open
            .filter(|options| options.server)
            .unwrap_or(FastOpenOptions { server: false, pending: 0, ..self.options });
        let keys = Keys { lifetime: options.key_lifetime, ..self.keys };
        Some(Pending { options, keys, longest: longest(config), ..self })
    }

    /// There is room for one more.
    pub fn has_room(&mut self, now: Time) -> bool {
        self.waiting.retain(|_, until| *until > now);
        self.waiting.len() < self.options.pending as usize
    }

    /// The secret of the port's cookies, for [`set_fast_open_key`](crate::Connection::set_fast_open_key).
    pub fn key(&self) -> [u64; 2] {
        self.keys.key
    }

    /// A SYN from `client` to `server` opens a connection at once: its cookie is good, or it needs none.
    pub fn opens(&self, now: Time, server: Addr, client: Addr, syn: &TcpSegment) -> bool {
        let check = |option: FastOpenOption| self.keys.check(now, server, client, &option.cookie);
        let verdict = syn.options.fast_open().map(check);
        self.opens_without_cookie(syn) || verdict.is_some_and(|verdict| verdict != Verdict::Wrong)
    }

    /// The SYN needs no cookie.
    pub fn opens_without_cookie(&self, syn: &TcpSegment) -> bool {
        self.options.is_opened_without_cookie(syn)
    }

    /// Counts one more connection that a cookie opened.
    pub fn add(&mut self, now: Time, remote: (Addr, u16)) {
        self.waiting.insert(remote, now.saturating_add(self.longest));
    }

    /// The handshake with this peer is over. One that was reset instead goes on counting: else the
    /// attacker would reset it from another address (§5.1).
    pub fn settle(&mut self, remote: (Addr, u16)) {
        self.waiting.remove(&remote);
    }

    /// Returns how many connections count at present.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no connection counts.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Returns the time from a SYN-ACK to when the connection is given up.
fn longest(config: &Config) -> Span {
    let mut rtt = RttEstimator::new(config.rto);
    (0..=config.syn_ack_retries).fold(Span::ZERO, |sum, _| {
        let timeout = rtt.rto();
        rtt.on_timeout();
        sum + timeout
    })
}

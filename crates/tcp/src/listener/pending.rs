//! Connections that a cookie opened and whose handshake is not over
//! (PendingFastOpenRequests, RFC 7413 §5.1), and how many there may be: an
//! attacker who collected cookies makes no more of them than that.

use crate::config::Config;
use crate::fast_open::{FastOpenOptions, Keys};
use anabranch_endpoint::{Generator, RttEstimator};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, TcpSegment};
use std::collections::BTreeMap;

/// Where Fast Open stands at a listening port.
#[derive(Debug)]
pub(super) struct Pending {
    options: FastOpenOptions,
    pub keys: Keys,
    /// By peer, until when the connection counts.
    waiting: BTreeMap<(Addr, u16), Time>,
    /// How long a handshake can take.
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

    /// There is room for one more.
    pub fn has_room(&mut self, now: Time) -> bool {
        self.waiting.retain(|_, until| *until > now);
        self.waiting.len() < self.options.pending as usize
    }

    /// The SYN needs no cookie.
    pub fn opens_without_cookie(&self, syn: &TcpSegment) -> bool {
        self.options.is_opened_without_cookie(syn)
    }

    /// One more.
    pub fn add(&mut self, now: Time, remote: (Addr, u16)) {
        self.waiting.insert(remote, now.saturating_add(self.longest));
    }

    /// Its handshake is over. One that was reset instead goes on counting: else
    /// the attacker would reset it from another address (§5.1).
    pub fn settle(&mut self, remote: (Addr, u16)) {
        self.waiting.remove(&remote);
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}

/// From a SYN-ACK to when the connection is given up.
fn longest(config: &Config) -> Span {
    let mut rtt = RttEstimator::new(config.rto);
    (0..=config.syn_ack_retries).fold(Span::ZERO, |sum, _| {
        let timeout = rtt.rto();
        rtt.on_timeout();
        sum + timeout
    })
}

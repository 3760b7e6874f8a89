//! Settings may change while an association lives; what sockets share is here, too.

use super::Association;
use crate::config::Config;
use crate::extensions::Extensions;
use crate::paths::mtu_search::MtuSearch;
use anabranch_units::Time;
use std::sync::Arc;

impl Association {
    /// Changes the settings of the association by `change`. Those of the handshake count until it
    /// has begun; of the others timeouts, limits of retransmission, heartbeats, MTU, SACK delay and
    /// Nagle's rule are in force at once. Whatever both sides have agreed on stays.
    pub fn tune(&mut self, now: Time, change: impl FnOnce(&mut Config)) {
        let before = self.config.clone();
        let config = Arc::make_mut(&mut self.config);
        change(config);
        if !self.phase.is_unopened() {
            config.zero_checksum = before.zero_checksum; // RFC 9653 §7.1
        }
        let config = self.config.clone();
        if config.rto != before.rto {
            self.paths.iter_mut().for_each(|path| path.rtt.set_bounds(config.rto));
        }
        if config.mtu != before.mtu {
            for path in 0..self.paths.len() {
                self.paths[path].search = MtuSearch::new(&config);
                self.paths.set_mtu(path, config.first_mtu(), &config);
            }
        }
        if config.outbound_streams != before.outbound_streams && self.phase.is_unopened() {
            self.sender.streams = config.outbound_streams;
        }
        let beats = (config.heartbeat_interval, config.heartbeat_jitter);
        if beats != (before.heartbeat_interval, before.heartbeat_jitter)
            && self.state().is_synchronized()
        {
            for index in 0..self.paths.len() {
                if self.paths[index].probes.is_empty() {
                    self.rest(now, index);
                }
            }
        }
    }

    /// Signs cookies with this key, so that several associations of a host can
    /// open each other's.
    #[must_use]
    pub fn with_cookie_key(mut self, key: [u8; 32]) -> Association {
        self.identity.key = key;
        self
    }

    /// Returns the settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns how many streams the peer may send on.
    pub fn inbound_streams(&self) -> u16 {
        self.receiver.streams
    }

    /// Returns the adaptation code point that the peer gave, if it gave one (RFC 5061 §4.2.6).
    pub fn peer_adaptation(&self) -> Option<u32> {
        self.peer_adaptation
    }

    /// Returns whether messages may be given up, which both sides offered (RFC 3758).
    pub fn gives_up_messages(&self) -> bool {
        self.extensions.has(Extensions::PARTIAL)
    }

    /// Returns whether streams may be changed, which both sides offered (RFC 6525).
    pub fn changes_streams(&self) -> bool {
        self.extensions.has(Extensions::RECONFIGURATION)
    }

    /// Returns whether addresses may be changed, which both sides offered (RFC 5061).
    pub fn changes_addresses(&self) -> bool {
        self.extensions.has(Extensions::ADDRESSES)
    }

    /// Returns the room of the peer's receive buffer as the peer said it last, in octets.
    pub fn peer_window(&self) -> u64 {
        self.sender.window.rwnd()
    }

    /// Returns how many chunks with user data are not acknowledged.
    pub fn unacknowledged_chunks(&self) -> usize {
        self.sender.flight.chunks.len()
    }

    /// Returns whether nothing waits to be sent or acknowledged.
    pub fn is_dry(&self) -> bool {
        self.sender.is_dry()
    }

    /// Returns how many octets of user data fit a packet with one chunk of it.
    pub fn fragmentation_point(&self) -> u32 {
        self.paths.room.payload
    }

    /// Returns the TSN that the next new chunk will have.
    pub fn next_tsn(&self) -> anabranch_units::Serial32 {
        self.sender.next_tsn()
    }

    /// Returns the highest TSN up to which all has arrived from the peer.
    pub fn cumulative_tsn(&self) -> anabranch_units::Serial32 {
        self.receiver.cumulative_tsn()
    }
}

//! An association says more than user data and SACKs: answers, requests, packets of a single chunk,
//! and their authentication are here.
//!
//! | machine | what it owns |
//! |---|---|
//! | [`Waiting`] | control chunks that wait for the next packet, and their route |
//! | [`Outbox`] | packets that are complete |
//! | [`Reconfig`] | requests for changes of streams (RFC 6525) |
//! | [`Addresses`] | changes of addresses (RFC 5061) |
//! | [`Auth`] | keys and HMACs (RFC 4895) |
//! | [`Marks`] | marks of routers that the peer has not heard of |

pub(crate) mod addresses;
pub(crate) mod auth;
mod marks;
mod outbox;
pub(crate) mod reconfig;
mod sha1;
mod waiting;

use crate::route::Route;
use addresses::Addresses;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::Chunk;
use auth::Auth;
use marks::Marks;
use outbox::Outbox;
use reconfig::Reconfig;
use waiting::Waiting;

/// A `Control` is what an association says beside user data and SACKs.
#[derive(Debug)]
pub(crate) struct Control {
    /// `waiting` has the chunks that leave with the next packet.
    pub waiting: Waiting,
    /// `outbox` has the packets that are complete.
    pub outbox: Outbox,
    /// `reconfig` is what changes of streams need, once there was one.
    pub reconfig: Option<Box<Reconfig>>,
    /// `addresses` is what changes of addresses need, once there was one.
    pub addresses: Option<Box<Addresses>>,
    /// `acks` are the ASCONF-ACKs for the packet at hand, which share a packet (RFC 5061 §5.2 E6).
    pub acks: Vec<Chunk>,
    /// `auth` has the keys, where chunks are authenticated.
    pub auth: Option<Box<Auth>>,
    /// `trusted` says that an AUTH chunk of the packet at hand was right.
    pub trusted: bool,
    /// `marks` of routers are those that the peer has not answered.
    pub marks: Marks,
}

impl Control {
    /// `new` makes a state in which nothing is to be said; `arrival` stands for the route of a packet
    /// that has not come yet.
    pub fn new(arrival: Route) -> Control {
        Control {
            waiting: Waiting::new(arrival),
            outbox: Outbox::default(),
            reconfig: None,
            addresses: None,
            acks: Vec::new(),
            auth: None,
            trusted: false,
            marks: Marks::default(),
        }
    }

    /// Returns the date at which the next of its timers expires.
    #[inline]
    pub fn deadline(&self) -> Time {
        let streams = self.reconfig.as_ref().map_or(Time::NEVER, |reconfig| reconfig.deadline());
        match &self.addresses {
            None => streams,
            Some(addresses) => streams.min(addresses.timer.deadline()),
        }
    }

    /// Returns what changes of streams need; the requests of this side and of the peer are numbered
    /// from the initial TSNs `tsns` on.
    pub fn reconfig(&mut self, tsns: (Serial32, Serial32)) -> &mut Reconfig {
        self.reconfig.get_or_insert_with(|| Box::new(Reconfig::starting_at(tsns.0, tsns.1)))
    }

    /// Returns what changes of addresses need, numbered in the same way.
    pub fn addresses(&mut self, tsns: (Serial32, Serial32)) -> &mut Addresses {
        self.addresses.get_or_insert_with(|| Box::new(Addresses::starting_at(tsns.0, tsns.1)))
    }

    /// Returns whether both sides have agreed on keys.
    pub fn authenticates(&self) -> bool {
        self.auth.as_ref().is_some_and(|auth| auth.is_agreed())
    }

    /// Returns the size of the AUTH chunk, where packets have one, in octets; else 0.
    pub fn auth_room(&self) -> u32 {
        self.auth.as_ref().map_or(0, |auth| auth.room())
    }

    /// Begins another association: changes are numbered anew, and keys that were not agreed on are
    /// dropped.
    pub fn begin(&mut self) {
        if !self.authenticates() {
            self.auth = None;
        }
        (self.reconfig, self.addresses) = (None, None);
    }

    /// Ends with the association: nothing is said any more but what is complete.
    pub fn stop(&mut self) {
        self.waiting.clear();
        (self.reconfig, self.addresses) = (None, None);
    }
}

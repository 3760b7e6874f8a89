//! Which of the endpoints that share ports of a host a packet is for.
//!
//! Packets find their endpoint by addresses and ports. A SYN that opens a further
//! subflow of a connection over Multipath TCP comes from an address and a port
//! that nobody knows yet, and names its connection by a token, which no other
//! connection of the host has (RFC 8684 §3.1, §3.2); what follows finds it by
//! addresses and ports, too. What finds nobody is the host's to refuse
//! ([`Packet::refusal`]).
//!
//! Subflows that have ended are swept out when the table has doubled: it grows
//! with those that there are, whatever peers send.

use crate::Endpoint;
use anabranch_wire::{Body, FlowKey, Packet};
use std::collections::BTreeMap;
use std::fmt;

/// A table is not swept with fewer flows.
const LEAST_SWEPT: usize = 64;

/// A table of endpoints, by numbers that are their holder's.
///
/// The holder puts every endpoint in, and gives [`Demux::find`] what looks an
/// endpoint up by its number.
#[derive(Debug, Default)]
pub struct Demux {
    /// By the keys of what they send.
    flows: BTreeMap<FlowKey, u32>,
    tokens: BTreeMap<u32, u32>,
    endpoints: Vec<u32>,
    sweep_at: usize,
}

/// What another endpoint of the table has already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// Both addresses and ports.
    Flow,
    /// The token.
    Token,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Taken::Flow => "another endpoint has these addresses and ports",
            Taken::Token => "another endpoint has this token",
        })
    }
}

impl Demux {
    /// Nobody has the token.
    pub fn is_free(&self, token: u32) -> bool {
        !self.tokens.contains_key(&token)
    }

    /// The endpoint that is known to send packets with this key.
    pub fn owner(&self, flow: FlowKey) -> Option<u32> {
        self.flows.get(&flow).copied()
    }

    /// Puts an endpoint in, before its first packet.
    ///
    /// # Errors
    /// What another endpoint has; then the table is as it was.
    pub fn insert(&mut self, number: u32, endpoint: &impl Endpoint) -> Result<(), Taken> {
        let (flow, token) = (endpoint.flow_key(), endpoint.join_token());
        if self.flows.contains_key(&flow) {
            return Err(Taken::Flow);
        }
        if token.is_some_and(|token| !self.is_free(token)) {
            return Err(Taken::Token);
        }
        self.flows.insert(flow, number);
        self.tokens.extend(token.map(|token| (token, number)));
        self.endpoints.push(number);
        Ok(())
    }

    /// Takes an endpoint out: packets for it are nobody's from now on.
    pub fn remove(&mut self, number: u32) {
        self.flows.retain(|_, it| *it != number);
        self.tokens.retain(|_, it| *it != number);
        self.endpoints.retain(|it| *it != number);
    }

    /// The endpoint that a packet is for, `None` for nobody's.
    pub fn find<'a, E: Endpoint + 'a>(
        &mut self,
        packet: &Packet,
        endpoint: impl Fn(u32) -> &'a E,
    ) -> Option<u32> {
        let (flow, token) = match &packet.body {
            // To whoever sent what it quotes.
            Body::Icmp(icmp) => (icmp.quote.flow_key(), None),
            Body::Tcp(segment) => (packet.flow_key().reversed(), segment.joined_token()),
            _ => (packet.flow_key().reversed(), None),
        };
        let known = self.owner(flow);
        match token {
            // Its own SYN again, or a subflow that has ended since.
            Some(_) if known.is_some_and(|it| endpoint(it).has_flow(flow)) => known,
            Some(token) => {
                let joined = *self.tokens.get(&token)?;
                self.learn(flow, joined, endpoint);
                Some(joined)
            }
            None if known.is_some() => known,
            // An answer to a subflow that an endpoint has opened itself.
            None => {
                let opened = self.endpoints.iter().find(|it| endpoint(**it).has_flow(flow));
                let opened = *opened?;
                self.learn(flow, opened, endpoint);
                Some(opened)
            }
        }
    }

    fn learn<'a, E: Endpoint + 'a>(
        &mut self,
        flow: FlowKey,
        number: u32,
        endpoint: impl Fn(u32) -> &'a E,
    ) {
        if self.flows.len() >= self.sweep_at.max(LEAST_SWEPT) {
            self.flows.retain(|flow, number| endpoint(*number).has_flow(*flow));
            self.sweep_at = 2 * self.flows.len();
        }
        self.flows.insert(flow, number);
    }
}

#[cfg(test)]
mod tests;

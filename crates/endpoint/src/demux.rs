//! Finds the endpoint that a packet is for, among those that share ports of a
//! host.
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

use anabranch_wire::{Body, FlowKey, Packet};
use std::collections::BTreeMap;
use std::fmt;

/// An endpoint that can say which packets are of it. Hosts with several endpoints ask when they
/// bind it to its ports and for packets at ports that several share.
pub trait Demultiplex {
    /// Key of the packets that this endpoint sends; of a transport with several
    /// subflows that of the first.
    fn flow_key(&self) -> FlowKey;

    /// It sends packets with this key: at present, of one with several subflows.
    fn has_flow(&self, key: FlowKey) -> bool {
        self.flow_key() == key
    }

    /// A packet that reached the endpoint's port is of it. TCP looks at both addresses and ports
    /// (RFC 9293 §3.4.1); transports that tell by tags, tokens or paths look when they hear of it.
    /// The host asks before [`handle_input`](crate::Endpoint::handle_input), and answers a packet
    /// that is of nobody.
    #[inline]
    fn accepts(&self, _packet: &Packet) -> bool {
        true
    }

    /// What names it in a SYN that opens a further subflow (RFC 8684 §3.2), of a
    /// transport with several; the same for its whole life.
    fn join_token(&self) -> Option<u32> {
        None
    }
}

/// A table is not swept with fewer flows.
const LEAST_SWEPT: usize = 64;

/// A table of endpoints, by numbers that are their holder's.
///
/// The holder puts every endpoint in, and gives [`Demux::find`] what looks an
/// endpoint up by its number.
#[derive(Debug, Default)]
pub struct Demux {
    /// Endpoints by the addresses and ports of the packets that they send.
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
    /// Another endpoint has this Multipath TCP token.
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
    /// Whether no endpoint in the table has this Multipath TCP token.
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
    pub fn insert(&mut self, number: u32, endpoint: &impl Demultiplex) -> Result<(), Taken> {
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
        self.flows.retain(|_, flow| *flow != number);
        self.tokens.retain(|_, token| *token != number);
        self.endpoints.retain(|endpoint| *endpoint != number);
    }

    /// The endpoint that a packet is for, `None` for nobody's.
    pub fn find<'a, E: Demultiplex + 'a>(
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
            Some(_) if known.is_some_and(|known| endpoint(known).has_flow(flow)) => known,
            Some(token) => {
                let joined = *self.tokens.get(&token)?;
                self.learn(flow, joined, endpoint);
                Some(joined)
            }
            None if known.is_some() => known,
            // An answer to a subflow that an endpoint has opened itself.
            None => {
                let opened = self.endpoints.iter().find(|item| endpoint(**item).has_flow(flow));
                let Some(opened) = opened.copied() else { return self.named(packet, endpoint) };
                self.learn(flow, opened, endpoint);
                Some(opened)
            }
        }
    }

    /// An INIT, INIT ACK or ASCONF from an address that nobody knows is of the association that one
    /// of the addresses in it finds (RFC 9260 §5.1.2 D, RFC 5061 §5.2 D2).
    #[cold]
    fn named<'a, E: Demultiplex + 'a>(
        &self,
        packet: &Packet,
        endpoint: impl Fn(u32) -> &'a E,
    ) -> Option<u32> {
        let Body::Sctp(sctp) = &packet.body else { return None };
        let flow = packet.flow_key().reversed();
        sctp.named_sources().find_map(|dst| {
            let has = |item: &&u32| endpoint(**item).has_flow(FlowKey { dst, ..flow });
            self.endpoints.iter().find(has).copied()
        })
    }

    fn learn<'a, E: Demultiplex + 'a>(
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

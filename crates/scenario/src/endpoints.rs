//! The two endpoints of a flow, from its description.

use crate::custom::placed;
use crate::graph::Graph;
use crate::mobile::{self, Change, MobileAssociation};
use crate::multihoming::{self, Ends};
use crate::schema::{FlowSpec, Ip, Protocol, Workload};
use crate::transport::Transport;
use anabranch_endpoint::{Generator, Seed};
use anabranch_mptcp::Connection as Multipath;
use anabranch_sctp::Association;
use anabranch_sim::{FIRST_TAG, NodeId};
use anabranch_tcp::Connection;
use anabranch_udp::{Framing, Socket};
use anabranch_wire::{Addr, AddressBook, UdpDatagram};
use std::sync::Arc;

/// What the endpoints of all flows of an entry share.
pub(crate) struct EndpointFactory {
    ends: Ends,
    options: Options,
}

enum Options {
    /// TCP, with what makes the Fast Open cookies of the server's host.
    Tcp(Arc<anabranch_tcp::Config>, [u64; 2]),
    /// SCTP, with the values of streams, and what changes of both sides' addresses.
    Sctp(Arc<anabranch_sctp::Config>, Vec<u16>, [Vec<Change>; 2]),
    Mptcp(Arc<anabranch_mptcp::Config>),
    /// UDP, with the payload type of RTP and the ticks of its clock in a packet, of a call.
    Udp(anabranch_udp::Config, Option<(u8, u32)>),
}

impl EndpointFactory {
    /// Makes a factory for the flows of an entry that was checked, between hosts with these
    /// addresses.
    pub(crate) fn new(
        graph: &Graph<'_>,
        flow: &FlowSpec,
        book: &Arc<AddressBook>,
        seed: Seed,
    ) -> EndpointFactory {
        let ends = multihoming::ends(graph, flow, "").expect("checked when it was read");
        let options = match &flow.protocol {
            Protocol::Tcp(config) => {
                let host = graph.owner(ends.server[0]);
                let mut generator = seed.generator(&format!("host {host} fast-open"));
                let key = [generator.next_u64(), generator.next_u64()];
                let mut config = config.as_ref().clone();
                if graph.family(ends.client[0]) == Ip::V6 {
                    config.default_mss = anabranch_tcp::Config::DEFAULT_MSS_V6;
                }
                Options::Tcp(Arc::new(config), key)
            }
            Protocol::Sctp(spec) => {
                let changes = mobile::changes(graph, flow);
                let mut config = spec.config.clone();
                if let Some(authentication) = &mut config.authentication {
                    Arc::make_mut(authentication).book = book.as_ref().clone();
                }
                Options::Sctp(Arc::new(config), spec.stream_values.clone(), changes)
            }
            Protocol::Mptcp(config) => {
                let book = book.clone();
                Options::Mptcp(Arc::new(anabranch_mptcp::Config {
                    book,
                    ..config.as_ref().clone()
                }))
            }
            Protocol::Udp(config) => {
                let rtp = match &flow.workload {
                    Workload::Voip(call) => Some((call.codec.payload_type, call.ticks())),
                    _ => None,
                };
                Options::Udp(config.as_ref().clone(), rtp)
            }
        };
        EndpointFactory { ends, options }
    }

    /// The interfaces of the primary path, by their numbers in the graph.
    pub(crate) fn primary(&self) -> [usize; 2] {
        [self.ends.client[0], self.ends.server[0]]
    }

    /// Returns the IP protocol number of the transport.
    pub(crate) fn protocol(&self) -> u8 {
        match self.options {
            Options::Tcp(..) | Options::Mptcp(_) => 6,
            Options::Sctp(..) => 132,
            Options::Udp(..) => UdpDatagram::PROTOCOL,
        }
    }

    /// Client and server of the flow `name` with these ports; `nodes` are those of the graph, and
    /// `generator` makes the flow's generators by their roles.
    pub(crate) fn endpoints(
        &self,
        name: &str,
        nodes: &[NodeId],
        ports: [u16; 2],
        generator: impl Fn(&str) -> Generator,
    ) -> [Transport; 2] {
        let addr = |interface: &usize| Addr(nodes[*interface].0);
        let [client, server] = [&self.ends.client, &self.ends.server]
            .map(|side| side.iter().map(addr).collect::<Vec<_>>());
        let [of_client, of_server] = ["client", "server"].map(&generator);
        match &self.options {
            Options::Tcp(config, key) => {
                let (here, there) = ((client[0], ports[0]), (server[0], ports[1]));
                let [at_client, at_server] = placed(config, name, &generator);
                let client = Connection::client(at_client, here, there, of_client);
                let mut server = Connection::server(at_server, there, here, of_server);
                server.set_fast_open_key(*key);
                [client.into(), server.into()]
            }
            Options::Mptcp(config) => {
                let (here, there) = ((&client[..], ports[0]), (&server[..], ports[1]));
                let (to, from) = ((server[0], ports[1]), (client[0], ports[0]));
                let [at_client, at_server] = placed(config, name, &generator);
                [
                    Multipath::client(at_client, here, to, of_client).into(),
                    Multipath::server(at_server, there, from, of_server).into(),
                ]
            }
            Options::Udp(config, rtp) => {
                let (here, there) = ((client[0], ports[0]), (server[0], ports[1]));
                let of = |mut generator: Generator| {
                    let framing = rtp.map(|(payload_type, ticks)| {
                        let ssrc = generator.next_u64() as u32;
                        Framing::Rtp { payload_type, ticks, ssrc }
                    });
                    anabranch_udp::Config { framing: framing.unwrap_or_default(), ..config.clone() }
                };
                [
                    Socket::client(of(of_client), here, there, FIRST_TAG).into(),
                    Socket::server(of(of_server), there, here, FIRST_TAG).into(),
                ]
            }
            Options::Sctp(config, values, changes) => {
                let (here, there) = ((&client[..], ports[0]), (&server[..], ports[1]));
                let [from_client, from_server] = [&self.ends.from_client, &self.ends.from_server]
                    .map(|pairs| pairs.iter().map(|(to, own)| (addr(to), addr(own))).collect());
                let (from_client, from_server): (Vec<_>, Vec<_>) = (from_client, from_server);
                let finish = |mut association: Association, changes: &[Change]| {
                    for (stream, value) in (0..).zip(values) {
                        association.set_stream_value(stream, *value);
                    }
                    if changes.is_empty() {
                        return association.into();
                    }
                    let changes =
                        changes.iter().map(|change| (change.0, change.1, addr(&change.2)));
                    MobileAssociation::new(association, changes).into()
                };
                let [at_client, at_server] = placed(config, name, &generator);
                let client = Association::client(at_client, here, there, of_client)
                    .with_sources(&from_client);
                let server = Association::server(at_server, there, here, of_server)
                    .with_sources(&from_server);
                [finish(client, &changes[0]), finish(server, &changes[1])]
            }
        }
    }
}

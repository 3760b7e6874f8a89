//! sctp-proto 0.10.8.

use crate::{End, PACKET, RECEIVE_BUFFER};
use bytes::Bytes;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event,
    Payload, PayloadProtocolIdentifier, ServerConfig, TransportConfig,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Side {
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
    peer: SocketAddr,
    base: Instant,
    out: VecDeque<Vec<u8>>,
    up: bool,
    stream: bool,
}

impl Side {
    fn at(&self, nanos: u64) -> Instant {
        self.base + Duration::from_nanos(nanos)
    }
    fn push(out: &mut VecDeque<Vec<u8>>, payload: Payload) {
        if let Payload::RawEncode(packets) = payload {
            out.extend(packets.into_iter().map(Vec::from));
        }
    }
}

impl End for Side {
    fn advance(&mut self, now: u64) {
        let now = self.at(now);
        if let Some((_, association)) = &mut self.association {
            association.handle_timeout(now);
        }
    }
    fn input(&mut self, now: u64, packet: Vec<u8>) {
        let now = self.at(now);
        match self.endpoint.handle(now, self.peer, None, None, Bytes::from(packet)) {
            Some((_, DatagramEvent::AssociationEvent(event))) => {
                if let Some((_, association)) = &mut self.association {
                    association.handle_event(event);
                }
            }
            Some((handle, DatagramEvent::NewAssociation(association))) => {
                self.association = Some((handle, association));
            }
            None => {}
        }
    }
    fn output(&mut self, now: u64) -> Option<Vec<u8>> {
        if let Some(packet) = self.out.pop_front() {
            return Some(packet);
        }
        let now = self.at(now);
        while let Some(transmit) = self.endpoint.poll_transmit() {
            Side::push(&mut self.out, transmit.payload);
        }
        if let Some((handle, association)) = &mut self.association {
            while let Some(event) = association.poll_endpoint_event() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    association.handle_event(event);
                }
            }
            while let Some(event) = association.poll() {
                self.up |= matches!(event, Event::Connected);
            }
            while let Some(transmit) = association.poll_transmit(now) {
                Side::push(&mut self.out, transmit.payload);
            }
        }
        self.out.pop_front()
    }
    fn timeout(&self) -> Option<u64> {
        let due = self.association.as_ref()?.1.poll_timeout()?;
        Some(due.saturating_duration_since(self.base).as_nanos() as u64)
    }
    fn is_up(&self) -> bool {
        self.up
    }
    fn send(&mut self, message: &[u8]) -> bool {
        let Some((_, association)) = &mut self.association else { return false };
        if !std::mem::replace(&mut self.stream, true) {
            association.open_stream(0, PayloadProtocolIdentifier::Binary).expect("a stream");
        }
        let mut stream = association.stream(0).expect("it is open");
        stream.write_with_ppi(message, PayloadProtocolIdentifier::Binary).is_ok()
    }
    fn receive(&mut self) -> Option<usize> {
        let (_, association) = self.association.as_mut()?;
        let chunks = association.stream(0).ok()?.read().ok()??;
        let mut octets = vec![0; chunks.len()];
        chunks.read(&mut octets).ok()
    }
}

pub fn ends() -> [Box<dyn End>; 2] {
    let transport =
        Arc::new(TransportConfig::default().with_max_receive_buffer_size(RECEIVE_BUFFER));
    let mut endpoint = EndpointConfig::new();
    endpoint.max_payload_size(PACKET as u32 - 28);
    let endpoint = Arc::new(endpoint);
    let mut server = ServerConfig::default();
    server.transport = transport.clone();
    let addr = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let base = Instant::now();
    let mut caller = Endpoint::new(endpoint.clone(), None);
    let mut config = ClientConfig::default();
    config.transport = transport;
    let association = caller.connect(config, addr(2)).expect("it is free");
    let side = |endpoint, association, peer| Side {
        endpoint,
        association,
        peer,
        base,
        out: VecDeque::new(),
        up: false,
        stream: false,
    };
    let answerer = Endpoint::new(endpoint, Some(Arc::new(server)));
    [side(caller, Some(association), addr(2)), side(answerer, None, addr(1))]
        .map(|side| Box::new(side) as Box<dyn End>)
}

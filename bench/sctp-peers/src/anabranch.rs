//! This project's association. Packets go through IPv4 too.

use crate::{End, PACKET, RECEIVE_BUFFER};
use anabranch_endpoint::{ByteStream, Endpoint, Seed};
use anabranch_sctp::{Association, Config, Message, State};
use anabranch_units::Time;
use anabranch_wire::{Addr, AddressBook, Packet, Payload};
use std::sync::Arc;

struct Side {
    association: Association,
    book: AddressBook,
}

fn at(nanos: u64) -> Time {
    Time::from_picos(nanos * 1000)
}

impl End for Side {
    fn advance(&mut self, now: u64) {
        self.association.handle_timeout(at(now));
    }
    fn input(&mut self, now: u64, packet: Vec<u8>) {
        let packet = Packet::parse(&packet, &self.book).expect("it was emitted");
        self.association.handle_input(at(now), &packet);
    }
    fn output(&mut self, now: u64) -> Option<Vec<u8>> {
        while self.association.poll_event().is_some() {}
        let packet = self.association.poll_transmit(at(now))?;
        let mut wire = Vec::with_capacity(PACKET + 20);
        packet.emit(&self.book, &mut wire).expect("it fits");
        Some(wire)
    }
    fn timeout(&self) -> Option<u64> {
        let due = self.association.poll_timeout();
        (due != Time::NEVER).then(|| due.as_picos().div_ceil(1000))
    }
    fn is_up(&self) -> bool {
        self.association.state() == State::Established
    }
    fn send(&mut self, message: &[u8]) -> bool {
        self.association.send(Message::new(0, Payload::of_octets(message))).is_ok()
    }
    fn receive(&mut self) -> Option<usize> {
        self.association.receive().map(|message| message.payload.len() as usize)
    }
}

pub fn ends() -> [Box<dyn End>; 2] {
    let config =
        Config { mtu: PACKET as u32 + 20, receive_buffer: RECEIVE_BUFFER, ..Config::rfc9260() };
    let config = Arc::new(config);
    let (a, b, seed) = ([Addr(0)], [Addr(1)], Seed::default());
    let generator = |name| seed.generator(name);
    let mut client = Association::client(config.clone(), (&a, 1), (&b, 2), generator("client"));
    client.connect(Time::ZERO);
    let server = Association::server(config, (&b, 2), (&a, 1), generator("server"));
    [client, server]
        .map(|association| Box::new(Side { association, book: AddressBook::new() }) as Box<dyn End>)
}

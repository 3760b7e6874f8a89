//! The loop of a host that has one endpoint, and a thread to wait for its packets.

use crate::{Endpoint, Event};
use anabranch_units::Time;
use anabranch_wire::Packet;
use std::io;

/// What such a host has besides its endpoint: a clock, and a way for packets.
///
/// Sockets, devices and threads are the host's own; this says when they are asked.
pub trait Wire {
    /// The date, which never decreases.
    fn now(&self) -> Time;

    /// Sends a packet. What is lost is for the endpoint to find out.
    ///
    /// # Errors
    /// Those after which the host gives up.
    fn send(&mut self, packet: Packet) -> io::Result<()>;

    /// Waits for the next packet, until a date at most: [`Time::NEVER`] is as long as it takes.
    /// Nothing may come sooner, too.
    ///
    /// # Errors
    /// Those after which the host gives up.
    fn receive(&mut self, until: Time) -> io::Result<Option<Packet>>;
}

/// Sends what is due, waits for the next packet or deadline, and returns what has happened, which
/// may be nothing. The application answers it by commands, before the next turn.
///
/// The events that there are already are returned without waiting. With [`Event::Closed`], the last
/// one, what ends the peer's side has been sent, too.
///
/// # Errors
/// Those of the wire.
pub fn turn(endpoint: &mut impl Endpoint, wire: &mut impl Wire) -> io::Result<Vec<Event>> {
    transmit(endpoint, wire)?;
    let mut events = events(endpoint);
    if events.is_empty() {
        let packet = wire.receive(endpoint.poll_timeout())?;
        let now = wire.now();
        if let Some(packet) = packet {
            endpoint.handle_input(now, &packet);
        }
        endpoint.handle_timeout(now);
        events = self::events(endpoint);
    }
    if events.iter().any(|event| matches!(event, Event::Closed(_))) {
        transmit(endpoint, wire)?;
    }
    Ok(events)
}

fn transmit(endpoint: &mut impl Endpoint, wire: &mut impl Wire) -> io::Result<()> {
    while let Some(packet) = endpoint.poll_transmit(wire.now()) {
        wire.send(packet)?;
    }
    Ok(())
}

fn events(endpoint: &mut impl Endpoint) -> Vec<Event> {
    std::iter::from_fn(|| endpoint.poll_event()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CloseReason;
    use anabranch_units::Span;
    use anabranch_wire::{Addr, Body, UdpDatagram};
    use std::collections::VecDeque;

    /// Tells what it was asked, with dates in milliseconds.
    #[derive(Default)]
    struct Told {
        transmits: VecDeque<Packet>,
        events: VecDeque<Event>,
        due: Option<u64>,
        log: Vec<String>,
    }

    impl Endpoint for Told {
        fn handle_input(&mut self, now: Time, _: &Packet) {
            self.log.push(format!("input at {}", now.as_millis()));
            self.transmits.push_back(packet());
            self.events.push_back(Event::Closed(CloseReason::Normal));
        }

        fn handle_timeout(&mut self, now: Time) {
            self.log.push(format!("timeout at {}", now.as_millis()));
        }

        fn poll_transmit(&mut self, _: Time) -> Option<Packet> {
            self.transmits.pop_front()
        }

        fn poll_event(&mut self) -> Option<Event> {
            self.events.pop_front()
        }

        fn poll_timeout(&self) -> Time {
            self.due.map_or(Time::NEVER, at)
        }
    }

    /// A wire over which a packet comes at a date.
    struct Line {
        now: Time,
        comes: Option<Time>,
        sent: usize,
    }

    impl Wire for Line {
        fn now(&self) -> Time {
            self.now
        }

        fn send(&mut self, _: Packet) -> io::Result<()> {
            self.sent += 1;
            Ok(())
        }

        fn receive(&mut self, until: Time) -> io::Result<Option<Packet>> {
            let comes = self.comes.take_if(|date| *date <= until);
            self.now = comes.unwrap_or(until);
            Ok(comes.map(|_| packet()))
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn packet() -> Packet {
        Packet::new(Addr(0), Addr(1), Body::Udp(UdpDatagram::of_octets(1, 2, b"x")))
    }

    #[test]
    fn what_is_due_leaves_before_the_wait_and_what_ends_the_peer_after_it() {
        let mut endpoint = Told { due: Some(5), ..Told::default() };
        endpoint.transmits.extend([packet(), packet()]);
        let mut line = Line { now: Time::ZERO, comes: Some(at(7)), sent: 0 };
        assert_eq!(turn(&mut endpoint, &mut line).unwrap(), []);
        assert_eq!((line.sent, &*endpoint.log), (2, &["timeout at 5".to_owned()][..]));
        endpoint.due = None;
        let closed = Event::Closed(CloseReason::Normal);
        assert_eq!(turn(&mut endpoint, &mut line).unwrap(), [closed]);
        assert_eq!(endpoint.log[1..], ["input at 7", "timeout at 7"]);
        assert_eq!(line.sent, 3);
    }

    #[test]
    fn events_that_are_there_are_not_waited_for() {
        let mut endpoint = Told::default();
        endpoint.events.extend([Event::Connected, Event::Readable]);
        let mut line = Line { now: at(3), comes: None, sent: 0 };
        assert_eq!(turn(&mut endpoint, &mut line).unwrap(), [Event::Connected, Event::Readable]);
        assert!(endpoint.log.is_empty() && line.now == at(3));
    }

    #[test]
    fn reasons_are_errors_of_sockets() {
        assert!(CloseReason::Normal.into_result().is_ok());
        for (reason, kind) in [
            (CloseReason::Reset, io::ErrorKind::ConnectionReset),
            (CloseReason::Refused, io::ErrorKind::ConnectionRefused),
            (CloseReason::TimedOut, io::ErrorKind::TimedOut),
            (CloseReason::Aborted, io::ErrorKind::ConnectionAborted),
        ] {
            assert_eq!(reason.into_result().unwrap_err().kind(), kind);
        }
    }
}

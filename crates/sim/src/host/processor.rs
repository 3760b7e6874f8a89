//! The processor of a host: one packet at a time, to its end; what a host
//! sends goes before what it has received and not yet looked at, so that an
//! answer leaves before the next packet is taken up, as in a kernel that
//! handles each packet to its end. What takes no time does not wait.

use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use std::collections::VecDeque;

/// A packet that the processor is done with.
#[derive(Debug)]
pub(super) enum Done {
    Received(Packet),
    Sent(Packet),
}

#[derive(Debug)]
pub(super) struct Processor {
    receive: Span,
    send: Span,
    received: VecDeque<Packet>,
    sent: VecDeque<Packet>,
    /// The packet that is being processed, and until when.
    current: Option<(Time, Done)>,
    /// Time at which the next packet is chosen, while nothing is being processed.
    choose_at: Time,
}

impl Processor {
    pub(super) fn new(receive: Span, send: Span) -> Processor {
        let (received, sent) = (VecDeque::new(), VecDeque::new());
        Processor { receive, send, received, sent, current: None, choose_at: Time::ZERO }
    }

    /// A packet came; false when that takes no time.
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) -> bool {
        if self.receive == Span::ZERO {
            return false;
        }
        self.wake(now);
        self.received.push_back(packet.clone());
        true
    }

    /// A packet goes; it comes back when that takes no time.
    pub(super) fn send(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        if self.send == Span::ZERO {
            return Some(packet);
        }
        self.wake(now);
        self.sent.push_back(packet);
        None
    }

    /// Returns when to call [`Processor::take_done`]; [`Time::NEVER`] while it is idle.
    pub(super) fn due(&self) -> Time {
        match &self.current {
            Some((until, _)) => *until,
            None if self.is_idle() => Time::NEVER,
            None => self.choose_at,
        }
    }

    /// The packet that is done now, or else chooses the next one.
    pub(super) fn take_done(&mut self, now: Time) -> Option<Done> {
        if let Some((_, done)) = self.current.take_if(|current| current.0 <= now) {
            self.choose_at = now;
            return Some(done);
        }
        if self.current.is_none() {
            let sent = self.sent.pop_front().map(|sent| (self.send, Done::Sent(sent)));
            let next =
                sent.or_else(|| Some((self.receive, Done::Received(self.received.pop_front()?))));
            self.current = next.map(|(time, done)| (now.saturating_add(time), done));
        }
        None
    }

    fn wake(&mut self, now: Time) {
        if self.is_idle() {
            self.choose_at = now;
        }
    }

    /// Whether no packet waits.
    fn is_idle(&self) -> bool {
        self.received.is_empty() && self.sent.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::{Addr, Body, Payload};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn packet(len: u32) -> Packet {
        let body = Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
        Packet::new(Addr(1), Addr(2), body)
    }

    /// Runs until `end`; what was done, when.
    fn run(processor: &mut Processor, end: Time) -> Vec<(Time, &'static str, u32)> {
        let mut all = Vec::new();
        while processor.due() <= end {
            let date = processor.due();
            match processor.take_done(date) {
                Some(Done::Received(packet)) => all.push((date, "received", packet.payload_len())),
                Some(Done::Sent(packet)) => all.push((date, "sent", packet.payload_len())),
                None => {}
            }
        }
        all
    }

    /// Received at 0 and 10, sent at 15; 20 us to receive, 5 us to send.
    #[test]
    fn answers_leave_before_the_next_packet_is_taken_up() {
        let mut processor = Processor::new(Span::from_micros(20), Span::from_micros(5));
        assert!(processor.receive(at(0), &packet(1)));
        assert_eq!(run(&mut processor, at(9)), []);
        assert!(processor.receive(at(10), &packet(2)));
        assert!(processor.send(at(15), packet(3)).is_none());
        assert_eq!(run(&mut processor, at(19)), []);
        let expected = [(at(20), "received", 1), (at(25), "sent", 3), (at(45), "received", 2)];
        assert_eq!(run(&mut processor, at(1000)), expected);
        assert_eq!(processor.due(), Time::NEVER);
        // After idle time it begins when something comes.
        assert!(processor.send(at(2000), packet(4)).is_none());
        assert_eq!(run(&mut processor, at(3000)), [(at(2005), "sent", 4)]);
    }

    #[test]
    fn what_takes_no_time_does_not_wait() {
        let mut processor = Processor::new(Span::from_micros(20), Span::ZERO);
        assert!(processor.receive(at(0), &packet(1)));
        assert!(processor.send(at(2), packet(2)).is_some());
        let mut found = Processor::new(Span::ZERO, Span::from_micros(20));
        assert!(found.send(at(0), packet(1)).is_none());
        assert!(!found.receive(at(2), &packet(2)));
    }
}

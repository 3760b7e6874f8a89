//! A run as text, a line for each step: packets as tcpdump shows them, when they arrive,
//! with what went wrong; timers; and what applications hear.

mod sctp;
mod tcp;

use crate::choice::Fault;
use crate::network::Flying;
use crate::world::NAMES;
use anabranch_endpoint::Event;
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Body, Ecn, FlowKey, Packet};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What happened, line by line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    text: String,
    /// First sequence numbers, from which the others are counted.
    origins: BTreeMap<FlowKey, Serial32>,
    tsns: sctp::Origins,
}

impl Trace {
    pub fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, number: Option<u16>, now: Time, text: &str) {
        let number = number.map_or(String::new(), |number| number.to_string());
        let micros = now.as_nanos() / 1000;
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        writeln!(self.text, "{number:>4} {seconds:>3}.{rest:06} {text}").expect("text can grow");
    }

    /// A packet arrives, or what the fault makes of it.
    pub fn packet(
        &mut self,
        number: u16,
        now: Time,
        flying: &Flying,
        fault: Option<Fault>,
        is_lost: bool,
    ) {
        let mut text = format!("{} > {}: ", NAMES[1 - flying.to], NAMES[flying.to]);
        text += &self.show(&flying.packet, 1 - flying.to);
        if flying.path > 0 {
            write!(text, ", path {}", flying.path).expect("text can grow");
        }
        let late = now.saturating_since(flying.sent);
        write!(text, " (after {} ms)", late.as_millis()).expect("text can grow");
        if let Some(fault) = fault {
            write!(text, "   <== {fault}").expect("text can grow");
        } else if is_lost {
            text += "   lost: the path is down";
        }
        self.line(Some(number), now, &text);
    }

    /// A timer of an endpoint fires, or is late.
    pub fn timer(&mut self, number: u16, now: Time, side: usize, is_late: bool) {
        let late = if is_late { "   <== late" } else { "" };
        self.line(Some(number), now, &format!("{}: timer{late}", NAMES[side]));
    }

    /// An application reads on its own date.
    pub fn reading(&mut self, number: u16, now: Time, side: usize) {
        self.line(Some(number), now, &format!("{}: the application reads", NAMES[side]));
    }

    /// An application hears an event.
    pub fn event(&mut self, now: Time, side: usize, event: Event) {
        self.line(None, now, &format!("{}: {event:?}", NAMES[side]));
    }

    fn show(&mut self, packet: &Packet, from: usize) -> String {
        let ecn = match packet.ecn {
            Ecn::NotEct => "",
            Ecn::Ect0 => "ECT(0) ",
            Ecn::Ect1 => "ECT(1) ",
            Ecn::Ce => "CE ",
        };
        let body = match &packet.body {
            Body::Tcp(segment) => {
                let flow = packet.flow_key();
                let seq = *self.origins.entry(flow).or_insert(segment.seq);
                let ack = *self.origins.get(&flow.reversed()).unwrap_or(&segment.ack);
                tcp::show(segment, seq, ack)
            }
            Body::Sctp(sctp) => sctp::show(sctp, from, &mut self.tsns),
            _ => format!("{:?}", packet.body),
        };
        format!("{ecn}{body}")
    }
}

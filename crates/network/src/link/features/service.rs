//! Serves the queue of a link with features: first in, first out with departures known on arrival,
//! or by a discipline that holds the packets.

use super::super::base::Count;
use super::super::fifo::Fifo;
use super::super::held::Held;
use crate::config::LinkConfig;
use crate::queue::{Discipline, Line, Waiting};
use crate::transmitter::{Transmitter, TransmitterConfig};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Time};

/// `Service` is the queue and what transmits.
#[derive(Debug)]
pub(super) enum Service {
    /// Departures are computed when packets come.
    Fifo(Fifo),
    /// The discipline is asked for a packet whenever the transmitter is free.
    Held(Held),
}

impl Service {
    /// Builds what a configuration asks for.
    pub(super) fn new(config: &LinkConfig, generator: Generator) -> Service {
        let transmitter = config.transmitter.build(config.rate);
        let line = Line { rate: config.rate, mtu: config.mtu };
        let discipline = match config.transmitter {
            TransmitterConfig::Explicit | TransmitterConfig::Cells => {
                config.queue.build_held(line, generator)
            }
            _ => config.queue.build(line, generator),
        };
        let pulled = config.transmitter == TransmitterConfig::Cells;
        match discipline {
            Discipline::Fifo(aqm) => Service::Fifo(Fifo::new(aqm, transmitter)),
            Discipline::Held(scheduler) => Service::Held(Held::new(scheduler, transmitter, pulled)),
        }
    }

    /// Returns when the discipline is asked next; never where departures are known on arrival.
    pub(super) fn serves_at(&self) -> Time {
        match self {
            Service::Fifo(_) => Time::NEVER,
            Service::Held(held) => held.serve_at,
        }
    }

    /// Returns what waits for the transmitter.
    pub(super) fn waiting(&mut self, now: Time) -> Waiting {
        match self {
            Service::Fifo(fifo) => fifo.waiting(now),
            Service::Held(held) => held.waiting,
        }
    }

    /// Returns how many packets are held that are not on their way.
    pub(super) fn held(&self) -> Count {
        match self {
            Service::Fifo(_) => Count::default(),
            Service::Held(held) => {
                Count { packets: held.waiting.packets, octets: held.waiting.octets }
            }
        }
    }

    /// Returns what sends the packets.
    fn transmitter(&self) -> &Transmitter {
        match self {
            Service::Fifo(fifo) => fifo.transmitter(),
            Service::Held(held) => held.transmitter(),
        }
    }

    /// Returns the rate at `now`: see [`Link::rate_at`](super::super::Link::rate_at).
    pub(super) fn rate_at(&self, now: Time) -> Option<Rate> {
        self.transmitter().rate_at(now)
    }

    /// Returns when so much has drained: see [`Link::drains_at`](super::super::Link::drains_at).
    pub(super) fn drains_at(&self, now: Time, octets: u64) -> Time {
        let transmitter = self.transmitter();
        match transmitter.rate_at(now) {
            None => transmitter.ready(now),
            Some(rate) => now.saturating_add(rate.time_for(Bytes(octets))),
        }
    }

    /// Takes a granted rate: see [`Link::grant`](super::super::Link::grant).
    pub(super) fn grant(&mut self, from: Time, rate: Rate) {
        if let Service::Held(held) = self {
            held.grant(from, rate);
        }
    }

    /// Returns whether a packet waits or is being sent: see
    /// [`Link::is_sending`](super::super::Link::is_sending).
    pub(super) fn is_sending(&self, now: Time) -> bool {
        matches!(self, Service::Held(held) if held.is_sending(now))
    }

    /// Returns whether packets wait for a virtual channel that asks for them.
    pub(super) fn calls(&self) -> bool {
        matches!(self, Service::Held(held) if held.calls())
    }
}

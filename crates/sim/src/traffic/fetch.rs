//! A client that decides during the run what it asks for, and the server that answers: a video at an
//! adaptive bit rate, and pages whose objects depend on each other.
//!
//! All requests are of one length. How long a response is the client tells the server beside the
//! network, as the text of a request would; the server answers when the octets of the request have
//! come, one response after the other in the order of the requests.

mod load;

use anabranch_endpoint::Generator;
use anabranch_media::video::{Player, VideoSpec, VideoSummary};
use anabranch_units::Time;
use load::Loader;
pub use load::{LoadSpec, LoadSummary, Object};
use std::collections::VecDeque;

/// A report on what a client asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FetchReport {
    /// The watching of a video.
    Video(VideoSummary),
    /// The loads of a page.
    Load(LoadSummary),
}

/// The client with what it has asked for.
#[derive(Debug)]
pub(super) struct Fetch {
    kind: Kind,
    /// Octets of each request.
    request: u64,
    /// Octets of responses, asked for and not yet told to the server.
    orders: Vec<u64>,
    /// Responses that are not complete: the object of each, and the octets received when it will
    /// be.
    awaited: VecDeque<(usize, u64)>,
    /// Octets of all responses asked for.
    asked: u64,
}

#[derive(Debug)]
enum Kind {
    Video(Box<Player>),
    Load(Loader),
}

impl Fetch {
    pub(super) fn video(request: u64, spec: &VideoSpec) -> Fetch {
        Fetch::new(request, Kind::Video(Box::new(Player::new(spec.clone()))))
    }

    pub(super) fn load(spec: &std::sync::Arc<LoadSpec>) -> Fetch {
        Fetch::new(spec.request, Kind::Load(Loader::new(spec.clone())))
    }

    fn new(request: u64, kind: Kind) -> Fetch {
        Fetch { kind, request, orders: Vec::new(), awaited: VecDeque::new(), asked: 0 }
    }

    pub(super) fn start(&mut self, now: Time) {
        if let Kind::Video(player) = &mut self.kind {
            player.start(now);
        }
    }

    /// Octets of the responses asked for since the last call.
    pub(super) fn take_orders(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.orders)
    }

    /// A date has come: octets of the requests that are made, and the next date.
    pub(super) fn step(&mut self, at: Time) -> (u64, Time) {
        match &mut self.kind {
            Kind::Video(player) => {
                let octets = player.ask(at);
                self.ask(0, octets);
                (self.request, Time::NEVER)
            }
            Kind::Load(loader) => {
                let (ready, due) = loader.ready(at);
                let requests = ready.len() as u64;
                ready.into_iter().for_each(|(object, octets)| self.ask(object, octets));
                (requests * self.request, due)
            }
        }
    }

    fn ask(&mut self, object: usize, octets: u64) {
        self.asked += octets;
        self.awaited.push_back((object, self.asked));
        self.orders.push(octets);
    }

    /// Takes the octets of responses that have come in all, and returns the next date.
    pub(super) fn on_received(
        &mut self,
        now: Time,
        received: u64,
        generator: &mut Generator,
    ) -> Time {
        let mut due = Time::NEVER;
        while let Some((object, end)) = self.awaited.front().copied()
            && end <= received
        {
            self.awaited.pop_front();
            match &mut self.kind {
                Kind::Video(player) => due = player.on_segment(now).unwrap_or(Time::NEVER),
                Kind::Load(loader) => loader.on_object(now, object, generator),
            }
        }
        match &self.kind {
            Kind::Video(_) => due,
            Kind::Load(loader) => loader.due(),
        }
    }

    /// Returns for each page when it was begun, and when it was complete; empty for a video.
    pub(super) fn loads(&self) -> &[(Time, Option<Time>)] {
        match &self.kind {
            Kind::Video(_) => &[],
            Kind::Load(loader) => loader.loads(),
        }
    }

    pub(super) fn report(&self, now: Time) -> FetchReport {
        match &self.kind {
            Kind::Video(player) => FetchReport::Video(player.summary(now)),
            Kind::Load(loader) => FetchReport::Load(loader.summary()),
        }
    }
}

/// The server with what it has to answer.
#[derive(Debug)]
pub(super) struct Server {
    request: u64,
    orders: VecDeque<u64>,
    answered: u64,
}

impl Server {
    pub(super) fn new(request: u64) -> Server {
        Server { request, orders: VecDeque::new(), answered: 0 }
    }

    pub(super) fn order(&mut self, octets: Vec<u64>) {
        self.orders.extend(octets);
    }

    /// Takes the octets of requests that have come in all, and returns the octets of the responses
    /// that follow.
    pub(super) fn on_received(&mut self, received: u64) -> u64 {
        let mut octets = 0;
        while self.answered < received / self.request
            && let Some(order) = self.orders.pop_front()
        {
            self.answered += 1;
            octets += order;
        }
        octets
    }
}

#[cfg(test)]
mod tests;

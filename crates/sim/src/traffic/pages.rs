//! Web pages over one connection: a main object, then the objects that it
//! names, then a time to read. Objects are asked for all at once, as HTTP/2
//! does over its streams, or one after the other, as HTTP/1.1 does. The server
//! answers in the order of the requests.
//!
//! Both sides draw the same sizes from generators of the same seed, so that
//! nobody has to tell the other how long a response is.

use super::Duration;
use crate::Sizes;
use anabranch_endpoint::Generator;
use std::collections::VecDeque;

/// The number of objects of a page besides the main one.
#[derive(Clone, PartialEq, Debug)]
pub enum Objects {
    /// That many objects in each page.
    Exactly(u32),
    /// Drawn for each page; a law of sizes whose unit is one object.
    Drawn(Sizes),
}

/// Description of the pages of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct PageSpec {
    /// Octets of each request.
    pub request: Sizes,
    /// Octets of the main object.
    pub main: Sizes,
    /// Number of objects that follow the main one.
    pub objects: Objects,
    /// Octets of each of them.
    pub object: Sizes,
    /// Pages in all; `None` until the flow stops.
    pub count: Option<u64>,
    /// Time between a whole page and the request for the next.
    pub think: Duration,
    /// All objects of a page are asked for at once.
    pub pipelined: bool,
}

/// Most objects of a page, whatever its law draws.
pub const MOST_OBJECTS: u64 = 10_000;

/// The pages of a flow: what both sides know of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Pages {
    spec: PageSpec,
    sizes_seed: u64,
    pub(super) think_seed: u64,
    /// Octets of all requests and of all responses, `u64::MAX` without end.
    totals: [u64; 2],
}

impl Pages {
    /// Pages whose sizes and times to think come from these seeds.
    pub fn new(spec: PageSpec, sizes_seed: u64, think_seed: u64) -> Pages {
        let mut pages = Pages { spec, sizes_seed, think_seed, totals: [u64::MAX; 2] };
        if let Some(count) = pages.spec.count {
            let mut draws = pages.draws();
            let mut totals = [0_u64; 2];
            for exchange in (0..count).flat_map(|_| draws.page(&pages.spec)) {
                totals[0] = totals[0].saturating_add(exchange.request);
                totals[1] = totals[1].saturating_add(exchange.response);
            }
            pages.totals = totals;
        }
        pages
    }

    /// Octets of all requests.
    pub(super) fn requests(&self) -> u64 {
        self.totals[0]
    }

    /// Octets of all responses.
    pub(super) fn responses(&self) -> u64 {
        self.totals[1]
    }

    /// Returns the time to read a page.
    pub(super) fn think(&self) -> Duration {
        self.spec.think
    }

    fn draws(&self) -> Draws {
        Draws(Generator::from_u64(self.sizes_seed))
    }
}

/// A request and its response, in octets.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Exchange {
    request: u64,
    response: u64,
}

/// The pages as they are drawn, one after the other.
#[derive(Debug)]
struct Draws(Generator);

impl Draws {
    /// The exchanges of the next page, that of the main object first.
    fn page(&mut self, spec: &PageSpec) -> VecDeque<Exchange> {
        let generator = &mut self.0;
        let main =
            Exchange { request: spec.request.draw(generator), response: spec.main.draw(generator) };
        let objects = match &spec.objects {
            Objects::Exactly(count) => u64::from(*count),
            Objects::Drawn(law) => law.draw(generator).min(MOST_OBJECTS),
        };
        let mut page = VecDeque::from([main]);
        page.extend((0..objects).map(|_| Exchange {
            request: spec.request.draw(generator),
            response: spec.object.draw(generator),
        }));
        page
    }
}

/// One side of the pages at work.
#[derive(Debug)]
pub(super) struct Visit {
    draws: Draws,
    /// What was not asked for, or not answered, of the page at hand.
    left: VecDeque<Exchange>,
    /// Octets of the peer that the next step waits for.
    awaited: u64,
}

impl Visit {
    pub(super) fn new(pages: &Pages) -> Visit {
        Visit { draws: pages.draws(), left: VecDeque::new(), awaited: 0 }
    }

    /// The client asks for the next page: octets of its request.
    pub(super) fn open(&mut self, pages: &Pages) -> u64 {
        self.left = self.draws.page(&pages.spec);
        self.ask(1)
    }

    /// The client has so many octets of responses: what it asks for now, or
    /// `None` when that was the last of the page.
    pub(super) fn on_responses(&mut self, pages: &Pages, received: u64) -> Option<u64> {
        if received < self.awaited {
            return Some(0);
        }
        if self.left.is_empty() {
            return None;
        }
        Some(self.ask(if pages.spec.pipelined { self.left.len() } else { 1 }))
    }

    fn ask(&mut self, count: usize) -> u64 {
        let asked = self.left.drain(..count);
        asked.fold(0, |octets, exchange| {
            self.awaited = self.awaited.saturating_add(exchange.response);
            octets + exchange.request
        })
    }

    /// The server has so many octets of requests: what it answers now. It knows
    /// the pages that were not asked for yet, and waits for their requests.
    pub(super) fn on_requests(&mut self, pages: &Pages, received: u64) -> u64 {
        let mut octets = 0;
        loop {
            let next = match self.left.front() {
                Some(next) => *next,
                None => {
                    self.left = self.draws.page(&pages.spec);
                    continue;
                }
            };
            if received < self.awaited + next.request {
                return octets;
            }
            self.awaited += next.request;
            octets += next.response;
            self.left.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DurationLaw, Source, Traffic};
    use super::*;
    use anabranch_units::{Span, Time};
    use std::sync::Arc;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn fixed(mean: u64) -> Sizes {
        Sizes::Constant { mean }
    }

    /// Pages of 1000 octets with two objects of 300, requests of 100; 50 ms to
    /// read.
    fn spec(pipelined: bool) -> PageSpec {
        PageSpec {
            request: fixed(100),
            main: fixed(1000),
            objects: Objects::Exactly(2),
            object: fixed(300),
            count: Some(2),
            think: Duration { mean: Span::from_millis(50), law: DurationLaw::Constant },
            pipelined,
        }
    }

    fn pair(spec: PageSpec) -> [Source; 2] {
        let pages = Arc::new(Pages::new(spec, 3, 4));
        [Source::new(Traffic::Pages(pages.clone())), Source::new(Traffic::PageServer(pages))]
    }

    #[test]
    fn objects_are_asked_for_together_after_the_main_one() {
        let [mut client, mut server] = pair(spec(true));
        assert_eq!((client.start(at(0)), server.start(at(0))), (100, 0));
        assert_eq!(server.on_received(at(10), 99), 0);
        assert_eq!(server.on_received(at(11), 100), 1000);
        assert_eq!(client.on_received(at(20), 999), 0);
        assert_eq!(client.on_received(at(21), 1000), 200);
        assert_eq!(server.on_received(at(30), 200), 300);
        assert_eq!(server.on_received(at(31), 300), 300);
        assert_eq!(client.on_received(at(40), 1300), 0);
        assert_eq!((client.on_received(at(41), 1600), client.due()), (0, at(91)));
        assert_eq!(client.exchanges(), [(at(0), Some(at(41)))]);
        // The second page.
        assert_eq!(client.handle_timeout(at(91)), 100);
        assert_eq!(server.on_received(at(100), 400), 1000);
        assert_eq!(client.on_received(at(110), 2600), 200);
        assert!(client.is_over() && !server.is_over());
        assert_eq!(server.on_received(at(120), 600), 600);
        assert!(server.is_over());
        assert_eq!(client.on_received(at(130), 3200), 0);
        assert_eq!(client.exchanges()[1], (at(91), Some(at(130))));
        assert_eq!(client.due(), Time::NEVER);
    }

    #[test]
    fn without_pipelining_each_object_waits_for_the_one_before() {
        let [mut client, _] = pair(spec(false));
        assert_eq!(client.start(at(0)), 100);
        assert_eq!(client.on_received(at(10), 1000), 100);
        assert_eq!(client.on_received(at(20), 1299), 0);
        assert_eq!(client.on_received(at(21), 1300), 100);
        assert_eq!((client.on_received(at(30), 1600), client.due()), (0, at(80)));
    }

    #[test]
    fn both_sides_draw_the_same_sizes() {
        let drawn = PageSpec {
            request: Sizes::Exponential { mean: 300 },
            main: Sizes::Lognormal { mean: 20_000, sigma: 1.0 },
            objects: Objects::Drawn(Sizes::Exponential { mean: 20 }),
            object: Sizes::BoundedPareto { min: 500, max: 1_000_000, shape: 1.2 },
            count: Some(30),
            ..spec(true)
        };
        let [mut client, mut server] = pair(drawn);
        let (mut sent, mut answered, mut now) = (client.start(at(0)), 0, 0);
        server.start(at(0));
        while !(client.is_over() && server.is_over()) {
            now += 1000;
            answered += server.on_received(at(now), sent);
            sent += client.on_received(at(now), answered);
            sent += client.handle_timeout(at(now + 500));
        }
        assert_eq!(client.on_received(at(now), answered), 0);
        let pages = client.exchanges();
        assert_eq!((pages.len(), pages.iter().filter(|page| page.1.is_some()).count()), (30, 30));
        // The totals that both sides expect are those that were sent.
        assert_eq!((sent, answered), (client.traffic.total(), server.traffic.total()));
    }

    #[test]
    fn a_page_has_the_objects_that_its_law_says() {
        let page_spec =
            PageSpec { objects: Objects::Drawn(Sizes::Exponential { mean: 20 }), ..spec(true) };
        let mut draws = Draws(Generator::from_u64(9));
        let n = 20_000;
        let objects: usize = (0..n).map(|_| draws.page(&page_spec).len() - 1).sum();
        // Rounded, and at least one: some 0.03 above the mean.
        assert!((objects as f64 / n as f64 - 20.0).abs() < 0.6, "{}", objects as f64 / n as f64);
        let none = PageSpec { objects: Objects::Exactly(0), ..spec(true) };
        assert_eq!(draws.page(&none), [Exchange { request: 100, response: 1000 }]);
    }
}

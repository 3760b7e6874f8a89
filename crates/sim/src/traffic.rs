//! Traffic that is not written at once: at a constant rate, in bursts, as
//! requests and responses, or as web pages. Each machine says how many octets the application
//! may write, and when it wants to be asked again.

use anabranch_endpoint::Generator;
use anabranch_media::video::VideoSpec;
use anabranch_units::{Bytes, Rate, Span, Time};
pub(crate) use bursts::Bursts;
use fetch::{Fetch, Server};
pub use fetch::{FetchReport, LoadSpec, LoadSummary, Object};
use pages::Visit;
pub use pages::{MOST_OBJECTS, Objects, PageSpec, Pages};
use std::sync::Arc;

mod bursts;
mod fetch;
mod pages;

/// Description of the traffic of one side of a flow.
#[derive(Clone, PartialEq, Debug)]
pub enum Traffic {
    /// `chunk` octets at a constant rate, `total` in all if given.
    Constant {
        /// Octets in a second, times eight.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
        /// Octets in all; `None` until the flow stops.
        total: Option<u64>,
    },
    /// Sends as `Constant` does during on times, nothing during off times; begins on.
    OnOff {
        /// Rate of octets during an on time.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
        /// Octets in all; `None` until the flow stops.
        total: Option<u64>,
        /// Length of an on time.
        on: Duration,
        /// Length of an off time.
        off: Duration,
        /// Seed of the on and off times.
        seed: u64,
    },
    /// Sends requests of this size, each when the response to the one before
    /// has come and the time to think is over.
    Requests {
        /// Octets of each request.
        request: u64,
        /// Octets of each response.
        response: u64,
        /// Requests in all; `None` until the flow stops.
        count: Option<u64>,
        /// Time between a response and the next request.
        think: Duration,
        /// Seed of the times to think.
        seed: u64,
        /// Number of the group of flows whose requests go out together: the
        /// next when all responses have come. Numbers are small.
        barrier: Option<u32>,
    },
    /// Answers the requests of such a client.
    Responses {
        /// Octets of each request.
        request: u64,
        /// Octets of each response.
        response: u64,
        /// Requests in all; `None` until the flow stops.
        count: Option<u64>,
    },
    /// Asks for web pages, object by object.
    Pages(Arc<Pages>),
    /// Sends the objects of these pages.
    PageServer(Arc<Pages>),
    /// Watches a video, segment by segment: the octets of a request, and the video.
    Video(u64, Arc<VideoSpec>),
    /// Loads pages whose objects depend on each other.
    Load(Arc<LoadSpec>),
    /// Answers requests with what the client of the flow asks for.
    FetchServer {
        /// Octets of each request.
        request: u64,
        /// Octets of all responses; `u64::MAX` where that is not known.
        total: u64,
    },
}

/// A length of time that is drawn again and again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Duration {
    /// Mean length of time.
    pub mean: Span,
    /// Distribution around the mean.
    pub law: DurationLaw,
}

/// Distributions of lengths of time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum DurationLaw {
    /// Every draw is the mean.
    #[default]
    Constant,
    /// The exponential law.
    Exponential,
    /// Pareto of this shape, above 1: many of them make self-similar traffic
    /// (Willinger et al., ToN 1997).
    Pareto(f64),
}

impl Duration {
    /// Draws a time; a constant one draws nothing.
    pub fn draw(&self, generator: &mut Generator) -> Span {
        let mean = self.mean.as_secs_f64();
        let seconds = match self.law {
            DurationLaw::Constant => return self.mean,
            DurationLaw::Exponential => -mean * libm::log(1.0 - generator.uniform()),
            DurationLaw::Pareto(shape) => {
                let least = mean * (shape - 1.0) / shape;
                least * libm::pow(1.0 - generator.uniform(), -1.0 / shape)
            }
        };
        Span::from_secs_f64(seconds).unwrap_or(Span::MAX)
    }
}

impl Traffic {
    /// Octets in all; `u64::MAX` where that is not known.
    pub(crate) fn total(&self) -> u64 {
        match *self {
            Traffic::Constant { total, .. } | Traffic::OnOff { total, .. } => {
                total.unwrap_or(u64::MAX)
            }
            Traffic::Requests { request, count, .. } => whole(count, request),
            Traffic::Responses { response, count, .. } => whole(count, response),
            Traffic::Pages(ref pages) => pages.requests(),
            Traffic::PageServer(ref pages) => pages.responses(),
            // How long responses are, and so when all have come, is not known.
            Traffic::Video(..) => u64::MAX,
            Traffic::Load(ref load) => load.requests(),
            Traffic::FetchServer { total, .. } => total,
        }
    }
}

fn whole(count: Option<u64>, each: u64) -> u64 {
    count.map_or(u64::MAX, |count| count.saturating_mul(each))
}

/// The traffic of one side, with its draws and its progress.
#[derive(Debug)]
pub(crate) struct Source {
    traffic: Traffic,
    /// Time at which it wants to be asked.
    due: Time,
    /// Octets released to the application so far.
    released: u64,
    bursts: Bursts,
    generator: Generator,
    /// For each request or page, when it was asked for, and when it was whole.
    exchanges: Vec<(Time, Option<Time>)>,
    /// Progress through pages; `None` for other traffic.
    visit: Option<Box<Visit>>,
    /// What a video or a load of pages asks for; `None` for other traffic.
    fetch: Option<Box<Fetch>>,
    /// The server of a video or of pages; `None` for other traffic.
    answers: Option<Box<Server>>,
    /// The source at the flow's server.
    server: Option<u32>,
    /// A response has become whole for which others may wait.
    answered: bool,
}

impl Source {
    pub(crate) fn new(traffic: Traffic) -> Source {
        let (seed, visit) = match &traffic {
            Traffic::OnOff { seed, .. } | Traffic::Requests { seed, .. } => (*seed, None),
            Traffic::Load(load) => (load.think_seed, None),
            Traffic::Constant { .. }
            | Traffic::Responses { .. }
            | Traffic::Video(..)
            | Traffic::FetchServer { .. } => (0, None),
            Traffic::Pages(pages) | Traffic::PageServer(pages) => {
                (pages.think_seed, Some(Box::new(Visit::new(pages))))
            }
        };
        let (fetch, answers) = match &traffic {
            Traffic::Video(request, video) => (Some(Fetch::video(*request, video)), None),
            Traffic::Load(load) => (Some(Fetch::load(load)), None),
            Traffic::FetchServer { request, .. } => (None, Some(Box::new(Server::new(*request)))),
            _ => (None, None),
        };
        Source {
            traffic,
            fetch: fetch.map(Box::new),
            answers,
            server: None,
            due: Time::NEVER,
            released: 0,
            bursts: Bursts::default(),
            generator: Generator::from_u64(seed),
            exchanges: Vec::new(),
            visit,
            answered: false,
        }
    }

    /// Returns when to call [`Source::handle_timeout`]; [`Time::NEVER`] for not at all.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Octets that may be written in all so far.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }

    /// Nothing more will be released.
    pub(crate) fn is_over(&self) -> bool {
        self.released >= self.traffic.total()
    }

    /// It is known how much is released in all.
    pub(crate) fn has_end(&self) -> bool {
        self.traffic.total() != u64::MAX
    }

    /// Ends the traffic: no more octets are released.
    pub(crate) fn stop(&mut self) {
        self.due = Time::NEVER;
    }

    /// Has the source at the flow's server hear of what this one asks for, if it has to.
    pub(crate) fn set_server(&mut self, server: u32) {
        self.server = self.fetch.is_some().then_some(server);
    }

    /// The source at the flow's server that has to hear.
    #[inline]
    pub(crate) fn server(&self) -> Option<u32> {
        self.server
    }

    /// Octets of the responses that were asked for since the last call, in order.
    pub(crate) fn take_orders(&mut self) -> Vec<u64> {
        self.fetch.as_mut().map_or(Vec::new(), |fetch| fetch.take_orders())
    }

    /// The client asks for these.
    pub(crate) fn order(&mut self, octets: Vec<u64>) {
        if let Some(answers) = &mut self.answers {
            answers.order(octets);
        }
    }

    /// Reports how the video or the loads of pages went, up to `now`.
    pub(crate) fn report(&self, now: Time) -> Option<FetchReport> {
        Some(self.fetch.as_ref()?.report(now))
    }

    /// The group of flows that it waits for.
    pub(crate) fn barrier(&self) -> Option<u32> {
        match self.traffic {
            Traffic::Requests { barrier, .. } => barrier,
            _ => None,
        }
    }

    /// Whether a response has become whole since this was asked.
    pub(crate) fn take_answered(&mut self) -> bool {
        std::mem::take(&mut self.answered)
    }

    /// Draws a time to think before the next request.
    pub(crate) fn think(&mut self) -> Span {
        match &self.traffic {
            Traffic::Requests { think, .. } => think.draw(&mut self.generator),
            Traffic::Pages(pages) => pages.think().draw(&mut self.generator),
            _ => Span::ZERO,
        }
    }

    /// The next request is made at this date.
    pub(crate) fn request_at(&mut self, at: Time) {
        self.due = at;
    }

    /// Returns for each request when it was made, and when it was answered.
    pub(crate) fn exchanges(&self) -> &[(Time, Option<Time>)] {
        self.fetch.as_ref().map_or(&self.exchanges, |fetch| fetch.loads())
    }

    /// The flow starts: how many octets may be written.
    pub(crate) fn start(&mut self, now: Time) -> u64 {
        match self.traffic {
            Traffic::Responses { .. } | Traffic::PageServer(_) | Traffic::FetchServer { .. } => {
                return 0;
            }
            Traffic::OnOff { on, .. } => self.bursts.begin(now, on, &mut self.generator),
            Traffic::Video(..) | Traffic::Load(_) => {
                if let Some(fetch) = &mut self.fetch {
                    fetch.start(now);
                }
            }
            Traffic::Constant { .. } | Traffic::Requests { .. } | Traffic::Pages(_) => {}
        }
        self.due = now;
        self.handle_timeout(now)
    }

    /// Returns how many more octets may be written.
    pub(crate) fn handle_timeout(&mut self, now: Time) -> u64 {
        let mut more = 0;
        while self.due <= now && !self.is_over() {
            more += self.step();
        }
        if self.is_over() {
            self.due = Time::NEVER;
        }
        more
    }

    /// Returns the octets that are released at `due`, and sets when the next are.
    fn step(&mut self) -> u64 {
        let at = self.due;
        let left = self.traffic.total().saturating_sub(self.released);
        let octets = match self.traffic {
            Traffic::Constant { rate, chunk, .. } => {
                self.due = at.saturating_add(rate.time_for(Bytes(chunk.into())));
                left.min(chunk.into())
            }
            Traffic::OnOff { rate, chunk, on, off, .. } => {
                let next = at.saturating_add(rate.time_for(Bytes(chunk.into())));
                self.due = self.bursts.next(next, on, off, &mut self.generator);
                left.min(chunk.into())
            }
            Traffic::Requests { request, .. } => {
                self.exchanges.push((at, None));
                // The response decides when the next is.
                self.due = Time::NEVER;
                request
            }
            Traffic::Pages(ref pages) => {
                self.exchanges.push((at, None));
                self.due = Time::NEVER;
                self.visit.as_mut().map_or(0, |visit| visit.open(pages))
            }
            Traffic::Video(..) | Traffic::Load(_) => match &mut self.fetch {
                Some(fetch) => {
                    let (octets, due) = fetch.step(at);
                    self.due = due;
                    octets
                }
                None => 0,
            },
            Traffic::Responses { .. } | Traffic::PageServer(_) | Traffic::FetchServer { .. } => {
                self.due = Time::NEVER;
                0
            }
        };
        self.released += octets;
        octets
    }

    /// The peer's octets up to `received` have come: how many more may be
    /// written.
    pub(crate) fn on_received(&mut self, now: Time, received: u64) -> u64 {
        match self.traffic {
            Traffic::Constant { .. } | Traffic::OnOff { .. } => 0,
            Traffic::Video(..) | Traffic::Load(_) => {
                let Some(fetch) = &mut self.fetch else { return 0 };
                self.due = fetch.on_received(now, received, &mut self.generator);
                self.handle_timeout(now)
            }
            Traffic::FetchServer { .. } => {
                let more = self.answers.as_mut().map_or(0, |answers| answers.on_received(received));
                self.released += more;
                more
            }
            Traffic::Responses { request, response, .. } => {
                let answered = self.released / response;
                let more = (received / request - answered) * response;
                self.released += more;
                more
            }
            Traffic::Requests { response, barrier, .. } => {
                let whole = (received / response) as usize;
                let made = self.exchanges.len();
                let Some(last) = self.exchanges.last_mut() else { return 0 };
                if last.1.is_some() || whole < made {
                    return 0;
                }
                last.1 = Some(now);
                if barrier.is_some() {
                    self.answered = true;
                    return 0;
                }
                self.ask_again(now)
            }
            Traffic::Pages(ref pages) => {
                let (Some(visit), Some(last)) = (&mut self.visit, self.exchanges.last_mut()) else {
                    return 0;
                };
                if last.1.is_some() {
                    return 0;
                }
                match visit.on_responses(pages, received) {
                    Some(more) => {
                        self.released += more;
                        more
                    }
                    None => {
                        last.1 = Some(now);
                        self.ask_again(now)
                    }
                }
            }
            Traffic::PageServer(ref pages) => {
                let more = match &mut self.visit {
                    // The last answer was given: there is no further page to draw.
                    Some(visit) if self.released < pages.responses() => {
                        visit.on_requests(pages, received)
                    }
                    _ => 0,
                };
                self.released += more;
                more
            }
        }
    }

    /// The next request or page, after the time to think, if there is one.
    fn ask_again(&mut self, now: Time) -> u64 {
        if self.is_over() {
            return 0;
        }
        let at = now.saturating_add(self.think());
        self.request_at(at);
        self.handle_timeout(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;
    const FIXED: fn(u64) -> Duration = |ms| Duration { mean: MS(ms), law: DurationLaw::Constant };

    fn at(ms: u64) -> Time {
        Time::ZERO + MS(ms)
    }

    /// Dates in milliseconds and octets released, up to `end`.
    fn play(traffic: Traffic, end: u64) -> Vec<(u64, u64)> {
        let mut source = Source::new(traffic);
        let mut out = vec![(5, source.start(at(5)))];
        while source.due() <= at(end) {
            let now = source.due();
            out.push((now.as_millis(), source.handle_timeout(now)));
        }
        out
    }

    #[test]
    fn a_constant_rate_is_kept_to_the_total() {
        // 1000 octets each millisecond.
        let rate = Rate::mbit(8);
        let traffic = Traffic::Constant { rate, chunk: 1000, total: Some(3500) };
        assert_eq!(play(traffic, 100), [(5, 1000), (6, 1000), (7, 1000), (8, 500)]);
        let endless = Traffic::Constant { rate, chunk: 1000, total: None };
        assert_eq!(play(endless, 1004).len(), 1000);
    }

    #[test]
    fn off_times_are_silent() {
        let traffic = Traffic::OnOff {
            rate: Rate::mbit(8),
            chunk: 1000,
            total: None,
            on: FIXED(3),
            off: FIXED(10),
            seed: 1,
        };
        let dates: Vec<_> = play(traffic, 40).iter().map(|piece| piece.0).collect();
        assert_eq!(dates, [5, 6, 7, 18, 19, 20, 31, 32, 33]);
    }

    #[test]
    fn laws_of_times_have_their_means() {
        for law in [DurationLaw::Exponential, DurationLaw::Pareto(3.0)] {
            let duration = Duration { mean: MS(20), law };
            let mut generator = Generator::from_u64(5);
            let n = 200_000;
            let sum: f64 = (0..n).map(|_| duration.draw(&mut generator).as_secs_f64()).sum();
            assert!((sum / n as f64 / 0.020 - 1.0).abs() < 0.01, "{law:?} {}", sum / n as f64);
        }
    }

    #[test]
    fn requests_wait_for_their_responses_and_think() {
        let (request, response, count) = (200, 1000, Some(2));
        let think = FIXED(30);
        let mut client = Source::new(Traffic::Requests {
            request,
            response,
            count,
            think,
            seed: 1,
            barrier: None,
        });
        let mut server = Source::new(Traffic::Responses { request, response, count });
        assert_eq!((client.start(at(0)), server.start(at(0))), (200, 0));
        assert_eq!(server.on_received(at(10), 199), 0);
        assert_eq!(server.on_received(at(11), 200), 1000);
        assert_eq!(client.on_received(at(20), 999), 0);
        assert_eq!((client.on_received(at(21), 1000), client.due()), (0, at(51)));
        assert_eq!(client.handle_timeout(at(51)), 200);
        assert!(client.is_over() && !server.is_over());
        assert_eq!(server.on_received(at(60), 400), 1000);
        assert!(server.is_over());
        assert_eq!(client.on_received(at(70), 2000), 0);
        assert_eq!(client.exchanges(), [(at(0), Some(at(21))), (at(51), Some(at(70)))]);
        assert_eq!(client.due(), Time::NEVER);
    }
}

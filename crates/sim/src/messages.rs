//! Messages of an application: when each is made, how long it is, on which
//! stream it goes, and how long it took from being made to being read.
//!
//! A message carries its number as its tag, so that the reader knows which one
//! it has, whatever was given up or overtaken before.

use crate::datagrams::{DatagramSpec, DatagramSummary, Datagrams};
use crate::sizes::Sizes;
use crate::traffic::{Bursts, Duration};
use anabranch_endpoint::Generator;
use anabranch_endpoint::message::{Incoming, Outgoing, Patience};
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::{Payload, pattern};
use std::collections::VecDeque;
use std::sync::Arc;

/// Description of the messages that a side of a flow sends.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageTraffic {
    /// Draws the size of each.
    pub size: Sizes,
    /// Larger draws are cut to this: what the send buffer takes.
    pub most: u32,
    /// Messages in all; `None` for no such end.
    pub count: Option<u64>,
    /// Octets in all, to which the last message is cut; `None` for no such
    /// end.
    pub total: Option<u64>,
    /// The times at which messages are made.
    pub pace: Pace,
    /// Number of streams on which messages go in turn.
    pub streams: u16,
    /// Messages are delivered as soon as they are complete.
    pub unordered: bool,
    /// Time after which messages may be given up.
    pub lifetime: Option<Span>,
    /// Number of retransmissions after which messages may be given up.
    pub retransmissions: Option<u16>,
    /// Each delivery is kept, not only their sums.
    pub keep: bool,
    /// Messages are datagrams, which may be lost, and are measured as such.
    pub datagrams: Option<DatagramSpec>,
    /// Seed of sizes and times.
    pub seed: u64,
}

/// The rule for the times at which messages are made.
#[derive(Clone, PartialEq, Debug)]
pub enum Pace {
    /// Messages are made as soon as the send buffer takes them.
    Saturated,
    /// Messages are made at a constant rate of octets: each as long after the one before as that
    /// one takes at the rate.
    Rate(Rate),
    /// Messages are made with such times between them.
    Every(Duration),
    /// Messages are made at these times after the start, ascending; there are no more than these.
    At(Arc<[Span]>),
    /// Messages are made at a constant rate of octets during on times, none during off times;
    /// begins on.
    OnOff {
        /// Rate of octets during an on time.
        rate: Rate,
        /// Length of an on time.
        on: Duration,
        /// Length of an off time.
        off: Duration,
    },
    /// One for each message of the peer, as long, as soon as that was read.
    Echo,
}

/// Totals of the messages of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageTotals {
    /// Made by the application.
    pub made: u64,
    /// Messages that the peer's application read.
    pub delivered: u64,
    /// Sum of the times from being made to being read.
    pub delay: Span,
    /// The longest time from being made to being read.
    pub longest_delay: Span,
    /// Sum of the times that they were complete and waited for earlier ones.
    pub waited: Span,
    /// The longest time that one was complete and waited for earlier ones.
    pub longest_wait: Span,
}

/// A message that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Time at which it was read.
    pub at: Time,
    /// Number of the message, counted from 0.
    pub number: u32,
    /// Number of the stream that it came on.
    pub stream: u16,
    /// Length in octets.
    pub len: u32,
    /// Time since it was made.
    pub delay: Span,
    /// Time for which it was complete and waited for earlier ones of its stream.
    pub waited: Span,
}

/// A message that was made and not yet taken by the endpoint.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    made: Time,
    len: u32,
    /// Time at which the request of an echo was made; [`Time::NEVER`] for other messages.
    asked: Time,
}

/// A message that the endpoint took and that is not read yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Time at which it was made; [`Time::NEVER`] once it was read.
    made: Time,
    /// The same as in [`Waiting`].
    asked: Time,
}

/// What the reader makes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    /// Octets that are other than those sent.
    pub wrong: usize,
    /// Time at which it was made, if somebody sent it and it was not read before.
    pub made: Option<Time>,
}

/// Messages of one direction at work: their sender and their reader share it.
#[derive(Debug)]
pub(crate) struct Channel {
    traffic: Arc<MessageTraffic>,
    sizes: Generator,
    times: Generator,
    start: Time,
    /// Time at which the next message is made.
    due: Time,
    /// Octets of the messages made so far.
    octets: u64,
    waiting: VecDeque<Waiting>,
    /// Messages that the endpoint took.
    taken: u64,
    /// Messages that were taken and are not read yet, from the number `first` on.
    pending: VecDeque<Pending>,
    first: u64,
    stopped: bool,
    totals: MessageTotals,
    deliveries: Vec<Delivery>,
    datagrams: Option<Box<Datagrams>>,
    bursts: Bursts,
}

impl Channel {
    pub(crate) fn new(traffic: Arc<MessageTraffic>) -> Channel {
        let mut seeds = Generator::from_u64(traffic.seed);
        Channel {
            sizes: Generator::from_u64(seeds.next_u64()),
            times: Generator::from_u64(seeds.next_u64()),
            start: Time::NEVER,
            due: Time::NEVER,
            octets: 0,
            waiting: VecDeque::new(),
            taken: 0,
            pending: VecDeque::new(),
            first: 0,
            stopped: false,
            totals: MessageTotals::default(),
            deliveries: Vec::new(),
            datagrams: traffic.datagrams.as_ref().map(|spec| Box::new(Datagrams::new(spec))),
            bursts: Bursts::default(),
            traffic,
        }
    }

    /// Octets that will be made in all; `u64::MAX` where there is no end.
    pub(crate) fn total(&self) -> u64 {
        if let Some(total) = self.traffic.total {
            return total;
        }
        let dates = match &self.traffic.pace {
            Pace::At(dates) => Some(dates.len() as u64),
            _ => None,
        };
        let Some(count) = self.traffic.count.into_iter().chain(dates).min() else {
            return u64::MAX;
        };
        let mut sizes = Generator::from_u64(Generator::from_u64(self.traffic.seed).next_u64());
        (0..count).map(|_| self.draw(&mut sizes)).sum()
    }

    fn draw(&self, sizes: &mut Generator) -> u64 {
        self.traffic.size.draw(sizes).clamp(1, self.traffic.most as u64)
    }

    /// Returns when to call [`Channel::handle_timeout`].
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// No message is given up or lost.
    pub(crate) fn is_reliable(&self) -> bool {
        let t = &self.traffic;
        t.lifetime.is_none() && t.retransmissions.is_none() && t.datagrams.is_none()
    }

    /// Whether the messages are echoes of the peer's.
    pub(crate) fn is_echo(&self) -> bool {
        self.traffic.pace == Pace::Echo
    }

    /// Whether the messages are datagrams, and measured as such.
    pub(crate) fn has_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    /// Measures of the datagrams, of which the host has sent so many and the network holds some.
    pub(crate) fn datagrams(&self, sent: u64, under_way: u64) -> Option<DatagramSummary> {
        Some(self.datagrams.as_ref()?.summary(sent, under_way))
    }

    /// It is known how much is made in all.
    pub(crate) fn has_end(&self) -> bool {
        let t = &self.traffic;
        t.count.is_some() || t.total.is_some() || matches!(t.pace, Pace::At(_))
    }

    /// No more is made, and the endpoint has taken all.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() && self.waiting.is_empty()
    }

    fn is_complete(&self) -> bool {
        let (t, made) = (&self.traffic, self.totals.made);
        let dates = match &t.pace {
            Pace::At(dates) => made >= dates.len() as u64,
            _ => false,
        };
        let ended = t.count.is_some_and(|count| made >= count)
            || t.total.is_some_and(|total| self.octets >= total);
        self.stopped || ended || dates
    }

    /// Begins, unless it has: a client when it connects, a server when the
    /// connection is there.
    pub(crate) fn start(&mut self, now: Time) {
        if self.start != Time::NEVER {
            return;
        }
        self.start = now;
        self.due = match &self.traffic.pace {
            Pace::Saturated | Pace::Echo => Time::NEVER,
            Pace::At(dates) => {
                dates.first().map_or(Time::NEVER, |after| now.saturating_add(*after))
            }
            Pace::OnOff { on, .. } => {
                self.bursts.begin(now, *on, &mut self.times);
                now
            }
            Pace::Rate(_) | Pace::Every(_) => now,
        };
        self.handle_timeout(now);
    }

    /// No more from now on; what the endpoint has not taken is dropped.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.waiting.clear();
        self.due = Time::NEVER;
    }

    /// Makes the messages whose dates have come.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        while self.due <= now && !self.is_complete() {
            let at = self.due;
            let len = self.make(at);
            self.due = match &self.traffic.pace {
                Pace::Saturated | Pace::Echo => Time::NEVER,
                Pace::OnOff { rate, on, off } => {
                    let next = at.saturating_add(rate.time_for(Bytes(len.into())));
                    self.bursts.next(next, *on, *off, &mut self.times)
                }
                Pace::Rate(rate) => at.saturating_add(rate.time_for(Bytes(len.into()))),
                Pace::Every(time) => at.saturating_add(time.draw(&mut self.times)),
                Pace::At(dates) => {
                    let next = dates.get(self.totals.made as usize);
                    next.map_or(Time::NEVER, |after| self.start.saturating_add(*after))
                }
            };
        }
        if self.is_complete() {
            self.due = Time::NEVER;
        }
    }

    fn make(&mut self, now: Time) -> u32 {
        let mut sizes = self.sizes.clone();
        let left = self.traffic.total.map_or(u64::MAX, |total| total - self.octets);
        let len = self.draw(&mut sizes).min(left) as u32;
        self.sizes = sizes;
        self.totals.made += 1;
        self.octets += len as u64;
        self.waiting.push_back(Waiting { made: now, len, asked: Time::NEVER });
        len
    }

    /// A message of the peer was read, which was made at `asked`: an echo of it is made.
    pub(crate) fn echo(&mut self, now: Time, asked: Time, len: u32) {
        if self.is_echo() && !self.is_complete() {
            self.totals.made += 1;
            self.octets += u64::from(len);
            self.waiting.push_back(Waiting { made: now, len, asked });
        }
    }

    /// The message that the endpoint should take next.
    pub(crate) fn next(&mut self, now: Time, octets: bool) -> Option<Outgoing> {
        if self.waiting.is_empty() && self.traffic.pace == Pace::Saturated && !self.is_complete() {
            self.make(now);
        }
        let waiting = self.waiting.front_mut()?;
        if self.traffic.pace == Pace::Saturated {
            waiting.made = now;
        }
        let Waiting { made, len, .. } = *waiting;
        let (t, number) = (&self.traffic, self.taken);
        let patience = match (t.lifetime, t.retransmissions) {
            (Some(lifetime), _) => Patience::Until(made.saturating_add(lifetime)),
            (None, Some(most)) => Patience::Retransmissions(most),
            (None, None) => Patience::Reliable,
        };
        let payload = match octets {
            false => Payload::virtual_of(len),
            true => {
                let mut buf = vec![0; len as usize];
                pattern::fill(position(number), &mut buf);
                Payload::of_octets(buf)
            }
        };
        let stream = (number % t.streams as u64) as u16;
        Some(Outgoing { stream, unordered: t.unordered, tag: tag(number), patience, payload })
    }

    /// The endpoint took what [`Channel::next`] gave; how long it is.
    pub(crate) fn on_taken(&mut self) -> u64 {
        let Waiting { made, len, asked } = self.waiting.pop_front().expect("it was just offered");
        self.taken += 1;
        self.pending.push_back(Pending { made, asked });
        len as u64
    }

    /// Takes a message that was read: finds its number, and compares its octets with those sent.
    pub(crate) fn on_delivered(&mut self, now: Time, message: &Incoming) -> Read {
        // The number modulo 2^32, among those that are under way.
        let ahead = message.tag.wrapping_sub(tag(self.first)) as usize;
        let number = self.first + ahead as u64;
        let wrong = match message.payload.octets() {
            Some(octets) => {
                // The transport has written its number over the first of a datagram.
                let header = self.traffic.datagrams.as_ref().map_or(0, |spec| spec.header);
                let rest = octets.get(header as usize..).unwrap_or_default();
                crate::octets::mismatches(position(number) + u64::from(header), rest)
            }
            None => 0,
        };
        let Pending { made, asked } = match self.pending.get_mut(ahead) {
            Some(pending) if pending.made != Time::NEVER => {
                let found = *pending;
                pending.made = Time::NEVER;
                found
            }
            _ => return self.on_unexpected(number, message.payload.len()),
        };
        while self.pending.front().is_some_and(|pending| pending.made == Time::NEVER) {
            self.pending.pop_front();
            self.first += 1;
        }
        let (delay, waited) = (now.saturating_since(made), message.waited);
        let totals = &mut self.totals;
        totals.delivered += 1;
        totals.delay += delay;
        totals.longest_delay = totals.longest_delay.max(delay);
        totals.waited += waited;
        totals.longest_wait = totals.longest_wait.max(waited);
        if self.traffic.keep {
            let (number, len) = (number as u32, message.payload.len());
            let stream = message.stream;
            self.deliveries.push(Delivery { at: now, number, stream, len, delay, waited });
        }
        if let Some(datagrams) = &mut self.datagrams {
            let asked = Some(asked).filter(|asked| *asked != Time::NEVER);
            datagrams.on_received(now, number, made, asked);
        }
        Read { wrong, made: Some(made) }
    }

    /// A copy of a datagram that was read before, or a message that nobody sent: then its octets are
    /// all wrong.
    fn on_unexpected(&mut self, number: u64, len: u32) -> Read {
        // Numbers that were read before are nearly 2^32 ahead of the first that was not.
        let is_copy = number < self.taken || number >= 1 << 32;
        match &mut self.datagrams {
            Some(datagrams) if is_copy => {
                datagrams.on_duplicate();
                Read { wrong: 0, made: None }
            }
            _ => Read { wrong: len as usize, made: None },
        }
    }

    pub(crate) fn totals(&self) -> MessageTotals {
        self.totals
    }

    pub(crate) fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }
}

/// The tag of a message. Over SCTP it is the payload protocol identifier, of
/// which the low numbers are registered: dissectors take what is under them
/// for those protocols.
fn tag(number: u64) -> u32 {
    FIRST_TAG.wrapping_add(number as u32)
}

/// The tag of the first message of each direction.
pub const FIRST_TAG: u32 = 1 << 16;

/// Returns where the octets of a message stand in the pattern.
fn position(number: u64) -> u64 {
    number << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn at(ms: u64) -> Time {
        Time::ZERO + MS(ms)
    }

    fn traffic(pace: Pace) -> MessageTraffic {
        MessageTraffic {
            size: Sizes::Constant { mean: 1000 },
            most: 100_000,
            count: None,
            total: None,
            pace,
            streams: 3,
            unordered: false,
            lifetime: None,
            retransmissions: None,
            keep: true,
            datagrams: None,
            seed: 1,
        }
    }

    fn channel(traffic: MessageTraffic) -> Channel {
        Channel::new(Arc::new(traffic))
    }

    /// Dates in milliseconds and lengths of the messages made up to `end`.
    fn play(traffic: MessageTraffic, end: u64) -> Vec<(u64, u32)> {
        let mut channel = channel(traffic);
        channel.start(at(5));
        while channel.due() <= at(end) {
            channel.handle_timeout(channel.due());
        }
        channel.waiting.iter().map(|waiting| (waiting.made.as_millis(), waiting.len)).collect()
    }

    #[test]
    fn each_pace_makes_messages_at_its_dates() {
        let rate = Pace::Rate(Rate::mbit(8)); // 1000 octets each millisecond
        let total = Some(2500);
        let cut = MessageTraffic { total, ..traffic(rate) };
        assert_eq!(play(cut, 100), [(5, 1000), (6, 1000), (7, 500)]);
        let fixed = Duration { mean: MS(10), law: crate::DurationLaw::Constant };
        let every = MessageTraffic { count: Some(3), ..traffic(Pace::Every(fixed)) };
        assert_eq!(play(every, 100), [(5, 1000), (15, 1000), (25, 1000)]);
        let dates = traffic(Pace::At([MS(0), MS(2), MS(40)].into()));
        assert_eq!(play(dates.clone(), 100), [(5, 1000), (7, 1000), (45, 1000)]);
        assert_eq!(channel(dates).total(), 3000);
    }

    #[test]
    fn the_total_of_drawn_sizes_is_known_before() {
        let size = Sizes::Exponential { mean: 5000 };
        let traffic =
            MessageTraffic { size, most: 9000, count: Some(50), ..traffic(Pace::Saturated) };
        let mut channel = channel(traffic);
        let total = channel.total();
        channel.start(at(0));
        let mut sum = 0;
        while let Some(message) = channel.next(at(0), false) {
            assert!((1..=9000).contains(&message.payload.len()));
            assert_eq!(message.stream as u64, channel.taken % 3);
            sum += channel.on_taken();
        }
        assert!(channel.is_over() && channel.has_end());
        assert_eq!((sum, channel.totals().made), (total, 50));
    }

    #[test]
    fn delays_are_those_of_the_message_that_was_read() {
        let lifetime = Some(MS(50));
        let mut channel = channel(MessageTraffic { lifetime, ..traffic(Pace::Saturated) });
        channel.start(at(0));
        let take = |item: &mut Channel, ms| {
            let message = item.next(at(ms), true).expect("there is always one");
            assert_eq!(message.patience, Patience::Until(at(ms + 50)));
            item.on_taken();
            message
        };
        let sent: Vec<_> = [0, 10, 20, 30].map(|ms| take(&mut channel, ms)).into();
        let read = |item: &mut Channel, ms, message: &Outgoing, waited| {
            let (stream, tag, payload) = (message.stream, message.tag, message.payload.clone());
            let message = Incoming { stream, tag, payload, waited: MS(waited) };
            item.on_delivered(at(ms), &message).wrong
        };
        // The second is given up, the last overtakes the third.
        for (i, ms, waited) in [(0, 40, 0), (3, 60, 0), (2, 70, 15)] {
            assert_eq!(read(&mut channel, ms, &sent[i], waited), 0);
        }
        let delays: Vec<_> = channel.deliveries().iter().map(|d| (d.number, d.delay)).collect();
        assert_eq!(delays, [(0, MS(40)), (3, MS(30)), (2, MS(50))]);
        let t = channel.totals();
        assert_eq!((t.made, t.delivered, t.delay, t.longest_delay), (4, 3, MS(120), MS(50)));
        assert_eq!((t.waited, t.longest_wait), (MS(15), MS(15)));
        // Twice, or never sent, is wrong altogether; so are other octets.
        assert_eq!(read(&mut channel, 80, &sent[3], 0), 1000);
        let stranger = Outgoing { tag: tag(77), ..sent[1].clone() };
        assert_eq!(read(&mut channel, 80, &stranger, 0), 1000);
        let altered = Outgoing { payload: sent[0].payload.clone(), ..sent[1].clone() };
        assert!(read(&mut channel, 80, &altered, 0) > 500);
    }
}

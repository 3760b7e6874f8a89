//! The worlds that are explored: each option of a protocol on and off, with several kinds of
//! traffic and sizes of buffers, and each pair of options.

pub mod mptcp;
pub mod sctp;
pub mod tcp;

use crate::app::{Plan, Reads, Sends};
use crate::choice::Fault;
use crate::search::Explore;
use crate::world::Setting;
use anabranch_endpoint::{Generator, Seed};
use anabranch_units::Span;

/// What changes the settings of a protocol, by name.
pub(crate) type Tuning<C> = (&'static str, fn(&mut C));

/// What goes over a byte stream, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Traffic {
    /// The client sends, the server only reads.
    Up,
    /// Both sides send at the same time.
    Both,
    /// The server sends; the client has nothing to say.
    Down,
    /// Requests and answers, in turn.
    Turns,
    /// The client sends to a server that reads a bit at a time.
    Slow,
    /// Nothing: the connection opens and closes.
    Nothing,
    /// Twenty requests and answers, all of them less than a segment.
    Chat,
    /// The client sends twenty segments: enough for probes of the MTU, and to repair losses
    /// without a timeout.
    Long,
}

impl Traffic {
    pub const ALL: [(&'static str, Traffic); 8] = [
        ("up", Traffic::Up),
        ("both", Traffic::Both),
        ("down", Traffic::Down),
        ("turns", Traffic::Turns),
        ("slow", Traffic::Slow),
        ("nothing", Traffic::Nothing),
        ("chat", Traffic::Chat),
        ("long", Traffic::Long),
    ];

    /// The applications, with segments of so many octets.
    pub fn plans(self, segment: u64) -> [Plan; 2] {
        let octets = |tenths: u64| Plan::sends(Sends::Octets(segment * tenths / 10));
        let nothing = || Plan::sends(Sends::Nothing);
        let by_turns =
            |count, own, theirs, first| Plan::sends(Sends::Turns { count, own, theirs, first });
        match self {
            Traffic::Up => [octets(35), nothing()],
            Traffic::Both => [octets(25), octets(15)],
            Traffic::Down => [octets(0), octets(30)],
            Traffic::Turns => {
                let (request, answer) = (segment / 3, segment * 3 / 2);
                [by_turns(2, request, answer, true), by_turns(2, answer, request, false)]
            }
            Traffic::Chat => {
                let (request, answer) = (segment / 15, segment * 2 / 3);
                [by_turns(20, request, answer, true), by_turns(20, answer, request, false)]
            }
            Traffic::Long => [octets(200), nothing()],
            Traffic::Slow => {
                let every = Span::from_millis(300);
                let reads = Reads::Slowly { octets: (segment * 2 / 3) as usize, every };
                [octets(35), Plan { reads, ..nothing() }]
            }
            Traffic::Nothing => [octets(0), nothing()],
        }
    }
}

/// What the cases of a protocol are made of: its options, and how many kinds of traffic and sizes of
/// buffers it is tried with.
pub(crate) struct Grid<C: 'static> {
    pub options: &'static [Tuning<C>],
    pub traffics: usize,
    pub buffers: usize,
}

impl<C> Grid<C> {
    /// Each option with each traffic and size of buffers, then each pair of options. `case` makes one,
    /// where the options allow it.
    pub fn all<T>(&self, case: impl Fn(&[&Tuning<C>], usize, usize) -> Option<T>) -> Vec<T> {
        let mut cases = Vec::new();
        for option in self.options {
            for traffic in 0..self.traffics {
                cases.extend((0..self.buffers).filter_map(|size| case(&[option], traffic, size)));
            }
        }
        for (i, one) in self.options.iter().enumerate() {
            for (j, other) in self.options.iter().enumerate().skip(i + 1) {
                let (traffic, buffers) = self.spread(i * self.options.len() + j);
                cases.extend(case(&[one, other], traffic, buffers));
            }
        }
        cases
    }

    /// Each option once, with one traffic and one size of buffers: enough of them to have each pair
    /// of these.
    pub fn few<T>(&self, case: impl Fn(&[&Tuning<C>], usize, usize) -> Option<T>) -> Vec<T> {
        let one = |(n, option)| {
            let (traffic, buffers) = self.spread(n);
            case(&[option], traffic, buffers)
        };
        self.options.iter().enumerate().filter_map(one).collect()
    }

    /// The traffic and the size of buffers of the `n`-th case where not all of them are made: all
    /// combinations come in turn.
    fn spread(&self, n: usize) -> (usize, usize) {
        (n % self.traffics, (n + n / self.traffics) % self.buffers)
    }
}

/// A setting with the faults that befall every protocol.
pub(crate) fn setting(plans: [Plan; 2]) -> Setting {
    let special = [Fault::Mark, Fault::Strip, Fault::Cut];
    Setting {
        plans,
        latency: [Span::from_millis(10), Span::from_millis(17)],
        paths: 1,
        strips: false,
        faults: Fault::all().filter(|fault| !special.contains(fault)).collect(),
        patience: Span::from_secs(400),
        may_report: false,
    }
}

pub(crate) fn generator(name: &str) -> Generator {
    Seed::default().generator(name)
}

/// The cases of all protocols.
pub fn all() -> Vec<Box<dyn Explore>> {
    let mut all: Vec<Box<dyn Explore>> = Vec::new();
    all.extend(tcp::cases().into_iter().map(|case| Box::new(case) as Box<dyn Explore>));
    all.extend(sctp::cases().into_iter().map(|case| Box::new(case) as Box<dyn Explore>));
    all.extend(mptcp::cases().into_iter().map(|case| Box::new(case) as Box<dyn Explore>));
    all
}

//! A retransmission policy decides one thing: to which path a chunk is sent again.
//!
//! RFC 9260 §6.4.1 only asks that a retransmission be sent to an active
//! address other than the last one "when possible"; the policies are those of
//! Caro, Amer and Stewart (ICON 2003; Computer Communications 29(10), 2006), those
//! of Iyengar, Amer and Stewart for concurrent transfer (IEEE/ACM Transactions on
//! Networking 14(5), 2006, §V), those that stacks and handover schemes choose paths by, and
//! `best_path`, the project's own. Where new data goes when the primary fails is decided by
//! [`failover`](crate::failover).

mod all_alternate;
mod all_same;
mod best_path;
mod fr_same_rto_alt;
mod last_heard;
mod lowest_rto;
mod lowest_rtt;
mod round_robin;
mod rtx_asap;
mod rtx_cwnd;
mod rtx_lossrate;
mod rtx_ssthresh;

use anabranch_custom::{Custom, Place};
use anabranch_units::{Span, Time};
use std::fmt;

/// A `Reason` says why a chunk is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Reports of SACKs say that the chunk is missing (RFC 9260 §7.2.4).
    FastRetransmit,
    /// The timer T3-rtx of its path expired (RFC 9260 §6.3.3).
    Timeout,
}

/// A `Candidate` is what a policy sees of a path. Windows are in octets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Candidate {
    /// `active` says that the path is confirmed and neither inactive nor potentially failed.
    pub active: bool,
    /// `confirmed` says that the path may carry data if no path is active.
    pub confirmed: bool,
    /// `cwnd` is the congestion window.
    pub cwnd: u64,
    /// `ssthresh` is the slow-start threshold.
    pub ssthresh: u64,
    /// `flight` is what is outstanding on the path, in octets.
    pub flight: u64,
    /// `loss` is the estimated share of chunks that are lost, 0 to 1.
    pub loss: f64,
    /// `srtt` is the smoothed round-trip time; it is `None` before the first sample.
    pub srtt: Option<Span>,
    /// `rto` is the retransmission timeout in force, back-off included.
    pub rto: Span,
    /// `errors` counts the errors in a row (RFC 9260 §8.2).
    pub errors: u32,
    /// `potentially_failed` says that the path is in that state (RFC 7829): it carries data where
    /// no path is active.
    pub potentially_failed: bool,
    /// `min_rtt` is the least round-trip time; it is `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// `capacity` is the rate that the path takes, in octets per second; it is `None` until a queue
    /// has been seen there.
    pub capacity: Option<f64>,
    /// `heard` is the date at which the peer last acknowledged what was sent there, data or a
    /// heartbeat.
    pub heard: Option<Time>,
    /// `resent` is the date at which a chunk was last sent again on the path.
    pub resent: Option<Time>,
}

impl Candidate {
    /// Returns whether the congestion window takes more.
    fn has_room(&self) -> bool {
        self.flight < self.cwnd
    }
}

/// A `Destination` is a policy for the path of retransmissions.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Destination {
    /// A chunk goes to where it was sent last (AllRtxSame).
    AllSame,
    /// A chunk goes to another path (AllRtxAlt, RFC 2960 §6.4.1).
    AllAlternate,
    /// Fast retransmits go to the same path, retransmissions after a timeout to another
    /// (FrSameRtoAlt).
    #[default]
    FrSameRtoAlt,
    /// A chunk goes to the path with the largest congestion window (RTX-CWND).
    RtxCwnd,
    /// A chunk goes to the path with the largest slow-start threshold (RTX-SSTHRESH).
    RtxSsthresh,
    /// A chunk goes to the path with the lowest loss rate (RTX-LOSSRATE).
    RtxLossrate,
    /// A chunk goes to any path whose congestion window has room (RTX-ASAP).
    RtxAsap,
    /// A chunk goes to where it is expected to arrive first.
    BestPath,
    /// A chunk goes to the path with the least smoothed round-trip time.
    LowestRtt,
    /// A chunk goes to the path with the least retransmission timeout.
    LowestRto,
    /// A chunk goes to the alternate that worked most recently.
    LastHeard,
    /// Chunks go to the alternates in turn.
    RoundRobin,
    /// A chunk goes where a policy of the user's own sends it.
    Custom(Box<Custom<MakePolicy>>),
}

/// A `MakePolicy` makes a policy of the user's own for one association, whose name and seed are in
/// the [`Place`].
pub type MakePolicy = dyn Fn(&Place) -> Box<dyn Policy> + Send + Sync;

/// A `Policy` is a policy of the user's own, at work in one association.
pub trait Policy: fmt::Debug + Send {
    /// Returns the index of the path for a chunk that was last sent to `last`.
    fn choose(&mut self, reason: Reason, last: usize, paths: &[Candidate]) -> usize;

    /// Returns the path for new data while the primary does not work; `None` leaves it to the rules
    /// of the RFC. It is asked when the paths may have changed (each SACK, heartbeat and timeout)
    /// with [`Failover::Destination`](crate::Failover).
    fn failover(&mut self, _primary: usize, _paths: &[Candidate]) -> Option<usize> {
        None
    }
}

/// `DESTINATIONS` has the name of each policy, a description of one line, and a reference.
pub const DESTINATIONS: [(&str, &str, &str); 12] = [
    ("all-same", "retransmissions go to the path that the chunk was sent to", "Caro et al., 2006"),
    ("all-alternate", "retransmissions go to another path", "RFC 2960 §6.4.1"),
    ("fr-same-rto-alt", "fast retransmits stay, timeouts go to another path", "Caro et al., 2006"),
    ("rtx-cwnd", "to the path with the largest congestion window", "Iyengar et al., 2006"),
    ("rtx-ssthresh", "to the path with the largest threshold", "Iyengar et al., 2006"),
    ("rtx-lossrate", "to the path with the lowest loss rate", "Iyengar et al., 2006"),
    ("rtx-asap", "to any path whose window has room", "Iyengar et al., 2006"),
    ("best-path", "to where it is expected to arrive first", "docs/sctp.md"),
    ("lowest-rtt", "to the path with the lowest smoothed round-trip time", "Kelly et al., 2004"),
    ("lowest-rto", "to the path with the lowest timeout, back-off included", "RFC 9260 §6.3.3"),
    ("last-heard", "to the alternate that worked most recently", "Linux 3.17"),
    ("round-robin", "to the alternates in turn", "Linux"),
];

impl Destination {
    /// `ALL` has every built-in policy, in the order of [`DESTINATIONS`].
    pub const ALL: [Destination; 12] = [
        Destination::AllSame,
        Destination::AllAlternate,
        Destination::FrSameRtoAlt,
        Destination::RtxCwnd,
        Destination::RtxSsthresh,
        Destination::RtxLossrate,
        Destination::RtxAsap,
        Destination::BestPath,
        Destination::LowestRtt,
        Destination::LowestRto,
        Destination::LastHeard,
        Destination::RoundRobin,
    ];

    /// Returns the built-in policy called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Destination> {
        let at = DESTINATIONS.iter().position(|entry| entry.0 == name)?;
        Some(Destination::ALL[at].clone())
    }

    /// Returns the name of the policy: that in [`DESTINATIONS`], or that of the user's own.
    pub fn name(&self) -> &str {
        if let Destination::Custom(custom) = self {
            return custom.name();
        }
        let at = Destination::ALL.iter().position(|destination| destination == self);
        at.map_or("", |at| DESTINATIONS[at].0)
    }

    /// Makes the user's own policy for an association; `None` for the built-in ones.
    pub(crate) fn build_own(&self) -> Option<Box<dyn Policy>> {
        match self {
            Destination::Custom(custom) => Some(custom.maker()(custom.place())),
            _ => None,
        }
    }

    /// Returns the index of the path for a chunk that was last sent to `last`.
    ///
    /// The user's own policies have state, and are asked where that is: here they
    /// stay on the path.
    pub fn choose(&self, reason: Reason, last: usize, paths: impl Paths) -> usize {
        let count = paths.count();
        if !(0..count).any(|index| paths.path(index).active) {
            return suspected(last, &paths).unwrap_or(last);
        }
        match self {
            Destination::AllSame => all_same::choose(last, &paths),
            Destination::AllAlternate => all_alternate::choose(last, &paths),
            Destination::FrSameRtoAlt => fr_same_rto_alt::choose(reason, last, &paths),
            Destination::RtxCwnd => rtx_cwnd::choose(last, &paths),
            Destination::RtxSsthresh => rtx_ssthresh::choose(last, &paths),
            Destination::RtxLossrate => rtx_lossrate::choose(last, &paths),
            Destination::RtxAsap => rtx_asap::choose(last, &paths),
            Destination::BestPath => best_path::choose(last, &paths),
            Destination::LowestRtt => lowest_rtt::choose(last, &paths),
            Destination::LowestRto => lowest_rto::choose(last, &paths),
            Destination::LastHeard => last_heard::choose(last, &paths),
            Destination::RoundRobin => round_robin::choose(last, &paths),
            Destination::Custom(_) => last,
        }
    }

    /// Returns whether the policy compares paths, so that idle ones have to be probed.
    pub(crate) fn keeps_fresh(&self) -> bool {
        matches!(self, Destination::BestPath | Destination::Custom(_))
    }
}

/// Returns the potentially failed path with the fewest errors, which carries data where no path is
/// active (RFC 7829 §3 rule 5); of equal ones it is the first from `last` on, around.
pub(crate) fn suspected(last: usize, paths: &impl Paths) -> Option<usize> {
    let count = paths.count();
    (0..count)
        .map(|step| (last + step) % count)
        .filter(|index| paths.path(*index).potentially_failed)
        .min_by_key(|index| paths.path(*index).errors)
}

/// `Paths` are the paths of an association, by index.
pub trait Paths {
    /// Returns how many paths there are.
    fn count(&self) -> usize;
    /// Returns what a policy sees of the path at `index`.
    fn path(&self, index: usize) -> Candidate;
}

impl Paths for &[Candidate] {
    fn count(&self) -> usize {
        self.len()
    }
    fn path(&self, index: usize) -> Candidate {
        self[index]
    }
}

/// Returns the next active path after `last`, around; `None` when there is no other.
fn next_active(last: usize, paths: &impl Paths) -> Option<usize> {
    let count = paths.count();
    (1..count).map(|step| (last + step) % count).find(|index| paths.path(*index).active)
}

/// Returns the active path for which `cost` is least; of equal ones it is the first from `last` on,
/// around. It is `last` when none is active.
pub(crate) fn least<T: PartialOrd>(
    last: usize,
    paths: &impl Paths,
    cost: impl Fn(Candidate) -> T,
) -> usize {
    least_from(0, last, paths, cost)
}

/// Returns the same as [`least`] among the paths other than `last`; it is `last` where none of them
/// is active.
fn least_other<T: PartialOrd>(
    last: usize,
    paths: &impl Paths,
    cost: impl Fn(Candidate) -> T,
) -> usize {
    least_from(1, last, paths, cost)
}

fn least_from<T: PartialOrd>(
    first: usize,
    last: usize,
    paths: &impl Paths,
    cost: impl Fn(Candidate) -> T,
) -> usize {
    let count = paths.count();
    let mut best: Option<(T, usize)> = None;
    for index in (first..count).map(|step| (last + step) % count) {
        let path = paths.path(index);
        if !path.active {
            continue;
        }
        let cost = cost(path);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, index));
        }
    }
    best.map_or(last, |(_, index)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(name: &str, reason: Reason, last: usize, active: [bool; 3]) -> usize {
        let paths = active.map(|active| Candidate { active, confirmed: true, ..at_rest() });
        Destination::from_name(name).unwrap().choose(reason, last, paths.as_slice())
    }

    fn at_rest() -> Candidate {
        let rto = Span::from_secs(1);
        Candidate { active: true, confirmed: true, cwnd: 6000, rto, ..Candidate::default() }
    }

    /// What each policy of concurrent transfer takes for the best.
    #[test]
    fn policies_that_compare_paths() {
        let srtt = Some(Span::from_millis(100));
        let (slow, full) = (Some(Span::from_millis(900)), 6000);
        let paths = [
            Candidate { ssthresh: 9000, loss: 0.02, srtt, ..at_rest() },
            Candidate { cwnd: 7000, ssthresh: 5000, loss: 0.03, srtt, ..at_rest() },
            Candidate { ssthresh: 6000, loss: 0.01, srtt: slow, ..at_rest() },
        ];
        let choose = |name: &str, last, paths: [Candidate; 3]| {
            let policy = Destination::from_name(name).unwrap();
            policy.choose(Reason::FastRetransmit, last, paths.as_slice())
        };
        for (name, expected) in
            [("rtx-cwnd", 1), ("rtx-ssthresh", 0), ("rtx-lossrate", 2), ("rtx-asap", 2)]
        {
            assert_eq!(choose(name, 2, paths), expected, "{name}");
        }
        assert_eq!(choose("best-path", 2, paths), 0, "the same delay, less loss");
        for (name, expected) in [("lowest-rtt", 0), ("lowest-rto", 2)] {
            assert_eq!(choose(name, 2, paths), expected, "{name}: of equal ones the first after 2");
        }
        let rtos = [3, 2, 1].map(Span::from_secs);
        let unlike = [0, 1, 2].map(|i| Candidate { rto: rtos[i], ..paths[i] });
        assert_eq!(choose("lowest-rto", 0, unlike), 2);
        let unknown = unlike.map(|path| Candidate { srtt: None, ..path });
        assert_eq!(choose("lowest-rtt", 0, unknown), 2, "the RTO stands for a sample");
        // Without room: the next that has it; the shortest wait.
        let full = paths.map(|path| Candidate { flight: full, ..path });
        assert_eq!(choose("rtx-asap", 0, [full[0], paths[1], paths[2]]), 1);
        assert_eq!(choose("rtx-asap", 0, full.map(|p| Candidate { cwnd: 1, ..p })), 0);
        assert_eq!(choose("best-path", 0, [full[0], paths[1], full[2]]), 1);
        // Errors in a row make a path doubtful, back-off makes it dear.
        let doubtful = Candidate { errors: 1, ..paths[0] };
        assert_eq!(choose("best-path", 0, [doubtful, paths[1], paths[2]]), 1);
        let dear = Candidate { rto: Span::from_secs(60), ..paths[0] };
        assert_eq!(choose("best-path", 0, [dear, paths[1], paths[2]]), 1);
        // The inactive are left out.
        for (name, ..) in DESTINATIONS {
            let paths = [0, 1, 2].map(|i| Candidate { active: i == 1, ..paths[i] });
            assert_eq!(choose(name, 0, paths), 1, "{name}");
        }
    }

    /// Alternates of the path that the chunk was sent to last, by what happened there when.
    #[test]
    fn policies_that_remember() {
        let at = |seconds| Some(Time::ZERO + Span::from_secs(seconds));
        let paths = [at_rest(); 4];
        let choose = |name: &str, last, paths: [Candidate; 4]| {
            let policy = Destination::from_name(name).unwrap();
            policy.choose(Reason::Timeout, last, paths.as_slice())
        };
        // 0 has worked last, then 3; nothing was ever heard from 1.
        let heard = [at(9), None, at(3), at(7)];
        let known = [0, 1, 2, 3].map(|i| Candidate { heard: heard[i], ..paths[i] });
        assert_eq!(choose("last-heard", 0, known), 3);
        assert_eq!(choose("last-heard", 3, known), 0);
        let failed = [0, 1, 2, 3].map(|i| Candidate { active: i != 3, ..known[i] });
        assert_eq!(choose("last-heard", 0, failed), 2);
        assert_eq!(choose("last-heard", 1, paths), 2, "nothing is known: the next");
        // The one that has waited longest is next; 0 was sent to last.
        let resent = [None, at(3), None, at(1)];
        let used = [0, 1, 2, 3].map(|i| Candidate { resent: resent[i], ..paths[i] });
        assert_eq!(choose("round-robin", 0, used), 2);
        let resent = [None, at(3), at(4), at(1)];
        let used = [0, 1, 2, 3].map(|i| Candidate { resent: resent[i], ..paths[i] });
        assert_eq!(choose("round-robin", 0, used), 3);
        // The only active one: both stay.
        let alone = [0, 1, 2, 3].map(|i| Candidate { active: i == 1, ..used[i] });
        assert_eq!(choose("round-robin", 1, alone), 1);
        assert_eq!(choose("last-heard", 1, alone), 1);
    }

    /// RFC 7829 §3 rule 5.
    #[test]
    fn the_least_suspected_path_where_none_is_active() {
        let errors = [9, 2, 1, 1];
        let paths = [0, 1, 2, 3].map(|i| Candidate {
            active: false,
            potentially_failed: i != 0,
            errors: errors[i],
            ..at_rest()
        });
        for (name, ..) in DESTINATIONS {
            let policy = Destination::from_name(name).unwrap();
            let choose = |last| policy.choose(Reason::Timeout, last, paths.as_slice());
            assert_eq!([0, 1, 2, 3].map(choose), [2, 2, 2, 3], "{name}");
        }
    }

    #[test]
    fn names_and_the_table_agree() {
        for (name, ..) in DESTINATIONS {
            assert_eq!(Destination::from_name(name).unwrap().name(), name);
        }
        assert_eq!(Destination::from_name("same"), None);
    }

    #[test]
    fn each_policy_by_reason_and_state_of_the_paths() {
        use Reason::{FastRetransmit as Fast, Timeout};
        let all = [true; 3];
        for (name, fast, timeout) in
            [("all-same", 1, 1), ("all-alternate", 2, 2), ("fr-same-rto-alt", 1, 2)]
                .into_iter()
                .chain([("last-heard", 2, 2), ("round-robin", 2, 2), ("lowest-rto", 1, 1)])
        {
            assert_eq!(choose(name, Fast, 1, all), fast, "{name}");
            assert_eq!(choose(name, Timeout, 1, all), timeout, "{name}");
            // The last path is inactive: every policy leaves it.
            assert_eq!(choose(name, Fast, 1, [true, false, false]), 0, "{name}");
            assert_eq!(choose(name, Timeout, 1, [true, false, false]), 0, "{name}");
            // It is the only active one: every policy stays.
            assert_eq!(choose(name, Timeout, 1, [false, true, false]), 1, "{name}");
            // None is active: it stays.
            assert_eq!(choose(name, Timeout, 1, [false; 3]), 1, "{name}");
        }
    }
}

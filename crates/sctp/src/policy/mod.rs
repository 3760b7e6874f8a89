//! Where a retransmission goes: a seam with one decision.
//!
//! RFC 9260 §6.4.1 only asks that a retransmission be sent to an active
//! address other than the last one "when possible"; the policies are those of
//! Caro, Amer and Stewart (ICON 2003; Computer Communications 29(10), 2006), those
//! of Iyengar, Amer and Stewart for concurrent transfer (IEEE/ACM Transactions on
//! Networking 14(5), 2006, §V), and `best_path`, the project's own.

mod all_alternate;
mod all_same;
mod best_path;
mod fr_same_rto_alt;
mod rtx_asap;
mod rtx_cwnd;
mod rtx_lossrate;
mod rtx_ssthresh;

use anabranch_custom::{Custom, Place};
use anabranch_units::Span;
use std::fmt;

/// Why a chunk is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Missing reports.
    FastRetransmit,
    /// The timer of its path expired.
    Timeout,
}

/// What a policy sees of a path. Windows are in octets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Candidate {
    /// Active: confirmed and neither inactive nor potentially failed.
    pub active: bool,
    /// May carry data at all if no path is active.
    pub confirmed: bool,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Outstanding.
    pub flight: u64,
    /// Estimated share of chunks that are lost.
    pub loss: f64,
    /// Smoothed round-trip time, once there was a sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout in force, back-off included.
    pub rto: Span,
    /// Errors in a row.
    pub errors: u32,
}

impl Candidate {
    /// The window takes more.
    fn has_room(&self) -> bool {
        self.flight < self.cwnd
    }
}

/// The registered policies.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Destination {
    /// To where it was sent last (AllRtxSame).
    AllSame,
    /// To another path (AllRtxAlt, RFC 2960 §6.4.1).
    AllAlternate,
    /// Fast retransmits to the same path, retransmissions after a timeout to
    /// another (FrSameRtoAlt).
    #[default]
    FrSameRtoAlt,
    /// To the largest congestion window (RTX-CWND).
    RtxCwnd,
    /// To the largest slow-start threshold (RTX-SSTHRESH).
    RtxSsthresh,
    /// To the lowest loss rate (RTX-LOSSRATE).
    RtxLossrate,
    /// To any window with room (RTX-ASAP).
    RtxAsap,
    /// To where it is expected to arrive first.
    BestPath,
    /// Where a policy of the user's own sends it.
    Custom(Box<Custom<MakePolicy>>),
}

/// Makes a policy of the user's own, given its place.
pub type MakePolicy = dyn Fn(&Place) -> Box<dyn Policy> + Send + Sync;

/// A policy of the user's own, at work in one association.
pub trait Policy: fmt::Debug + Send {
    /// The index of the path for a chunk that was last sent to `last`.
    fn choose(&mut self, reason: Reason, last: usize, paths: &[Candidate]) -> usize;

    /// The path for new data when the primary does not work; `None` leaves it to
    /// the rules of the RFC.
    fn failover(&mut self, _primary: usize, _paths: &[Candidate]) -> Option<usize> {
        None
    }
}

/// Their names, with a line and a reference each.
pub const DESTINATIONS: [(&str, &str, &str); 8] = [
    ("all-same", "retransmissions go to the path that the chunk was sent to", "Caro et al., 2006"),
    ("all-alternate", "retransmissions go to another path", "RFC 2960 §6.4.1"),
    ("fr-same-rto-alt", "fast retransmits stay, timeouts go to another path", "Caro et al., 2006"),
    ("rtx-cwnd", "to the path with the largest congestion window", "Iyengar et al., 2006"),
    ("rtx-ssthresh", "to the path with the largest threshold", "Iyengar et al., 2006"),
    ("rtx-lossrate", "to the path with the lowest loss rate", "Iyengar et al., 2006"),
    ("rtx-asap", "to any path whose window has room", "Iyengar et al., 2006"),
    ("best-path", "to where it is expected to arrive first", "docs/sctp.md"),
];

impl Destination {
    /// All, in the order of [`DESTINATIONS`].
    pub const ALL: [Destination; 8] = [
        Destination::AllSame,
        Destination::AllAlternate,
        Destination::FrSameRtoAlt,
        Destination::RtxCwnd,
        Destination::RtxSsthresh,
        Destination::RtxLossrate,
        Destination::RtxAsap,
        Destination::BestPath,
    ];

    /// The policy called `name`.
    pub fn from_name(name: &str) -> Option<Destination> {
        let at = DESTINATIONS.iter().position(|entry| entry.0 == name)?;
        Some(Destination::ALL[at].clone())
    }

    /// Its name in [`DESTINATIONS`].
    pub fn name(&self) -> &str {
        if let Destination::Custom(custom) = self {
            return custom.name();
        }
        let at = Destination::ALL.iter().position(|it| it == self);
        at.map_or("", |at| DESTINATIONS[at].0)
    }

    /// The user's policy at work, if it is one.
    pub(crate) fn build_own(&self) -> Option<Box<dyn Policy>> {
        match self {
            Destination::Custom(custom) => Some(custom.maker()(custom.place())),
            _ => None,
        }
    }

    /// The index of the path for a chunk that was last sent to `last`.
    ///
    /// The user's own policies have state, and are asked where that is: here they
    /// stay on the path.
    pub fn choose(&self, reason: Reason, last: usize, paths: impl Paths) -> usize {
        match self {
            Destination::AllSame => all_same::choose(last, &paths),
            Destination::AllAlternate => all_alternate::choose(last, &paths),
            Destination::FrSameRtoAlt => fr_same_rto_alt::choose(reason, last, &paths),
            Destination::RtxCwnd => rtx_cwnd::choose(last, &paths),
            Destination::RtxSsthresh => rtx_ssthresh::choose(last, &paths),
            Destination::RtxLossrate => rtx_lossrate::choose(last, &paths),
            Destination::RtxAsap => rtx_asap::choose(last, &paths),
            Destination::BestPath => best_path::choose(last, &paths),
            Destination::Custom(_) => last,
        }
    }

    /// The path for new data when the primary, `last`, does not work; `None`
    /// where the policy has no opinion.
    pub(crate) fn failover(&self, last: usize, paths: impl Paths) -> Option<usize> {
        (*self == Destination::BestPath).then(|| best_path::choose(last, &paths))
    }

    /// It compares paths, and wants to know how the idle ones are.
    pub(crate) fn keeps_fresh(&self) -> bool {
        matches!(self, Destination::BestPath | Destination::Custom(_))
    }
}

/// The paths of an association, by index.
pub trait Paths {
    /// How many.
    fn count(&self) -> usize;
    /// One of them.
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

/// The next active path after `last`, around; `None` when there is no other.
fn next_active(last: usize, paths: &impl Paths) -> Option<usize> {
    let count = paths.count();
    (1..count).map(|step| (last + step) % count).find(|index| paths.path(*index).active)
}

/// The active path for which `cost` is least; of equal ones the first from
/// `last` on, around. `last` when none is active.
fn least<T: PartialOrd>(last: usize, paths: &impl Paths, cost: impl Fn(Candidate) -> T) -> usize {
    let count = paths.count();
    let mut best: Option<(T, usize)> = None;
    for index in (0..count).map(|step| (last + step) % count) {
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

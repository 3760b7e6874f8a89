//! Where a retransmission goes: a seam with one decision.
//!
//! RFC 9260 §6.4.1 only asks that a retransmission be sent to an active
//! address other than the last one "when possible"; the policies are those of
//! Caro, Amer and Stewart (ICON 2003; Computer Communications 29(10), 2006).

mod all_alternate;
mod all_same;
mod fr_same_rto_alt;

/// Why a chunk is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Missing reports.
    FastRetransmit,
    /// The timer of its path expired.
    Timeout,
}

/// What a policy sees of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Active: confirmed and neither inactive nor potentially failed.
    pub active: bool,
    /// May carry data at all if no path is active.
    pub confirmed: bool,
}

/// The registered policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Destination {
    /// To where it was sent last (AllRtxSame).
    AllSame,
    /// To another path (AllRtxAlt, RFC 2960 §6.4.1).
    AllAlternate,
    /// Fast retransmits to the same path, retransmissions after a timeout to
    /// another (FrSameRtoAlt).
    #[default]
    FrSameRtoAlt,
}

/// Their names, with a line and a reference each.
pub const DESTINATIONS: [(&str, &str, &str); 3] = [
    ("all-same", "retransmissions go to the path that the chunk was sent to", "Caro et al., 2006"),
    ("all-alternate", "retransmissions go to another path", "RFC 2960 §6.4.1"),
    ("fr-same-rto-alt", "fast retransmits stay, timeouts go to another path", "Caro et al., 2006"),
];

impl Destination {
    /// The policy called `name`.
    pub fn from_name(name: &str) -> Option<Destination> {
        match name {
            "all-same" => Some(Destination::AllSame),
            "all-alternate" => Some(Destination::AllAlternate),
            "fr-same-rto-alt" => Some(Destination::FrSameRtoAlt),
            _ => None,
        }
    }

    /// Its name in [`DESTINATIONS`].
    pub fn name(self) -> &'static str {
        match self {
            Destination::AllSame => "all-same",
            Destination::AllAlternate => "all-alternate",
            Destination::FrSameRtoAlt => "fr-same-rto-alt",
        }
    }

    /// The index of the path for a chunk that was last sent to `last`.
    pub fn choose(self, reason: Reason, last: usize, paths: impl Paths) -> usize {
        match self {
            Destination::AllSame => all_same::choose(last, &paths),
            Destination::AllAlternate => all_alternate::choose(last, &paths),
            Destination::FrSameRtoAlt => fr_same_rto_alt::choose(reason, last, &paths),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(name: &str, reason: Reason, last: usize, active: [bool; 3]) -> usize {
        let paths = active.map(|active| Candidate { active, confirmed: true });
        Destination::from_name(name).unwrap().choose(reason, last, paths.as_slice())
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

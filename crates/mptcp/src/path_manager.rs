//! Path managers decide which subflows a connection should have, and which
//! addresses it announces: one path manager a file.
//!
//! The side that opened the connection opens subflows, as with Linux's in-kernel
//! manager: it is often behind a network address translator, where the other
//! cannot reach it. That one announces its further addresses (ADD_ADDR). RFC 8684
//! §3.2 lets it open subflows too; a path manager of its own says which.

mod backup;
mod full_mesh;
mod n_diffports;
mod pairs;
mod signal;

use anabranch_endpoint::Bounds;

/// A path manager says which subflows there should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathManager {
    /// The first subflow is the only one.
    Single,
    /// Subflows go from each own address to each of the peer's.
    FullMesh,
    /// Subflows go from the i-th own address to the i-th of the peer's.
    Pairs,
    /// That many subflows (1 to 32) go between the first addresses, from ports of their own.
    NDiffports(u8),
    /// Subflows go from the first own address to each that the peer announces.
    Signal,
    /// Subflows as with [`PathManager::FullMesh`]; all but the first are backups.
    Backup,
}

/// A line of the catalogue of path managers.
#[derive(Clone, Copy, Debug)]
pub struct PathManagerInfo {
    /// The name in scenarios.
    pub name: &'static str,
    /// What the path manager does, in one phrase.
    pub summary: &'static str,
}

/// The catalogue of all path managers.
pub const PATH_MANAGERS: &[PathManagerInfo] = &[
    PathManagerInfo { name: "single", summary: "one subflow" },
    PathManagerInfo { name: "full-mesh", summary: "every own address with every one of the peer" },
    PathManagerInfo { name: "pairs", summary: "the i-th own address with the i-th of the peer" },
    PathManagerInfo { name: "n-diffports", summary: "several ports between the first addresses" },
    PathManagerInfo { name: "signal", summary: "the first own address with those announced" },
    PathManagerInfo { name: "backup", summary: "a full mesh that carries data only in need" },
];

impl PathManager {
    /// What the number of ports of `n-diffports` may be.
    pub const PORTS: Bounds<u8> = Bounds::of(1, 32);

    /// The path manager has that name; `n-diffports` has two subflows.
    pub fn from_name(name: &str) -> Option<PathManager> {
        Some(match name {
            "single" => PathManager::Single,
            "full-mesh" => PathManager::FullMesh,
            "pairs" => PathManager::Pairs,
            "n-diffports" => PathManager::NDiffports(2),
            "signal" => PathManager::Signal,
            "backup" => PathManager::Backup,
            _ => return None,
        })
    }

    /// Returns the name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            PathManager::Single => "single",
            PathManager::FullMesh => "full-mesh",
            PathManager::Pairs => "pairs",
            PathManager::NDiffports(_) => "n-diffports",
            PathManager::Signal => "signal",
            PathManager::Backup => "backup",
        }
    }

    /// The subflows that there should be, beside the first. Addresses are
    /// positions among those that each side has, in the order of their numbers;
    /// the first are those of the first subflow.
    pub fn wanted(&self, own: usize, peer: usize) -> Vec<Wanted> {
        match *self {
            PathManager::Single => Vec::new(),
            PathManager::FullMesh => full_mesh::wanted(own, peer),
            PathManager::Pairs => pairs::wanted(own, peer),
            PathManager::NDiffports(count) => n_diffports::wanted(count),
            PathManager::Signal => signal::wanted(peer),
            PathManager::Backup => backup::wanted(own, peer),
        }
    }

    /// Returns how many ports in a row, from the first subflow's on, the side that opens subflows
    /// needs at its addresses.
    pub fn ports(&self) -> u8 {
        match *self {
            PathManager::NDiffports(count) => count,
            _ => 1,
        }
    }

    /// Whether the side that has it tells the peer of its further addresses.
    pub fn announces(&self) -> bool {
        !matches!(self, PathManager::Single | PathManager::NDiffports(_))
    }
}

/// A subflow that there should be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Wanted {
    /// This side's address, as a position among its addresses.
    pub own: usize,
    /// The peer's address, as a position among its addresses.
    pub peer: usize,
    /// A number that tells subflows between the same addresses apart; 0 for the first.
    pub copy: u8,
    /// The subflow is a backup (RFC 8684 §3.3.8).
    pub backup: bool,
}

impl Wanted {
    /// The first subflow, where it is opened again.
    pub(crate) const FIRST: Wanted = Wanted { own: 0, peer: 0, copy: 0, backup: false };

    fn between(own: usize, peer: usize) -> Wanted {
        Wanted { own, peer, copy: 0, backup: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_table_agree() {
        for info in PATH_MANAGERS {
            assert_eq!(PathManager::from_name(info.name).unwrap().name(), info.name);
        }
        assert_eq!(PathManager::from_name("mesh"), None);
    }

    #[test]
    fn what_each_wants_of_two_and_three_addresses() {
        let wanted = |name: &str, own, peer| -> Vec<(usize, usize)> {
            let manager = PathManager::from_name(name).unwrap();
            manager.wanted(own, peer).iter().map(|wanted| (wanted.own, wanted.peer)).collect()
        };
        assert_eq!(wanted("single", 2, 3), []);
        assert_eq!(wanted("full-mesh", 2, 3), [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert_eq!(wanted("backup", 2, 1), [(1, 0)]);
        assert_eq!(wanted("pairs", 2, 3), [(1, 1)]);
        assert_eq!(wanted("pairs", 3, 2), [(1, 1)]);
        assert_eq!(wanted("pairs", 2, 1), []);
        assert_eq!(wanted("signal", 2, 3), [(0, 1), (0, 2)]);
        assert_eq!(wanted("n-diffports", 2, 3), [(0, 0)]);
        assert!(PathManager::Backup.wanted(2, 2).iter().all(|wanted| wanted.backup));
        let copies: Vec<u8> =
            PathManager::NDiffports(4).wanted(1, 1).iter().map(|wanted| wanted.copy).collect();
        assert_eq!(copies, [1, 2, 3]);
        assert_eq!((PathManager::NDiffports(4).ports(), PathManager::FullMesh.ports()), (4, 1));
    }
}

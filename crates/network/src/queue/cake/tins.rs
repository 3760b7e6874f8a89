//! Which code points make up which tin, and what part of the rate each tin has (§3.3 of the paper;
//! tc-cake(8), PRIORITY QUEUE PARAMETERS).
//!
//! Tins are in the order of Linux: the last that keeps to its share goes first. So background traffic,
//! number 1 of [`Diffserv3`](CakeTins::Diffserv3) and [`Diffserv4`](CakeTins::Diffserv4), goes before best effort up to its sixteenth, and
//! behind it beyond.

/// The sets of tins, into which packets go by their code points (tc-cake(8)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CakeTins {
    /// One.
    BestEffort,
    /// Best effort; background (CS1, LE) with 1/16; voice (EF, VA, CS6, CS7, TOS 4) with 1/4.
    #[default]
    Diffserv3,
    /// Best effort; background with 1/16; video (AF2x to AF4x, CS2, CS3, TOS 4) with 1/2; voice (EF,
    /// VA, CS4 to CS7) with 1/4.
    Diffserv4,
    /// Eight, each with 7/8 of the one before it: LE; CS1, AF1x and TOS 2; best effort; AF3x, AF4x
    /// and CS3; AF2x and TOS 4; CS2; CS4, CS5, EF and VA; CS6 and CS7.
    Diffserv8,
    /// Eight by the first three bits of the code point, with the shares of [`CakeTins::Diffserv8`].
    Precedence,
}

/// Code points of a tin's number that are not in the tin of best effort.
type Rows = &'static [(u8, &'static [u8])];

const DIFFSERV3: Rows = &[(1, &[1, 8]), (2, &[4, 44, 46, 48, 56])];
const DIFFSERV4: Rows = &[
    (1, &[1, 8]),
    (2, &[4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]),
    (3, &[32, 40, 44, 46, 48, 56]),
];
const DIFFSERV8: Rows = &[
    (0, &[1]),
    (1, &[2, 8, 10, 12, 14]),
    (3, &[24, 26, 28, 30, 34, 36, 38]),
    (4, &[4, 18, 20, 22]),
    (5, &[16]),
    (6, &[32, 40, 44, 46]),
    (7, &[48, 56]),
];

impl CakeTins {
    /// The tin of each code point.
    pub(super) fn by_code_point(self) -> [u8; 64] {
        let (best_effort, rows) = match self {
            CakeTins::BestEffort => (0, &[][..]),
            CakeTins::Diffserv3 => (0, DIFFSERV3),
            CakeTins::Diffserv4 => (0, DIFFSERV4),
            CakeTins::Diffserv8 => (2, DIFFSERV8),
            CakeTins::Precedence => return std::array::from_fn(|dscp| dscp as u8 >> 3),
        };
        let mut tins = [best_effort; 64];
        for (tin, points) in rows {
            points.iter().for_each(|dscp| tins[usize::from(*dscp)] = *tin);
        }
        tins
    }

    /// Part of the rate up to which each tin goes first, as a fraction.
    pub(super) fn shares(self) -> impl Iterator<Item = (u64, u64)> {
        let (eight, few): (u32, &[(u64, u64)]) = match self {
            CakeTins::BestEffort => (0, &[(1, 1)]),
            CakeTins::Diffserv3 => (0, &[(1, 1), (1, 16), (1, 4)]),
            CakeTins::Diffserv4 => (0, &[(1, 1), (1, 16), (1, 2), (1, 4)]),
            CakeTins::Diffserv8 | CakeTins::Precedence => (8, &[]),
        };
        (0..eight).map(|number| (7_u64.pow(number), 8_u64.pow(number))).chain(few.iter().copied())
    }

    /// Octets that each tin may send in a turn, where there is no rate.
    pub(super) fn quanta(self) -> impl Iterator<Item = i64> {
        let most = match self {
            CakeTins::BestEffort => 65_535,
            CakeTins::Diffserv3 | CakeTins::Diffserv4 => 1024,
            CakeTins::Diffserv8 | CakeTins::Precedence => 256,
        };
        self.shares().map(move |(a, b)| (most * a / b).max(1) as i64)
    }
}

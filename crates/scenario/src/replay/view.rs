//! Chooses among the places where a direction's packets were seen.

use anabranch_wire::pcapng::Direction;
use std::collections::BTreeMap;

/// The interface at which a packet was seen, and whether it came or went there.
pub(super) type Place = (u32, Option<Direction>);

/// The place at which a direction's packets are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    pub(super) interface: u32,
    pub(super) direction: Option<Direction>,
}

impl View {
    /// The most telling of the places where `seen` were: one with the direction
    /// that is wanted, or else, if `any`, one without; of several the one with
    /// the most packets, and of these the first.
    pub(super) fn of(
        seen: impl Iterator<Item = Place>,
        wanted: Direction,
        any: bool,
    ) -> Option<View> {
        let mut counts: BTreeMap<(bool, u32), u64> = BTreeMap::new();
        for (interface, direction) in seen {
            if direction == Some(wanted) || any && direction.is_none() {
                *counts.entry((direction.is_none(), interface)).or_default() += 1;
            }
        }
        let known = counts.keys().any(|(unknown, _)| !unknown);
        let ours = counts.into_iter().filter(|((unknown, _), _)| *unknown != known);
        let best = ours.max_by_key(|((_, interface), n)| (*n, std::cmp::Reverse(*interface)));
        let ((unknown, interface), _) = best?;
        Some(View { interface, direction: (!unknown).then_some(wanted) })
    }

    /// A packet that was seen there is one of those.
    pub(super) fn has(self, place: Place) -> bool {
        place == (self.interface, self.direction)
    }
}

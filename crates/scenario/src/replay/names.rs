//! What addresses and flows are called.

use super::SeenInterface;
use anabranch_wire::pcapng::Direction;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The host of each address: the name of the interface where its packets went
/// out or came in.
#[derive(Default)]
pub(super) struct Names {
    names: BTreeMap<IpAddr, String>,
}

impl Names {
    /// Finds names from packets: where each was seen, and its addresses, from and to.
    pub(super) fn new(
        seen: impl Iterator<Item = (u32, Option<Direction>, [IpAddr; 2])>,
        interfaces: &[SeenInterface],
    ) -> Names {
        let mut names = BTreeMap::new();
        for (interface, direction, [from, to]) in seen {
            let here = match direction {
                Some(Direction::Outbound) => from,
                Some(Direction::Inbound) => to,
                None => continue,
            };
            let name = &interfaces[interface as usize].name;
            if !name.is_empty() {
                names.entry(here).or_insert_with(|| name.clone());
            }
        }
        Names { names }
    }

    /// Whether an address has a name.
    pub(super) fn knows(&self, address: IpAddr) -> bool {
        self.names.contains_key(&address)
    }

    /// The name, or the address as text.
    pub(super) fn of(&self, address: IpAddr) -> String {
        self.names.get(&address).cloned().unwrap_or_else(|| address.to_string())
    }
}

/// Counts the connections between the same two, whichever of them is first.
#[derive(Default)]
pub(super) struct Pairs(BTreeMap<[String; 2], u32>);

impl Pairs {
    /// Counts the connections that have these ends.
    pub(super) fn of(ends: impl Iterator<Item = [String; 2]>) -> Pairs {
        let mut pairs = Pairs::default();
        for mut both in ends {
            both.sort();
            *pairs.0.entry(both).or_default() += 1;
        }
        pairs
    }

    /// Ports have to tell these two's connections apart.
    pub(super) fn have_several(&self, mut both: [String; 2]) -> bool {
        both.sort();
        self.0.get(&both).is_some_and(|n| *n > 1)
    }
}

/// The flow's name, with `#2` and so on where it was used before.
pub(super) fn distinct(flow: String, used: &mut BTreeMap<String, u32>) -> String {
    let times = used.entry(flow.clone()).or_default();
    *times += 1;
    if *times > 1 { format!("{flow}#{times}") } else { flow }
}

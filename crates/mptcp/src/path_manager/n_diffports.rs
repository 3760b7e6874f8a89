//! Several subflows between the first addresses, each from a port of its own:
//! for networks that spread flows over equal paths by a hash of the ports (Raiciu
//! et al., "Improving Datacenter Performance and Robustness with Multipath TCP",
//! SIGCOMM 2011).

use super::Wanted;

pub(super) fn wanted(count: u8) -> Vec<Wanted> {
    (1..count).map(|copy| Wanted { copy, ..Wanted::between(0, 0) }).collect()
}

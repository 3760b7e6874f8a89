//! Highest rate chooses the path on which new data is expected to go fastest.
//!
//! The rate of a sender that halves its window at losses is about (Padhye, Firoiu, Towsley and
//! Kurose, "Modeling TCP Throughput", SIGCOMM 1998, equation 33; b = 2 packets a SACK)
//!
//! ```text
//! B = min(W / R, s / (R √(2 b p / 3) + T min(1, 3 √(3 b p / 8)) p (1 + 32 p²)), C)
//! ```
//!
//! with the peer's window W, packets of s octets, the RTO in force T and the share p that is lost.
//! R is the *least* round-trip time: the smoothed one of a path in use holds its own queue, so that
//! an idle path would always seem better. What a slow link costs is in C instead, the rate that
//! the path is known to take. A path in use is not left for the sake of one on which no queue has
//! been seen unless that is better also if it takes no more than the fastest of the others, the
//! primary among them.
//! Each error in a row halves the belief that the path works, as in `best_path`.

use super::World;
use crate::policy::Candidate;

/// A SACK answers this many packets.
const B: f64 = 2.0;

/// Returns the expected time for an octet, in seconds.
pub(super) fn cost(path: &Candidate, world: &World) -> f64 {
    let rto = path.rto.as_secs_f64();
    let rtt = path.min_rtt.map_or(rto, |rtt| rtt.as_secs_f64());
    let p = path.loss;
    let repeated = (3.0 * (3.0 * B * p / 8.0).sqrt()).min(1.0);
    let packet = rtt * (2.0 * B * p / 3.0).sqrt() + rto * repeated * p * (1.0 + 32.0 * p * p);
    let by_window = rtt / world.window.max(world.packet) as f64;
    let by_loss = packet / world.packet as f64;
    let by_link = path.capacity.or(world.unseen).map_or(0.0, |rate| 1.0 / rate);
    by_window.max(by_loss).max(by_link) * (1_u64 << path.errors.min(60)) as f64
}

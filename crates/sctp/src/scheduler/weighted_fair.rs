//! Weighted fair queueing (RFC 8260 §3.6) serves octets in proportion to the values of the streams.
//! It counts them as start-time fair queueing does (Goyal, Vin and Cheng, SIGCOMM 1996): a turn of
//! L octets of a stream with weight w moves its start tag by L / w, the stream with the lowest
//! start tag is next, and a stream that was idle starts at the tag of the turn in service.

use super::{Account, Discipline, Key};

/// An octet has this many units, so that weights divide it finely.
const UNIT: u64 = 1 << 16;

/// A `Service` holds the start tag of the turn in service, and counts what has joined, for ties.
#[derive(Debug, Default)]
pub(super) struct Service {
    tag: u64,
    joined: u64,
}

impl Service {
    pub fn join(&mut self, account: &mut Account) -> Key {
        self.joined += 1;
        account.service = account.service.max(self.tag);
        (account.service, self.joined)
    }

    pub fn serve(&mut self, account: &mut Account, octets: u64, weight: u64) -> Key {
        self.tag = account.service;
        account.service += octets * UNIT / weight;
        self.joined += 1;
        (account.service, self.joined)
    }
}

#[derive(Debug, Default)]
pub(super) struct WeightedFair(Service);

impl Discipline for WeightedFair {
    fn join(&mut self, account: &mut Account) -> Key {
        self.0.join(account)
    }

    fn again(&mut self, account: &mut Account, octets: u64) -> Key {
        self.0.serve(account, octets, account.value.max(1) as u64)
    }
}

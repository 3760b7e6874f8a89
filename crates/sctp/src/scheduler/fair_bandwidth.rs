//! Fair bandwidth (RFC 8260 §3.5) serves the stream next that was served the fewest octets. A
//! stream that was idle starts where the others are, so that it cannot claim what it did not use.

use super::weighted_fair::Service;
use super::{Account, Discipline, Key};

#[derive(Debug, Default)]
pub(super) struct FairBandwidth(Service);

impl Discipline for FairBandwidth {
    fn join(&mut self, account: &mut Account) -> Key {
        self.0.join(account)
    }

    fn again(&mut self, account: &mut Account, octets: u64) -> Key {
        self.0.serve(account, octets, 1)
    }
}

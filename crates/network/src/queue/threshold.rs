//! A step: ECN-capable packets that find at least K waiting are marked; others
//! are not touched. The marking of DCTCP (RFC 8257 §3.1; Alizadeh et al.,
//! SIGCOMM 2010), on the instantaneous queue.

use super::{Arrival, Decision, QueueLimit};
use crate::catalogue::{ConfigError, Info};
use anabranch_units::Bytes;
use anabranch_wire::Ecn;

pub(super) const INFO: Info = Info {
    name: "threshold",
    summary: "drop-tail that marks ECN-capable packets while at least K wait (DCTCP)",
    reference: "RFC 8257 §3.1; Alizadeh et al., SIGCOMM 2010",
};

/// Parameters of the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThresholdConfig {
    /// Most that may wait; more is dropped.
    pub limit: QueueLimit,
    /// K: with this much waiting, arrivals are marked.
    pub mark: QueueLimit,
}

impl Default for ThresholdConfig {
    /// K = 65 packets, the authors' value for 10 Gbit/s; limit 100 packets.
    fn default() -> Self {
        ThresholdConfig { limit: QueueLimit::Packets(100), mark: QueueLimit::Packets(65) }
    }
}

impl ThresholdConfig {
    /// Returns an error if the threshold is unlimited.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.mark {
            QueueLimit::Unlimited => Err(ConfigError::new("mark", "unlimited", "an amount")),
            _ => Ok(()),
        }
    }

    pub(crate) fn on_arrival(&self, arrival: &Arrival) -> Decision {
        let reached = match self.mark {
            QueueLimit::Packets(n) => arrival.waiting.packets >= n,
            QueueLimit::Octets(Bytes(n)) => arrival.waiting.octets >= n,
            QueueLimit::Unlimited => false,
        };
        if reached && arrival.ecn != Ecn::NotEct { Decision::Mark } else { Decision::Admit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Waiting;
    use anabranch_units::Time;

    #[test]
    fn marks_from_k_packets_on_and_nothing_else() {
        let threshold_config =
            ThresholdConfig { mark: QueueLimit::Packets(3), ..ThresholdConfig::default() };
        let decide = |packets, ecn| {
            threshold_config.on_arrival(&Arrival {
                now: Time::ZERO,
                size: 1500,
                ecn,
                waiting: Waiting { packets, octets: packets * 1500 },
                busy_until: Time::NEVER,
            })
        };
        assert_eq!(decide(2, Ecn::Ect0), Decision::Admit);
        assert_eq!(decide(3, Ecn::Ect0), Decision::Mark);
        assert_eq!(decide(3, Ecn::NotEct), Decision::Admit);
        let octets = ThresholdConfig { mark: QueueLimit::Octets(Bytes(3000)), ..threshold_config };
        let arrival = Arrival {
            now: Time::ZERO,
            size: 40,
            ecn: Ecn::Ect1,
            waiting: Waiting { packets: 2, octets: 3000 },
            busy_until: Time::NEVER,
        };
        assert_eq!(octets.on_arrival(&arrival), Decision::Mark);
    }
}

//! What goes wrong on a link, one file each: loss, bit errors, drops of chosen
//! packets, reordering, duplication, boxes that change what passes. Each that
//! draws has a generator of its own, so that adding one at the end of a list does
//! not shift the draws of the others.

mod bernoulli;
mod bit_errors;
mod corrupt;
mod duplicate;
mod gilbert_elliott;
mod jitter;
mod middlebox;
mod outage;
mod packets;
mod periodic;
mod police;
mod reorder;
mod reorder_distance;

pub use bernoulli::Bernoulli;
pub use bit_errors::BitErrors;
pub use corrupt::Corrupt;
pub use duplicate::Duplicate;
pub use gilbert_elliott::GilbertElliott;
pub use jitter::{Jitter, JitterConfig, JitterLaw};
pub use middlebox::{Middlebox, MiddleboxConfig, Segments};
pub use outage::OutageConfig;
pub use packets::{FlowPaths, Packets};
pub use periodic::Periodic;
pub use police::Police;
pub use reorder::Reorder;
pub use reorder_distance::ReorderDistance;

use crate::catalogue::{ConfigError, Info};
use crate::pool::{PacketId, PacketPool};
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::{Bytes, Rate, Span, Time};

/// `IMPAIRMENTS` has the impairments by name.
pub const IMPAIRMENTS: &[Info] = &[
    bernoulli::INFO,
    gilbert_elliott::INFO,
    bit_errors::INFO,
    packets::INFO,
    periodic::INFO,
    reorder::INFO,
    reorder_distance::INFO,
    jitter::INFO,
    duplicate::INFO,
    corrupt::INFO,
    outage::INFO,
    police::INFO,
    middlebox::INFO,
];

/// The place on the link at which an impairment acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Position {
    /// The place is before the queue: a lost packet takes no buffer and no bandwidth (as ns-2's
    /// `link-lossmodel`).
    #[default]
    Ingress,
    /// The place is after the transmission: a lost packet has used the link.
    Egress,
}

/// `ImpairmentConfig` is an impairment and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct ImpairmentConfig {
    /// `kind` is the impairment with its parameters.
    pub kind: ImpairmentKind,
    /// `at` is the place of the impairment: before the queue or after the transmission.
    pub at: Position,
}

/// `ImpairmentKind` describes an impairment.
#[derive(Clone, PartialEq, Debug)]
pub enum ImpairmentKind {
    /// Packets are lost independently of each other.
    Bernoulli {
        /// `rate` is the probability that a packet is lost.
        rate: f64,
    },
    /// Losses come in bursts, from a chain of two states.
    GilbertElliott {
        /// `p` is the probability per packet of going from good to bad.
        p: f64,
        /// `r` is the probability per packet of going from bad to good.
        r: f64,
        /// `k` is the probability that a packet survives in the good state.
        k: f64,
        /// `h` is the probability that a packet survives in the bad state.
        h: f64,
    },
    /// Bit errors are independent; a packet with one is dropped.
    BitErrors {
        /// `ber` is the probability that a bit is wrong.
        ber: f64,
    },
    /// Chosen data packets of a flow are dropped, once each.
    Packets {
        /// `flow` is the flow, in its direction over this link.
        flow: FlowPaths,
        /// Numbers of the packets with payload to drop, counted from 1 as they come here.
        numbers: Vec<u64>,
    },
    /// Every n-th packet with payload is lost.
    Periodic {
        /// `every` says that one packet in so many is lost; at least 1.
        every: u64,
        /// `first` is the number of the first, counted from 1.
        first: u64,
    },
    /// Some packets travel longer, so that later ones overtake them. Acts on
    /// the propagation in either position.
    Reorder {
        /// `probability` is that with which a packet is held back.
        probability: f64,
        /// `extra` is the time that it travels longer.
        extra: Span,
    },
    /// Some packets are overtaken by later ones. Acts at the far end in either
    /// position.
    ReorderDistance {
        /// `probability` is that with which a packet is overtaken.
        probability: f64,
        /// `distance` is how many packets overtake it.
        distance: u32,
        /// `longest` is the longest that it waits for them.
        longest: Span,
    },
    /// Every packet travels longer by a random time. Acts on the propagation in
    /// either position.
    Jitter(JitterConfig),
    /// Some packets come twice.
    Duplicate {
        /// `probability` is that with which a packet is copied.
        probability: f64,
    },
    /// Bits of some packets are flipped, which checksums have to catch.
    Corrupt {
        /// `probability` is that with which a packet is hit.
        probability: f64,
        /// `bits` is how many different bits are flipped.
        bits: u32,
    },
    /// Packets that come during these times are lost.
    Outage(OutageConfig),
    /// Packets that exceed a token bucket are lost.
    Police {
        /// `rate` is the rate at which tokens, an octet each, come.
        rate: Rate,
        /// Most tokens in the bucket, which is full at the start.
        burst: Bytes,
    },
    /// TCP segments are changed on their way, as by a box between the hosts.
    Middlebox(MiddleboxConfig),
}

impl ImpairmentKind {
    /// What `every` and `first` of the periodic one may be, and each number of the chosen packets.
    pub const COUNT: Bounds<u64> = Bounds::at_least(1);
    /// What `distance` may be.
    pub const DISTANCE: Bounds<u32> = Bounds::of(1, u32::MAX);
    /// What `bits` may be.
    pub const BITS: Bounds<u32> = Bounds::of(1, 1000);
    /// What `burst` of the policer may be.
    pub const BURST: Bounds<Bytes> = Bounds::of(Bytes(1), Bytes(1 << 40));
}

impl ImpairmentConfig {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let probability = ConfigError::probability;
        match &self.kind {
            ImpairmentKind::Bernoulli { rate } => probability("rate", *rate),
            ImpairmentKind::GilbertElliott { p, r, k, h } => {
                probability("p", *p)?;
                probability("r", *r)?;
                probability("k", *k)?;
                probability("h", *h)
            }
            ImpairmentKind::BitErrors { ber } => probability("ber", *ber),
            ImpairmentKind::Packets { numbers, .. } => {
                let count = ImpairmentKind::COUNT.because("packets are counted from 1");
                numbers.iter().try_for_each(|number| count.check("numbers", *number))
            }
            ImpairmentKind::Periodic { every, first } => {
                ImpairmentKind::COUNT.check("every", *every)?;
                ImpairmentKind::COUNT.check("first", *first)
            }
            ImpairmentKind::Reorder { probability: p, .. } => probability("probability", *p),
            ImpairmentKind::ReorderDistance { probability: p, distance, .. } => {
                probability("probability", *p)?;
                ImpairmentKind::DISTANCE.check("distance", *distance)
            }
            ImpairmentKind::Jitter(JitterConfig { correlation, .. }) => {
                JitterConfig::CORRELATION.check("correlation", *correlation)
            }
            ImpairmentKind::Duplicate { probability: p } => probability("probability", *p),
            ImpairmentKind::Corrupt { probability: p, bits } => {
                probability("probability", *p)?;
                ImpairmentKind::BITS.check("bits", *bits)
            }
            ImpairmentKind::Outage(outage) => outage.validate(),
            ImpairmentKind::Police { burst, .. } => ImpairmentKind::BURST.check("burst", *burst),
            ImpairmentKind::Middlebox(middlebox) => middlebox.validate(),
        }
    }

    pub(crate) fn build(&self, generator: Generator) -> Impairment {
        match &self.kind {
            ImpairmentKind::Bernoulli { rate } => {
                Impairment::Bernoulli(Bernoulli::new(*rate, generator))
            }
            ImpairmentKind::GilbertElliott { p, r, k, h } => {
                Impairment::GilbertElliott(GilbertElliott::new(*p, *r, *k, *h, generator))
            }
            ImpairmentKind::BitErrors { ber } => {
                Impairment::BitErrors(BitErrors::new(*ber, generator))
            }
            ImpairmentKind::Packets { flow, numbers } => {
                Impairment::Packets(Packets::new(flow.clone(), numbers))
            }
            ImpairmentKind::Periodic { every, first } => {
                Impairment::Periodic(Periodic::new(*every, *first))
            }
            ImpairmentKind::Reorder { probability, extra } => {
                Impairment::Reorder(Reorder::new(*probability, *extra, generator))
            }
            ImpairmentKind::Duplicate { probability } => {
                Impairment::Duplicate(Duplicate::new(*probability, generator))
            }
            ImpairmentKind::ReorderDistance { probability, distance, longest } => {
                let reorder_distance =
                    ReorderDistance::new(*probability, *distance, *longest, generator);
                Impairment::ReorderDistance(reorder_distance)
            }
            ImpairmentKind::Jitter(config) => Impairment::Jitter(Jitter::new(config, generator)),
            ImpairmentKind::Corrupt { probability, bits } => {
                Impairment::Corrupt(Box::new(Corrupt::new(*probability, *bits, generator)))
            }
            ImpairmentKind::Outage(config) => Impairment::Outage(config.clone()),
            ImpairmentKind::Police { rate, burst } => {
                Impairment::Police(Police::new(*rate, *burst))
            }
            ImpairmentKind::Middlebox(config) => {
                Impairment::Middlebox(Box::new(Middlebox::new(config)))
            }
        }
    }
}

/// `Verdict` is what an impairment does to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Pass,
    Lose,
    Corrupt,
    /// The packet travels longer and may be overtaken.
    Delay(Span),
    /// Travels longer; what comes later does not overtake it.
    DelayInOrder(Span),
    /// Waits at the far end until so many later packets have gone by, at most
    /// so long.
    Overtaken(u32, Span),
    Duplicate,
}

/// An impairment with its state, as a link holds it.
#[derive(Debug)]
pub(crate) enum Impairment {
    Bernoulli(Bernoulli),
    GilbertElliott(GilbertElliott),
    BitErrors(BitErrors),
    Packets(Packets),
    Periodic(Periodic),
    Reorder(Reorder),
    ReorderDistance(ReorderDistance),
    Jitter(Jitter),
    Duplicate(Duplicate),
    Corrupt(Box<Corrupt>),
    Outage(OutageConfig),
    Police(Police),
    Middlebox(Box<Middlebox>),
}

impl Impairment {
    /// Judges a packet of `size` octets that comes at `now`.
    pub(crate) fn judge(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        pool: &mut PacketPool,
    ) -> Verdict {
        let when = |hit, verdict| if hit { verdict } else { Verdict::Pass };
        match self {
            Impairment::Bernoulli(bernoulli) => when(bernoulli.loses(), Verdict::Lose),
            Impairment::GilbertElliott(gilbert_elliott) => {
                when(gilbert_elliott.loses(), Verdict::Lose)
            }
            Impairment::BitErrors(bit_errors) => when(bit_errors.corrupts(size), Verdict::Corrupt),
            Impairment::Packets(packets) => when(packets.loses(pool.packet(id)), Verdict::Lose),
            Impairment::Periodic(periodic) => when(periodic.loses(pool.packet(id)), Verdict::Lose),
            Impairment::Reorder(reorder) => reorder.delays().map_or(Verdict::Pass, Verdict::Delay),
            Impairment::ReorderDistance(reorder_distance) => match reorder_distance.overtaken() {
                Some((distance, longest)) => Verdict::Overtaken(distance, longest),
                None => Verdict::Pass,
            },
            Impairment::Jitter(jitter) => match (jitter.extra(), jitter.keeps_order()) {
                (extra, true) => Verdict::DelayInOrder(extra),
                (extra, false) => Verdict::Delay(extra),
            },
            Impairment::Duplicate(duplicate) => when(duplicate.duplicates(), Verdict::Duplicate),
            Impairment::Corrupt(inner) => {
                when(inner.strike(id, pool) == corrupt::Damage::Header, Verdict::Corrupt)
            }
            Impairment::Outage(outage) => when(outage.is_down(now), Verdict::Lose),
            Impairment::Police(police) => when(!police.admits(now, size), Verdict::Lose),
            Impairment::Middlebox(middlebox) => {
                middlebox.meddle(id, pool);
                Verdict::Pass
            }
        }
    }
}

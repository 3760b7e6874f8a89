//! These settings say when idle paths are probed.

use anabranch_units::Span;

/// A `Jitter` says of which time the random part of the heartbeat interval is a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jitter {
    /// It is up to half of the RTO to either side (RFC 9260 §8.3).
    Rto,
    /// It is up to half of HB.interval to either side, as the ns-2 module of the University of
    /// Delaware has it.
    Interval,
    /// There is none.
    None,
}

/// A `Probing` says whether more heartbeats leave than HB.interval asks for, which keep what is
/// known of the alternates fresh while data is outstanding. With HB.interval alone (RFC 9260 §8.3)
/// an alternate is measured every half minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probing {
    /// Single heartbeats leave, as with a [`Probe`] whose interval is RTO.Initial, where the
    /// retransmission policy or the failover rule compares paths by what changes while they are
    /// idle; else none do.
    #[default]
    AsPolicy,
    /// No heartbeats leave beside those of HB.interval.
    Off,
    /// Heartbeats leave as this says, whatever the policies are.
    On(Probe),
}

/// A `Probe` says how an alternate is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// The next measurement begins this time after one, or an RTO after it where that is less, with
    /// up to half of either to both sides. The interval is within [`Probe::INTERVAL`].
    pub interval: Span,
    /// This many heartbeats leave together, within [`Probe::BURST`]. One that is answered shows that the path
    /// works; each that is not is a loss.
    ///
    /// Deviation: RFC 9260 §8.3 has one for each expiry of the timer; more are what its user may
    /// ask for (§8.3 D).
    pub burst: u32,
}

impl Default for Probe {
    /// The default is one heartbeat, about once a second.
    fn default() -> Probe {
        Probe { interval: Span::from_secs(1), burst: 1 }
    }
}

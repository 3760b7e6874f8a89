//! What hooks are told. All facts are plain values in C's layout: who changes one changes [`ABI`](crate::ABI).
//!
//! Windows and amounts are octets. In unit tests a fact is made from its default:
//! `Ack { acked: 1460, ..Ack::default() }`.

const PS_PER_S: f64 = 1e12;

/// A date: picoseconds since the start of the run.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Time(u64);

impl Time {
    /// The date so many picoseconds after the start.
    pub const fn from_picoseconds(ps: u64) -> Time {
        Time(ps)
    }

    /// The date so many seconds after the start, in whole picoseconds; for tests.
    pub const fn from_seconds(seconds: f64) -> Time {
        Time((seconds * PS_PER_S) as u64)
    }

    /// Picoseconds since the start.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S
    }

    /// Seconds since an `earlier` date, from the exact difference; zero if it is later.
    pub fn since(self, earlier: Time) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / PS_PER_S
    }
}

/// A length of time in picoseconds, or none: a round-trip time is none until it was measured.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span(u64);

impl Span {
    /// Not measured.
    pub const NONE: Span = Span(u64::MAX);

    /// So many picoseconds.
    pub const fn from_picoseconds(ps: u64) -> Span {
        Span(ps)
    }

    /// So many seconds, in whole picoseconds; for tests.
    pub const fn from_seconds(seconds: f64) -> Span {
        Span((seconds * PS_PER_S) as u64)
    }

    /// Picoseconds, where it was measured.
    pub const fn picoseconds(self) -> Option<u64> {
        match self.0 {
            u64::MAX => None,
            ps => Some(ps),
        }
    }

    /// Seconds, where it was measured.
    pub fn seconds(self) -> Option<f64> {
        self.picoseconds().map(|ps| ps as f64 / PS_PER_S)
    }
}

impl Default for Span {
    fn default() -> Span {
        Span::NONE
    }
}

/// The path that the window governs, as it is at the event.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The date of the event.
    pub time: Time,
    /// Octets estimated to be in the network: before the event, and after it in a [`Report`].
    pub in_flight: u64,
    /// Largest segment payload.
    pub mss: u64,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Smallest round-trip time seen.
    pub min_rtt: Span,
    /// Octets sent so far, each counted once however often it was sent.
    pub sent: u64,
    /// Octets acknowledged so far. A round has passed when this reaches what `sent` was at its start.
    pub acked: u64,
    /// The application, not the window, limits sending: the window must not grow.
    pub app_limited: bool,
}

impl Default for Path {
    /// A path of segments of 1460 octets on which nothing has happened yet.
    fn default() -> Path {
        Path {
            time: Time::default(),
            in_flight: 0,
            mss: 1460,
            srtt: Span::NONE,
            min_rtt: Span::NONE,
            sent: 0,
            acked: 0,
            app_limited: false,
        }
    }
}

/// New data was acknowledged while the window may grow.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Ack {
    /// The path before the event.
    pub path: Path,
    /// Octets newly acknowledged, as the flow counts them.
    pub acked: u64,
    /// The round-trip sample of this ACK, if it has one.
    pub rtt: Span,
    /// What a timeout found lost is being sent again: slow start adds one segment for an ACK (RFC 3465 §2.3).
    pub after_timeout: bool,
}

/// What made the sender find congestion.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Cause {
    /// ACKs told of a loss.
    #[default]
    Loss = 0,
    /// The retransmission timer expired.
    Timeout = 1,
    /// The network marked a packet (ECN).
    Mark = 2,
}

/// A signal of congestion.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Congestion {
    /// The path before the event.
    pub path: Path,
    /// What the signal is.
    pub cause: Cause,
    /// A timeout without an ACK since the last: it is no new signal (RFC 5681 §3.1).
    pub repeated: bool,
}

/// The window before the last reduction.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Before {
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Slow-start threshold in octets.
    pub ssthresh: f64,
}

/// Data is about to leave.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Sent {
    /// The path before the event.
    pub path: Path,
    /// Octets of the segment.
    pub bytes: u64,
}

/// All that an acknowledgment told, whether the window may grow with it or not.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Report {
    /// The path after the event.
    pub path: Path,
    /// Octets newly acknowledged, in order.
    pub acked: u64,
    /// Octets newly known to have arrived, in order or selectively.
    pub delivered: u64,
    /// Octets newly believed lost.
    pub lost: u64,
    /// Octets newly reported to have met congestion (ECN).
    pub marked: u64,
    /// The round-trip sample of this acknowledgment, if it has one.
    pub rtt: Span,
    /// The delivery-rate sample, if there is one.
    pub rate: RateSample,
    /// A loss is being repaired.
    pub in_recovery: bool,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr), over the flight of the newest segment that the
/// acknowledgment reports.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct RateSample {
    /// Octets that arrived in the interval.
    pub delivered: u64,
    /// The longer of the interval of sending and that of acknowledging; none where there is no sample.
    pub interval: Span,
    /// Octets delivered in total when that segment was sent.
    pub prior_delivered: u64,
    /// Octets delivered in total now.
    pub total_delivered: u64,
    /// Octets in flight when that segment was sent, itself included; 0 unless the law
    /// [hears of losses](crate::WindowControl::HEARS_LOSSES).
    pub tx_in_flight: u64,
    /// Octets believed lost since it was sent; 0 unless the law hears of losses.
    pub lost: u64,
    /// The application, not the network, limited the rate when it was sent.
    pub app_limited: bool,
}

impl RateSample {
    /// Octets per second, where there is a sample.
    pub fn octets_per_second(&self) -> Option<f64> {
        let seconds = self.interval.seconds().filter(|seconds| *seconds > 0.0)?;
        Some(self.delivered as f64 / seconds)
    }
}

/// A segment that is newly believed lost.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct LostSegment {
    /// The path at the event.
    pub path: Path,
    /// Offset of its first octet from the start of the stream.
    pub offset: u64,
    /// Octets of it that have not arrived.
    pub bytes: u64,
    /// Octets in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Octets believed lost since it was sent, it included.
    pub lost: u64,
    /// The application, not the network, limited the rate when it was sent.
    pub app_limited: bool,
}

/// Another path of the same connection, as a coupled law sees it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Sibling {
    /// Congestion window in octets.
    pub cwnd: u64,
    /// Largest segment payload.
    pub mss: u64,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Smallest round-trip time seen.
    pub min_rtt: Span,
    /// What its law tells its siblings ([`Window::shared`](crate::Window::shared)).
    pub shared: f64,
    /// Its window is below its threshold.
    pub in_slow_start: bool,
}

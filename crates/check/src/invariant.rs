//! What a controller must keep.

/// Something that holds for every window algorithm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Invariant {
    /// No hook raises an exception or panics.
    NoException,
    /// The window is a number, and no more than 2^40 octets.
    Finite,
    /// The window is at least one segment.
    OneSegment,
    /// A loss or a mark does not open the window.
    LossDoesNotRaise,
    /// A timeout leaves at most half of the window, or one segment.
    TimeoutReduces,
    /// A finite threshold after a signal is at least two segments.
    Threshold,
    /// No ACK opens a window that is not what limits sending.
    AppLimited,
    /// An ACK opens the window by no more than it acknowledged, or 100 segments.
    Growth,
    /// What leaves does not open the window.
    SentDoesNotRaise,
    /// Idleness does not open the window.
    IdleDoesNotRaise,
    /// Undoing a reduction does not close the window, nor opens it further than
    /// it ever was.
    UndoRestores,
    /// The same events give the same windows.
    Deterministic,
}

impl Invariant {
    /// All invariants, in the order of reports.
    pub const ALL: [Invariant; 12] = [
        Invariant::NoException,
        Invariant::Finite,
        Invariant::OneSegment,
        Invariant::LossDoesNotRaise,
        Invariant::TimeoutReduces,
        Invariant::Threshold,
        Invariant::AppLimited,
        Invariant::Growth,
        Invariant::SentDoesNotRaise,
        Invariant::IdleDoesNotRaise,
        Invariant::UndoRestores,
        Invariant::Deterministic,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Invariant::NoException => "no-exception",
            Invariant::Finite => "finite",
            Invariant::OneSegment => "one-segment",
            Invariant::LossDoesNotRaise => "loss-does-not-raise",
            Invariant::TimeoutReduces => "timeout-reduces",
            Invariant::Threshold => "threshold",
            Invariant::AppLimited => "app-limited",
            Invariant::Growth => "growth",
            Invariant::SentDoesNotRaise => "sent-does-not-raise",
            Invariant::IdleDoesNotRaise => "idle-does-not-raise",
            Invariant::UndoRestores => "undo-restores",
            Invariant::Deterministic => "deterministic",
        }
    }

    /// The invariant in a sentence, and where it is from.
    pub fn meaning(self) -> &'static str {
        match self {
            Invariant::NoException => "no hook fails",
            Invariant::Finite => "the window is a number of at most 2^40 octets",
            Invariant::OneSegment => "the window is at least one segment",
            Invariant::LossDoesNotRaise => {
                "a loss or a mark does not open the window (RFC 5681 §3.1, RFC 3168 §6.1.2)"
            }
            Invariant::TimeoutReduces => {
                "a timeout leaves at most half of the window, or one segment (RFC 5681 §3.1)"
            }
            Invariant::Threshold => {
                "the threshold after a signal is at least two segments (RFC 5681 §3.1, (4))"
            }
            Invariant::AppLimited => {
                "a window that is not what limits sending does not grow (RFC 9438 §5.8)"
            }
            Invariant::Growth => {
                "an ACK opens the window by at most what it acknowledged, or 100 segments"
            }
            Invariant::SentDoesNotRaise => "what leaves does not open the window",
            Invariant::IdleDoesNotRaise => "idleness does not open the window (RFC 5681 §4.1)",
            Invariant::UndoRestores => {
                "undoing a reduction does not close the window, nor opens it more than it was"
            }
            Invariant::Deterministic => "the same events give the same windows",
        }
    }
}

//! What stacks do differently where no congestion is involved: how a SYN is written, which
//! segments out of place are believed, answered or ignored, and what the user hears of resets.
//!
//! The defaults are what RFC 9293 and RFC 5961 say, or what this TCP does where they leave it
//! open. [`Manners::linux`] and [`Manners::freebsd`] are those of these systems; docs/tcp.md has a table
//! with sources.

/// What an ICMP error does to an attempt to open a connection (RFC 5461 §4.1, RFC 5927 §5.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OpeningErrors {
    /// Protocol and port unreachable end it; with `soft_errors_end_opening` all others do, too.
    #[default]
    Hard,
    /// As `Hard`, and in SYN-SENT prohibitions and a hop limit that was used up end it, too: what
    /// FreeBSD does with `net.inet.tcp.icmp_may_rst = 1`.
    HardInSynSent,
    /// No ICMP error ends it.
    Nothing,
}

/// Habits of a stack. A switch that is off stands for what the RFCs say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Manners {
    /// A SYN has its window scale before SACK permitted and timestamps.
    pub scale_first: bool,
    /// A SYN that is sent again for the third time and later goes without window scale,
    /// timestamps and SACK.
    pub plain_last_syns: bool,
    /// PSH stands on data alone, and never on a SYN; otherwise a FIN without data has it, too.
    pub pushes_data_alone: bool,
    /// With Nagle's algorithm, what is written while nothing is outstanding leaves to its end, the last
    /// segment too, which need not be full; the RFC holds that back (RFC 9293 §3.7.4).
    pub idle_sends_all: bool,
    /// An ACK advertises all that the receive buffer has free, where that is a segment or a quarter of
    /// it; otherwise the window opens in steps of a segment (RFC 9293 §3.8.6.2.2).
    pub advertises_all: bool,
    /// The receive buffer is rounded up to whole segments of the MSS that both sides agree on.
    pub buffer_of_whole_segments: bool,
    /// SACK blocks do not cover a FIN that waits for what is missing before it.
    pub sack_without_fin: bool,
    /// ACKs repeat a FIN that is not acknowledged; those that answer a challenge do not.
    pub repeats_fin: bool,
    /// The ACK field of a segment from before the window counts, once the segment has been answered; otherwise
    /// it is dropped (RFC 9293 §3.10.7.4, first check, and app. A.2). With `repeats_fin` it has to: when both
    /// sides have closed, FINs are all that brings ACKs.
    pub reads_old_acks: bool,
    /// Any reset in the window is believed, as before RFC 5961 §3.2.
    pub any_reset_in_window: bool,
    /// A SYN in the window resets the connection, as before RFC 5961 §4.2.
    pub resets_for_syns: bool,
    /// Segments with SYN and FIN are dropped in LISTEN, SYN-SENT and TIME-WAIT.
    pub drops_syn_fin: bool,
    /// The FIN of a segment with SYN and FIN does not count.
    pub ignores_fin_on_syn: bool,
    /// A listener does not answer a SYN-ACK.
    pub silent_to_syn_ack: bool,
    /// The user hears of resets in CLOSING and LAST-ACK, too.
    pub resets_while_closing: bool,
    /// TIME-WAIT as in BSD stacks: see `connection/time_wait.rs`.
    pub bsd_time_wait: bool,
    /// The first SYN leaves again at once when an ACK comes that is no answer to it and gets a reset:
    /// the peer's old connection is gone then.
    pub syn_after_reset: bool,
    /// A connection that is given up for want of answers ends without a reset.
    pub gives_up_silently: bool,
    /// `user_timeout` counts from the first retransmission or the first probe of a closed window, and
    /// in the second case no answer stops it; otherwise it counts from when data leaves, until something is
    /// acknowledged (RFC 5482 §4.1).
    pub user_timeout_from_repeats: bool,
    /// What an ICMP error does to an attempt to open a connection.
    pub opening_errors: OpeningErrors,
    /// In SYN-SENT an MTU that lets segments of `default_mss` pass is not believed.
    pub believes_small_mtu_alone: bool,
}

impl Manners {
    /// Returns the manners of Linux.
    pub fn linux() -> Manners {
        Manners {
            syn_after_reset: true,
            gives_up_silently: true,
            user_timeout_from_repeats: true,
            ..Manners::default()
        }
    }

    /// FreeBSD's, with the defaults of its settings (`net.inet.tcp.insecure_rst`,
    /// `insecure_syn`, `drop_synfin`: off; `icmp_may_rst`: on).
    pub fn freebsd() -> Manners {
        Manners {
            scale_first: true,
            plain_last_syns: true,
            pushes_data_alone: true,
            idle_sends_all: true,
            advertises_all: true,
            buffer_of_whole_segments: true,
            sack_without_fin: true,
            repeats_fin: true,
            reads_old_acks: true,
            any_reset_in_window: false,
            resets_for_syns: false,
            drops_syn_fin: false,
            ignores_fin_on_syn: true,
            silent_to_syn_ack: true,
            resets_while_closing: true,
            bsd_time_wait: true,
            syn_after_reset: false,
            gives_up_silently: false,
            user_timeout_from_repeats: false,
            opening_errors: OpeningErrors::HardInSynSent,
            believes_small_mtu_alone: false,
        }
    }
}

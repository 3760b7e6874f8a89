//! A subflow: a TCP connection, and what the whole keeps of it.

use crate::mapping::{ReceivedMappings, SentMappings};
use crate::path_manager::Wanted;
use crate::scheduler::Candidate;
use crate::signals::Signals;
use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Observe, PathObservation, PathState, Progress, Timer,
};
use anabranch_tcp::{Connection as Tcp, State as TcpState};
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::mptcp::MptcpOption;
use anabranch_wire::{Addr, FlowKey};

/// The stage of a subflow's handshake (RFC 8684 §3.1, §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The connection's first subflow, whose handshake is the connection's.
    First,
    /// This side has opened it: MP_JOIN is on its SYN.
    Joining {
        /// The random number of this side.
        nonce: u32,
    },
    /// Both HMACs are sent; the peer has not acknowledged the third ACK, which is
    /// sent again until it does. No data yet (PRE_ESTABLISHED of §3.2).
    Unconfirmed {
        /// The HMAC of this side, which the third ACK carries.
        mac: [u8; 20],
        /// The timer that runs until the third ACK is sent again.
        timer: Timer,
        /// How often the third ACK has been sent again.
        tries: u32,
    },
    /// The peer has opened it; its HMAC has not come.
    Joined {
        /// The random number of this side.
        nonce: u32,
        /// The random number of the peer.
        peer: u32,
    },
    /// The handshake is over: the subflow may carry data.
    Ready,
}

/// Octets that went with the SYNs of a subflow (RFC 7413).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Early {
    /// Octets that went with this side's SYN, and were acknowledged by the SYN/ACK.
    pub sent: u32,
    /// Octets that came with the peer's SYN.
    pub received: u32,
}

/// Whether options of Multipath TCP come through on a subflow (RFC 8684 §3.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passage {
    /// Nothing that was sent on it has been acknowledged with a DATA_ACK yet.
    Unknown {
        /// Some was without any option, by an ACK that was not the next.
        bare: bool,
    },
    /// Data was acknowledged with a DATA_ACK: ACKs without options do no harm (§3.3.2).
    Proven,
    /// It was, but the ACK that came last had no option.
    Doubtful {
        /// One such ACK was the next that the subflow expected: who is off the path has hardly forged it.
        is_next: bool,
    },
}

/// Whether a subflow goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    /// The subflow goes on; nobody has asked for its end.
    Open,
    /// Its end was asked for, by FIN or by reset.
    Closed,
    /// Its address was removed: it ends, and is not opened again.
    Removed,
    /// It has ended; only a reset may still have to leave.
    Gone,
}

/// A subflow is a TCP connection, and what belongs to it of the whole.
#[derive(Debug)]
pub(crate) struct Subflow {
    /// The TCP connection has sequence numbers, recovery and a congestion window of its own.
    pub tcp: Tcp,
    /// The identifier (0 to 63) names it in bit masks, and is free again when it is gone.
    pub id: u32,
    /// Number of the path for which it counts what it carries.
    pub path: usize,
    /// Stage of its handshake.
    pub stage: Stage,
    /// The subflow of the path manager that it is, where this side opened it.
    pub wanted: Option<Wanted>,
    /// Identifier of this side's address (Address ID, RFC 8684 §3.2).
    pub own_address: u8,
    /// Identifier of the peer's address, which its MP_JOIN names.
    pub peer_address: u8,
    /// This side wants it to be a backup (§3.3.8).
    pub backup: bool,
    /// The peer wants it to be a backup.
    pub peer_backup: bool,
    /// Pieces of the stream that were sent on it and are not acknowledged on it.
    pub sent: SentMappings,
    /// Mappings that came on it, whose octets have not all been read.
    pub received: ReceivedMappings,
    /// Data offset up to which it was given data, the end of the highest range.
    pub sent_to: u64,
    /// Data offset behind the last octet that was read of it.
    pub read_to: u64,
    /// Octets of its first, sent and received, that went with a SYN: its numbers in mappings count
    /// from behind them (RFC 8684 app. B.2).
    pub early: Early,
    /// Subflow offset up to which the window of its last segment lets the peer send.
    pub advertised: u64,
    /// The last segment that was not full ends before this subflow offset.
    pub small_end: u64,
    /// Options of Multipath TCP come through on it, as far as is known.
    passage: Passage,
    /// Its last segments were lost to a timeout, and nothing was acknowledged
    /// since.
    pub failed: bool,
    /// Timeouts of its TCP that the connection has noticed.
    pub timeouts: u32,
    /// Subflow offset before which its TCP's data is acknowledged, as far as the connection has
    /// noticed.
    pub una: u64,
    /// The date before which it is not penalised again.
    penalty: Time,
    /// Options that leave with the next ACKs, in this order, as they have room.
    pub options: Vec<MptcpOption>,
    /// ACKs with options other than DSS that left in a row.
    pub signals: Signals,
    /// Options that leave with its reset.
    pub reset_options: Vec<MptcpOption>,
    /// Whether it goes on or ends.
    life: Life,
    /// Addresses and ports of what it sends.
    key: FlowKey,
    /// Octets that came over it and were new to the stream.
    pub brought: u64,
}

impl Subflow {
    /// A subflow that has carried nothing.
    pub fn new(tcp: Tcp, id: u32, path: usize, stage: Stage) -> Subflow {
        let key = tcp.flow_key();
        Subflow {
            tcp,
            id,
            path,
            stage,
            wanted: None,
            own_address: 0,
            peer_address: 0,
            backup: false,
            peer_backup: false,
            sent: SentMappings::default(),
            received: ReceivedMappings::default(),
            sent_to: 1,
            read_to: 1,
            early: Early::default(),
            small_end: 0,
            passage: Passage::Unknown { bare: false },
            failed: false,
            timeouts: 0,
            una: 0,
            penalty: Time::ZERO,
            advertised: 0,
            options: Vec::new(),
            signals: Signals::NONE,
            reset_options: Vec::new(),
            life: Life::Open,
            key,
            brought: 0,
        }
    }

    /// Returns the bit that stands for it in sets of subflows.
    #[inline]
    pub fn bit(&self) -> u64 {
        1 << self.id
    }

    /// Whether it carries data in the direction of the peer.
    pub fn is_usable(&self) -> bool {
        let open = matches!(self.tcp.state(), TcpState::Established | TcpState::CloseWait);
        self.stage == Stage::Ready && open && self.is_open()
    }

    /// Returns how many octets the window of its last segment still lets the peer send on it.
    pub fn own_window(&self) -> u64 {
        self.advertised.saturating_sub(self.tcp.next_expected())
    }

    /// Nobody has asked for its end, and it has not ended.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.life == Life::Open
    }

    /// Whether it has ended; a reset may still have to leave.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.life == Life::Gone
    }

    /// Whether it has ended since its address was removed, or is about to.
    pub fn is_removed(&self) -> bool {
        self.life == Life::Removed
    }

    /// A segment that was not full is on its way.
    pub fn has_small_outstanding(&self) -> bool {
        self.tcp.outstanding().0 < self.small_end
    }

    /// Something of the mapping that was added last has left.
    pub fn has_begun_last(&self) -> bool {
        self.sent.last().is_some_and(|last| self.tcp.sent_to() > last.start)
    }

    /// A DATA_ACK came with an ACK of everything before `ack`: of data, where that is beyond the SYN.
    #[inline]
    pub fn on_dss(&mut self, ack: u64) {
        if ack > 1 {
            self.passage = Passage::Proven;
        }
    }

    /// A segment without options came, which is the next that the subflow expects or not; `tells` where one of a peer
    /// that speaks Multipath TCP has some: the first ACK of data, and a FIN. True where that proves that something
    /// takes the options away (§3.7): nothing has shown the contrary.
    pub fn on_bare_segment(&mut self, tells: bool, is_next: bool) -> bool {
        match &mut self.passage {
            Passage::Unknown { .. } if tells && is_next => return true,
            Passage::Unknown { bare } => *bare |= tells,
            Passage::Proven => self.passage = Passage::Doubtful { is_next },
            Passage::Doubtful { is_next: before } => *before |= is_next,
        }
        false
    }

    /// Its last ACK had no option: where data has waited for a DATA_ACK for long, nothing tells that
    /// options still come through.
    pub fn is_mute(&self) -> bool {
        matches!(self.passage, Passage::Unknown { bare: true } | Passage::Doubtful { .. })
    }

    /// It is mute for certain: everything that was sent on it has been acknowledged.
    pub fn has_fallen_mute(&self) -> bool {
        let (una, end) = self.tcp.outstanding();
        self.passage == Passage::Doubtful { is_next: true } && una == end
    }

    /// Ends it by a FIN. A handshake that is under way is not worth finishing.
    pub fn close(&mut self) {
        if self.tcp.state().is_synchronized() {
            self.on_close();
            self.tcp.close();
        } else {
            self.abort();
        }
    }

    /// Ends it by a reset, at the user's or the connection's wish.
    pub fn abort(&mut self) {
        self.on_close();
        self.tcp.abort();
    }

    /// Ends it by a reset, since its address is gone.
    pub fn remove(&mut self) {
        if !self.is_gone() {
            self.life = Life::Removed;
        }
        self.tcp.abort();
    }

    /// Notes that its TCP has ended.
    pub fn on_end(&mut self) {
        self.life = Life::Gone;
        self.options.clear();
        self.signals = Signals::NONE;
        if let Stage::Unconfirmed { timer, .. } = &mut self.stage {
            timer.stop();
        }
    }

    fn on_close(&mut self) {
        if self.is_open() {
            self.life = Life::Closed;
        }
    }

    /// Returns when it wants to be called; [`Time::NEVER`] for not at all.
    #[inline]
    pub fn deadline(&self) -> Time {
        let own = self.timer().map_or(Time::NEVER, Timer::deadline);
        own.min(self.signals.deadline()).min(self.tcp.poll_timeout())
    }

    /// Returns when it will go on by itself, whatever the host does.
    pub fn progress_deadline(&self) -> Time {
        self.timer().map_or(Time::NEVER, Timer::deadline).min(self.tcp.progress_timeout())
    }

    /// The timer of its third ACK, which only a join that is not confirmed has.
    #[inline]
    pub fn timer(&self) -> Option<&Timer> {
        match &self.stage {
            Stage::Unconfirmed { timer, .. } => Some(timer),
            _ => None,
        }
    }

    /// The third ACK is sent again at `at`, if the join is not confirmed before.
    pub fn set_timer(&mut self, at: Time) {
        if let Stage::Unconfirmed { timer, .. } = &mut self.stage {
            timer.set(at);
        }
    }

    /// Returns its rank, the lowest the best (RFC 8684 §3.3.8): backups, and those that do not
    /// answer, carry data only without others.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.is_backup() as u32 + 2 * self.failed as u32
    }

    /// Either side wants it to be a backup (RFC 8684 §3.3.8).
    pub fn is_backup(&self) -> bool {
        self.backup || self.peer_backup
    }

    /// Returns addresses and ports of what it sends.
    pub fn key(&self) -> FlowKey {
        self.key
    }

    /// Returns the address of this side's end.
    pub fn local(&self) -> Addr {
        self.key().src
    }

    /// The round-trip time is this, smoothed; one second before the first sample.
    pub fn srtt(&self) -> Span {
        self.tcp.rtt().srtt().unwrap_or(Span::from_secs(1))
    }

    /// Halves the congestion window of this subflow if it is slower than another, whose smoothed
    /// round-trip time is `fast`, and blocks the receive window (Raiciu et al., NSDI 2012, section
    /// 4.2); once in a round trip. False where nothing is halved: Linux leaves windows of four
    /// segments alone, and those in recovery.
    pub fn penalise(&mut self, now: Time, fast: Span) -> bool {
        let srtt = self.srtt();
        let sibling = self.tcp.sibling();
        let large = sibling.window > 4 * sibling.mss && !self.tcp.observe().in_recovery;
        let penalised = srtt > fast && now >= self.penalty && large;
        if penalised {
            self.tcp.penalise();
            self.penalty = now + srtt;
        }
        penalised
    }

    /// Returns what a scheduler sees of it.
    pub fn candidate(&self, has_room: bool) -> Candidate {
        let (sibling, (una, end)) = (self.tcp.sibling(), self.tcp.outstanding());
        Candidate {
            id: self.id,
            has_room,
            srtt: self.srtt(),
            rttvar: self.tcp.rtt().rttvar().unwrap_or(Span::ZERO),
            cwnd: sibling.window,
            ssthresh: self.tcp.ssthresh(),
            in_flight: self.tcp.in_flight(),
            queued: end - una,
            mss: self.tcp.mss(),
            sent_to: self.sent_to,
        }
    }

    /// Returns what observers see of it.
    pub fn observe(&self) -> PathObservation {
        let tcp = self.tcp.observe();
        let state = match self.stage {
            Stage::Ready if self.failed => PathState::PotentiallyFailed,
            Stage::Ready if self.is_usable() => PathState::Active,
            Stage::Ready => PathState::Inactive,
            _ => PathState::Unconfirmed,
        };
        PathObservation {
            local: self.key().src,
            remote: self.key().dst,
            subflow: Some(self.wanted.map_or(0, |wanted| wanted.copy)),
            state,
            cwnd: tcp.cwnd,
            ssthresh: tcp.ssthresh,
            in_flight: tcp.in_flight,
            srtt: tcp.srtt,
            rto: tcp.rto,
            errors: self.tcp.rtt().backoff(),
            timeouts: tcp.timeouts,
            fast_retransmits: tcp.fast_retransmits,
            ecn_reductions: tcp.ecn_reductions,
            packets: tcp.packets_sent,
            retransmitted: tcp.retransmitted_packets,
            bytes_acked: tcp.bytes_acked,
            bytes_received: Some(self.brought),
            heartbeats: 0,
            coupling: self.tcp.coupling(),
        }
    }
}

//! One destination address: everything that RFC 9260 keeps per path (§13.3).

use crate::config::Config;
use crate::paths::episode::Episode;
use crate::paths::knowledge::Knowledge;
use crate::paths::mtu_search::MtuSearch;
use crate::paths::probes::Probes;
use crate::paths::room::{Overhead, Room};
use crate::paths::window::{View, Window};
use crate::policy::Candidate;
use anabranch_congestion::Stamp;
pub use anabranch_endpoint::{PathObservation, PathState};
use anabranch_endpoint::{RttEstimator, Timer};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Path {
    pub local: Addr,
    pub remote: Addr,
    /// The peer's UDP port there.
    pub udp_port: Option<u16>,
    pub state: PathState,
    /// What fits a packet to it; its `mtu` is the path MTU (RFC 9260 §7.3).
    pub room: Room,
    /// The search for it, where it is probed.
    pub search: Option<Box<MtuSearch>>,
    pub window: Window,
    pub rtt: RttEstimator,
    /// Errors in a row.
    pub errors: u32,
    /// T3-rtx.
    pub t3: Timer,
    /// Next thing to do about heartbeats.
    pub heartbeat: Timer,
    /// The heartbeats that wait for their answers.
    pub probes: Probes,
    /// Octets outstanding, chunk headers included.
    pub flight: u64,
    /// Fast recovery lasts until this TSN offset is acknowledged.
    pub recovery: Option<u64>,
    /// Marks and losses of chunks before this TSN offset have been answered by a mark's reduction.
    pub reduced: u64,
    /// A report of a mark came and no SACK since.
    pub marked: bool,
    /// T3-rtx has expired and nothing that went here was acknowledged since: no more than one packet
    /// is in flight (RFC 9260 §7.2.3).
    pub probation: bool,
    /// Octets that the SACK at hand reports as duplicates.
    pub duplicated: u64,
    /// The last reduction of the window, where somebody asks whether it was needless.
    pub episode: Option<Box<Episode>>,
    /// The chunk being timed.
    pub timed: Option<(u64, Time)>,
    /// Outstanding when it left, itself included.
    pub timed_flight: u64,
    /// Data left last.
    pub last_sent: Option<Time>,
    /// Data left last that can give an RTT sample: not a retransmission.
    pub last_fresh: Option<Time>,
    pub sack: Scratch,
    pub known: Knowledge,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    /// Reductions of the window because the peer reported marks.
    pub ecn_reductions: u64,
    pub packets: u64,
    pub retransmitted: u64,
    pub bytes_acked: u64,
    pub heartbeats: u64,
}

/// What congestion control begins with.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub config: Arc<Config>,
    /// The threshold where the configuration leaves it open: the peer's receive window (RFC 9260
    /// §7.2.1).
    pub ssthresh: u64,
    /// The offset that the next new chunk will have.
    pub next: u64,
}

/// What the SACK at hand did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scratch {
    /// Octets newly acknowledged.
    pub acked: u64,
    /// Outstanding before.
    pub flight: u64,
    /// A chunk that was outstanding was acknowledged, not only some that had
    /// been found lost and were not sent again yet.
    pub works: bool,
    /// One of those was sent to this path alone.
    pub certain: bool,
    /// The earliest outstanding chunk was acknowledged.
    pub earliest: bool,
    /// A chunk that is still outstanding was passed.
    pub passed: bool,
    /// Chunks newly acknowledged.
    pub chunks: u32,
    /// Octets of chunks that the cumulative TSN newly covers, reported before or not.
    pub covered: u64,
    /// Chunks newly found missing.
    pub lost: u32,
    /// Octets of these.
    pub lost_octets: u64,
    /// Offset of the highest of these.
    pub highest_lost: u64,
    /// Index of the highest chunk that a gap block newly acknowledged.
    pub highest: Option<usize>,
    /// The sample that an acknowledged chunk gave.
    pub rtt: Option<Span>,
    /// Where chunks keep their dates: when the newest left that was newly acknowledged and sent once.
    pub newest: Option<Time>,
}

impl Scratch {
    /// Something was newly acknowledged, in order or by a gap block, or found missing.
    #[inline]
    pub fn tells_something(&self) -> bool {
        self.acked > 0 || self.covered > 0 || self.lost > 0
    }

    /// The round-trip time that window algorithms hear: of the newest chunk that was sent once, where
    /// chunks keep their dates, else of the chunk that was timed.
    #[inline]
    pub fn rtt_at(&self, now: Time) -> Option<Span> {
        self.newest.map(|sent| now - sent).or(self.rtt)
    }
}

impl Path {
    pub fn new(config: &Config, local: Addr, remote: Addr, state: PathState) -> Path {
        Path {
            local,
            remote,
            udp_port: config.udp.map(|udp| udp.remote),
            state,
            room: Room::new(config, config.first_mtu(), Overhead::PLAIN),
            search: MtuSearch::new(config),
            window: Window::new(config),
            rtt: RttEstimator::new(config.rto),
            errors: 0,
            t3: Timer::IDLE,
            heartbeat: Timer::IDLE,
            probes: Probes::default(),
            flight: 0,
            recovery: None,
            reduced: 0,
            marked: false,
            probation: false,
            duplicated: 0,
            episode: None,
            timed: None,
            timed_flight: 0,
            last_sent: None,
            last_fresh: None,
            sack: Scratch::default(),
            known: Knowledge::default(),
            timeouts: 0,
            fast_retransmits: 0,
            ecn_reductions: 0,
            packets: 0,
            retransmitted: 0,
            bytes_acked: 0,
            heartbeats: 0,
        }
    }

    pub fn candidate(&self) -> Candidate {
        Candidate {
            active: self.state == PathState::Active,
            confirmed: self.state != PathState::Unconfirmed,
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            flight: self.flight,
            loss: self.known.loss(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            rto: self.rtt.rto(),
            errors: self.errors,
            potentially_failed: self.state == PathState::PotentiallyFailed,
            capacity: self.known.capacity(),
            heard: self.known.heard,
            resent: self.known.resent,
        }
    }

    /// When something is due that moves the path's data: T3-rtx, or paced data.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.t3.deadline().min(self.window.deadline())
    }

    /// Less is outstanding than the window, and data need not wait for its pace: what is sent again
    /// may leave.
    #[inline]
    pub fn has_room(&mut self, now: Time) -> bool {
        self.flight < self.window.cwnd() && !self.is_held() && !self.window.waits_for_pacer(now)
    }

    /// One packet is in flight after a timeout, and nothing else may leave.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.probation && self.flight > 0
    }

    #[inline]
    pub fn view(&self) -> View {
        View {
            flight: self.flight,
            chunk: self.room.chunk as u64,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
        }
    }

    /// The path takes packets of up to `mtu` octets: windows count in others, and stay as large in
    /// octets (RFC 8899 §3 7).
    pub fn set_mtu(&mut self, mtu: u32, overhead: Overhead, config: &Config) {
        self.room = Room::new(config, mtu, overhead);
        self.window.set_unit(config.window_unit_of(mtu));
    }

    /// Packets to the address leave from `own`. Where that is another address than before they may take
    /// another way, of which nothing is known: congestion control begins anew (RFC 9260 §7.2.5.2). What
    /// is outstanding is no less so, and its losses and marks are of the way that it took.
    pub fn leave_from(&mut self, own: Addr, beginning: &Beginning) {
        if self.local == own {
            return;
        }
        self.local = own;
        self.window.begin_anew(&beginning.config, self.room.mtu, beginning.ssthresh);
        self.rtt = RttEstimator::new(beginning.config.rto);
        self.timed = None;
        (self.recovery, self.reduced) = (None, beginning.next);
        (self.marked, self.probation) = (false, false);
        self.episode = None;
    }

    /// Packets of other sizes are not tried any more.
    pub fn end_search(&mut self) {
        if let Some(search) = &mut self.search {
            search.disconnect();
        }
    }

    /// T3-rtx expired: larger packets may vanish.
    pub fn on_data_timeout(&mut self, now: Time) {
        if let Some(search) = &mut self.search {
            search.on_data_timeout(now, self.rtt.srtt().unwrap_or(self.rtt.rto()));
        }
    }

    /// When the search for the path MTU goes on.
    #[inline]
    pub fn search_deadline(&self) -> Time {
        self.search.as_ref().map_or(Time::NEVER, |search| search.deadline())
    }

    /// The window was reduced, by T3-rtx or by a fast retransmit.
    #[inline]
    pub fn on_reduced(&mut self, config: &Config, timeout: bool) {
        let goes_on = timeout && self.episode.as_ref().is_some_and(|episode| episode.goes_on());
        if config.undo.any() && !goes_on {
            self.episode = Some(Box::new(Episode::new(config.undo, timeout)));
        }
    }

    /// The last reduction was needless: the window is what it was, and the recovery over.
    pub fn on_undo(&mut self) {
        self.window.on_undo();
        if self.episode.take().is_some_and(|episode| episode.timeout) {
            self.rtt.reset_backoff();
        }
        (self.recovery, self.probation) = (None, false);
    }

    /// The path's round trip took `rtt`.
    #[inline]
    pub fn on_rtt_sample(&mut self, rtt: Span) {
        self.rtt.on_sample(rtt);
        if let Some(driven) = self.window.driven() {
            driven.note_pacing(self.rtt.srtt());
        }
    }

    /// A chunk that left at `sent` is newly acknowledged; it was sent `once`, or again.
    pub fn on_record(&mut self, offset: u64, sent: Time, stamp: &Stamp, once: bool) {
        if once {
            self.sack.newest = self.sack.newest.max(Some(sent));
        }
        if let Some(driven) = self.window.driven() {
            driven.on_record(sent, offset, stamp);
        }
    }

    /// A transmission to the path failed (RFC 9260 §8.2, RFC 7829 §3.2); true
    /// when its state changed.
    pub fn on_error(&mut self, config: &Config) -> bool {
        self.errors = self.errors.saturating_add(1);
        let state = if self.state == PathState::Unconfirmed {
            self.state
        } else if self.errors > config.path_max_retrans {
            PathState::Inactive
        } else if config.potentially_failed.is_some_and(|most| self.errors > most) {
            PathState::PotentiallyFailed
        } else {
            self.state
        };
        std::mem::replace(&mut self.state, state) != state
    }

    /// The peer acknowledged what was sent to the path; true when its state
    /// changed.
    pub fn on_success(&mut self) -> bool {
        self.errors = 0;
        let was = self.state;
        if was != PathState::Unconfirmed {
            self.state = PathState::Active;
        }
        was != self.state
    }

    pub fn observe(&self) -> PathObservation {
        PathObservation {
            local: self.local,
            remote: self.remote,
            subflow: None,
            state: self.state,
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            in_flight: self.flight,
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            errors: self.errors,
            timeouts: self.timeouts,
            fast_retransmits: self.fast_retransmits,
            ecn_reductions: self.ecn_reductions,
            packets: self.packets,
            retransmitted: self.retransmitted,
            bytes_acked: self.bytes_acked,
            bytes_received: None,
            heartbeats: self.heartbeats,
            coupling: None,
        }
    }
}

//! A path leads to one destination address; everything that RFC 9260 keeps per path is here
//! (§13.3).

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
    /// `udp_port` is the peer's UDP port there, where packets are UDP datagrams (RFC 6951).
    pub udp_port: Option<u16>,
    pub state: PathState,
    /// `room` is what fits a packet to it; its `mtu` is the path MTU (RFC 9260 §7.3).
    pub room: Room,
    /// `search` is the search for the path MTU, where it is probed.
    pub search: Option<Box<MtuSearch>>,
    pub window: Window,
    pub rtt: RttEstimator,
    /// `errors` counts the errors in a row (RFC 9260 §8.2).
    pub errors: u32,
    /// `t3` is T3-rtx.
    pub t3: Timer,
    /// `heartbeat` says when something is to be done about heartbeats next.
    pub heartbeat: Timer,
    /// `probes` are the heartbeats that wait for their answers.
    pub probes: Probes,
    /// `flight` is what is outstanding, in octets, chunk headers included.
    pub flight: u64,
    /// `recovery` is a TSN offset: fast recovery lasts until what is before it is acknowledged.
    pub recovery: Option<u64>,
    /// `reduced` is a TSN offset: marks and losses of chunks before it have been answered by the
    /// reduction for a mark, or belong to another way.
    pub reduced: u64,
    /// `marked` says that a report of a mark came, and since then no SACK that acknowledged
    /// something or found it missing.
    pub marked: bool,
    /// `probation` says that T3-rtx has expired and nothing that went here was acknowledged since,
    /// so that no more than one packet is in flight (RFC 9260 §7.2.3).
    pub probation: bool,
    /// `duplicated` counts octets that SACKs report as duplicates, until the window has heard of
    /// them.
    pub duplicated: u64,
    /// `episode` is the last reduction of the window, where somebody asks whether it was spurious.
    pub episode: Option<Box<Episode>>,
    /// `timed` is the TSN offset of the chunk whose round trip is timed, and the date at which it
    /// left.
    pub timed: Option<(u64, Time)>,
    /// `timed_flight` is what was outstanding when that chunk left, itself included, in octets.
    pub timed_flight: u64,
    /// `last_sent` is the date at which data left last that was no window probe; a window that has
    /// decayed for idleness moves it, too.
    pub last_sent: Option<Time>,
    /// `last_fresh` is the date at which data left last that can give an RTT sample, not being sent
    /// again.
    pub last_fresh: Option<Time>,
    pub sack: Scratch,
    pub known: Knowledge,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    /// `ecn_reductions` counts the reductions of the window because the peer reported marks.
    pub ecn_reductions: u64,
    pub packets: u64,
    pub retransmitted: u64,
    pub bytes_acked: u64,
    pub heartbeats: u64,
}

/// A `Beginning` is what congestion control begins with.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub config: Arc<Config>,
    /// `ssthresh` is the threshold where the configuration leaves it open, in octets: the peer's
    /// receive window (RFC 9260 §7.2.1).
    pub ssthresh: u64,
    /// `next` is the offset that the next new chunk will have.
    pub next: u64,
}

/// A `Scratch` is what the SACK at hand did to one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scratch {
    /// `acked` counts the octets that were newly acknowledged.
    pub acked: u64,
    /// `flight` is what was outstanding before the SACK, in octets.
    pub flight: u64,
    /// `works` says that a chunk that was outstanding was acknowledged, not only some that had been
    /// found lost and were not sent again yet.
    pub works: bool,
    /// `certain` says that one of those was sent to this path alone.
    pub certain: bool,
    /// `earliest` says that the earliest outstanding chunk of the path was acknowledged.
    pub earliest: bool,
    /// `passed` says that the reading of the SACK has passed a chunk of the path that is still
    /// outstanding.
    pub passed: bool,
    /// `chunks` counts the chunks that were newly acknowledged.
    pub chunks: u32,
    /// `covered` counts the octets of chunks that the cumulative TSN newly covers, whether or not
    /// gap blocks reported them before.
    pub covered: u64,
    /// `lost` counts the chunks that were newly found missing.
    pub lost: u32,
    /// `lost_octets` counts the octets of those among them that are to be sent again.
    pub lost_octets: u64,
    /// `highest_lost` is the offset of the highest of the chunks that were newly found missing.
    pub highest_lost: u64,
    /// `highest` is the index in the flight of the highest chunk that a gap block newly
    /// acknowledged.
    pub highest: Option<usize>,
    /// `rtt` is the sample that the timed chunk gave.
    pub rtt: Option<Span>,
    /// `newest` is, where chunks keep their dates, the date at which the newest left that was newly
    /// acknowledged and was sent once.
    pub newest: Option<Time>,
}

impl Scratch {
    /// Returns whether something was newly acknowledged, in order or by a gap block, or found
    /// missing.
    #[inline]
    pub fn tells_something(&self) -> bool {
        self.acked > 0 || self.covered > 0 || self.lost > 0
    }

    /// Returns the round-trip time that window algorithms hear: that of the newest chunk that was
    /// sent once, where chunks keep their dates, else that of the chunk that was timed.
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

    /// Returns the date at which something is due that moves the path's data: T3-rtx, or paced
    /// data.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.t3.deadline().min(self.window.deadline())
    }

    /// Returns whether what is sent again may leave: less is outstanding than the window, and data
    /// need not wait for its pace.
    #[inline]
    pub fn has_room(&mut self, now: Time) -> bool {
        self.flight < self.window.cwnd() && !self.is_held() && !self.window.waits_for_pacer(now)
    }

    /// Returns whether one packet is in flight after a timeout, so that nothing else may leave.
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

    /// Makes the path take packets of up to `mtu` octets: windows are counted in other units, and
    /// stay as large in octets (RFC 8899 §3 7).
    pub fn set_mtu(&mut self, mtu: u32, overhead: Overhead, config: &Config) {
        self.room = Room::new(config, mtu, overhead);
        self.window.set_unit(config.window_unit_of(mtu));
    }

    /// Makes packets to the address leave from `own`. Where that is another address than before
    /// they may take another way, of which nothing is known: congestion control begins anew (RFC
    /// 9260 §7.2.5.2). What is outstanding stays so, and its losses and marks belong to the way
    /// that it took.
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

    /// Ends the search for the path MTU: packets of other sizes are not tried any more.
    pub fn end_search(&mut self) {
        if let Some(search) = &mut self.search {
            search.disconnect();
        }
    }

    /// Tells the search for the path MTU that T3-rtx expired, since larger packets may vanish.
    pub fn on_data_timeout(&mut self, now: Time) {
        if let Some(search) = &mut self.search {
            search.on_data_timeout(now, self.rtt.srtt().unwrap_or(self.rtt.rto()));
        }
    }

    /// Returns the date at which the search for the path MTU goes on.
    #[inline]
    pub fn search_deadline(&self) -> Time {
        self.search.as_ref().map_or(Time::NEVER, |search| search.deadline())
    }

    /// Begins an episode, as T3-rtx or a fast retransmit reduced the window, where the settings ask
    /// whether that was spurious.
    #[inline]
    pub fn on_reduced(&mut self, config: &Config, timeout: bool) {
        let goes_on = timeout && self.episode.as_ref().is_some_and(|episode| episode.goes_on());
        if config.undo.any() && !goes_on {
            self.episode = Some(Box::new(Episode::new(config.undo, timeout)));
        }
    }

    /// Takes the last reduction back, which was spurious: the window is what it was, and the
    /// recovery is over.
    pub fn on_undo(&mut self) {
        self.window.on_undo();
        if self.episode.take().is_some_and(|episode| episode.timeout) {
            self.rtt.reset_backoff();
        }
        (self.recovery, self.probation) = (None, false);
    }

    /// Notes that the path's round trip took `rtt`.
    #[inline]
    pub fn on_rtt_sample(&mut self, rtt: Span) {
        self.rtt.on_sample(rtt);
        if let Some(driven) = self.window.driven() {
            driven.note_pacing(self.rtt.srtt());
        }
    }

    /// Notes that a chunk that left at `sent` is newly acknowledged; it was sent `once`, or again.
    pub fn on_record(&mut self, offset: u64, sent: Time, stamp: &Stamp, once: bool) {
        if once {
            self.sack.newest = self.sack.newest.max(Some(sent));
        }
        if let Some(driven) = self.window.driven() {
            driven.on_record(sent, offset, stamp);
        }
    }

    /// Counts a failed transmission to the path (RFC 9260 §8.2, RFC 7829 §3.2). Returns true when
    /// the path's state changed.
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

    /// Notes that the peer acknowledged what was sent to the path. Returns true when the path's
    /// state changed.
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

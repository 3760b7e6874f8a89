//! TCP Fast Open (RFC 7413): data in the SYN, accepted for a cookie that the
//! client got with an earlier connection.
//!
//! | what arrives or happens | what follows |
//! |---|---|
//! | OPEN, no cookie known | a SYN that asks for one |
//! | OPEN, a cookie | it goes with the SYN, with as much data as fits one segment |
//! | OPEN, after a negative response | a usual SYN, for a time (§4.1.3.1) |
//! | SYN with a good cookie | its data is acknowledged and delivered at once; data may leave behind the SYN-ACK (§4.2.2) |
//! | SYN with another cookie | its data is left out; a new cookie |
//! | SYN-ACK of all or a part of the data | the rest follows at once, no loss is signalled |
//! | SYN-ACK of the SYN alone, no cookie | a negative response, and all data follows |
//! | timeout of the first SYN, ICMP error | a negative response; a SYN without data and option |
//! | SYN in SYN-SENT (simultaneous open) | as usual; data in either SYN counts only if acknowledged |
//! | RST in SYN-RECEIVED after data was accepted | the connection is over, and stays pending in its listener (§5.1) |
//!
//! Data in a SYN is outside the loss recovery: what the SYN-ACK acknowledges
//! never was outstanding for it, and what it leaves is sent as if for the first
//! time. It opens no window (RFC 5681 §3.1).
//!
//! Left out: FIN on a SYN, which §4.2 leaves to the implementation, and data on
//! a SYN-ACK itself, in whose place it follows behind.

use super::Connection;
use super::handshake::TIMESTAMPS_LEN;
use crate::fast_open::{FastOpenServer, Keys, RequestForm, Verdict};
use crate::state::State;
use anabranch_endpoint::PeerMemory;
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::options::MAX_LEN;
use anabranch_wire::{FastOpenOption, TcpFlags, TcpSegment};

/// The MSS of a server is remembered up to so many octets (§4.1.3): larger SYNs may not get
/// through.
const MOST_MSS: u16 = 1460;

/// The option that Multipath TCP adds to a SYN takes so many octets, and that of a SYN-ACK (RFC 8684
/// §3.1).
const SYN_SIGNAL: u32 = 4;
const SYN_ACK_SIGNAL: u32 = 12;

/// A `FastOpen` is the state of Fast Open on one connection.
#[derive(Debug)]
pub(super) struct FastOpen {
    /// `key` is the secret of this server's cookies.
    key: [u64; 2],
    /// `server` is what is known of the server.
    server: FastOpenServer,
    /// `news` says what of that is new.
    news: News,
    /// `tried` is what the first SYN carried.
    tried: Tried,
    /// `sent` counts the octets of data in it.
    sent: u32,
    /// `answer` is the option that the SYN-ACK carries.
    answer: Option<FastOpenOption>,
    /// `delivered` says that all data in a SYN arrived.
    delivered: bool,
    /// `refused` says that the SYN-ACK left some of the data.
    refused: bool,
    /// `service` is what a peer's SYN gets, or got.
    service: Service,
}

/// A `Service` is what Fast Open does for the SYN of a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Service {
    /// A SYN with a good cookie opens this side.
    Offered,
    /// No SYN does: the listener has too many of these.
    Refused,
    /// The cookie of the peer's SYN was good: this side is open.
    Open,
    /// This side is open, and the listener has given the connection to the user.
    Taken,
}

/// `News` says what there is to remember: another connection to the same server may have learnt the
/// rest anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct News {
    cookie: bool,
    form: bool,
    mss: bool,
    outcome: bool,
}

/// A `Tried` says what a SYN carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tried {
    Nothing,
    /// The SYN asked for a cookie, in the experimental form or not.
    Request {
        experimental: bool,
    },
    Cookie,
    /// The SYN carried data without a cookie.
    Bare,
    /// The SYN carried a cookie or data, in vain.
    Failed,
}

impl FastOpen {
    pub fn new(key: [u64; 2]) -> FastOpen {
        FastOpen {
            key,
            server: FastOpenServer::default(),
            news: News::default(),
            tried: Tried::Nothing,
            sent: 0,
            answer: None,
            delivered: false,
            refused: false,
            service: Service::Offered,
        }
    }

    fn fail(&mut self, now: Time, retry_after: Span) {
        self.server.on_failure(now, retry_after);
        self.tried = Tried::Failed;
        self.news.outcome = true;
    }

    /// Returns the same side, listening again.
    pub fn again(&self) -> FastOpen {
        let refused = self.service == Service::Refused;
        let service = if refused { Service::Refused } else { Service::Offered };
        FastOpen { service, ..FastOpen::new(self.key) }
    }
}

impl Connection {
    /// Sets the secret of this server's cookies. Connections that listen by themselves at one
    /// address should have the same; else each knows its own cookies alone. It has no effect where
    /// `fast_open` is off.
    pub fn set_fast_open_key(&mut self, key: [u64; 2]) {
        if let Some(fast_open) = self.extras.fast_open_mut() {
            fast_open.key = key;
        }
    }

    /// The connection opens as usual, whatever the peer's SYN carries.
    pub fn refuse_fast_open(&mut self) {
        if let Some(fast_open) = self.extras.fast_open_mut() {
            fast_open.service = Service::Refused;
        }
    }

    /// The connection is in SYN-RECEIVED, after a SYN with a good cookie: data flows both ways.
    #[inline]
    pub fn is_open_early(&self) -> bool {
        self.extras
            .fast_open()
            .is_some_and(|fast_open| matches!(fast_open.service, Service::Open | Service::Taken))
    }

    /// The listener gives it to the user.
    pub(crate) fn on_accepted(&mut self) {
        if let Some(fast_open) = self.extras.fast_open_mut()
            && fast_open.service == Service::Open
        {
            fast_open.service = Service::Taken;
        }
    }

    /// The connection is open early, and in the hands of the user.
    pub(super) fn is_accepted_early(&self) -> bool {
        self.extras.fast_open().is_some_and(|fast_open| fast_open.service == Service::Taken)
    }

    /// Data in a SYN, ours or the peer's, was accepted.
    pub(super) fn is_syn_data_delivered(&self) -> bool {
        self.extras.fast_open().is_some_and(|fast_open| fast_open.delivered)
    }

    /// Returns the octets of our SYN's data that the SYN-ACK left, outstanding again.
    pub(super) fn resent_of_syn(&self) -> u64 {
        let s = &self.sender;
        let refused = self.extras.fast_open().is_some_and(|fast_open| fast_open.refused);
        let end = if refused { s.max.min(1 + self.sent_with_syn()) } else { 0 };
        end.saturating_sub(s.una)
    }

    /// Returns the octets of data in our SYN.
    pub(super) fn sent_with_syn(&self) -> u64 {
        self.extras.fast_open().map_or(0, |fast_open| fast_open.sent as u64)
    }

    pub(super) fn recall_fast_open(&mut self, memory: &PeerMemory) {
        if let Some(fast_open) = self.extras.fast_open_mut()
            && let Some(server) = memory.get::<FastOpenServer>()
        {
            fast_open.server = *server;
        }
    }

    pub(super) fn has_learnt_fast_open(&self) -> bool {
        self.extras.fast_open().is_some_and(|fast_open| fast_open.news != News::default())
    }

    pub(super) fn remember_fast_open(&mut self, memory: &mut PeerMemory) {
        if let Some(fast_open) = self.extras.fast_open_mut() {
            let (news, server) = (std::mem::take(&mut fast_open.news), &fast_open.server);
            let known = memory.get_mut::<FastOpenServer>();
            if news.cookie {
                (known.cookie, known.experimental) = (server.cookie, server.experimental);
            }
            if news.form {
                known.form = server.form;
            }
            if news.mss {
                known.mss = server.mss;
            }
            if news.outcome {
                (known.failures, known.off_until) = (server.failures, server.off_until);
            }
        }
    }

    /// §4.2.1, §4.2.2: the first SYN asks for a cookie, or brings it and data.
    pub(super) fn open_fast(&mut self, now: Time, segment: &mut TcpSegment) {
        let data = self.data_end().saturating_sub(1);
        let (own_mss, others) = (self.config.mss, self.room_beside(SYN_SIGNAL));
        let Some(options) = self.config.fast_open.filter(|options| options.client) else { return };
        let Some(fast_open) = self.extras.fast_open_mut() else { return };
        if fast_open.tried != Tried::Nothing
            || self.retransmission.retries > 0
            || now < fast_open.server.off_until
        {
            return;
        }
        let server = &fast_open.server;
        let request = server.cookie.is_request();
        let asks = options.experimental || server.form == RequestForm::Experimental;
        let experimental = if request { asks } else { server.experimental };
        let option = FastOpenOption { cookie: server.cookie, experimental };
        let bare = options.cookieless && request && data > 0;
        if !bare && !add_option(segment, option, others) {
            return;
        }
        fast_open.tried = match (bare, request) {
            (true, _) => Tried::Bare,
            (false, true) => Tried::Request { experimental },
            (false, false) => Tried::Cookie,
        };
        if request && !bare || data == 0 {
            return;
        }
        // RFC 6691: the options are taken off the segment. An MSS that is not
        // known is hoped to be one's own.
        let unknown = bare && server.mss == FastOpenServer::default().mss;
        let known = if unknown { MOST_MSS } else { server.mss };
        let mss = own_mss.min(known as u32);
        // What the user of a part adds is left room for, as much as there can be.
        let options = if others > 0 { MAX_LEN as u32 } else { segment.options.wire_len() };
        let len = mss.saturating_sub(options).min(data as u32);
        fast_open.sent = len;
        segment.payload = self.writing.payload(1, len);
        // Where the user marks pushes, the SYN has none, as on Linux.
        let pushes = self.extras.marks().is_none() && !self.config.manners.pushes_data_alone;
        if len as u64 == data && pushes {
            segment.flags = segment.flags.union(TcpFlags::PSH);
        }
        self.sender.counters.packets += (len > 0) as u64;
    }

    /// Our SYN was acknowledged up to the offset `ack`: what is left of its
    /// data follows, and the server's answer is noted.
    pub(super) fn on_fast_open_answer(&mut self, now: Time, segment: &TcpSegment, ack: u64) {
        let Some(options) = self.config.fast_open else { return };
        let offered_mss = segment.options.mss;
        let option = segment.options.fast_open().filter(|option| !option.cookie.is_request());
        let Some(fast_open) = self.extras.fast_open_mut() else { return };
        if fast_open.tried == Tried::Nothing {
            return;
        }
        let (acked, sent) = (ack - 1, fast_open.sent as u64);
        // A SYN that crosses ours tells nothing of Fast Open (Linux).
        let answers = segment.flags.contains(TcpFlags::SYN);
        fast_open.delivered = answers && acked > 0 && acked >= sent;
        fast_open.refused = answers && acked < sent;
        if segment.flags.contains(TcpFlags::SYN) {
            let bare = fast_open.tried == Tried::Bare;
            let option = option.filter(|_| !bare); // nobody asked for it
            if let Some(option) = option {
                fast_open.server.cookie = option.cookie;
                fast_open.server.experimental = option.experimental;
                fast_open.news.cookie = true;
            }
            if let Tried::Request { experimental } = fast_open.tried
                && options.tries_experimental
                && option.is_none()
            {
                fast_open.news.form |= fast_open.server.on_no_cookie(experimental);
            }
            let hopeful = fast_open.tried == Tried::Cookie || bare;
            if option.is_some() || hopeful {
                // The server may announce another with the cookie known.
                fast_open.server.mss = offered_mss.unwrap_or(self.config.default_mss).min(MOST_MSS);
                fast_open.news.mss = true;
            }
            let refused = hopeful && sent > 0 && acked == 0;
            let unanswered =
                matches!(fast_open.tried, Tried::Request { .. }) && options.needs_cookie;
            if (refused || unanswered) && option.is_none() {
                fast_open.fail(now, options.retry_after);
            } else if (hopeful || acked > 0) && fast_open.server.failures > 0 {
                fast_open.server.on_success();
                fast_open.news.outcome = true;
            }
        }
        self.sender.counters.retransmitted_packets += (acked < sent) as u64;
        if acked == 0 && sent > 0 {
            // What the SYN carried is sent again as a segment of its own.
            self.separate(1 + sent);
        }
        let s = &mut self.sender;
        (s.una, s.nxt, s.max, s.recovery_point.at) = (ack, ack, ack, ack - 1);
        s.peer_window.updated_by = (0, ack);
        self.free_acknowledged();
    }

    /// The first SYN timed out, or an ICMP error told of it: the next goes
    /// without what Fast Open added. A request that was lost is no response
    /// about data, and not held against the server.
    pub(super) fn on_fast_open_failed(&mut self, now: Time) {
        let Some(options) = self.config.fast_open else { return };
        let Some(fast_open) = self.extras.fast_open_mut() else { return };
        match fast_open.tried {
            Tried::Cookie | Tried::Bare => fast_open.fail(now, options.retry_after),
            Tried::Request { .. } => fast_open.tried = Tried::Failed,
            Tried::Nothing | Tried::Failed => {}
        }
    }

    /// A SYN with data was too big for the path: it goes without, at once, and
    /// the next one to this server carries less.
    pub(super) fn on_fast_open_too_big(&mut self, mss: u64) {
        let waits = self.state() == State::SynSent && !self.phase.is_syn_due();
        if let Some(fast_open) = self.extras.fast_open_mut()
            && waits
            && fast_open.sent > 0
            && mss < fast_open.server.mss as u64
        {
            fast_open.server.mss = mss as u16;
            fast_open.news.mss = true;
            self.phase.repeat_syn();
        }
    }

    /// A SYN came in LISTEN: what it asks for is answered, and with a good cookie its data is
    /// accepted (§4.2.2).
    pub(super) fn on_fast_open_request(&mut self, now: Time, segment: &TcpSegment) {
        let Some(options) =
            self.config.fast_open.filter(|options| options.server && options.pending > 0)
        else {
            return;
        };
        let option = segment.options.fast_open();
        if options.is_opened_without_cookie(segment) {
            return self.accept_fast_open(segment);
        }
        let Some(option) = option else { return };
        let (server, client) = (self.ends.local.0, self.ends.remote.0);
        let Some(fast_open) = self.extras.fast_open_mut() else { return };
        if fast_open.service == Service::Refused {
            return;
        }
        let keys = Keys { key: fast_open.key, lifetime: options.key_lifetime };
        let verdict = keys.check(now, server, client, &option.cookie);
        if verdict != Verdict::Good {
            let cookie = keys.cookie(now, server, client);
            fast_open.answer = Some(FastOpenOption { cookie, ..option });
            self.make_room_for_cookie();
        }
        if verdict == Verdict::Wrong {
            return;
        }
        self.accept_fast_open(segment);
    }

    /// Returns the octets of a SYN's options that are the user's, where this connection is a part of a
    /// whole: `signal` then.
    fn room_beside(&self, signal: u32) -> u32 {
        if self.extras.reserved() > 0 { signal } else { 0 }
    }

    /// A SYN-ACK with a cookie and both keys of Multipath TCP leaves no room for timestamps, which are
    /// given up (RFC 8684 app. B.1; Linux agrees).
    fn make_room_for_cookie(&mut self) {
        if self.extras.reserved() > 0 && self.agreed.timestamps.take().is_some() {
            self.sender.mss += TIMESTAMPS_LEN;
            self.sender.congestion.replace(self.config.build_congestion(self.sender.mss));
        }
    }

    /// The SYN opens this side, and its data is delivered.
    fn accept_fast_open(&mut self, segment: &TcpSegment) {
        let Some(fast_open) = self.extras.fast_open_mut() else { return };
        if fast_open.service == Service::Refused {
            return;
        }
        fast_open.service = Service::Open;
        self.sender.early = true;
        self.pending.connected = true;
        if !segment.payload.is_empty() {
            fast_open.delivered = true;
            let arrival = self.receiver.on_segment(1, &segment.payload, false, 1);
            self.pending.readable = arrival.advanced > 0;
        }
    }

    /// The SYN-ACK carries the cookie, and acknowledges what was accepted. Where it got no answer, the
    /// next has no option: some middlebox may not like it (§4.2.1, §4.2.2).
    pub(super) fn answer_fast_open(&mut self, segment: &mut TcpSegment) {
        if self.retransmission.retries == 0
            && let Some(option) = self.extras.fast_open().and_then(|fast_open| fast_open.answer)
        {
            add_option(segment, option, self.room_beside(SYN_ACK_SIGNAL));
        }
        if self.is_open_early() {
            // The SYN is not in the flight of what follows it.
            self.sender.una = 1;
            self.receiver.on_ack_sent(self.sender.mss);
        }
    }
}

/// Adds the option where there is room for it and for `others` octets of options.
fn add_option(segment: &mut TcpSegment, option: FastOpenOption, others: u32) -> bool {
    segment.options.rare_mut().fast_open = Some(option);
    let fits = (segment.options.wire_len() + others) as usize <= MAX_LEN;
    if !fits {
        segment.options.rare_mut().fast_open = None;
        segment.options.rare = segment.options.rare.take().filter(|rare| !rare.is_empty());
    }
    fits
}

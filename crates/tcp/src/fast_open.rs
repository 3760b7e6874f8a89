//! TCP Fast Open (RFC 7413): what does not belong to one connection. The
//! server's cookies, and what a client remembers of a server. The procedure is
//! in `connection/fast_open.rs`.

use crate::connection::isn::sip_hash;
use anabranch_endpoint::Bounds;
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, FastOpenCookie, TcpSegment};

/// Settings of Fast Open, of both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FastOpenOptions {
    /// Ask for cookies, and open with them.
    pub client: bool,
    /// Give cookies, and accept data with them.
    pub server: bool,
    /// Ask in the experimental form, kind 254. Servers answer in the form in
    /// which they are asked.
    pub experimental: bool,
    /// A request that is answered without a cookie is put in the experimental form next time, once:
    /// a server may know that alone (as in Linux).
    pub tries_experimental: bool,
    /// Send data in a SYN without a cookie, and accept it: for networks in which
    /// nobody forges addresses (RFC 7413 §7.3, Linux).
    pub cookieless: bool,
    /// Most connections of a listener that were opened by a cookie and whose
    /// handshake is not over (PendingFastOpenRequests, RFC 7413 §5.1). Of a
    /// connection that listens by itself, only 0 matters: it accepts none.
    pub pending: u32,
    /// Time for which a key makes cookies (§4.1.2); those of the key before it are still good.
    /// `None`: one key for ever.
    pub key_lifetime: Option<Span>,
    /// A SYN-ACK that gives no cookie to a client that asked for one is a negative response, too: as
    /// in FreeBSD, whose client then opens as usual for a time.
    pub needs_cookie: bool,
    /// Time for which a client opens as usual after a negative response (§4.1.3.1); each further
    /// one in a row doubles it, up to 64 times.
    pub retry_after: Span,
}

impl Default for FastOpenOptions {
    /// Both sides, 256 pending, one key, 60 s.
    fn default() -> FastOpenOptions {
        FastOpenOptions {
            client: true,
            server: true,
            experimental: false,
            tries_experimental: false,
            cookieless: false,
            pending: 256,
            key_lifetime: None,
            needs_cookie: false,
            retry_after: Span::from_secs(60),
        }
    }
}

impl FastOpenOptions {
    /// How long a key may make cookies.
    pub const KEY_LIFETIME: Bounds<Span> = Bounds::at_least(Span::from_secs(1));

    /// The SYN needs no cookie to open a connection.
    pub(crate) fn is_opened_without_cookie(&self, syn: &TcpSegment) -> bool {
        self.cookieless && (!syn.payload.is_empty() || syn.options.fast_open().is_some())
    }
}

/// What makes a server's cookies: eight octets of SipHash-2-4 over both
/// addresses and the number of the key's lifetime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub key: [u64; 2],
    pub lifetime: Option<Span>,
}

/// What a server thinks of a cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Good,
    /// Good, but the client should have a new one.
    Old,
    Wrong,
}

impl Keys {
    /// The cookie that `client` gets from `server` now.
    pub fn cookie(&self, now: Time, server: Addr, client: Addr) -> FastOpenCookie {
        self.of(self.count(now), server, client)
    }

    /// Whether `cookie` is one of late.
    pub fn check(&self, now: Time, server: Addr, client: Addr, cookie: &FastOpenCookie) -> Verdict {
        let count = self.count(now);
        if *cookie == self.of(count, server, client) {
            Verdict::Good
        } else if count > 0 && *cookie == self.of(count - 1, server, client) {
            Verdict::Old
        } else {
            Verdict::Wrong
        }
    }

    /// Lifetimes of keys before this one.
    fn count(&self, now: Time) -> u64 {
        self.lifetime.map_or(0, |span| now.as_picos() / span.as_picos())
    }

    fn of(&self, count: u64, server: Addr, client: Addr) -> FastOpenCookie {
        let mut message = [0; 16];
        message[..4].copy_from_slice(&client.0.to_le_bytes());
        message[4..8].copy_from_slice(&server.0.to_le_bytes());
        message[8..].copy_from_slice(&count.to_le_bytes());
        let octets = sip_hash(self.key, &message).to_be_bytes();
        FastOpenCookie::new(&octets).expect("eight octets are a cookie")
    }
}

/// The form in which a server is asked for a cookie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RequestForm {
    /// The form of the settings: the server was not asked yet, or answered.
    #[default]
    AsSet,
    /// The experimental one, kind 254: the other was not answered.
    Experimental,
    /// The form of the settings, for good: the server answered neither form.
    Neither,
}

/// What a client remembers of a server (RFC 7413 §4.1.3), in its host's
/// [`PeerMemory`](anabranch_endpoint::PeerMemory).
///
/// Deviation: negative responses are remembered for the pair of addresses, not
/// for the port (§4.1.3.1), as in Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpenServer {
    /// The cookie received last; a request when there is none.
    pub cookie: FastOpenCookie,
    /// It came in the experimental form.
    pub experimental: bool,
    /// The form in which the next request is put, where that changes with the answers.
    pub form: RequestForm,
    /// The MSS that the server announced with it, or less where the path
    /// demands that.
    pub mss: u16,
    /// Negative responses in a row.
    pub failures: u32,
    /// Connections are opened as usual until then.
    pub off_until: Time,
}

impl FastOpenServer {
    /// A request, `experimental` or not, was answered without a cookie.
    pub(crate) fn on_no_cookie(&mut self, experimental: bool) -> bool {
        let next = if experimental { RequestForm::Neither } else { RequestForm::Experimental };
        let changes = self.cookie.is_request() && next > self.form;
        if changes {
            self.form = next;
        }
        changes
    }

    /// A SYN with data or a cookie was answered, and not refused.
    pub(crate) fn on_success(&mut self) {
        (self.failures, self.off_until) = (0, Time::ZERO);
    }

    /// A negative response (§4.1.3.1).
    pub(crate) fn on_failure(&mut self, now: Time, retry_after: Span) {
        let span = retry_after.saturating_mul(1 << self.failures.min(6));
        self.off_until = now.saturating_add(span);
        self.failures += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: Addr = Addr(1);

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    #[test]
    fn a_cookie_belongs_to_a_client_a_server_and_a_key() {
        let keys = Keys { key: [1, 2], lifetime: None };
        let cookie = keys.cookie(at(0), SERVER, Addr(0));
        assert_eq!(cookie.octets().len(), 8);
        assert_eq!(keys.check(at(1_000_000), SERVER, Addr(0), &cookie), Verdict::Good);
        assert_eq!(keys.check(at(0), SERVER, Addr(2), &cookie), Verdict::Wrong);
        assert_eq!(keys.check(at(0), Addr(2), Addr(0), &cookie), Verdict::Wrong);
        let other = Keys { key: [1, 3], lifetime: None };
        assert_eq!(other.check(at(0), SERVER, Addr(0), &cookie), Verdict::Wrong);
        let request = FastOpenCookie::REQUEST;
        assert_eq!(keys.check(at(0), SERVER, Addr(0), &request), Verdict::Wrong);
    }

    /// RFC 7413 §4.1.2: the key changes, and cookies of the one before are
    /// good for a while.
    #[test]
    fn a_key_has_a_lifetime_and_its_cookies_two() {
        let keys = Keys { key: [1, 2], lifetime: Some(Span::from_secs(100)) };
        let cookie = keys.cookie(at(50), SERVER, Addr(0));
        for (s, verdict) in [
            (0, Verdict::Good),
            (99, Verdict::Good),
            (100, Verdict::Old),
            (199, Verdict::Old),
            (200, Verdict::Wrong),
        ] {
            assert_eq!(keys.check(at(s), SERVER, Addr(0), &cookie), verdict, "{s} s");
        }
        assert_ne!(keys.cookie(at(100), SERVER, Addr(0)), cookie);
    }

    #[test]
    fn failures_in_a_row_double_the_time_up_to_64_times() {
        let mut server = FastOpenServer::default();
        let mut spans = Vec::new();
        for _ in 0..8 {
            server.on_failure(at(0), Span::from_secs(60));
            spans.push((server.off_until - Time::ZERO).as_secs_f64() / 60.0);
        }
        assert_eq!(spans, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0]);
        server.on_success();
        assert_eq!((server.failures, server.off_until), (0, Time::ZERO));
    }
}

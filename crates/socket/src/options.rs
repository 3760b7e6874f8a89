//! Socket options, by name and number as `setsockopt` has them.

use crate::errno::Errno;
use crate::flavor::Flavor;
use anabranch_tcp::{Config, Connection, KeepAlive, Nagle};
use anabranch_units::Span;
use anabranch_wire::Packet;

/// Options of a socket. Each value is a number, as `setsockopt` takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// `SO_REUSEADDR`: a port may be bound while old connections of it end.
    ReuseAddress,
    /// `SO_SNDBUF`, octets; twice what is set is kept, as on Linux.
    SendBuffer,
    /// `SO_RCVBUF`, octets; likewise.
    ReceiveBuffer,
    /// `SO_LINGER`: seconds; -1 for off. With 0 a close resets.
    Linger,
    /// `SO_KEEPALIVE`: 0 or 1.
    KeepAlive,
    /// `SO_ERROR`: the number of the error that waits; reading takes it.
    Error,
    /// `SO_SNDTIMEO`, microseconds; 0 for none.
    SendTimeout,
    /// `SO_RCVTIMEO`, microseconds; 0 for none.
    ReceiveTimeout,
    /// `SO_RCVLOWAT`, octets: a read that waits waits for so many, and `poll` says that a socket is
    /// readable from then on.
    ReceiveLowWater,
    /// `TCP_KEEPIDLE`, seconds.
    KeepIdle,
    /// `TCP_KEEPINTVL`, seconds.
    KeepInterval,
    /// `TCP_KEEPCNT`: probes without an answer.
    KeepCount,
    /// `TCP_NODELAY`: 0 or 1.
    NoDelay,
    /// `TCP_CORK`: 0 or 1.
    Cork,
    /// `TCP_MAXSEG`, octets: what is offered, and once connected what is used.
    MaxSegment,
    /// `TCP_SYNCNT`: retransmissions of a SYN.
    SynRetries,
    /// `TCP_USER_TIMEOUT`, milliseconds; 0 for none.
    UserTimeout,
    /// `TCP_NOTSENT_LOWAT`, octets: a socket is writable below that much
    /// unsent.
    NotSentLowWater,
    /// `TCP_QUICKACK`: 0 or 1.
    QuickAck,
    /// `TCP_MD5SIG`: what is signed is sent and taken (RFC 2385); only refused here.
    Md5,
    /// `TCP_FASTOPEN`: how many connections of a listener may be open before
    /// their handshake is over (RFC 7413 §5.1).
    FastOpen,
    /// `TCP_FASTOPEN_CONNECT`: a connect waits for the first write, where there
    /// is a cookie.
    FastOpenConnect,
    /// `TCP_FASTOPEN_NO_COOKIE`: data in SYNs needs no cookie.
    FastOpenNoCookie,
    /// `IP_TOS`: the octet of DSCP and ECN.
    TypeOfService,
    /// `IP_TTL`, `IPV6_UNICAST_HOPS`: 1 to 255; -1 for the host's.
    TimeToLive,
    /// `IP_RECVERR`: trouble that a router reports is an error of the socket at once.
    ReceiveErrors,
    /// `IP_MTU_DISCOVER`: 0 for no path MTU discovery.
    MtuDiscover,
    /// `TCP_KEEPINIT` of BSD stacks, seconds: how long an attempt to connect may take.
    OpeningTimeout,
    /// `TCP_NOOPT` of BSD stacks: neither send options nor agree to any.
    NoOptions,
    /// `TCP_REMOTE_UDP_ENCAPS_PORT` of FreeBSD: the peer's port of UDP; 0 for TCP in IP.
    RemoteUdpPort,
}

/// The options that are set on a socket; an accepted one inherits them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    pub(crate) flavor: Flavor,
    pub(crate) reuse_address: bool,
    /// Octets; on Linux twice `SO_SNDBUF`.
    pub(crate) send_buffer: u64,
    pub(crate) receive_buffer: Option<u64>,
    pub(crate) linger: Option<u32>,
    pub(crate) send_timeout: Option<Span>,
    pub(crate) receive_timeout: Option<Span>,
    pub(crate) keep_alive: bool,
    pub(crate) keep: KeepAlive,
    pub(crate) no_delay: bool,
    pub(crate) corked: bool,
    pub(crate) max_segment: Option<u32>,
    pub(crate) syn_retries: Option<u32>,
    pub(crate) user_timeout: Option<Span>,
    pub(crate) low_water: u64,
    /// Segments that leave at once at least.
    pub(crate) min_burst: u32,
    /// Octets that make a socket readable, 1 or more.
    pub(crate) receive_low_water: u64,
    pub(crate) quick_ack: Option<bool>,
    pub(crate) fast_open: Option<u32>,
    pub(crate) fast_open_connect: bool,
    pub(crate) no_cookie: bool,
    pub(crate) tos: u8,
    pub(crate) ttl: Option<u8>,
    pub(crate) mtu_discovery: bool,
    pub(crate) opening_timeout: Option<Span>,
    pub(crate) no_options: bool,
    /// The peer's port of UDP; 0 for none.
    pub(crate) udp_port: u16,
    pub(crate) receive_errors: bool,
}

impl Options {
    /// What a new socket has, with a send buffer of so many octets.
    pub fn new(send_buffer: u64) -> Options {
        Options {
            flavor: Flavor::Linux,
            reuse_address: false,
            send_buffer,
            receive_buffer: None,
            linger: None,
            send_timeout: None,
            receive_timeout: None,
            keep_alive: false,
            keep: KeepAlive::default(),
            no_delay: false,
            corked: false,
            max_segment: None,
            syn_retries: None,
            user_timeout: None,
            low_water: u64::MAX,
            min_burst: 2,
            receive_low_water: 1,
            quick_ack: None,
            fast_open: None,
            fast_open_connect: false,
            no_cookie: false,
            tos: 0,
            ttl: None,
            mtu_discovery: true,
            opening_timeout: None,
            no_options: false,
            udp_port: 0,
            receive_errors: false,
        }
    }

    /// Octets of a buffer for which a user asks for `value`, `least` at least.
    fn buffer(&self, value: i64, least: i64) -> u64 {
        match self.flavor {
            Flavor::Linux => 2 * value.clamp(least, i32::MAX as i64) as u64,
            Flavor::FreeBsd => value.clamp(1, i32::MAX as i64) as u64,
        }
    }

    /// Sets one.
    ///
    /// # Errors
    /// `EINVAL` for a value that is not allowed.
    pub fn set(&mut self, name: Name, value: i64) -> Result<(), Errno> {
        let on = value != 0;
        let within = |most: i64| match u32::try_from(value) {
            Ok(n) if value <= most => Ok(n),
            _ => Err(Errno::EINVAL),
        };
        let seconds = |most: i64| match within(most)? {
            0 => Err(Errno::EINVAL),
            n => Ok(Span::from_secs(n as u64)),
        };
        match name {
            Name::ReuseAddress => self.reuse_address = on,
            Name::SendBuffer => self.send_buffer = self.buffer(value, 2304),
            Name::ReceiveBuffer => self.receive_buffer = Some(self.buffer(value, 1152)),
            Name::Linger => self.linger = u32::try_from(value).ok(),
            Name::KeepAlive => self.keep_alive = on,
            Name::Error => return Err(Errno::ENOPROTOOPT),
            Name::SendTimeout | Name::ReceiveTimeout => {
                let micros = u64::try_from(value).map_err(|_| Errno::EDOM)?;
                let timeout = (micros > 0).then(|| Span::from_micros(1).saturating_mul(micros));
                match name {
                    Name::SendTimeout => self.send_timeout = timeout,
                    _ => self.receive_timeout = timeout,
                }
            }
            Name::ReceiveLowWater => {
                let most = i32::MAX as i64;
                self.receive_low_water = if value < 0 { most } else { value.clamp(1, most) } as u64;
            }
            Name::KeepIdle => self.keep.idle = seconds(32_767)?,
            Name::KeepInterval => self.keep.interval = seconds(32_767)?,
            Name::KeepCount => match within(127)? {
                0 => return Err(Errno::EINVAL),
                n => self.keep.probes = n,
            },
            Name::NoDelay => self.no_delay = on,
            Name::Cork => self.corked = on,
            Name::MaxSegment => match within(32_767)? {
                0 => self.max_segment = None,
                n if n >= 88 => self.max_segment = Some(n),
                _ => return Err(Errno::EINVAL),
            },
            Name::SynRetries => match within(127)? {
                0 => return Err(Errno::EINVAL),
                n => self.syn_retries = Some(n),
            },
            Name::UserTimeout => {
                let ms = within(i32::MAX as i64)? as u64;
                self.user_timeout = (ms > 0).then(|| Span::from_millis(ms));
            }
            Name::NotSentLowWater => self.low_water = within(u32::MAX as i64)? as u64,
            Name::QuickAck => self.quick_ack = Some(on),
            Name::FastOpen => self.fast_open = Some(within(i32::MAX as i64)?),
            Name::FastOpenConnect => match value {
                0 | 1 => self.fast_open_connect = on,
                _ => return Err(Errno::EINVAL),
            },
            Name::FastOpenNoCookie => match value {
                0 | 1 => self.no_cookie = on,
                _ => return Err(Errno::EINVAL),
            },
            Name::Md5 => return Err(Errno::ENOPROTOOPT),
            Name::TypeOfService => self.tos = within(255)? as u8,
            Name::TimeToLive => match (value, within(255)) {
                (-1, _) => self.ttl = None,
                (_, Ok(ttl @ 1..)) => self.ttl = Some(ttl as u8),
                _ => return Err(Errno::EINVAL),
            },
            Name::ReceiveErrors => self.receive_errors = on,
            Name::MtuDiscover => self.mtu_discovery = on,
            Name::OpeningTimeout => self.opening_timeout = Some(seconds(i32::MAX as i64)?),
            Name::NoOptions => self.no_options = on,
            Name::RemoteUdpPort => self.udp_port = within(65_535)? as u16,
        }
        Ok(())
    }

    /// Reads one that does not depend on the connection.
    pub fn get(&self, name: Name) -> i64 {
        let seconds = |span: Span| (span.as_millis() / 1000) as i64;
        let micros = |span: Option<Span>| span.map_or(0, |span| (span.as_nanos() / 1000) as i64);
        match name {
            Name::ReuseAddress => self.reuse_address as i64,
            Name::SendBuffer => self.send_buffer as i64,
            Name::ReceiveBuffer => self.receive_buffer.unwrap_or(0) as i64,
            Name::Linger => self.linger.map_or(-1, i64::from),
            Name::KeepAlive => self.keep_alive as i64,
            Name::Error => 0,
            Name::SendTimeout => micros(self.send_timeout),
            Name::ReceiveTimeout => micros(self.receive_timeout),
            Name::ReceiveLowWater => self.receive_low_water as i64,
            Name::KeepIdle => seconds(self.keep.idle),
            Name::KeepInterval => seconds(self.keep.interval),
            Name::KeepCount => self.keep.probes as i64,
            Name::NoDelay => self.no_delay as i64,
            Name::Cork => self.corked as i64,
            Name::MaxSegment => self.max_segment.unwrap_or(536) as i64,
            Name::SynRetries => self.syn_retries.unwrap_or(0) as i64,
            Name::UserTimeout => self.user_timeout.map_or(0, |t| t.as_millis() as i64),
            Name::NotSentLowWater => self.low_water.min(u32::MAX as u64) as i64,
            Name::QuickAck => self.quick_ack.unwrap_or(true) as i64,
            Name::FastOpen => self.fast_open.unwrap_or(0) as i64,
            Name::FastOpenConnect => self.fast_open_connect as i64,
            Name::FastOpenNoCookie => self.no_cookie as i64,
            Name::Md5 => 0,
            Name::TypeOfService => self.tos as i64,
            Name::TimeToLive => self.ttl.unwrap_or(Packet::TTL) as i64,
            Name::ReceiveErrors => self.receive_errors as i64,
            Name::MtuDiscover => self.mtu_discovery as i64,
            Name::OpeningTimeout => self.opening_timeout.map_or(0, seconds),
            Name::NoOptions => self.no_options as i64,
            Name::RemoteUdpPort => self.udp_port as i64,
        }
    }

    /// The settings of a connection that is opened with these options.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.send_buffer = u64::MAX; // the socket keeps count
        config.dscp = self.tos >> 2;
        config.ttl = self.ttl.unwrap_or(config.ttl);
        config.user_timeout = self.user_timeout;
        config.path_mtu_discovery &= self.mtu_discovery;
        if let Some(octets) = self.receive_buffer {
            config.receive_buffer = match self.flavor {
                // Half is for payload (tcp_adv_win_scale = 1).
                Flavor::Linux => octets / 2,
                Flavor::FreeBsd => octets,
            };
        }
        config.opening_timeout = self.opening_timeout.or(config.opening_timeout);
        if self.no_options {
            (config.offers_mss, config.window_scale) = (false, false);
            (config.timestamps, config.sack) = (false, false);
        }
        if let Some(mss) = self.max_segment {
            config.mss = config.mss.min(mss);
        }
        if let Some(retries) = self.syn_retries {
            config.syn_retries = retries;
        }
        if self.no_delay {
            config.nagle = Nagle::Off;
        }
        config.keep_alive = self.keep_alive.then_some(self.keep);
    }

    /// An option was set on a socket whose connection has several paths: all have it, those that are
    /// opened later included.
    pub(crate) fn apply_to_paths(&self, connection: &mut anabranch_mptcp::Connection, name: Name) {
        match name {
            Name::NoDelay => connection.set_no_delay(self.no_delay),
            Name::Cork => connection.set_corked(self.corked),
            Name::TypeOfService => connection.reconfigure_subflows(|c| c.dscp = self.tos >> 2),
            Name::KeepAlive | Name::KeepIdle | Name::KeepInterval | Name::KeepCount => {
                let keep_alive = self.keep_alive.then_some(self.keep);
                connection.reconfigure_subflows(|c| c.keep_alive = keep_alive);
            }
            _ => {}
        }
    }

    /// An option was set on a socket whose connection exists.
    pub(crate) fn apply_to(&self, connection: &mut Connection, name: Name) {
        match name {
            Name::NoDelay => connection.set_no_delay(self.no_delay),
            Name::Cork => connection.set_corked(self.corked),
            Name::UserTimeout => connection.reconfigure(|c| c.user_timeout = self.user_timeout),
            Name::SynRetries => {
                if let Some(retries) = self.syn_retries {
                    connection.reconfigure(|c| c.syn_retries = retries);
                }
            }
            Name::KeepAlive | Name::KeepIdle | Name::KeepInterval | Name::KeepCount => {
                let keep_alive = self.keep_alive.then_some(self.keep);
                connection.reconfigure(|c| c.keep_alive = keep_alive);
            }
            Name::TypeOfService => connection.reconfigure(|c| c.dscp = self.tos >> 2),
            Name::TimeToLive => {
                connection.reconfigure(|c| c.ttl = self.ttl.unwrap_or(Packet::TTL));
            }
            Name::QuickAck => connection.set_quick_acks(self.quick_ack != Some(false)),
            Name::MtuDiscover => {
                connection.reconfigure(|c| c.path_mtu_discovery = self.mtu_discovery);
            }
            _ => {}
        }
    }
}

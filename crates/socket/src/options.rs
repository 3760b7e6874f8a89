//! Socket options, by name and number as `setsockopt` has them.

use crate::errno::Errno;
use anabranch_tcp::{Config, Connection, KeepAlive, Nagle};
use anabranch_units::Span;

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
    /// `SO_KEEPALIVE`.
    KeepAlive,
    /// `SO_ERROR`: the number of the error that waits; reading takes it.
    Error,
    /// `SO_SNDTIMEO`, microseconds; 0 for none.
    SendTimeout,
    /// `SO_RCVTIMEO`, microseconds; 0 for none.
    ReceiveTimeout,
    /// `TCP_KEEPIDLE`, seconds.
    KeepIdle,
    /// `TCP_KEEPINTVL`, seconds.
    KeepInterval,
    /// `TCP_KEEPCNT`.
    KeepCount,
    /// `TCP_NODELAY`.
    NoDelay,
    /// `TCP_CORK`.
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
    /// `TCP_QUICKACK`.
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
    /// `IP_MTU_DISCOVER`: 0 for no path MTU discovery.
    MtuDiscover,
}

/// What is set on a socket; an accepted one inherits it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    pub(crate) reuse_address: bool,
    /// Octets; twice `SO_SNDBUF`.
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
    pub(crate) quick_ack: Option<bool>,
    pub(crate) fast_open: Option<u32>,
    pub(crate) fast_open_connect: bool,
    pub(crate) no_cookie: bool,
    pub(crate) tos: u8,
    pub(crate) mtu_discovery: bool,
}

impl Options {
    /// What a new socket has, with a send buffer of so many octets.
    pub fn new(send_buffer: u64) -> Options {
        Options {
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
            quick_ack: None,
            fast_open: None,
            fast_open_connect: false,
            no_cookie: false,
            tos: 0,
            mtu_discovery: true,
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
            Name::SendBuffer => self.send_buffer = 2 * value.clamp(2304, i32::MAX as i64) as u64,
            Name::ReceiveBuffer => {
                self.receive_buffer = Some(2 * value.clamp(1152, i32::MAX as i64) as u64)
            }
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
            Name::KeepIdle => self.keep.idle = seconds(32_767)?,
            Name::KeepInterval => self.keep.interval = seconds(32_767)?,
            Name::KeepCount => match within(127)? {
                0 => return Err(Errno::EINVAL),
                n => self.keep.probes = n,
            },
            Name::NoDelay => self.no_delay = on,
            Name::Cork => self.corked = on,
            Name::MaxSegment => match within(65_535)? {
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
            Name::MtuDiscover => self.mtu_discovery = on,
        }
        Ok(())
    }

    /// Reads one that does not depend on the connection.
    pub fn get(&self, name: Name) -> i64 {
        let seconds = |span: Span| (span.as_millis() / 1000) as i64;
        let micros = |span: Option<Span>| span.map_or(0, |it| (it.as_nanos() / 1000) as i64);
        match name {
            Name::ReuseAddress => self.reuse_address as i64,
            Name::SendBuffer => self.send_buffer as i64,
            Name::ReceiveBuffer => self.receive_buffer.unwrap_or(0) as i64,
            Name::Linger => self.linger.map_or(-1, i64::from),
            Name::KeepAlive => self.keep_alive as i64,
            Name::Error => 0,
            Name::SendTimeout => micros(self.send_timeout),
            Name::ReceiveTimeout => micros(self.receive_timeout),
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
            Name::MtuDiscover => self.mtu_discovery as i64,
        }
    }

    /// The settings of a connection that is opened with these options.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.send_buffer = u64::MAX; // the socket keeps count
        config.dscp = self.tos >> 2;
        config.user_timeout = self.user_timeout;
        config.path_mtu_discovery &= self.mtu_discovery;
        if let Some(octets) = self.receive_buffer {
            // Half is for payload, as on Linux (tcp_adv_win_scale = 1).
            config.receive_buffer = octets / 2;
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
            Name::QuickAck => connection.set_quick_acks(self.quick_ack != Some(false)),
            Name::MtuDiscover => {
                connection.reconfigure(|c| c.path_mtu_discovery = self.mtu_discovery);
            }
            _ => {}
        }
    }
}

//! Ports that listen to strangers.

use super::flow::Protocol;
use crate::InputError;
use crate::build::FIRST_PORT;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_tcp::{Backlog, SynCookies};
use anabranch_units::Bytes;
use toml::{Table, Value};

/// A port of a host where anybody may open connections.
#[derive(Clone, PartialEq, Debug)]
pub struct ListenSpec {
    /// Its name.
    pub name: String,
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The transport and its options, of all connections there.
    pub protocol: Protocol,
    /// Limits of what waits.
    pub limits: Backlog,
    /// Most connections of strangers at once.
    pub connections: usize,
    /// Octets that the application writes to each stranger; `None` for nothing. It reads
    /// whatever comes.
    pub respond: Option<u64>,
}

const COOKIES: [(&str, SynCookies); 3] =
    [("off", SynCookies::Off), ("when-full", SynCookies::WhenFull), ("always", SynCookies::Always)];

/// Most that any of the limits may be.
const MOST: usize = 1_000_000;

impl ListenSpec {
    pub(super) fn read(f: &Fields<'_>) -> Result<ListenSpec, InputError> {
        let protocol = Protocol::read(f)?;
        if matches!(protocol, Protocol::Udp(_)) {
            return Err(f.error("protocol", "tcp, sctp, mptcp: nobody listens for datagrams"));
        }
        let default = Backlog::default();
        let is_sctp = matches!(protocol, Protocol::Sctp(_));
        for name in ["cookies", "half_open"] {
            if is_sctp && f.get(name).is_some() {
                let allowed = "none over SCTP, which remembers nothing of handshakes";
                return Err(f.error(name, allowed));
            }
        }
        let host = f.required_text("host", "the host that listens")?.to_owned();
        let port = f.integer("port", 1..=FIRST_PORT - 1)?;
        let port = port.ok_or_else(|| f.error("port", "the port, from 1 to 49151"))?;
        let spec = ListenSpec {
            name: f.text("name")?.map_or_else(|| format!("{host}-{port}"), str::to_owned),
            host,
            port,
            protocol,
            limits: Backlog {
                half_open: f.integer("half_open", 1..=MOST)?.unwrap_or(default.half_open),
                backlog: f.integer("backlog", 1..=MOST)?.unwrap_or(default.backlog),
                cookies: f.choice("cookies", &COOKIES)?.unwrap_or(default.cookies),
            },
            connections: f.integer("connections", 0..=MOST)?.unwrap_or(1024),
            respond: f.quantity::<Bytes>("respond")?.map(|octets| octets.0),
        };
        f.finish()?;
        Ok(spec)
    }

    pub(super) fn write(&self) -> Table {
        let mut table = Table::new();
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put("name", self.name.as_str().into());
        put("host", self.host.as_str().into());
        put("port", i64::from(self.port).into());
        put("backlog", Value::Integer(self.limits.backlog as i64));
        if !matches!(self.protocol, Protocol::Sctp(_)) {
            put("half_open", Value::Integer(self.limits.half_open as i64));
            let word = COOKIES.iter().find(|(_, cookie)| *cookie == self.limits.cookies);
            put("cookies", word.map_or("", |(word, _)| word).into());
        }
        put("connections", Value::Integer(self.connections as i64));
        if let Some(octets) = self.respond {
            put("respond", Bytes(octets).write().into());
        }
        self.protocol.write(&mut put);
        table
    }
}

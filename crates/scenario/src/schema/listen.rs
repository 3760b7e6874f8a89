//! Ports that listen to strangers.

use super::flow::Protocol;
use super::form::{Form, Text, integer};
use crate::InputError;
use crate::build::FIRST_PORT;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_tcp::{Backlog, SynCookies};
use toml::Table;

/// A port of a host where anybody may open connections.
#[derive(Clone, PartialEq, Debug)]
pub struct ListenSpec {
    /// Name of the port in results.
    pub name: String,
    /// Name of the host that listens.
    pub host: String,
    /// Port number that it listens at.
    pub port: u16,
    /// The transport and its options, of all connections there.
    pub protocol: Protocol,
    /// Limits of the handshakes and connections that wait.
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
        let mut spec = ListenSpec::unset();
        Form::read_all(f, |form| ListenSpec::fields(form, &mut spec))?;
        Ok(spec)
    }

    pub(super) fn write(&self) -> Table {
        Form::written(|form| ListenSpec::fields(form, &mut self.clone()))
    }

    /// What an entry may hold.
    pub(super) fn shape() -> Shape {
        Shape::Table(Form::described(|form| ListenSpec::fields(form, &mut ListenSpec::unset())))
    }

    /// What stands in the place of one before it is read.
    fn unset() -> ListenSpec {
        ListenSpec {
            name: String::new(),
            host: String::new(),
            port: 0,
            protocol: Protocol::Tcp(Box::default()),
            limits: Backlog::default(),
            connections: 1024,
            respond: None,
        }
    }

    fn fields(form: &mut Form<'_>, spec: &mut ListenSpec) -> Result<(), InputError> {
        form.says("the host; all of its addresses");
        form.required("host", Text, "the host that listens", &mut spec.host)?;
        form.says("the port");
        let allowed = "the port, from 1 to 49151";
        form.required("port", integer(1..=FIRST_PORT - 1), allowed, &mut spec.port)?;
        let mut name = Some(spec.name.clone()).filter(|_| form.reads().is_none());
        form.says("the name of its row in results").or_else("`HOST-PORT`");
        form.optional("name", Text, &mut name)?;
        spec.name = name.unwrap_or_else(|| format!("{}-{}", spec.host, spec.port));
        Protocol::of_listener(form, &mut spec.protocol)?;
        form.says("most connections that wait to be accepted");
        form.integer("backlog", 1..=MOST, &mut spec.limits.backlog)?;
        handshakes(form, spec)?;
        form.says("most connections of strangers at a time; others wait in the backlog");
        form.integer("connections", 0..=MOST, &mut spec.connections)?;
        form.says("octets that the application writes to a stranger before it closes; it reads whatever comes, and closes after the stranger where it writes nothing");
        form.octets_or_none("respond", &mut spec.respond)
    }
}

/// Reads, writes or describes the limits of handshakes; there are none over SCTP.
fn handshakes(form: &mut Form<'_>, spec: &mut ListenSpec) -> Result<(), InputError> {
    if matches!(spec.protocol, Protocol::Sctp(_)) {
        let allowed = "none over SCTP, which remembers nothing of handshakes";
        let stray = |f: &Fields<'_>| {
            let given = ["cookies", "half_open"].into_iter().find(|name| f.get(name).is_some());
            given.map_or(Ok(()), |name| Err(f.error(name, allowed)))
        };
        return form.reads().map_or(Ok(()), stray);
    }
    form.says("most handshakes under way (RFC 4987 §2.1); none over SCTP, which remembers nothing of them");
    form.integer("half_open", 1..=MOST, &mut spec.limits.half_open)?;
    form.says("SYN cookies (RFC 4987 §3.6) when there is no room for another handshake; `\"always\"`, or `\"off\"`; none over SCTP, whose INITs always get one");
    form.choice("cookies", &COOKIES, &mut spec.limits.cookies)
}

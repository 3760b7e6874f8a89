//! Calls that send.

use super::attempt::{Attempt, association, value, waits};
use super::values::{address, argument, length_of_vectors, part};
use crate::constants::millis;
use crate::script::{Call, Value};
use anabranch_socket::sctp::{Lifetime, SctpSockets, Sending, Style};
use anabranch_socket::{Errno, Fd};
use anabranch_units::Time;
use anabranch_wire::{Addr, Payload};

const EOF: i64 = 0x100;
const ABORT: i64 = 0x200;
const UNORDERED: i64 = 0x400;
const SACK_IMMEDIATELY: i64 = 0x4000;

/// What a call sends, as it says so.
#[derive(Clone, PartialEq, Debug)]
pub struct Outgoing {
    /// Octets of the message, as the call says.
    pub len: u64,
    /// Flags of the call, not of the message.
    pub flags: i64,
    /// Address and port that it names.
    pub to: Option<(Addr, u16)>,
    /// Options of the message; `None` for the socket's defaults.
    pub info: Option<SendInfo>,
    /// Policy of partial reliability and its value; `None` for the socket's default.
    pub policy: Option<(i64, i64)>,
}

/// `struct sctp_sndinfo` (RFC 6458 §5.3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SendInfo {
    /// Number of the stream.
    pub stream: u16,
    /// Flags of the message (`SCTP_UNORDERED` and others).
    pub flags: i64,
    /// Payload protocol identifier, as it is read.
    pub ppid: u32,
    /// What the user calls it.
    pub context: u32,
    /// Association; `None` where it is left open.
    pub association: Option<i64>,
}

pub(super) fn send(sockets: &mut SctpSockets, now: Time, fd: Fd, call: &Call) -> Attempt {
    let outgoing = match outgoing(call) {
        Ok(outgoing) => outgoing,
        Err(reason) => return Attempt::NotApplicable(reason),
    };
    let mut sending = sockets.options(fd).map(|options| options.sending).unwrap_or_default();
    outgoing.apply(&mut sending);
    if sockets.style(fd) == Ok(Style::OneToOne) {
        sending.to = None;
    }
    let len = u32::try_from(outgoing.len).unwrap_or(u32::MAX);
    match sockets.send(fd, now, sending, Payload::virtual_of(len)) {
        Err(Errno::EAGAIN) if waits(sockets, fd, outgoing.flags) => Attempt::Blocks,
        result => value(result.map(|octets| octets as i64)),
    }
}

/// What a call that sends asks for.
///
/// # Errors
/// What is not known of it.
pub fn outgoing(call: &Call) -> Result<Outgoing, String> {
    let n = |at| argument(call, at);
    let named = |value: Option<&Value>| match value {
        Some(Value::Word(word)) if word == "NULL" => None,
        value => Some(address(value)),
    };
    let to = |at: usize| named(call.arguments.get(at));
    let first_of = |at: usize| {
        let first = call.arguments.get(at).and_then(Value::fields).and_then(|all| all.first());
        Some(address(first.map(|field| &field.value)))
    };
    let message = call.arguments.get(1);
    let mut out = Outgoing {
        len: n(2).unwrap_or(0).max(0) as u64,
        flags: 0,
        to: None,
        info: None,
        policy: None,
    };
    match call.name.as_str() {
        "write" => {}
        "writev" => out.len = length_of_vectors(message),
        "send" => out.flags = n(3).unwrap_or(0),
        "sendto" => (out.to, out.flags) = (to(4), n(3).unwrap_or(0)),
        "sendmsg" => {
            let header = message.ok_or("sendmsg() without a message")?;
            if header.field("msg_name").is_some_and(|name| *name != Value::Any) {
                out.to = Some(address(header.field("msg_name")));
            }
            for control in header.field("msg_control").and_then(Value::fields).unwrap_or_default() {
                let data = control.value.field("cmsg_data");
                match (control.value.field("cmsg_type"), data) {
                    (Some(Value::Word(kind)), Some(data)) => out.take(kind, data),
                    _ => return Err(format!("the control message {}", control.value)),
                }
            }
            (out.len, out.flags) = (length_of_vectors(header.field("msg_iov")), n(2).unwrap_or(0));
        }
        "sctp_sendmsg" => {
            out.to = to(3);
            out.info = Some(SendInfo {
                stream: n(7).unwrap_or(0) as u16,
                flags: n(6).unwrap_or(0),
                ppid: n(5).unwrap_or(0) as u32,
                context: n(9).unwrap_or(0) as u32,
                association: None,
            });
            out.policy = Some(time_to_live(n(8).unwrap_or(0)));
        }
        "sctp_send" | "sctp_sendx" => {
            let at = if call.name == "sctp_send" { 3 } else { 5 };
            (out.info, out.policy) = (Some(SendInfo::default()), Some((0, 0)));
            if let Some(info) = call.arguments.get(at) {
                out.take("SCTP_SNDRCV", info);
            }
            if call.name == "sctp_sendx" {
                out.to = first_of(3);
            }
            out.flags = n(at + 1).unwrap_or(0);
        }
        "sctp_sendv" => {
            if n(4).unwrap_or(0) > 0 {
                out.to = first_of(3);
            }
            let info = call.arguments.get(5);
            match (n(7).unwrap_or(0), info) {
                (1, Some(info)) => out.take("SCTP_SNDINFO", info),
                (2, Some(info)) => out.take("SCTP_PRINFO", info),
                (4, Some(info)) => {
                    let valid = part(info, "sendv_flags").unwrap_or(0);
                    if let Some(info) = info.field("sendv_sndinfo").filter(|_| valid & 1 != 0) {
                        out.take("SCTP_SNDINFO", info);
                    }
                    if let Some(info) = info.field("sendv_prinfo").filter(|_| valid & 2 != 0) {
                        out.take("SCTP_PRINFO", info);
                    }
                }
                _ => {}
            }
            (out.len, out.flags) = (length_of_vectors(message), n(8).unwrap_or(0));
        }
        name => return Err(format!("the call {name}()")),
    }
    Ok(out)
}

impl Outgoing {
    /// Takes over what a structure says.
    fn take(&mut self, kind: &str, info: &Value) {
        let n = |name| part(info, name).unwrap_or(0);
        match kind {
            "SCTP_SNDRCV" | "SCTP_EXTRCV" => {
                self.info = Some(SendInfo {
                    stream: n("sinfo_stream") as u16,
                    flags: n("sinfo_flags"),
                    ppid: n("sinfo_ppid") as u32,
                    context: n("sinfo_context") as u32,
                    association: part(info, "sinfo_assoc_id"),
                });
                self.policy = Some(time_to_live(n("sinfo_timetolive")));
            }
            "SCTP_SNDINFO" => {
                self.info = Some(SendInfo {
                    stream: n("snd_sid") as u16,
                    flags: n("snd_flags"),
                    ppid: n("snd_ppid") as u32,
                    context: n("snd_context") as u32,
                    association: part(info, "snd_assoc_id"),
                });
            }
            "SCTP_PRINFO" => self.policy = Some((n("pr_policy"), n("pr_value"))),
            _ => {}
        }
    }

    /// Changes `sending` to what is said here.
    fn apply(&self, sending: &mut Sending) {
        if let Some(info) = self.info {
            sending.stream = info.stream;
            sending.ppid = info.ppid;
            sending.context = info.context;
            sending.association = association(info.association);
            set_flags(sending, info.flags);
        }
        if let Some((policy, value)) = self.policy {
            sending.lifetime = match policy {
                1 => Lifetime::For(millis(value)),
                2 => Lifetime::Priority(value.max(0) as u32),
                3 => Lifetime::Retransmissions(value.clamp(0, u16::MAX as i64) as u16),
                _ => Lifetime::Reliable,
            };
        }
        if self.to.is_some() {
            sending.to = self.to;
        }
    }
}

/// Takes over what a structure says.
pub(super) fn apply(kind: &str, info: &Value, sending: &mut Sending) {
    let mut out = Outgoing { len: 0, flags: 0, to: None, info: None, policy: None };
    out.take(kind, info);
    out.apply(sending);
}

fn set_flags(sending: &mut Sending, flags: i64) {
    sending.unordered = flags & UNORDERED != 0;
    sending.immediate = flags & SACK_IMMEDIATELY != 0;
    sending.last = flags & EOF != 0;
    sending.abort = flags & ABORT != 0;
}

/// The policy of a `sinfo_timetolive` in milliseconds.
fn time_to_live(ms: i64) -> (i64, i64) {
    (i64::from(ms > 0), ms.max(0))
}

//! Calls that send.

use super::attempt::{Attempt, association, value, waits};
use super::values::{address, argument, length_of_vectors, part};
use crate::constants::{millis, number};
use crate::script::{Call, Value};
use anabranch_socket::sctp::{Lifetime, SctpSockets, Sending, Style};
use anabranch_socket::{Errno, Fd};
use anabranch_units::Time;
use anabranch_wire::Payload;

const EOF: i64 = 0x100;
const ABORT: i64 = 0x200;
const UNORDERED: i64 = 0x400;
const SACK_IMMEDIATELY: i64 = 0x4000;

/// What a send carries, and how.
struct Wish {
    len: u64,
    sending: Sending,
    /// Flags of the call, not of the message.
    flags: i64,
}

pub(super) fn send(sockets: &mut SctpSockets, now: Time, fd: Fd, call: &Call) -> Attempt {
    let default = sockets.options(fd).map(|options| options.sending).unwrap_or_default();
    let mut wish = match wish(call, default) {
        Ok(wish) => wish,
        Err(reason) => return Attempt::NotApplicable(reason),
    };
    if sockets.style(fd) == Ok(Style::OneToOne) {
        wish.sending.to = None;
    }
    let len = u32::try_from(wish.len).unwrap_or(u32::MAX);
    match sockets.send(fd, now, wish.sending, Payload::virtual_of(len)) {
        Err(Errno::EAGAIN) if waits(sockets, fd, wish.flags) => Attempt::Blocks,
        result => value(result.map(|octets| octets as i64)),
    }
}

fn wish(call: &Call, default: Sending) -> Result<Wish, String> {
    let n = |at| argument(call, at);
    let len = n(2).unwrap_or(0).max(0) as u64;
    let to = |at: usize| Some(address(call.arguments.get(at)));
    let vectors = |value| length_of_vectors(value);
    let message = call.arguments.get(1);
    Ok(match call.name.as_str() {
        "write" => Wish { len, sending: default, flags: 0 },
        "writev" => Wish { len: vectors(message), sending: default, flags: 0 },
        "send" => Wish { len, sending: default, flags: n(3).unwrap_or(0) },
        "sendto" => {
            let sending = Sending { to: to(4), ..default };
            Wish { len, sending, flags: n(3).unwrap_or(0) }
        }
        "sendmsg" => {
            let header = message.ok_or("sendmsg() without a message")?;
            let mut sending = default;
            if header.field("msg_name").is_some_and(|name| *name != Value::Any) {
                sending.to = Some(address(header.field("msg_name")));
            }
            for control in header.field("msg_control").and_then(Value::fields).unwrap_or_default() {
                let data = control.value.field("cmsg_data");
                match (control.value.field("cmsg_type"), data) {
                    (Some(Value::Word(kind)), Some(data)) => apply(kind, data, &mut sending),
                    _ => return Err(format!("the control message {}", control.value)),
                }
            }
            let len = vectors(header.field("msg_iov"));
            Wish { len, sending, flags: n(2).unwrap_or(0) }
        }
        "sctp_sendmsg" => {
            let mut sending = Sending { to: to(3), ..Sending::default() };
            sending.ppid = n(5).unwrap_or(0) as u32;
            set_flags(&mut sending, n(6).unwrap_or(0));
            sending.stream = n(7).unwrap_or(0) as u16;
            sending.lifetime = time_to_live(n(8).unwrap_or(0));
            sending.context = n(9).unwrap_or(0) as u32;
            Wish { len, sending, flags: 0 }
        }
        "sctp_send" | "sctp_sendx" => {
            let at = if call.name == "sctp_send" { 3 } else { 5 };
            let mut sending = Sending::default();
            if let Some(info) = call.arguments.get(at) {
                apply("SCTP_SNDRCV", info, &mut sending);
            }
            if call.name == "sctp_sendx" {
                let first =
                    call.arguments.get(3).and_then(Value::fields).and_then(|all| all.first());
                sending.to = Some(address(first.map(|field| &field.value)));
            }
            Wish { len, sending, flags: n(at + 1).unwrap_or(0) }
        }
        "sctp_sendv" => {
            let mut sending = default;
            if n(4).unwrap_or(0) > 0 {
                let first =
                    call.arguments.get(3).and_then(Value::fields).and_then(|all| all.first());
                sending.to = Some(address(first.map(|field| &field.value)));
            }
            let info = call.arguments.get(5);
            match (n(7).unwrap_or(0), info) {
                (1, Some(info)) => apply("SCTP_SNDINFO", info, &mut sending),
                (2, Some(info)) => apply("SCTP_PRINFO", info, &mut sending),
                (4, Some(info)) => {
                    let valid = part(info, "sendv_flags").unwrap_or(0);
                    if let Some(info) = info.field("sendv_sndinfo").filter(|_| valid & 1 != 0) {
                        apply("SCTP_SNDINFO", info, &mut sending);
                    }
                    if let Some(info) = info.field("sendv_prinfo").filter(|_| valid & 2 != 0) {
                        apply("SCTP_PRINFO", info, &mut sending);
                    }
                }
                _ => {}
            }
            Wish { len: vectors(message), sending, flags: n(8).unwrap_or(0) }
        }
        name => return Err(format!("the call {name}()")),
    })
}

/// Takes over what a structure says.
pub(super) fn apply(kind: &str, info: &Value, sending: &mut Sending) {
    let n = |name| part(info, name).unwrap_or(0);
    match kind {
        "SCTP_SNDRCV" | "SCTP_EXTRCV" => {
            sending.stream = n("sinfo_stream") as u16;
            sending.ppid = n("sinfo_ppid") as u32;
            sending.context = n("sinfo_context") as u32;
            sending.lifetime = time_to_live(n("sinfo_timetolive"));
            sending.association = association(part(info, "sinfo_assoc_id"));
            set_flags(sending, n("sinfo_flags"));
        }
        "SCTP_SNDINFO" => {
            sending.stream = n("snd_sid") as u16;
            sending.ppid = n("snd_ppid") as u32;
            sending.context = n("snd_context") as u32;
            sending.association = association(part(info, "snd_assoc_id"));
            set_flags(sending, n("snd_flags"));
        }
        "SCTP_PRINFO" => {
            let value = n("pr_value").max(0) as u64;
            sending.lifetime = match info.field("pr_policy").and_then(number).unwrap_or(0) {
                1 => Lifetime::For(millis(n("pr_value"))),
                2 => Lifetime::Priority(value as u32),
                3 => Lifetime::Retransmissions(value.min(u16::MAX as u64) as u16),
                _ => Lifetime::Reliable,
            };
        }
        _ => {}
    }
}

fn set_flags(sending: &mut Sending, flags: i64) {
    sending.unordered = flags & UNORDERED != 0;
    sending.immediate = flags & SACK_IMMEDIATELY != 0;
    sending.last = flags & EOF != 0;
    sending.abort = flags & ABORT != 0;
}

fn time_to_live(ms: i64) -> Lifetime {
    match ms {
        1.. => Lifetime::For(millis(ms)),
        _ => Lifetime::Reliable,
    }
}

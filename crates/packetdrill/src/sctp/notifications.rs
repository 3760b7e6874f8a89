//! Notifications as the structures of RFC 6458 §6.1, with FreeBSD's lengths.

use super::values::{list, numbers, socket_address, structure};
use crate::script::Value;
use crate::stack::PORT;
use anabranch_socket::sctp::{AddressState, AssociationState, Notification, Refusal};

/// `struct sctp_send_failed` without data, which holds a whole
/// `struct sctp_sndrcvinfo`.
const SEND_FAILED: u64 = 144;

/// The structure, and its octets.
pub(super) fn structure_of(notification: &Notification) -> (Value, u64) {
    let word = |name: &str| Value::Word(name.into());
    match notification {
        Notification::Association { id, state, error, outbound, inbound, features } => {
            let len = 20 + features.len() as u64;
            let state = match state {
                AssociationState::Up => "SCTP_COMM_UP",
                AssociationState::Lost => "SCTP_COMM_LOST",
                AssociationState::Restart => "SCTP_RESTART",
                AssociationState::ShutdownComplete => "SCTP_SHUTDOWN_COMP",
                AssociationState::CannotStart => "SCTP_CANT_STR_ASSOC",
            };
            let info = list(features.iter().map(|feature| Value::Number(*feature as i64)));
            let fields = vec![
                ("sac_type", word("SCTP_ASSOC_CHANGE")),
                ("sac_flags", Value::Number(0)),
                ("sac_length", Value::Number(len as i64)),
                ("sac_state", word(state)),
                ("sac_error", Value::Number(*error as i64)),
                ("sac_outbound_streams", Value::Number(*outbound as i64)),
                ("sac_inbound_streams", Value::Number(*inbound as i64)),
                ("sac_assoc_id", Value::Number(id.0 as i64)),
                ("sac_info", info),
            ];
            (structure(fields), len)
        }
        Notification::PeerAddress { id, address, state } => {
            let state = match state {
                AddressState::Available => "SCTP_ADDR_AVAILABLE",
                AddressState::Unreachable => "SCTP_ADDR_UNREACHABLE",
                AddressState::Confirmed => "SCTP_ADDR_CONFIRMED",
            };
            let fields = vec![
                ("spc_type", word("SCTP_PEER_ADDR_CHANGE")),
                ("spc_flags", Value::Number(0)),
                ("spc_length", Value::Number(148)),
                ("spc_aaddr", socket_address((*address, PORT))),
                ("spc_state", word(state)),
                ("spc_error", Value::Number(0)),
                ("spc_assoc_id", Value::Number(id.0 as i64)),
            ];
            (structure(fields), 148)
        }
        Notification::SendFailed { id, sent, sending, payload } => {
            let len = SEND_FAILED + payload.len() as u64;
            // FreeBSD calls every message a last and unfragmented one here.
            let info = numbers(&[
                ("sinfo_stream", sending.stream as i64),
                ("sinfo_flags", 3 | if sending.unordered { 0x400 } else { 0 }),
                ("sinfo_ppid", sending.ppid as i64),
                ("sinfo_context", sending.context as i64),
                ("sinfo_assoc_id", id.0 as i64),
            ]);
            let fields = vec![
                ("ssf_type", word("SCTP_SEND_FAILED")),
                ("ssf_flags", word(if *sent { "SCTP_DATA_SENT" } else { "SCTP_DATA_UNSENT" })),
                ("ssf_length", Value::Number(len as i64)),
                ("ssf_error", Value::Number(0)),
                ("ssf_info", info),
                ("ssf_assoc_id", Value::Number(id.0 as i64)),
            ];
            (structure(fields), len)
        }
        Notification::PartialDelivery { id, stream, number } => {
            let fields = vec![
                ("pdapi_type", word("SCTP_PARTIAL_DELIVERY_EVENT")),
                ("pdapi_flags", Value::Number(0)),
                ("pdapi_length", Value::Number(24)),
                ("pdapi_indication", Value::Number(1)),
                ("pdapi_stream", Value::Number(*stream as i64)),
                ("pdapi_seq", Value::Number(*number as i64)),
                ("pdapi_assoc_id", Value::Number(id.0 as i64)),
            ];
            (structure(fields), 24)
        }
        Notification::Shutdown { id } => short("sse", "SCTP_SHUTDOWN_EVENT", &[], id.0),
        Notification::SenderDry { id } => short("sender_dry", "SCTP_SENDER_DRY_EVENT", &[], id.0),
        Notification::Adaptation { id, code } => {
            let more = [("adaptation_ind", *code as i64)];
            short("sai", "SCTP_ADAPTATION_INDICATION", &more, id.0)
        }
        Notification::NoAuthentication { id } => {
            let (fields, _) = short("auth", "SCTP_AUTHENTICATION_EVENT", &[], id.0);
            let mut fields = fields.fields().unwrap_or_default().to_vec();
            fields.retain(|field| field.name.as_deref() != Some("auth_length"));
            let more =
                numbers(&[("auth_length", 20), ("auth_keynumber", 0), ("auth_indication", 2)]);
            fields.extend(more.fields().unwrap_or_default().iter().cloned());
            (Value::Struct(fields), 20)
        }
        Notification::StreamReset { id, incoming, refusal, streams } => {
            let len = 12 + 2 * streams.len() as u64;
            let direction = if *incoming { 1 } else { 2 };
            let mut fields = vec![
                ("strreset_type", word("SCTP_STREAM_RESET_EVENT")),
                ("strreset_flags", Value::Number(direction | refused(*refusal))),
                ("strreset_length", Value::Number(len as i64)),
                ("strreset_assoc_id", Value::Number(id.0 as i64)),
            ];
            let list = list(streams.iter().map(|stream| Value::Number(*stream as i64)));
            fields.push(("strreset_stream_list", list));
            (structure(fields), len)
        }
        Notification::StreamChange { id, inbound, outbound, refusal } => {
            let more = [("instrms", *inbound as i64), ("outstrms", *outbound as i64)];
            let change = short("strchange", "SCTP_STREAM_CHANGE_EVENT", &more, id.0);
            with_flags(change, refused(*refusal))
        }
        Notification::AssociationReset { id, refusal, local_tsn, remote_tsn } => {
            let more = [("local_tsn", *local_tsn as i64), ("remote_tsn", *remote_tsn as i64)];
            let reset = short("assocreset", "SCTP_ASSOC_RESET_EVENT", &more, id.0);
            with_flags(reset, refused(*refusal))
        }
    }
}

/// The flags that say that the peer denied a request, or that it failed (RFC 6525 §6.1).
fn refused(refusal: Refusal) -> i64 {
    (i64::from(refusal.denied) * 4) | (i64::from(refusal.failed) * 8)
}

/// The structure with these flags, its second field.
fn with_flags((structure, len): (Value, u64), flags: i64) -> (Value, u64) {
    let Value::Struct(mut fields) = structure else { return (structure, len) };
    if let Some(field) = fields.get_mut(1) {
        field.value = Value::Number(flags);
    }
    (Value::Struct(fields), len)
}

/// A structure of type, flags, length and association, all with the same
/// prefix, and `more` words of 32 bits, or of 16 where they are streams.
fn short(prefix: &str, kind: &str, more: &[(&str, i64)], id: u32) -> (Value, u64) {
    let word = if more.iter().any(|(name, _)| name.ends_with("strms")) { 2 } else { 4 };
    let len = 12 + word * more.len() as u64;
    let name = |field: &str| format!("{prefix}_{field}");
    let mut fields = vec![
        (name("type"), Value::Word(kind.into())),
        (name("flags"), Value::Number(0)),
        (name("length"), Value::Number(len as i64)),
        (name("assoc_id"), Value::Number(id as i64)),
    ];
    fields.extend(more.iter().map(|(field, n)| (name(field), Value::Number(*n))));
    let borrowed = fields.iter().map(|(name, value)| (name.as_str(), value.clone()));
    (structure(borrowed.collect()), len)
}

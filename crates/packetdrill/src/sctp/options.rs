//! `setsockopt` and `getsockopt`.

use super::attempt::{Attempt, association, returns};
use super::sending;
use super::values::{list, numbers, one, part, socket_address};
use crate::constants::{millis, number};
use crate::script::{Call, Value};
use crate::stack::Returned;
use anabranch_sctp::{ReconfigError, State};
use anabranch_socket::sctp::{Event, Options, SctpSockets};
use anabranch_socket::{Errno, Fd};
use anabranch_units::{Span, Time};

/// Kinds of notifications by the names that `SCTP_EVENT` has.
const EVENTS: [(&str, Event); 14] = [
    ("SCTP_ASSOC_CHANGE", Event::Association),
    ("SCTP_PEER_ADDR_CHANGE", Event::PeerAddress),
    ("SCTP_REMOTE_ERROR", Event::RemoteError),
    ("SCTP_SEND_FAILED", Event::SendFailed),
    ("SCTP_SEND_FAILED_EVENT", Event::SendFailedEvent),
    ("SCTP_SHUTDOWN_EVENT", Event::Shutdown),
    ("SCTP_ADAPTATION_INDICATION", Event::Adaptation),
    ("SCTP_PARTIAL_DELIVERY_EVENT", Event::PartialDelivery),
    ("SCTP_AUTHENTICATION_EVENT", Event::Authentication),
    ("SCTP_SENDER_DRY_EVENT", Event::SenderDry),
    ("SCTP_NOTIFICATIONS_STOPPED_EVENT", Event::Stopped),
    ("SCTP_STREAM_RESET_EVENT", Event::StreamReset),
    ("SCTP_ASSOC_RESET_EVENT", Event::AssociationReset),
    ("SCTP_STREAM_CHANGE_EVENT", Event::StreamChange),
];

/// The events by the fields of `struct sctp_event_subscribe`.
const SUBSCRIPTIONS: [(&str, Event); 10] = [
    ("sctp_association_event", Event::Association),
    ("sctp_address_event", Event::PeerAddress),
    ("sctp_send_failure_event", Event::SendFailed),
    ("sctp_peer_error_event", Event::RemoteError),
    ("sctp_shutdown_event", Event::Shutdown),
    ("sctp_partial_delivery_event", Event::PartialDelivery),
    ("sctp_adaptation_layer_event", Event::Adaptation),
    ("sctp_authentication_event", Event::Authentication),
    ("sctp_sender_dry_event", Event::SenderDry),
    ("sctp_stream_reset_event", Event::StreamReset),
];

/// The option of a call: its name alone, since no two levels share one.
fn named(call: &Call) -> Option<&str> {
    match call.arguments.get(2) {
        Some(Value::Word(name)) => Some(name),
        _ => None,
    }
}

/// The kind of notification that a structure names.
fn event_of(value: &Value) -> Option<Event> {
    let Some(Value::Word(name)) = value.field("se_type") else { return None };
    EVENTS.iter().find(|(known, _)| known == name).map(|(_, event)| *event)
}

/// `setsockopt(fd, level, option, value, length)`.
pub(super) fn set(sockets: &mut SctpSockets, now: Time, fd: Fd, call: &Call) -> Attempt {
    let (Some(name), Some(value)) = (named(call), call.arguments.get(3)) else {
        return Attempt::NotApplicable("setsockopt() without a value".into());
    };
    match name {
        "SCTP_RESET_STREAMS" | "SCTP_RESET_ASSOC" | "SCTP_ADD_STREAMS" => {
            return returns(reconfigure(sockets, fd, name, value));
        }
        _ => {}
    }
    let mut changed = match sockets.options(fd) {
        Ok(options) => options.clone(),
        Err(errno) => return returns(Err(errno)),
    };
    match change(&mut changed, name, value) {
        Some(Ok(())) => returns(sockets.set_options(fd, now, |options| *options = changed)),
        Some(Err(errno)) => returns(Err(errno)),
        None => Attempt::NotApplicable(format!("the option {name}")),
    }
}

/// Changes an option; `None` where it is not known.
fn change(options: &mut Options, name: &str, value: &Value) -> Option<Result<(), Errno>> {
    let n = |name| part(value, name);
    let at_least_one = |name| n(name).filter(|n| *n > 0);
    let plain = number(value).unwrap_or(0);
    let on = plain != 0;
    let assoc_on = n("assoc_value").unwrap_or(0) != 0;
    let config = &mut options.config;
    match name {
        "SCTP_EVENTS" => {
            for (field, event) in SUBSCRIPTIONS {
                if let Some(on) = n(field) {
                    options.events.set(event, on != 0);
                }
            }
            if let Some(on) = n("sctp_data_io_event") {
                options.old_receive_info = on != 0;
            }
        }
        "SCTP_EVENT" => match event_of(value) {
            Some(event) => options.events.set(event, n("se_on").unwrap_or(0) != 0),
            None => return Some(Err(Errno::EINVAL)),
        },
        "SCTP_RTOINFO" => {
            let mut rto = config.rto;
            at_least_one("srto_initial").into_iter().for_each(|ms| rto.initial = millis(ms));
            at_least_one("srto_min").into_iter().for_each(|ms| rto.min = millis(ms));
            at_least_one("srto_max").into_iter().for_each(|ms| rto.max = millis(ms));
            if rto.min > rto.initial || rto.initial > rto.max {
                return Some(Err(Errno::EINVAL));
            }
            config.rto = rto;
        }
        "SCTP_ASSOCINFO" => {
            if let Some(most) = at_least_one("sasoc_asocmaxrxt") {
                config.association_max_retrans = most as u32;
            }
            if let Some(life) = at_least_one("sasoc_cookie_life") {
                config.cookie_life = millis(life);
            }
        }
        "SCTP_INITMSG" => {
            if let Some(streams) = at_least_one("sinit_num_ostreams") {
                config.outbound_streams = streams as u16;
            }
            if let Some(streams) = at_least_one("sinit_max_instreams") {
                config.inbound_streams = streams as u16;
            }
            if let Some(attempts) = at_least_one("sinit_max_attempts") {
                config.max_init_retransmits = attempts as u32;
            }
        }
        "SCTP_PEER_ADDR_PARAMS" => {
            let flags = n("spp_flags").unwrap_or(0);
            if flags & 3 == 3 || flags & 24 == 24 {
                return Some(Err(Errno::EINVAL));
            }
            if flags & 2 != 0 {
                config.heartbeat_interval = None;
            } else if flags & 1 != 0 {
                let interval = at_least_one("spp_hbinterval").map(millis);
                config.heartbeat_interval =
                    interval.or(config.heartbeat_interval).or(Some(Span::from_secs(30)));
            }
            if let Some(most) = at_least_one("spp_pathmaxrxt") {
                config.path_max_retrans = most as u32;
            }
            // The size of packets: without their IP and SCTP headers.
            if let Some(mtu) = at_least_one("spp_pathmtu").filter(|_| flags & 16 != 0) {
                let mtu = mtu.min(65_535) as u32 + config.ip_header + 12;
                config.mtu = mtu.clamp(512, 65_535);
            }
        }
        "SCTP_DELAYED_SACK" | "SCTP_DELAYED_ACK_TIME" | "SCTP_DELAYED_ACK" => {
            if let Some(delay) = at_least_one("sack_delay") {
                config.sack_delay = millis(delay.min(500));
            }
            if let Some(frequency) = at_least_one("sack_freq") {
                config.sack_frequency = frequency as u32;
            }
        }
        "SCTP_NODELAY" => config.nagle = !on,
        "SCTP_MAX_BURST" => {
            let burst = n("assoc_value").or(number(value)).unwrap_or(0);
            config.max_burst = (burst > 0).then_some(burst as u32);
        }
        // No method, or that of SCTP over DTLS (RFC 9653 §7.1).
        "SCTP_ACCEPT_ZERO_CHECKSUM" => match plain {
            0 | 1 => config.zero_checksum = on,
            _ => return Some(Err(Errno::EINVAL)),
        },
        "SCTP_PR_SUPPORTED" => config.partial_reliability = assoc_on,
        "SCTP_RECONFIG_SUPPORTED" => config.reconfiguration = assoc_on,
        "SCTP_ADAPTATION_LAYER" => {
            config.adaptation = Some(n("ssb_adaptation_ind").unwrap_or(0) as u32);
        }
        "SCTP_FRAGMENT_INTERLEAVE" => match u32::try_from(plain) {
            Ok(level @ 0..=2) => options.fragment_interleave = level,
            _ => return Some(Err(Errno::EINVAL)),
        },
        "SCTP_INTERLEAVING_SUPPORTED" => {
            // RFC 8260 §4.3.1: only with the highest level.
            if assoc_on && options.fragment_interleave < 2 {
                return Some(Err(Errno::EINVAL));
            }
            config.interleaving = assoc_on;
        }
        "SCTP_ENABLE_STREAM_RESET" => match n("assoc_value") {
            Some(bits @ 0..=7) => options.stream_reset = bits as u32,
            _ => return Some(Err(Errno::EINVAL)),
        },
        "SCTP_RECVRCVINFO" => options.receive_info = on,
        "SCTP_RECVNXTINFO" => options.next_info = on,
        "SCTP_USE_EXT_RCVINFO" => options.extended_info = on,
        "SCTP_DISABLE_FRAGMENTS" => options.no_fragments = on,
        "SCTP_AUTOCLOSE" => options.autoclose = plain.max(0) as u32,
        "SCTP_PARTIAL_DELIVERY_POINT" => options.partial_delivery_point = plain.max(0) as u32,
        "SCTP_REUSE_PORT" | "SO_REUSEADDR" | "SO_REUSEPORT" => options.reuse = on,
        "SCTP_DEFAULT_SNDINFO" => sending::apply("SCTP_SNDINFO", value, &mut options.sending),
        "SCTP_DEFAULT_PRINFO" => sending::apply("SCTP_PRINFO", value, &mut options.sending),
        "SCTP_DEFAULT_SEND_PARAM" => sending::apply("SCTP_SNDRCV", value, &mut options.sending),
        "SO_LINGER" => {
            let seconds = u32::try_from(n("linger").unwrap_or(0)).unwrap_or(0);
            options.linger = (n("onoff").or(n("l_onoff")).unwrap_or(0) != 0).then_some(seconds);
        }
        "SO_RCVBUF" => config.receive_buffer = plain.clamp(1500, 1 << 30) as u32,
        "SO_SNDBUF" => config.send_buffer = plain.clamp(1500, 1 << 30) as u64,
        _ => return None,
    }
    Some(Ok(()))
}

/// Requests of RFC 6525 §6.3.
fn reconfigure(sockets: &mut SctpSockets, fd: Fd, name: &str, value: &Value) -> Result<(), Errno> {
    let enabled = sockets.options(fd)?.stream_reset;
    let n = |name| part(value, name).unwrap_or(0);
    let engine = sockets.engine(fd, association(part(value, "srs_assoc_id")));
    let engine = engine.ok_or(Errno::ENOTCONN)?;
    let needed = match name {
        "SCTP_RESET_STREAMS" => 1,
        "SCTP_RESET_ASSOC" => 2,
        _ => 4,
    };
    if enabled & needed == 0 {
        return Err(Errno::EPERM);
    }
    let result = match name {
        "SCTP_RESET_STREAMS" => {
            let list = value.field("srs_stream_list").and_then(Value::fields).unwrap_or_default();
            let streams: Vec<u16> =
                list.iter().filter_map(|field| number(&field.value)).map(|n| n as u16).collect();
            let incoming = match n("srs_flags") & 1 {
                0 => Ok(()),
                _ => engine.request_stream_reset(&streams),
            };
            incoming.and_then(|()| match n("srs_flags") & 2 {
                0 => Ok(()),
                _ => engine.reset_streams(&streams),
            })
        }
        "SCTP_ADD_STREAMS" => {
            let outgoing = match n("sas_outstrms") {
                0 => Ok(()),
                count => engine.add_streams(true, count as u16),
            };
            outgoing.and_then(|()| match n("sas_instrms") {
                0 => Ok(()),
                count => engine.add_streams(false, count as u16),
            })
        }
        _ => engine.reset_association(),
    };
    result.map_err(|error| match error {
        ReconfigError::NotAvailable => Errno::EOPNOTSUPP,
        _ => Errno::EINVAL,
    })
}

/// `getsockopt(fd, level, option, value, [length])`.
pub(super) fn get(sockets: &mut SctpSockets, fd: Fd, call: &Call) -> Attempt {
    let Some(name) = named(call) else {
        return Attempt::NotApplicable("getsockopt() without an option".into());
    };
    let asked = call.arguments.get(3).cloned().unwrap_or(Value::Any);
    if name == "SO_ERROR" {
        let error = sockets.take_error(fd);
        let shown = error.map_or(Value::Number(0), |error| Value::Word(error.name().into()));
        return Attempt::Returns(Returned {
            outputs: vec![(3, list([shown]))],
            ..Returned::value(0)
        });
    }
    if name == "SCTP_STATUS" {
        return status(sockets, fd, &asked);
    }
    // RFC 8260 §4.3.1: of an association what was agreed on, else what is offered.
    if name == "SCTP_INTERLEAVING_SUPPORTED"
        && let Some(engine) = sockets.engine(fd, None)
        && engine.state().is_synchronized()
    {
        let value = numbers(&[("assoc_value", engine.interleaves() as i64)]);
        return Attempt::Returns(Returned { outputs: vec![(3, value)], ..Returned::value(0) });
    }
    let options = match sockets.options(fd) {
        Ok(options) => options,
        Err(errno) => return returns(Err(errno)),
    };
    match read(options, name, &asked) {
        Some(value) => {
            Attempt::Returns(Returned { outputs: vec![(3, value)], ..Returned::value(0) })
        }
        None => Attempt::NotApplicable(format!("the option {name}")),
    }
}

/// The value of an option; `None` where it is not known.
fn read(options: &Options, name: &str, asked: &Value) -> Option<Value> {
    let config = &options.config;
    let millis = |span: Span| span.as_millis() as i64;
    let flag = |on: bool| one(on as i64);
    let assoc = |on: i64| numbers(&[("assoc_value", on)]);
    Some(match name {
        "SCTP_EVENT" => {
            let on = event_of(asked).is_some_and(|event| options.events.has(event));
            numbers(&[("se_on", on as i64)])
        }
        "SCTP_EVENTS" => {
            let mut all: Vec<(&str, i64)> = SUBSCRIPTIONS
                .iter()
                .map(|(field, event)| (*field, options.events.has(*event) as i64))
                .collect();
            all.push(("sctp_data_io_event", options.old_receive_info as i64));
            numbers(&all)
        }
        "SCTP_RTOINFO" => numbers(&[
            ("srto_initial", millis(config.rto.initial)),
            ("srto_min", millis(config.rto.min)),
            ("srto_max", millis(config.rto.max)),
        ]),
        "SCTP_ASSOCINFO" => numbers(&[
            ("sasoc_asocmaxrxt", config.association_max_retrans as i64),
            ("sasoc_cookie_life", millis(config.cookie_life)),
        ]),
        "SCTP_INITMSG" => numbers(&[
            ("sinit_num_ostreams", config.outbound_streams as i64),
            ("sinit_max_instreams", config.inbound_streams as i64),
            ("sinit_max_attempts", config.max_init_retransmits as i64),
        ]),
        "SCTP_PEER_ADDR_PARAMS" => numbers(&[
            ("spp_hbinterval", config.heartbeat_interval.map_or(0, millis)),
            ("spp_pathmaxrxt", config.path_max_retrans as i64),
        ]),
        "SCTP_DELAYED_SACK" | "SCTP_DELAYED_ACK_TIME" | "SCTP_DELAYED_ACK" => numbers(&[
            ("sack_delay", millis(config.sack_delay)),
            ("sack_freq", config.sack_frequency as i64),
        ]),
        "SCTP_MAX_BURST" => assoc(config.max_burst.unwrap_or(0) as i64),
        "SCTP_NODELAY" => flag(!config.nagle),
        "SCTP_PR_SUPPORTED" => assoc(config.partial_reliability as i64),
        "SCTP_RECONFIG_SUPPORTED" => assoc(config.reconfiguration as i64),
        "SCTP_INTERLEAVING_SUPPORTED" => assoc(config.interleaving as i64),
        "SCTP_ENABLE_STREAM_RESET" => assoc(options.stream_reset as i64),
        "SCTP_ADAPTATION_LAYER" => {
            numbers(&[("ssb_adaptation_ind", config.adaptation.unwrap_or(0) as i64)])
        }
        "SCTP_FRAGMENT_INTERLEAVE" => one(options.fragment_interleave as i64),
        "SCTP_RECVRCVINFO" => flag(options.receive_info),
        "SCTP_RECVNXTINFO" => flag(options.next_info),
        "SCTP_USE_EXT_RCVINFO" => flag(options.extended_info),
        "SCTP_DISABLE_FRAGMENTS" => flag(options.no_fragments),
        "SCTP_AUTOCLOSE" => one(options.autoclose as i64),
        "SCTP_PARTIAL_DELIVERY_POINT" => one(options.partial_delivery_point as i64),
        "SCTP_REUSE_PORT" | "SO_REUSEADDR" | "SO_REUSEPORT" => flag(options.reuse),
        "SO_LINGER" => numbers(&[
            ("onoff", options.linger.is_some() as i64),
            ("linger", options.linger.unwrap_or(0) as i64),
        ]),
        "SO_RCVBUF" => one(config.receive_buffer as i64),
        "SO_SNDBUF" => one(config.send_buffer as i64),
        _ => return None,
    })
}

fn status(sockets: &SctpSockets, fd: Fd, asked: &Value) -> Attempt {
    let status = match sockets.status(fd, association(part(asked, "sstat_assoc_id"))) {
        Ok(status) => status,
        Err(errno) => return returns(Err(errno)),
    };
    let state = match status.state {
        State::Closed => "SCTP_CLOSED",
        State::CookieWait => "SCTP_COOKIE_WAIT",
        State::CookieEchoed => "SCTP_COOKIE_ECHOED",
        State::Established => "SCTP_ESTABLISHED",
        State::ShutdownPending => "SCTP_SHUTDOWN_PENDING",
        State::ShutdownSent => "SCTP_SHUTDOWN_SENT",
        State::ShutdownReceived => "SCTP_SHUTDOWN_RECEIVED",
        State::ShutdownAckSent => "SCTP_SHUTDOWN_ACK_SENT",
    };
    let number = |n: i64| Value::Number(n);
    let value = super::values::structure(vec![
        ("sstat_state", Value::Word(state.into())),
        ("sstat_rwnd", number(status.peer_window as i64)),
        ("sstat_unackdata", number(status.unacknowledged as i64)),
        ("sstat_penddata", number(status.pending as i64)),
        ("sstat_instrms", number(status.inbound as i64)),
        ("sstat_outstrms", number(status.outbound as i64)),
        ("sstat_fragmentation_point", number(status.fragmentation_point as i64)),
        (
            "sstat_primary",
            super::values::structure(vec![("spinfo_address", socket_address(status.primary))]),
        ),
    ]);
    Attempt::Returns(Returned { outputs: vec![(3, value)], ..Returned::value(0) })
}

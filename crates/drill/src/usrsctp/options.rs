//! `setsockopt()` and `getsockopt()`: the structures are those of usrsctp's header.

use super::calls::{Came, argument, returned};
use super::program::{Ask, Request};
use super::run::Run;
use crate::errno;
use anabranch_packetdrill::constants;
use anabranch_packetdrill::script::{Call, Field, Value};
use anabranch_packetdrill::sctp::values::list;
use anabranch_packetdrill::stack::Returned;
use anabranch_units::Time;
use rustix::io::Errno;

/// What the socket says of messages besides what it has from the stack.
const SAYS_OF_MESSAGES: [&str; 4] =
    ["SCTP_RECVRCVINFO", "SCTP_RECVNXTINFO", "SCTP_USE_EXT_RCVINFO", "SCTP_EVENTS"];

/// `setsockopt(fd, level, option, value, length)`.
pub(super) fn set(run: &mut Run, now: Time, fd: i64, call: &Call) -> Result<Came, String> {
    let (Some(Value::Word(name)), Some(value)) = (call.arguments.get(2), call.arguments.get(3))
    else {
        return Ok(Came::NotApplicable("setsockopt() without an option or a value".into()));
    };
    let (name, value) = (name.as_str(), plain_names(value));
    if SAYS_OF_MESSAGES.contains(&name)
        && let Some(reply) = say_of_messages(run, now, fd, name, &value)?
    {
        return Ok(reply);
    }
    let value = if name == "SCTP_PEER_ADDR_PARAMS" { with_fixed_mtu(value) } else { value };
    let Some(option) = run.layout.option(name).cloned() else { return Ok(unknown(name)) };
    let mut octets = match run.layout.write(&option.structure, &value) {
        Ok(octets) => octets,
        Err(reason) => return Ok(Came::NotApplicable(reason)),
    };
    // A length that is too short is the script's point.
    if let Some(len) = argument(call, 4).and_then(|len| usize::try_from(len).ok()) {
        octets.truncate(len);
    }
    let numbers = [option.level, option.number, 0];
    let reply = run.ask(now, Request { numbers, octets: &octets, ..Request::of(Ask::Set, fd) })?;
    Ok(Came::Returns(returned(&reply)))
}

/// Path MTU discovery is off already. To turn it off without a path MTU, which usrsctp 0.9.5 refuses, is
/// left out of what else the structure says.
fn with_fixed_mtu(value: Value) -> Value {
    const SPP_PMTUD_DISABLE: i64 = 16;
    let n = |name| value.field(name).and_then(constants::number).unwrap_or(0);
    let Value::Struct(mut fields) = value.clone() else { return value };
    if n("spp_pathmtu") == 0 {
        let flags = n("spp_flags") & !SPP_PMTUD_DISABLE;
        let named = |field: &&mut Field| field.name.as_deref() == Some("spp_flags");
        if let Some(field) = fields.iter_mut().find(named) {
            field.value = Value::Number(flags);
        }
    }
    Value::Struct(fields)
}

fn unknown(name: &str) -> Came {
    Came::NotApplicable(format!("the option {name}"))
}

/// Takes down what the socket is to say of messages. usrsctp has no `struct sctp_sndrcvinfo`, which
/// is made of the newer structures: those are asked for instead. `None` if the stack is to be asked, too.
fn say_of_messages(
    run: &mut Run,
    now: Time,
    fd: i64,
    name: &str,
    value: &Value,
) -> Result<Option<Came>, String> {
    let on = constants::number(value).unwrap_or(0) != 0;
    let Some(socket) = run.sockets.get_mut(&fd) else { return Ok(None) };
    match name {
        "SCTP_RECVRCVINFO" => socket.info = on,
        "SCTP_RECVNXTINFO" => socket.next = on,
        "SCTP_USE_EXT_RCVINFO" => socket.extended = on,
        _ => match value.field("sctp_data_io_event").and_then(constants::number) {
            Some(on) => socket.old_info = on != 0,
            None => return Ok(None),
        },
    }
    let socket = *socket;
    for (name, on) in [
        ("SCTP_RECVRCVINFO", socket.info || socket.old_info),
        ("SCTP_RECVNXTINFO", socket.next || (socket.old_info && socket.extended)),
    ] {
        let Some(option) = run.layout.option(name).cloned() else { continue };
        let octets = run.layout.write("int", &Value::Number(on.into()))?;
        let numbers = [option.level, option.number, 0];
        let request = Request { numbers, octets: &octets, ..Request::of(Ask::Set, fd) };
        let reply = run.ask(now, request)?;
        if reply.error != 0 {
            return Ok(Some(Came::Returns(returned(&reply))));
        }
    }
    Ok((name != "SCTP_EVENTS").then(|| Came::Returns(Returned::value(0))))
}

/// `getsockopt(fd, level, option, value, [length])`.
pub(super) fn get(run: &mut Run, now: Time, fd: i64, call: &Call) -> Result<Came, String> {
    let Some(Value::Word(name)) = call.arguments.get(2) else {
        return Ok(Came::NotApplicable("getsockopt() without an option".into()));
    };
    let socket = run.sockets.get(&fd).copied().unwrap_or_default();
    let said = match name.as_str() {
        "SO_ERROR" => {
            let error = error_of(run, now, fd)?;
            let shown =
                error.map_or(Value::Number(0), |error| Value::Word(errno::name(error).into()));
            Some(list([shown]))
        }
        "SCTP_RECVRCVINFO" => Some(list([Value::Number(socket.info.into())])),
        "SCTP_RECVNXTINFO" => Some(list([Value::Number(socket.next.into())])),
        _ => None,
    };
    if let Some(value) = said {
        return Ok(Came::Returns(Returned { outputs: vec![(3, value)], ..Returned::value(0) }));
    }
    let Some(option) = run.layout.option(name).cloned() else { return Ok(unknown(name)) };
    let asked = plain_names(call.arguments.get(3).unwrap_or(&Value::Any));
    let octets = match run.layout.write(&option.structure, &asked) {
        Ok(octets) => octets,
        Err(reason) => return Ok(Came::NotApplicable(reason)),
    };
    let numbers = [option.level, option.number, 0];
    let reply = run.ask(now, Request { numbers, octets: &octets, ..Request::of(Ask::Get, fd) })?;
    let outputs = match reply.error {
        0 => vec![(3, run.layout.read(&option.structure, &reply.octets))],
        _ => Vec::new(),
    };
    Ok(Came::Returns(Returned { outputs, ..returned(&reply) }))
}

/// The error that a socket keeps, which is taken from it.
pub(super) fn error_of(run: &mut Run, now: Time, fd: i64) -> Result<Option<Errno>, String> {
    let Some(option) = run.layout.option("SO_ERROR").cloned() else { return Ok(None) };
    let numbers = [option.level, option.number, 0];
    let request = Request { numbers, octets: &[0; 4], ..Request::of(Ask::Get, fd) };
    let reply = run.ask(now, request)?;
    let number = match reply.error {
        0 => reply.octets.first_chunk().map_or(0, |octets| i32::from_ne_bytes(*octets)),
        error => error,
    };
    Ok((number != 0).then(|| Errno::from_raw_os_error(number)))
}

/// Scripts call the fields of `struct linger` without their prefix.
fn plain_names(value: &Value) -> Value {
    let Value::Struct(fields) = value else { return value.clone() };
    let named = |field: &Field| {
        let name = field.name.as_deref().map(|name| match name {
            "onoff" => "l_onoff".to_owned(),
            "linger" => "l_linger".to_owned(),
            name => name.to_owned(),
        });
        Field { name, ..field.clone() }
    };
    Value::Struct(fields.iter().map(named).collect())
}

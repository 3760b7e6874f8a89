//! The socket calls of a script, made ready for the kernel. Arguments are what
//! the script has, wrong ones included; what it leaves open is chosen here.

mod address;
mod files;
mod message;
mod options;
mod ready;

use crate::network::Addresses;
use crate::stack::NO_DESCRIPTOR;
use crate::worker::{Answer, Job};
use anabranch_live::kernel::call::{self, Asked, Octets};
use anabranch_packetdrill::constants;
use anabranch_packetdrill::script::{Call, Field, Value};
use anabranch_packetdrill::stack::IpVersion;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// More octets than any script writes or reads at once.
const MOST: usize = 64 << 20;

const AF_INET: i64 = 2;
const AF_INET6: i64 = 10;

/// What a call is prepared with.
pub(crate) struct Context<'a> {
    pub descriptors: &'a mut BTreeMap<i64, Arc<OwnedFd>>,
    pub addresses: &'a Addresses,
    /// The port that the script leaves open.
    pub port: u16,
}

/// A call that is ready, or what it comes to without being made.
pub(crate) enum Prepared {
    Job(Job),
    Fails(Errno),
    NotApplicable(String),
}

impl Prepared {
    fn job(job: impl FnOnce() -> Answer + Send + 'static) -> Prepared {
        Prepared::Job(Box::new(job))
    }
}

/// Why a call is not made.
enum Refusal {
    Fails(Errno),
    NotApplicable(String),
}

type Ready = Result<Prepared, Refusal>;

impl Context<'_> {
    /// The descriptor that is argument `at`.
    fn fd(&self, call: &Call, at: usize) -> Result<Arc<OwnedFd>, Refusal> {
        let number = call.arguments.get(at).and_then(number);
        let found = number.and_then(|number| self.descriptors.get(&number));
        found.cloned().ok_or(Refusal::Fails(NO_DESCRIPTOR))
    }
}

/// Prepares a call for the kernel, or says why it cannot be made.
pub(crate) fn prepare(call: &Call, context: Context<'_>) -> Prepared {
    match attempt(call, context) {
        Ok(prepared) => prepared,
        Err(Refusal::Fails(errno)) => Prepared::Fails(errno),
        Err(Refusal::NotApplicable(reason)) => Prepared::NotApplicable(reason),
    }
}

fn attempt(call: &Call, mut context: Context<'_>) -> Ready {
    let (context, at) = (&mut context, |at: usize| call.arguments.get(at));
    Ok(match call.name.as_str() {
        "socket" => socket(call, context)?,
        "bind" => {
            let fd = context.fd(call, 0)?;
            let address = address::of(at(1), at(2), context, address::Default::Any)?;
            Prepared::job(move || status(call::bind(fd.as_fd(), address.octets())))
        }
        "connect" => {
            let fd = context.fd(call, 0)?;
            let address = address::of(at(1), at(2), context, address::Default::Remote)?;
            Prepared::job(move || status(call::connect(fd.as_fd(), address.octets())))
        }
        "listen" => {
            let (fd, backlog) = (context.fd(call, 0)?, int(call, 1)?);
            Prepared::job(move || status(call::listen(fd.as_fd(), backlog)))
        }
        "accept" | "accept4" => {
            let fd = context.fd(call, 0)?;
            let flags = if call.name == "accept4" { int(call, 3)? } else { 0 };
            Prepared::job(move || Answer::made(call::accept(fd.as_fd(), flags)))
        }
        "shutdown" => {
            let (fd, how) = (context.fd(call, 0)?, int(call, 1)?);
            Prepared::job(move || status(call::shutdown(fd.as_fd(), how)))
        }
        "close" => {
            let fd = context.fd(call, 0)?;
            context.descriptors.retain(|_, known| !Arc::ptr_eq(known, &fd));
            Prepared::job(move || {
                drop(fd);
                Answer::of(Ok(0))
            })
        }
        "read" | "readv" | "recv" | "recvfrom" => message::read(call, context)?,
        "write" | "writev" | "send" | "sendto" => message::write(call, context)?,
        "sendmsg" => message::send(call, context)?,
        "recvmsg" => message::receive(call, context)?,
        "setsockopt" => options::set(call, context)?,
        "getsockopt" => options::get(call, context)?,
        "fcntl" => control(call, context)?,
        "ioctl" => ask(call, context)?,
        "poll" => ready::poll(call, context)?,
        "epoll_create" | "epoll_create1" => ready::create(),
        "epoll_ctl" => ready::control(call, context)?,
        "epoll_wait" => ready::wait(call, context)?,
        "open" => files::open(),
        "pipe" | "pipe2" => files::pipe(call)?,
        "sendfile" => files::sendfile(call, context)?,
        "splice" => files::splice(call, context)?,
        name => return Err(Refusal::NotApplicable(format!("the call {name}()"))),
    })
}

fn status(result: Result<(), Errno>) -> Answer {
    Answer::of(result.map(|()| 0))
}

fn number(value: &Value) -> Option<i64> {
    constants::number(value)
}

fn list_of(number: i64) -> Value {
    Value::List(vec![Field { name: None, count: None, value: Value::Number(number) }])
}

fn named(name: &str, value: Value) -> Field {
    Field { name: Some(name.into()), count: None, value }
}

/// The argument `at`, which is a number of 32 bits.
fn int(call: &Call, at: usize) -> Result<i32, Refusal> {
    let argument = call.arguments.get(at);
    match argument.and_then(number) {
        // As C makes an int of it.
        Some(number) => Ok(number as i32),
        None => {
            let argument = argument.map_or("nothing".into(), Value::to_string);
            Err(Refusal::NotApplicable(format!("{}() with {argument}", call.name)))
        }
    }
}

/// The argument `at`, which is a number of octets.
fn len(call: &Call, at: usize) -> Result<usize, Refusal> {
    let number = call.arguments.get(at).and_then(number).unwrap_or(0);
    match usize::try_from(number) {
        Ok(len) if len <= MOST => Ok(len),
        _ => Err(Refusal::NotApplicable(format!("{}() of {number} octets", call.name))),
    }
}

fn socket(call: &Call, context: &Context<'_>) -> Ready {
    let own = match context.addresses.version {
        IpVersion::V4 => AF_INET,
        IpVersion::V6 | IpVersion::Mapped => AF_INET6,
    };
    let domain = call.arguments.first().and_then(number).unwrap_or(own) as i32;
    let (kind, protocol) = (int(call, 1)?, int(call, 2)?);
    match call::socket(domain, kind, protocol) {
        Err(Errno::PROTONOSUPPORT) => {
            let reason = format!("sockets of the protocol {protocol}, which this kernel lacks");
            Err(Refusal::NotApplicable(reason))
        }
        // It is made inside the namespace.
        _ => Ok(Prepared::job(move || Answer::made(call::socket(domain, kind, protocol)))),
    }
}

fn control(call: &Call, context: &Context<'_>) -> Ready {
    let fd = context.fd(call, 0)?;
    let command = match call.arguments.get(1) {
        Some(Value::Word(word)) => match word.as_str() {
            "F_GETFD" => 1,
            "F_SETFD" => 2,
            "F_GETFL" => 3,
            "F_SETFL" => 4,
            _ => return Err(Refusal::NotApplicable(format!("fcntl() with {word}"))),
        },
        _ => return Err(Refusal::NotApplicable("fcntl() without a command".into())),
    };
    let argument = call.arguments.get(2).and_then(number).unwrap_or(0) as i32;
    Ok(Prepared::job(move || {
        Answer::of(call::control(fd.as_fd(), command, argument).map(|n| n as i64))
    }))
}

fn ask(call: &Call, context: &Context<'_>) -> Ready {
    let fd = context.fd(call, 0)?;
    let asked = match call.arguments.get(1) {
        Some(Value::Word(word)) => match word.as_str() {
            "SIOCINQ" | "FIONREAD" => Asked::ToRead,
            "SIOCOUTQ" | "TIOCOUTQ" => Asked::Unacknowledged,
            "SIOCOUTQNSD" => Asked::Unsent,
            "SIOCATMARK" => Asked::AtMark,
            _ => return Err(Refusal::NotApplicable(format!("ioctl() with {word}"))),
        },
        _ => return Err(Refusal::NotApplicable("ioctl() without a request".into())),
    };
    Ok(Prepared::job(move || {
        let number = call::ask(fd.as_fd(), asked).map(|n| (0, list_of(n.into())));
        Answer::with(number, 2)
    }))
}

/// Octets that outlive the call that is prepared, or a null pointer.
enum Held {
    Octets(Vec<u8>),
    Null(usize),
}

impl Held {
    fn octets(&self) -> Octets<'_> {
        match self {
            Held::Octets(octets) => Octets::Given(octets),
            Held::Null(len) => Octets::Null(*len),
        }
    }
}

/// The script has a null pointer there.
fn is_null(value: &Value) -> bool {
    matches!(value, Value::Number(0)) || matches!(value, Value::Word(word) if word == "NULL")
}

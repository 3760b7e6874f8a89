//! Numbers behind the symbols of socket calls and of `tcp_info`, as Linux has
//! them.

mod freebsd;
mod linux;
mod sctp;

pub(crate) use sctp::FREEBSD_MSG_EOR;

use crate::script::Value;
use anabranch_socket::Errno;
use anabranch_units::Span;

const CONSTANTS: [(&str, i64); 90] = [
    ("AF_UNSPEC", 0),
    ("AF_INET", 2),
    ("AF_INET6", 10),
    ("PF_INET", 2),
    ("PF_INET6", 10),
    ("SOCK_STREAM", 1),
    ("SOCK_DGRAM", 2),
    ("SOCK_SEQPACKET", 5),
    ("SOCK_NONBLOCK", 0x800),
    ("SOCK_CLOEXEC", 0x80000),
    ("IPPROTO_IP", 0),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_UDP", 17),
    ("IPPROTO_IPV6", 41),
    ("IPPROTO_SCTP", 132),
    ("IPPROTO_MPTCP", 262),
    ("SOL_IP", 0),
    ("SOL_SOCKET", 1),
    ("SOL_TCP", 6),
    ("SOL_IPV6", 41),
    ("INADDR_ANY", 0),
    ("O_RDONLY", 0),
    ("O_WRONLY", 1),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0x800),
    ("MSG_OOB", 1),
    ("MSG_PEEK", 2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_WAITALL", 0x100),
    ("MSG_ERRQUEUE", 0x2000),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("POLLIN", 1),
    ("POLLPRI", 2),
    ("POLLOUT", 4),
    ("POLLERR", 8),
    ("POLLHUP", 16),
    ("POLLNVAL", 32),
    ("POLLRDNORM", 0x40),
    ("POLLRDBAND", 0x80),
    ("POLLWRNORM", 0x100),
    ("POLLWRBAND", 0x200),
    ("POLLRDHUP", 0x2000),
    ("EPOLLIN", 1),
    ("EPOLLPRI", 2),
    ("EPOLLOUT", 4),
    ("EPOLLERR", 8),
    ("EPOLLHUP", 16),
    ("EPOLLRDHUP", 0x2000),
    ("EPOLLET", 1 << 31),
    ("EPOLL_CTL_ADD", 1),
    ("EPOLL_CTL_DEL", 2),
    ("EPOLL_CTL_MOD", 3),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_PMTUDISC_WANT", 1),
    ("IP_PMTUDISC_DO", 2),
    ("IP_PMTUDISC_PROBE", 3),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
    ("TCPI_OPT_USEC_TS", 64),
    ("TCPI_OPT_TFO_CHILD", 128),
    ("NULL", 0),
    ("EPOLLRDNORM", 0x40),
];

/// Returns the constants of all systems with their numbers.
pub fn all() -> impl Iterator<Item = (&'static str, i64)> {
    let systems = linux::CONSTANTS.into_iter().chain(freebsd::CONSTANTS);
    CONSTANTS.into_iter().chain(systems).chain(sctp::CONSTANTS)
}

/// The number behind a value: of numbers, symbols, flags with `|` between,
/// `htons` and the like, and lists of one.
pub fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(n) => Some(*n),
        Value::Word(word) => {
            let constant = all().find(|(name, _)| name == word).map(|(_, n)| n);
            constant.or_else(|| Errno::from_name(word).map(|errno| errno.number() as i64))
        }
        Value::Or(values) => values.iter().try_fold(0, |all, part| Some(all | number(part)?)),
        Value::Call(_, arguments) => number(arguments.first()?),
        Value::List(fields) if fields.len() == 1 => number(&fields[0].value),
        _ => None,
    }
}

/// Milliseconds as the calls and options of systems take them: none below
/// zero, and 2^32 - 1 (49 days) at most.
pub fn millis(n: i64) -> Span {
    Span::from_millis(n.clamp(0, u32::MAX as i64) as u64)
}

/// What a call wrote is what was expected: everything where `...` stands,
/// numbers by what they are, structures by the fields that both have.
pub fn matches(expected: &Value, actual: &Value) -> bool {
    if *expected == Value::Any || *actual == Value::Any || expected == actual {
        return true;
    }
    if let (Some(expected), Some(actual)) = (number(expected), number(actual)) {
        return expected == actual;
    }
    match (expected, actual) {
        (Value::List(e), Value::List(a)) => {
            e.len() == a.len() && e.iter().zip(a).all(|(e, a)| matches(&e.value, &a.value))
        }
        (Value::Struct(fields), Value::Struct(_)) => fields.iter().all(|field| {
            let name = field.name.as_deref().unwrap_or_default();
            actual.field(name).is_none_or(|actual| matches(&field.value, actual))
        }),
        _ => false,
    }
}

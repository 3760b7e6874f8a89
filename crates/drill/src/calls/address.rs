//! Addresses of sockets as octets (`struct sockaddr_in`, `sockaddr_in6`).

use super::{AF_INET, AF_INET6, Context, Held, Refusal, is_null, number};
use anabranch_packetdrill::script::Value;
use anabranch_packetdrill::stack::IpVersion;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address that stands where the script leaves it open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Default {
    /// Any address of the host.
    Any,
    /// The address that the script stands for.
    Remote,
}

/// The address and its length, of two arguments of a call.
pub(super) fn of(
    value: Option<&Value>,
    len: Option<&Value>,
    context: &Context<'_>,
    default: Default,
) -> Result<Held, Refusal> {
    let given_len = len.and_then(number).and_then(|len| usize::try_from(len).ok());
    if value.is_some_and(is_null) {
        return Ok(Held::Null(given_len.unwrap_or(0)));
    }
    let mut octets = match value {
        None | Some(Value::Any) => usual(context, default),
        Some(value @ Value::Struct(_)) => written(value, context)?,
        Some(value) => return Err(Refusal::NotApplicable(format!("the address {value}"))),
    };
    if let Some(len) = given_len.filter(|len| *len <= 128) {
        octets.resize(len, 0);
    }
    Ok(Held::Octets(octets))
}

/// The address that the script leaves open.
fn usual(context: &Context<'_>, default: Default) -> Vec<u8> {
    let addresses = context.addresses;
    let ip = match (default, addresses.version) {
        (Default::Any, IpVersion::V4) => Ipv4Addr::UNSPECIFIED.into(),
        (Default::Any, _) => Ipv6Addr::UNSPECIFIED.into(),
        (Default::Remote, _) => addresses.remote,
    };
    let ip = match ip {
        IpAddr::V4(ip) if addresses.version == IpVersion::Mapped => ip.to_ipv6_mapped().into(),
        ip => ip,
    };
    encode(ip, context.port)
}

/// `{sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr("192.0.2.1")}`.
fn written(value: &Value, context: &Context<'_>) -> Result<Vec<u8>, Refusal> {
    let part = |names: [&str; 2]| names.into_iter().find_map(|name| value.field(name));
    let family = value.field("sa_family").and_then(number);
    let port = part(["sin_port", "sin6_port"]).and_then(number).unwrap_or(context.port.into());
    let not = || Refusal::NotApplicable(format!("the address {value}"));
    let ip = match part(["sin_addr", "sin6_addr"]) {
        Some(ip) => ip_of(ip),
        None => None,
    };
    let unspecified = match family {
        Some(AF_INET6) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        _ => Ipv4Addr::UNSPECIFIED.into(),
    };
    let mut octets = encode(ip.unwrap_or(unspecified), port as u16);
    match family {
        Some(AF_INET | AF_INET6) => {}
        // Such as AF_UNSPEC, which dissolves an association.
        Some(family) => octets[..2].copy_from_slice(&(family as u16).to_ne_bytes()),
        None => return Err(not()),
    }
    Ok(octets)
}

/// `inet_addr("192.0.2.1")`, `inet6_addr("2001:db8::1")`, INADDR_ANY.
fn ip_of(value: &Value) -> Option<IpAddr> {
    match value {
        Value::Call(_, arguments) => ip_of(arguments.first()?),
        Value::Text(text) => text.parse().ok(),
        value => {
            let number = u32::try_from(number(value)?).ok()?;
            Some(Ipv4Addr::from(number).into())
        }
    }
}

/// A `struct sockaddr_in` or `sockaddr_in6`.
fn encode(ip: IpAddr, port: u16) -> Vec<u8> {
    let family = if ip.is_ipv4() { AF_INET } else { AF_INET6 } as u16;
    let mut octets = [family.to_ne_bytes(), port.to_be_bytes()].concat();
    match ip {
        IpAddr::V4(ip) => octets.extend([&ip.octets()[..], &[0; 8]].concat()),
        IpAddr::V6(ip) => octets.extend([&[0; 4][..], &ip.octets(), &[0; 4]].concat()),
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_laid_out_as_the_kernel_has_them() {
        let v4 = encode("192.0.2.1".parse().unwrap(), 0x1f90);
        assert_eq!(v4[2..], [0x1f, 0x90, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        let v6 = encode("2001:db8::1".parse().unwrap(), 80);
        assert_eq!((v6.len(), &v6[..2]), (28, &10_u16.to_ne_bytes()[..]));
        assert_eq!(v6[8..12], [0x20, 1, 0xd, 0xb8]);
        let inet = Value::Call("inet_addr".into(), vec![Value::Text("127.0.0.1".into())]);
        assert_eq!(ip_of(&inet), Some("127.0.0.1".parse().unwrap()));
        assert_eq!(ip_of(&Value::Word("INADDR_ANY".into())), Some("0.0.0.0".parse().unwrap()));
    }
}

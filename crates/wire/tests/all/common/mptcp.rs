//! Strategies for the options of Multipath TCP.

use anabranch_wire::tcp::mptcp::{
    AddAddr, Capable, CapableData, CapableFlags, CapableKeys, DataNumber, Dss, Join, Mapping,
    MptcpOption, RemoveAddr,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::IpAddr;

fn number() -> impl Strategy<Value = DataNumber> {
    prop_oneof![any::<u32>().prop_map(DataNumber::Short), any::<u64>().prop_map(DataNumber::Long),]
}

pub fn dss() -> impl Strategy<Value = Dss> {
    let mapping = (number(), any::<(u32, u16, Option<u16>)>())
        .prop_map(|(dsn, (ssn, len, checksum))| Mapping { dsn, ssn, len, checksum });
    (proptest::option::of(number()), proptest::option::of(mapping), any::<bool>())
        .prop_map(|(data_ack, mapping, data_fin)| Dss { data_ack, mapping, data_fin })
}

fn capable() -> impl Strategy<Value = Capable> {
    let data = any::<Option<(u16, Option<u16>)>>()
        .prop_map(|data| data.map(|(len, checksum)| CapableData { len, checksum }));
    let keys = prop_oneof![
        Just(CapableKeys::Syn),
        any::<u64>().prop_map(|key| CapableKeys::SynAck { key }),
        (any::<(u64, u64)>(), data).prop_map(|((key, peer), data)| CapableKeys::Ack {
            key,
            peer,
            data
        }),
    ];
    (1_u8..16, any::<u8>(), keys).prop_map(|(version, flags, keys)| Capable {
        version,
        flags: CapableFlags(flags),
        keys,
    })
}

fn join() -> impl Strategy<Value = Join> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address, token, nonce)| Join::Syn {
            backup,
            address,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address, mac, nonce)| Join::SynAck {
            backup,
            address,
            mac,
            nonce
        }),
        any::<[u8; 20]>().prop_map(|mac| Join::Ack { mac }),
    ]
}

fn add_addr() -> impl Strategy<Value = AddAddr> {
    let ip = prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
    ];
    (any::<u8>(), ip, any::<Option<u16>>(), any::<Option<u64>>())
        .prop_map(|(id, ip, port, mac)| AddAddr { id, ip, port, mac })
}

/// Any option but DSS.
pub fn mptcp() -> impl Strategy<Value = MptcpOption> {
    prop_oneof![
        capable().prop_map(MptcpOption::Capable),
        join().prop_map(MptcpOption::Join),
        add_addr().prop_map(MptcpOption::AddAddr),
        vec(any::<u8>(), 1..8)
            .prop_map(|ids| MptcpOption::RemoveAddr(RemoveAddr::of(&ids).expect("one at least"))),
        any::<bool>().prop_map(|backup| MptcpOption::Prio { backup }),
        any::<u64>().prop_map(|dsn| MptcpOption::Fail { dsn }),
        any::<u64>().prop_map(|key| MptcpOption::Fastclose { key }),
        any::<(bool, u8)>()
            .prop_map(|(transient, reason)| MptcpOption::TcpRst { transient, reason }),
    ]
}

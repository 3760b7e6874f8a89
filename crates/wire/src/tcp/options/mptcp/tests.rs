use super::*;
use crate::error::EmitError;
use crate::tcp::{SackBlock, TcpOptions, Timestamps};
use anabranch_units::Serial32;

fn emitted(options: &TcpOptions) -> Vec<u8> {
    let mut out = Vec::new();
    options.emit(&mut out).unwrap();
    assert_eq!(out.len() as u32, options.wire_len());
    assert_eq!(TcpOptions::parse(&out).as_ref(), Ok(options));
    out
}

fn with(option: MptcpOption) -> TcpOptions {
    let mut options = TcpOptions::default();
    options.rare_mut().mptcp.push(option);
    options
}

fn with_dss(dss: Dss) -> TcpOptions {
    let mut options = TcpOptions::default();
    assert!(options.set_dss(&dss));
    assert_eq!(options.dss(), Some(dss));
    options
}

/// RFC 8684 figures 4 to 7 and 12 to 16, octet by octet.
#[test]
fn options_look_as_in_the_figures() {
    let flags = CapableFlags::CHECKSUM.union(CapableFlags::HMAC_SHA256);
    let capable = |keys| MptcpOption::Capable(Capable { version: 1, flags, keys });
    let (key, peer) = (0x0102_0304_0506_0708, 0x1112_1314_1516_1718);
    let keys = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18];
    let data = |checksum| Some(CapableData { len: 0x0102, checksum });
    let v4 = AddAddr { id: 3, ip: [192, 0, 2, 1].into(), port: None, mac: None };
    let v6 = AddAddr { ip: [0x20; 16].into(), port: Some(80), mac: Some(key), ..v4 };
    let join = Join::Syn { backup: true, address: 9, token: 0x0a0b_0c0d, nonce: 0x2122_2324 };
    let answer = Join::SynAck { backup: false, address: 9, mac: key, nonce: 0x2122_2324 };
    let cases: Vec<(MptcpOption, Vec<&[u8]>)> = vec![
        (capable(CapableKeys::Syn), vec![&[30, 4, 0x01, 0x81]]),
        (capable(CapableKeys::SynAck { key }), vec![&[30, 12, 0x01, 0x81], &keys[..8]]),
        (capable(CapableKeys::Ack { key, peer, data: None }), vec![&[30, 20, 0x01, 0x81], &keys]),
        (
            capable(CapableKeys::Ack { key, peer, data: data(None) }),
            vec![&[30, 22, 0x01, 0x81], &keys, &[1, 2, 0, 0]],
        ),
        (
            capable(CapableKeys::Ack { key, peer, data: data(Some(0xfefd)) }),
            vec![&[30, 24, 0x01, 0x81], &keys, &[1, 2, 0xfe, 0xfd]],
        ),
        (MptcpOption::Join(join), vec![&[30, 12, 0x11, 9, 10, 11, 12, 13, 0x21, 0x22, 0x23, 0x24]]),
        (
            MptcpOption::Join(answer),
            vec![&[30, 16, 0x10, 9], &keys[..8], &[0x21, 0x22, 0x23, 0x24]],
        ),
        (MptcpOption::Join(Join::Ack { mac: [7; 20] }), vec![&[30, 24, 0x10, 0], &[7; 20]]),
        (MptcpOption::AddAddr(v4), vec![&[30, 8, 0x31, 3, 192, 0, 2, 1]]),
        (
            MptcpOption::AddAddr(v6),
            vec![&[30, 30, 0x30, 3], &[0x20; 16], &[0, 80], &keys[..8], &[0, 0]],
        ),
        (
            MptcpOption::RemoveAddr(RemoveAddr::of(&[3, 4]).unwrap()),
            vec![&[30, 5, 0x40, 3, 4, 0, 0, 0]],
        ),
        (MptcpOption::Prio { backup: true }, vec![&[30, 3, 0x51, 0]]),
        (MptcpOption::Fail { dsn: key }, vec![&[30, 12, 0x60, 0], &keys[..8]]),
        (MptcpOption::Fastclose { key }, vec![&[30, 12, 0x70, 0], &keys[..8]]),
        (
            MptcpOption::TcpRst { transient: true, reason: ResetReason::Middlebox as u8 },
            vec![&[30, 4, 0x81, 6]],
        ),
    ];
    for (option, octets) in cases {
        assert_eq!(emitted(&with(option)), octets.concat(), "{option:?}");
    }
}

/// RFC 8684 figure 9: every mix of lengths.
#[test]
fn a_dss_has_the_parts_that_its_flags_name() {
    let acks = [None, Some(DataNumber::Short(1)), Some(DataNumber::Long(1 << 40 | 2))];
    let ends = [None, Some((DataNumber::Short(3), None)), Some((DataNumber::Long(4 << 32), None))];
    for data_ack in acks {
        for end in ends {
            for checksum in [None, Some(0xabcd)] {
                for data_fin in [false, true] {
                    let mapping = end.map(|(dsn, _): (_, Option<u16>)| Mapping {
                        dsn,
                        ssn: 0xffff_ffff,
                        len: 0xffff,
                        checksum,
                    });
                    let dss = Dss { data_ack, mapping, data_fin };
                    let octets = emitted(&with_dss(dss));
                    assert_eq!(octets[1] as u32, dss.wire_len());
                    assert_eq!(octets[2], 0x20);
                }
            }
        }
    }
    let mapping =
        Mapping { dsn: DataNumber::Short(0x0a0b_0c0d), ssn: 5, len: 1448, checksum: Some(0x1234) };
    let data_ack = Some(DataNumber::Long(0x0102_0304_0506_0708));
    let octets = emitted(&with_dss(Dss { data_ack, mapping: Some(mapping), data_fin: true }));
    assert_eq!(octets[..4], [30, 24, 0x20, 0x17]);
    assert_eq!(octets[4..12], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(octets[12..], [10, 11, 12, 13, 0, 0, 0, 5, 5, 168, 0x12, 0x34]);
}

fn sack(n: u32) -> TcpOptions {
    let mut options = TcpOptions::default();
    for i in 0..n {
        options.sack.push(SackBlock { left: Serial32(10 * i + 1), right: Serial32(10 * i + 2) });
    }
    options
}

/// What forty octets hold, a value holds.
#[test]
fn blocks_and_a_dss_share_their_room() {
    let short = DataNumber::Short(7);
    let mapping = Mapping { dsn: short, ssn: 1, len: 1, checksum: None };
    let wide = Mapping { dsn: DataNumber::Long(7), checksum: Some(1), ..mapping };
    for (ack, mapping, blocks) in [
        (Some(short), None, 3),
        (Some(DataNumber::Long(9)), None, 3),
        (Some(short), Some(mapping), 2),
        (Some(DataNumber::Long(9)), Some(wide), 1),
    ] {
        let dss = Dss { data_ack: ack, mapping, data_fin: false };
        for n in 0..=4 {
            let mut options = sack(n);
            let before = options.clone();
            let fits = options.set_dss(&dss);
            assert_eq!(fits, n <= blocks, "{n} blocks beside {dss:?}");
            if fits && options.wire_len() <= 40 {
                emitted(&options);
                assert_eq!(options.dss(), Some(dss));
                assert_eq!(options.sack.as_slice(), before.sack.as_slice());
                let full = !options.sack.push(SackBlock::default());
                assert_eq!(full, n == blocks);
            } else if !fits {
                assert_eq!(options, before, "nothing is changed");
            }
        }
        let mut options = sack(blocks);
        options.set_dss(&dss);
        options.remove_dss();
        assert_eq!(options, sack(blocks));
        options.truncate_sack(1);
        assert_eq!(options, sack(1.min(blocks)));
    }
    // Timestamps, Data ACK of four octets, and two blocks: forty octets.
    let mut all = sack(2);
    all.timestamps = Some(Timestamps { value: 1, echo: 2 });
    all.set_dss(&Dss { data_ack: Some(short), ..Dss::default() });
    assert_eq!(emitted(&all).len(), 40);
}

/// What is not of a length that its subtype has is kept whole.
#[test]
fn malformed_options_are_unknown() {
    for octets in [
        &[30, 2][..],
        &[30, 3, 0x01],
        &[30, 4, 0x00, 0x81],    // MP_CAPABLE of version 0
        &[30, 5, 0x01, 0x81, 0], // half a key
        &[30, 21, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[30, 4, 0x10, 1], // MP_JOIN without anything
        &[30, 13, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[30, 3, 0x20],                                // DSS without flags
        &[30, 6, 0x20, 0x01, 0, 0],                    // half a Data ACK
        &[30, 5, 0x20, 0x00, 9],                       // an octet too many
        &[30, 8, 0x20, 0x03, 0, 0, 0, 0],              // a long Data ACK of four octets
        &[30, 12, 0x20, 0x04, 0, 0, 0, 0, 0, 0, 0, 0], // a mapping without length
        &[30, 8, 0x30, 1, 10, 0, 0, 1],                // ADD_ADDR without HMAC
        &[30, 9, 0x31, 1, 10, 0, 0, 1, 5],             // half a port
        &[30, 3, 0x40],                                // no address
        &[30, 4, 0x51, 1],                             // MP_PRIO, too long
        &[30, 11, 0x60, 0, 1, 2, 3, 4, 5, 6, 7],
        &[30, 3, 0x80],    // MP_TCPRST without a reason
        &[30, 4, 0xf0, 1], // MP_EXPERIMENTAL
    ] {
        let options = TcpOptions::parse(octets).unwrap();
        assert_eq!(options.unknown(), octets);
        assert_eq!((options.mptcp(), options.dss()), (&[][..], None));
    }
}

/// The first DSS counts.
#[test]
fn a_second_dss_is_kept_among_the_unknown() {
    let octets = [30, 8, 0x20, 1, 0, 0, 0, 5, 30, 8, 0x20, 1, 0, 0, 0, 6];
    let options = TcpOptions::parse(&octets).unwrap();
    assert_eq!(options.dss().unwrap().data_ack, Some(DataNumber::Short(5)));
    assert_eq!(options.unknown(), &octets[8..]);
}

#[test]
fn what_does_not_fit_is_not_emitted() {
    let key = MptcpOption::Fastclose { key: 1 };
    let mut options = with(key);
    options.rare_mut().mptcp.extend([key; 3]);
    assert_eq!(options.emit(&mut Vec::new()), Err(EmitError::OptionsTooLong(48)));
    assert_eq!(RemoveAddr::of(&[]), None);
    assert_eq!(RemoveAddr::of(&[1; 38]), None);
    assert_eq!(RemoveAddr::of(&[1; 37]).unwrap().ids(), [1; 37]);
}

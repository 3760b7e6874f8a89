use super::*;
use crate::tcp::SackBlocks;

fn emitted(options: &TcpOptions) -> Vec<u8> {
    let mut out = Vec::new();
    options.emit(&mut out).unwrap();
    assert_eq!(out.len() as u32, options.wire_len());
    out
}

fn unknown(octets: &[u8]) -> TcpOptions {
    let rare = RareOptions { unknown: octets.into(), ..Default::default() };
    TcpOptions { rare: Some(Box::new(rare)), ..TcpOptions::default() }
}

fn block(left: u32, right: u32) -> SackBlock {
    SackBlock { left: Serial32(left), right: Serial32(right) }
}

fn sack(blocks: &[SackBlock]) -> SackBlocks {
    let mut sack = SackBlocks::NONE;
    for block in blocks {
        assert!(sack.push(*block));
    }
    sack
}

/// FreeBSD's `tcp_addoptions`: in the order of its `TOF_` bits.
#[test]
fn a_syn_of_bsd_has_its_window_scale_first() {
    let options = TcpOptions {
        mss: Some(1460),
        window_scale: Some(6),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x0102_0304, echo: 0 }),
        scale_first: true,
        ..TcpOptions::default()
    };
    let octets = [
        2, 4, 0x05, 0xb4, // MSS
        1, 3, 3, 6, // NOP, window scale
        4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, // SACK permitted, timestamps
    ];
    assert_eq!(emitted(&options), octets);
    assert_eq!(TcpOptions::parse(&octets), Ok(options.clone()));
    let alone = TcpOptions::parse(&octets[..8]).unwrap();
    assert!(!alone.scale_first, "there is no order of one option");
}

#[test]
fn a_syn_looks_like_that_of_common_stacks() {
    let options = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x0102_0304, echo: 0 }),
        ..TcpOptions::default()
    };
    let octets = [
        2, 4, 0x05, 0xb4, // MSS
        4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, // SACK permitted, timestamps
        1, 3, 3, 7, // NOP, window scale
    ];
    assert_eq!(emitted(&options), octets);
    assert_eq!(TcpOptions::parse(&octets), Ok(options));
}

#[test]
fn sack_permitted_alone_has_its_own_word() {
    let options = TcpOptions { sack_permitted: true, ..TcpOptions::default() };
    assert_eq!(emitted(&options), [4, 2, 1, 1]);
}

#[test]
fn three_sack_blocks_fit_beside_timestamps() {
    // RFC 2018 §3: with timestamps, at most three blocks.
    let blocks = [block(1, 2), block(3, 4), block(u32::MAX, 5)];
    let options = TcpOptions {
        timestamps: Some(Timestamps { value: 1, echo: 2 }),
        sack: sack(&blocks),
        ..TcpOptions::default()
    };
    let octets = emitted(&options);
    assert_eq!(octets.len(), 40);
    assert_eq!(octets[..12], [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(octets[12..24], [1, 1, 5, 26, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(TcpOptions::parse(&octets).as_ref(), Ok(&options));

    let four = TcpOptions { sack: sack(&[blocks[0]; 4]), ..options };
    let mut out = vec![9];
    assert_eq!(four.emit(&mut out), Err(EmitError::OptionsTooLong(48)));
    assert_eq!(out, [9]);
}

#[test]
fn unknown_options_are_kept_in_order_and_padded() {
    let octets = [30, 4, 0, 1, 1, 254, 3, 9, 2, 4, 5, 0xb4];
    let options = TcpOptions::parse(&octets).unwrap();
    assert_eq!(options.mss, Some(1460));
    assert_eq!(options.unknown(), [30, 4, 0, 1, 254, 3, 9]);
    assert_eq!(emitted(&options), [2, 4, 5, 0xb4, 30, 4, 0, 1, 254, 3, 9, 0]);
    assert_eq!(TcpOptions::parse(&emitted(&options)), Ok(options));
}

#[test]
fn what_does_not_fit_its_kind_is_kept_whole() {
    for octets in [
        &[2, 3, 1][..],                      // MSS of one octet
        &[4, 3, 0],                          // SACK permitted with a value
        &[5, 2],                             // SACK without a block
        &[5, 11, 0, 0, 0, 1, 0, 0, 0, 2, 0], // SACK with a block and an octet
        &[8, 6, 0, 0, 0, 1],                 // half a timestamp
        &[3, 4, 7, 7],                       // window scale of two octets
    ] {
        assert_eq!(TcpOptions::parse(octets), Ok(unknown(octets)));
    }
}

#[test]
fn the_first_of_a_kind_counts_and_the_second_is_kept() {
    let options = TcpOptions::parse(&[2, 4, 0, 1, 2, 4, 0, 2]).unwrap();
    assert_eq!((options.mss, options.unknown()), (Some(1), &[2, 4, 0, 2][..]));
    assert_eq!(TcpOptions::parse(&emitted(&options)), Ok(options));
}

#[test]
fn nothing_follows_the_end_of_the_list() {
    assert_eq!(TcpOptions::parse(&[0, 2, 4, 0, 1]), Ok(TcpOptions::default()));
    assert_eq!(TcpOptions::parse(&[1, 1, 1, 1]), Ok(TcpOptions::default()));
}

#[test]
fn illegal_lengths_are_errors() {
    // RFC 9293 §3.1, MUST-7.
    let parse = |octets: &[u8]| TcpOptions::parse(octets).unwrap_err();
    assert_eq!(parse(&[2]), OptionError::Truncated { kind: 2 });
    assert_eq!(parse(&[1, 2, 4, 0]), OptionError::Truncated { kind: 2 });
    assert_eq!(parse(&[99, 0, 0, 0]), OptionError::Length { kind: 99, len: 0 });
    assert_eq!(parse(&[8, 1, 0, 0]), OptionError::Length { kind: 8, len: 1 });
    assert_eq!(iter(&[1, 99, 0, 2, 4, 0, 1]).count(), 1, "an error is the last item");
}

#[test]
fn malformed_unknown_octets_are_not_emitted() {
    for octets in [&[30][..], &[30, 1], &[30, 4, 0], &[0], &[30, 2, 0, 5]] {
        let mut out = Vec::new();
        assert_eq!(unknown(octets).emit(&mut out), Err(EmitError::MalformedOptions), "{octets:?}");
    }
    assert_eq!(emitted(&unknown(&[1, 30, 2])), [1, 30, 2, 0]);
    assert_eq!(unknown(&[1; 41]).emit(&mut Vec::new()), Err(EmitError::OptionsTooLong(44)));
}

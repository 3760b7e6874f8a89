//! Strategies for SCTP packets with every chunk, parameter and cause.

use super::payload;
use anabranch_units::Serial32;
use anabranch_wire::Addr;
use anabranch_wire::sctp::{
    Address, AddressChange, Cause, Chunk, DataChunk, DataFlags, ForwardTsn, GapBlock, IDataChunk,
    IForwardTsn, InitChunk, Parameter, SackChunk, SctpPacket, SkippedMessage,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn octets() -> impl Strategy<Value = Box<[u8]>> {
    vec(any::<u8>(), 0..40).prop_map(Into::into)
}

fn serial() -> impl Strategy<Value = Serial32> + Clone {
    any::<u32>().prop_map(Serial32)
}

fn address() -> impl Strategy<Value = Address> {
    prop_oneof![
        (0_u32..1000).prop_map(|n| Address::Number(Addr(n))),
        // Documentation addresses, in no book.
        any::<u8>().prop_map(|n| Address::Ip([192, 0, 2, n].into())),
        any::<u16>().prop_map(|n| Address::Ip([0x2001, 0xdb8, 0, 0, 0, 0, 0, n].into())),
    ]
}

fn cause() -> impl Strategy<Value = Cause> {
    prop_oneof![
        any::<u16>().prop_map(Cause::InvalidStream),
        vec(any::<u16>(), 0..4).prop_map(Cause::MissingParameters),
        any::<u32>().prop_map(Cause::StaleCookie),
        Just(Cause::OutOfResource),
        octets().prop_map(Cause::UnresolvableAddress),
        octets().prop_map(Cause::UnrecognizedChunk),
        Just(Cause::InvalidParameter),
        octets().prop_map(Cause::UnrecognizedParameters),
        serial().prop_map(Cause::NoUserData),
        Just(Cause::CookieWhileShuttingDown),
        vec(address().prop_map(Parameter::Address), 0..3).prop_map(Cause::RestartWithNewAddresses),
        octets().prop_map(Cause::UserAbort),
        octets().prop_map(Cause::ProtocolViolation),
        (0xa0_u8..=0xa4, any::<u32>(), address()).prop_map(|(code, correlation, address)| {
            let change = anabranch_wire::sctp::AddressChange::Delete;
            let request = Parameter::ChangeAddress { change, correlation, address };
            Cause::Asconf { code, parameters: vec![request] }
        }),
        any::<u16>().prop_map(Cause::UnsupportedHmac),
        (300_u16..400, octets()).prop_map(|(code, value)| Cause::Unknown { code, value }),
    ]
}

fn parameter() -> impl Strategy<Value = Parameter> {
    let of_init = prop_oneof![
        address().prop_map(Parameter::Address),
        octets().prop_map(Parameter::StateCookie),
        octets().prop_map(Parameter::Unrecognized),
        any::<u32>().prop_map(Parameter::CookiePreservative),
        octets().prop_map(Parameter::HostName),
        vec(any::<u16>(), 0..4).prop_map(Parameter::SupportedAddressTypes),
        Just(Parameter::EcnCapable),
        any::<u32>().prop_map(Parameter::ZeroChecksumAcceptable),
        octets().prop_map(Parameter::Random),
        octets().prop_map(Parameter::ChunkList),
        vec(any::<u16>(), 0..4).prop_map(Parameter::HmacAlgorithms),
        (0_u16..50).prop_map(Parameter::Padding),
        octets().prop_map(Parameter::SupportedExtensions),
        Just(Parameter::ForwardTsnSupported),
        (0x3000_u16..0x3100, octets()).prop_map(|(kind, value)| Parameter::Unknown { kind, value }),
    ];
    let streams = || vec(any::<u16>(), 0..4);
    let reconfig = prop_oneof![
        (serial(), serial(), serial(), streams()).prop_map(
            |(request, response, last_tsn, streams)| Parameter::OutgoingReset {
                request,
                response,
                last_tsn,
                streams
            }
        ),
        (serial(), streams())
            .prop_map(|(request, streams)| Parameter::IncomingReset { request, streams }),
        serial().prop_map(|request| Parameter::TsnReset { request }),
        (serial(), any::<u32>(), proptest::option::of((serial(), serial()))).prop_map(
            |(response, result, next_tsns)| Parameter::ReconfigResponse {
                response,
                result,
                next_tsns
            }
        ),
        (any::<bool>(), serial(), any::<u16>()).prop_map(|(outgoing, request, count)| {
            Parameter::AddStreams { outgoing, request, count }
        }),
    ];
    let change = prop_oneof![
        Just(AddressChange::Add),
        Just(AddressChange::Delete),
        Just(AddressChange::SetPrimary)
    ];
    let asconf = prop_oneof![
        (change, any::<u32>(), address()).prop_map(|(change, correlation, address)| {
            Parameter::ChangeAddress { change, correlation, address }
        }),
        (any::<u32>(), vec(cause(), 0..3)).prop_map(|(correlation, causes)| {
            Parameter::ErrorIndication { correlation, causes }
        }),
        any::<u32>().prop_map(|correlation| Parameter::SuccessIndication { correlation }),
        any::<u32>().prop_map(Parameter::Adaptation),
    ];
    prop_oneof![of_init, reconfig, asconf]
}

fn init() -> impl Strategy<Value = Box<InitChunk>> {
    (any::<(u32, u32, u16, u16)>(), serial(), vec(parameter(), 0..5)).prop_map(
        |((tag, a_rwnd, outbound, inbound), tsn, parameters)| {
            Box::new(InitChunk { tag, a_rwnd, outbound, inbound, tsn, parameters })
        },
    )
}

fn data() -> impl Strategy<Value = Chunk> {
    let fields = (any::<u8>(), serial(), any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>());
    (fields, payload(), any::<bool>()).prop_map(
        |((flags, tsn, stream, ssn, ppid, mid), payload, interleaved)| {
            let flags = DataFlags(flags);
            if interleaved {
                let ppid_or_fsn = ppid;
                Chunk::IData(IDataChunk { flags, tsn, stream, mid, ppid_or_fsn, payload })
            } else {
                Chunk::Data(DataChunk { flags, tsn, stream, ssn, ppid, payload })
            }
        },
    )
}

fn sack() -> impl Strategy<Value = Chunk> {
    let gap = any::<(u16, u16)>().prop_map(|(start, end)| GapBlock { start, end });
    (serial(), any::<u32>(), vec(gap, 0..5), vec(serial(), 0..4), 0_u8..4).prop_map(
        |(cum_tsn, a_rwnd, gaps, duplicates, packets)| {
            Chunk::Sack(SackChunk { cum_tsn, a_rwnd, gaps, duplicates, packets })
        },
    )
}

fn forward() -> impl Strategy<Value = Chunk> {
    let message = any::<(u16, bool, u32)>().prop_map(|(stream, unordered, mid)| SkippedMessage {
        stream,
        unordered,
        mid,
    });
    prop_oneof![
        (serial(), vec(any::<(u16, u16)>(), 0..4))
            .prop_map(|(cum_tsn, skipped)| Chunk::ForwardTsn(ForwardTsn { cum_tsn, skipped })),
        (serial(), vec(message, 0..4))
            .prop_map(|(cum_tsn, skipped)| Chunk::IForwardTsn(IForwardTsn { cum_tsn, skipped })),
    ]
}

fn control() -> impl Strategy<Value = Chunk> {
    let causes = || vec(cause(), 0..3);
    let parameters = || vec(parameter(), 0..4);
    let shutdown = prop_oneof![
        (any::<bool>(), causes())
            .prop_map(|(reflected, causes)| Chunk::Abort { reflected, causes }),
        serial().prop_map(Chunk::Shutdown),
        Just(Chunk::ShutdownAck),
        any::<bool>().prop_map(|reflected| Chunk::ShutdownComplete { reflected }),
        causes().prop_map(Chunk::Error),
    ];
    let others = prop_oneof![
        octets().prop_map(Chunk::Heartbeat),
        octets().prop_map(Chunk::HeartbeatAck),
        octets().prop_map(Chunk::CookieEcho),
        Just(Chunk::CookieAck),
        serial().prop_map(Chunk::Ecne),
        serial().prop_map(Chunk::Cwr),
        (0_u16..50).prop_map(Chunk::Pad),
    ];
    let extensions = prop_oneof![
        (any::<u16>(), any::<u16>(), octets()).prop_map(|(key, algorithm, hmac)| Chunk::Auth {
            key,
            algorithm,
            hmac
        }),
        (serial(), parameters())
            .prop_map(|(serial, parameters)| Chunk::Asconf { serial, parameters }),
        (serial(), parameters())
            .prop_map(|(serial, parameters)| Chunk::AsconfAck { serial, parameters }),
        parameters().prop_map(Chunk::Reconfig),
        (200_u8..250, any::<u8>(), octets()).prop_map(|(kind, flags, value)| Chunk::Unknown {
            kind,
            flags,
            value
        }),
    ];
    prop_oneof![shutdown, others, extensions]
}

pub fn sctp() -> impl Strategy<Value = SctpPacket> {
    let chunk = prop_oneof![
        2 => data(),
        2 => sack(),
        1 => forward(),
        1 => init().prop_map(Chunk::Init),
        1 => init().prop_map(Chunk::InitAck),
        4 => control(),
    ];
    (any::<(u16, u16, u32, bool)>(), vec(chunk, 0..4)).prop_map(
        |((src_port, dst_port, tag, zero_checksum), chunks)| {
            let chunks = chunks.into_iter().collect();
            SctpPacket { src_port, dst_port, tag, udp: None, zero_checksum, chunks }
        },
    )
}

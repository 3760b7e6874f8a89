//! One sound packet for each chunk, parameter and cause.

use anabranch_units::Serial32;
use anabranch_wire::sctp::{
    Address, AddressChange, Cause, Chunk, DataChunk, DataFlags, EDMID_DTLS, ForwardTsn, GapBlock,
    IDataChunk, IForwardTsn, InitChunk, Parameter, SackChunk, SctpPacket, SkippedMessage,
};
use anabranch_wire::{Addr, Payload};

const TSN: Serial32 = Serial32(1000);

fn init(parameters: Vec<Parameter>) -> Box<InitChunk> {
    let (outbound, inbound) = (10, 2048);
    Box::new(InitChunk { tag: 77, a_rwnd: 65_536, outbound, inbound, tsn: TSN, parameters })
}

fn causes() -> Vec<Cause> {
    // Parameters and chunks inside causes, with their own headers.
    let parameter = [0x3f, 0xff, 0, 8, 1, 2, 3, 4];
    vec![
        Cause::InvalidStream(9),
        Cause::MissingParameters(vec![7, 8]),
        Cause::StaleCookie(1_000_000),
        Cause::OutOfResource,
        Cause::UnresolvableAddress([0, 5, 0, 8, 192, 0, 2, 1].into()),
        Cause::UnrecognizedChunk([0x3f, 0, 0, 8, 1, 2, 3, 4].into()),
        Cause::InvalidParameter,
        Cause::UnrecognizedParameters(parameter.into()),
        Cause::NoUserData(TSN),
        Cause::CookieWhileShuttingDown,
        Cause::RestartWithNewAddresses(vec![Parameter::Address(Address::Ip(
            [192, 0, 2, 1].into(),
        ))]),
        Cause::UserAbort((*b"bye.").into()),
        Cause::ProtocolViolation((*b"no such thing").into()),
        Cause::UnsupportedHmac(3),
    ]
}

pub fn all() -> Vec<SctpPacket> {
    let of_init = vec![
        Parameter::Address(Addr(0).into()),
        Parameter::Address(Address::Ip([192, 0, 2, 9].into())),
        Parameter::CookiePreservative(1000),
        Parameter::SupportedAddressTypes(vec![5, 6]),
        Parameter::EcnCapable,
        Parameter::ZeroChecksumAcceptable(EDMID_DTLS),
        Parameter::Random([7; 32].into()),
        Parameter::ChunkList([0xc1, 0x80].into()),
        Parameter::HmacAlgorithms(vec![1, 3]),
        Parameter::SupportedExtensions([0xc1, 0x80, 0x82, 0xc0].into()),
        Parameter::ForwardTsnSupported,
        Parameter::Adaptation(5),
    ];
    let mut of_init_ack = of_init.clone();
    of_init_ack[2] = Parameter::StateCookie([9; 45].into());
    of_init_ack.push(Parameter::Unrecognized([0xff, 0xf0, 0, 8, 1, 2, 3, 4].into()));
    let payload = Payload::virtual_of(99);
    let (flags, stream, tsn) = (DataFlags::WHOLE, 1, TSN);
    let change =
        |change, n| Parameter::ChangeAddress { change, correlation: n, address: Addr(n).into() };
    let message = |unordered| SkippedMessage { stream, unordered, mid: 8 };
    let chunks = [
        vec![Chunk::Data(DataChunk {
            flags,
            tsn,
            stream,
            ssn: 2,
            ppid: 0,
            payload: payload.clone(),
        })],
        vec![Chunk::Init(init(of_init))],
        vec![Chunk::InitAck(init(of_init_ack))],
        vec![Chunk::Sack(SackChunk {
            cum_tsn: tsn,
            a_rwnd: 7,
            gaps: vec![GapBlock { start: 2, end: 3 }, GapBlock { start: 9, end: 9 }],
            packets: 0,
            duplicates: vec![tsn, tsn],
        })],
        vec![Chunk::Heartbeat([1, 2, 3, 4, 5].into())],
        vec![Chunk::HeartbeatAck([1, 2, 3, 4, 5].into())],
        vec![Chunk::Abort { reflected: true, causes: vec![Cause::UserAbort([].into())] }],
        vec![Chunk::Shutdown(tsn)],
        vec![Chunk::ShutdownAck],
        vec![Chunk::Error(causes())],
        vec![Chunk::CookieEcho([9; 45].into())],
        vec![Chunk::CookieAck],
        vec![Chunk::Ecne(tsn)],
        vec![Chunk::Cwr(tsn)],
        vec![Chunk::ShutdownComplete { reflected: false }],
        vec![Chunk::Auth { key: 0, algorithm: 1, hmac: [5; 20].into() }],
        vec![Chunk::IData(IDataChunk { flags, tsn, stream, mid: 2, ppid_or_fsn: 0, payload })],
        vec![Chunk::AsconfAck {
            serial: tsn,
            parameters: vec![
                Parameter::SuccessIndication { correlation: 3 },
                Parameter::ErrorIndication {
                    correlation: 4,
                    causes: vec![Cause::Asconf {
                        code: 0xa0,
                        parameters: vec![Parameter::ChangeAddress {
                            change: AddressChange::Delete,
                            correlation: 1,
                            address: Address::Ip([192, 0, 2, 1].into()),
                        }],
                    }],
                },
            ],
        }],
        vec![Chunk::Reconfig(vec![Parameter::OutgoingReset {
            request: tsn,
            response: tsn,
            last_tsn: tsn,
            streams: vec![1, 2],
        }])],
        vec![Chunk::Reconfig(vec![
            Parameter::IncomingReset { request: tsn, streams: vec![1] },
            Parameter::ReconfigResponse { response: tsn, result: 1, next_tsns: None },
        ])],
        vec![Chunk::Reconfig(vec![Parameter::TsnReset { request: tsn }])],
        vec![Chunk::Reconfig(vec![Parameter::ReconfigResponse {
            response: tsn,
            result: 1,
            next_tsns: Some((tsn, tsn)),
        }])],
        vec![Chunk::Reconfig(vec![
            Parameter::AddStreams { outgoing: true, request: tsn, count: 3 },
            Parameter::AddStreams { outgoing: false, request: tsn, count: 3 },
        ])],
        vec![Chunk::CookieAck, Chunk::Pad(21)],
        vec![Chunk::ForwardTsn(ForwardTsn { cum_tsn: tsn, skipped: vec![(1, 2), (3, 4)] })],
        vec![Chunk::Asconf {
            serial: tsn,
            parameters: vec![
                Parameter::Address(Addr(0).into()),
                change(AddressChange::Add, 1),
                change(AddressChange::SetPrimary, 2),
                change(AddressChange::Delete, 3),
            ],
        }],
        vec![Chunk::IForwardTsn(IForwardTsn {
            cum_tsn: tsn,
            skipped: vec![message(true), message(false)],
        })],
    ];
    let packet = |chunks: Vec<Chunk>| {
        let chunks = chunks.into_iter().collect();
        SctpPacket {
            src_port: 49_999,
            dst_port: 49_998,
            tag: 0xdead_beef,
            udp: None,
            zero_checksum: false,
            chunks,
        }
    };
    chunks.into_iter().map(packet).collect()
}

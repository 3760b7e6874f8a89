use super::*;
use crate::parse::{Definitions, parse};
use crate::script::Action;

fn spec(text: &str) -> SctpSpec {
    let script = parse("test", &format!("0 < sctp: {text}"), &Definitions::new()).unwrap();
    let Action::Packet(packet) = &script.events[0].action else { panic!("no packet") };
    let PacketBody::Sctp(sctp) = &packet.body else { panic!("no SCTP") };
    sctp.clone()
}

fn mapping() -> Mapping {
    let mut mapping = Mapping::new();
    mapping.learn(Chosen { tag: (0xabcd, 2), tsn: (1000, 1) }, true);
    mapping
}

fn encode(text: &str, stack: bool) -> Vec<u8> {
    let mapping = mapping();
    let mut octets = Vec::new();
    for chunk in &spec(text).chunks {
        Codec { mapping: &mapping, stack }.encode_chunk(chunk, &mut octets).unwrap();
    }
    octets
}

/// RFC 9260 §3.3.1, §3.3.4: TSNs of the script's side as they are, those of the
/// stack as it has them.
#[test]
fn chunks_become_the_octets_of_the_rfc() {
    assert_eq!(
        encode("DATA[flgs=BE, len=18, tsn=7, sid=1, ssn=2, ppid=3]", false),
        [0, 3, 0, 18, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0]
    );
    assert_eq!(
        encode("SACK[flgs=0, cum_tsn=2, a_rwnd=1500, gaps=[2:3], dups=[1]]", false),
        [3, 0, 0, 24, 0, 0, 3, 233, 0, 0, 5, 220, 0, 1, 0, 1, 0, 2, 0, 3, 0, 0, 3, 232]
    );
    assert_eq!(encode("PAD[flgs=0, len=5, val=...]", false), [132, 0, 0, 5, 0, 0, 0, 0]);
    let raw = "[0xc0, 0x00, 0x00, 0x06, 0x01, 0x02]";
    assert_eq!(encode(raw, false), [0xc0, 0, 0, 6, 1, 2]);
}

#[test]
fn what_is_written_is_what_is_read() {
    for text in [
        "DATA[flgs=UE, len=20, tsn=7, sid=1, ssn=2, ppid=3]",
        "I_DATA[flgs=B, len=24, tsn=7, sid=1, mid=2, ppid=3]",
        "I_DATA[flgs=E, len=24, tsn=7, sid=1, mid=2, fsn=3]",
        "SACK[flgs=0, cum_tsn=2, a_rwnd=1500, gaps=[2:3, 5:5], dups=[1, 1]]",
        "ABORT[flgs=T, PROTOCOL_VIOLATION[info=[1, 2]]]",
        "ERROR[flgs=0, UNRECOGNIZED_CHUNK_TYPE[chk=CHUNK[type=239, flgs=0, len=5, val=[1]]]]",
        "ERROR[flgs=0, UNRECOGNIZED_PARAMETERS[params=[PARAMETER[type=49164, len=5, val=[1]]]]]",
        "ABORT[flgs=0, UNRESOLVABLE_ADDRESS[param=HOSTNAME_ADDRESS[addr=\"a.b\"]]]",
        "ABORT[flgs=0, MISSING_MANDATORY_PARAMETER[types=[7]]]",
        "FORWARD_TSN[cum_tsn=9, ids=[{1, 2}, {3, 4}]]",
        "I_FORWARD_TSN[cum_tsn=9, ids=[{1, 0, 2}]]",
        "RECONFIG[flgs=0, OUTGOING_SSN_RESET[req_sn=1, resp_sn=2, last_tsn=3, sids=[0, 5]]]",
        "RECONFIG[flgs=0, RECONFIG_RESPONSE[resp_sn=1, result=1, sender_next_tsn=4, receiver_next_tsn=5]]",
        "RECONFIG[flgs=0, ADD_OUTGOING_STREAMS[req_sn=1, number_of_new_streams=10]]",
        "SHUTDOWN[flgs=0, cum_tsn=0]",
        "CHUNK[type=70, flgs=0, len=7, val=[1, 2, 3]]",
    ] {
        for stack in [false, true] {
            let (mapping, octets) = (mapping(), encode(text, stack));
            let read = Codec { mapping: &mapping, stack }.decode_chunk(decode::chunks(&octets)[0]);
            assert_eq!(read.to_string(), text);
        }
    }
}

#[test]
fn what_differs_is_said_in_words() {
    let differs = |expected: &str, actual: &str| {
        let (mapping, octets) = (mapping(), encode(actual, true));
        let codec = Codec { mapping: &mapping, stack: true };
        codec.differs(&spec(expected).chunks[0], &codec.decode_chunk(decode::chunks(&octets)[0]))
    };
    let sack = "SACK[flgs=0, cum_tsn=3, a_rwnd=9, gaps=[2:2], dups=[]]";
    assert_eq!(differs("SACK[flgs=0, cum_tsn=3, a_rwnd=..., gaps=..., dups=[]]", sack), None);
    assert_eq!(
        differs("SACK[flgs=0, cum_tsn=4, a_rwnd=..., gaps=..., dups=[]]", sack).unwrap(),
        "cum_tsn of SACK is 3, not 4"
    );
    assert!(differs("SACK[flgs=0, cum_tsn=3, a_rwnd=9, gaps=[], dups=[]]", sack).is_some());
    assert!(differs("SHUTDOWN[flgs=0, cum_tsn=3]", sack).unwrap().contains("not SHUTDOWN"));
    // Parameters of INIT as a set, all of them.
    let init = "INIT[flgs=0, tag=1, a_rwnd=9, os=1, is=1, tsn=1, FORWARD_TSN_SUPPORTED[], \
                SUPPORTED_EXTENSIONS[types=[0xc0, 0x40]]]";
    let head = "INIT[flgs=0, tag=..., a_rwnd=..., os=1, is=1, tsn=1";
    let right = "SUPPORTED_EXTENSIONS[types=[I_DATA, FORWARD_TSN]], FORWARD_TSN_SUPPORTED[]";
    assert_eq!(differs(&format!("{head}, {right}]"), init), None);
    assert_eq!(differs(&format!("{head}, ...]"), init), None);
    assert!(differs(&format!("{head}, FORWARD_TSN_SUPPORTED[]]"), init).is_some());
    assert!(differs(&format!("{head}, {right}, ECN_CAPABLE[]]"), init).is_some());
    // A parameter by its number, and a stream that is written twice.
    let by_number =
        "ERROR[flgs=0, UNRECOGNIZED_PARAMETERS[params=[PARAMETER[type=0xc000, len=4, val=[]]]]]";
    let by_name = "ERROR[flgs=0, UNRECOGNIZED_PARAMETERS[params=[FORWARD_TSN_SUPPORTED[]]]]";
    assert_eq!(differs(by_number, by_name), None);
    let twice = "FORWARD_TSN[cum_tsn=3, ids=[{1,0}, {1,0}]]";
    assert_eq!(differs(twice, "FORWARD_TSN[cum_tsn=3, ids=[{1,0}]]"), None);
    assert!(differs(twice, "FORWARD_TSN[cum_tsn=3, ids=[{1,1}]]").is_some());
}

#[test]
fn a_broken_init_comes_to_the_stack_as_it_is() {
    let mut dialect = SctpDialect::new();
    let text = "0 < sctp: CHUNK[type=1, flgs=0, len=22, val=[0, 0, 0, 9, 0, 0, 5, 220, 0, 1, \
                0, 1, 0, 0, 0, 1, 0xc0, 0]]";
    let script = parse("test", text, &Definitions::new()).unwrap();
    let Action::Packet(packet) = &script.events[0].action else { panic!("no packet") };
    let PacketBody::Sctp(sctp) = &packet.body else { panic!("no SCTP") };
    let Body::Sctp(made) = dialect.packet(packet, sctp).unwrap() else { panic!("no SCTP") };
    let Some(Chunk::Init(init)) = made.chunks.first() else { panic!("no INIT") };
    assert_eq!((made.tag, init.tag), (0, 9));
    assert_eq!(init.parameters, [Parameter::Malformed([0xc0, 0].into())]);
    assert!(dialect.mapping.is_right_tag(9, false, false), "an ABORT would have this tag");
}

//! RFC 4895: authenticated chunks.

use super::*;
use crate::Authentication;
use crate::control::auth::Auth;
use anabranch_endpoint::mac;
use anabranch_wire::sctp::{Cause, InitChunk, Parameter, kind};

fn config(chunks: &[u8]) -> Config {
    Config { authentication: authenticated(chunks), ..plain(Config::rfc9260()) }
}

fn with_keys(keys: &[(u16, &[u8])], algorithms: &[u16]) -> Config {
    let keys: Vec<(u16, Vec<u8>)> = keys.iter().map(|(id, key)| (*id, key.to_vec())).collect();
    let authentication = Authentication {
        active_key: keys[0].0,
        keys,
        chunks: vec![0],
        algorithms: algorithms.to_vec(),
        ..Authentication::default()
    };
    Config { authentication: Some(Arc::new(authentication)), ..plain(Config::rfc9260()) }
}

fn between(client: Config, server: Config) -> Pair<Association, impl FnMut(Side, &Packet) -> Fate> {
    let (client, _) = ends(&client, 1);
    let (_, server) = ends(&server, 1);
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    pair.drive(at_ms(1000));
    pair
}

fn message() -> Message {
    Message::new(1, Payload::of_octets(*b"hello"))
}

/// §6.2: AUTH in front of what the peer wants authenticated, and only there.
#[test]
fn chunks_of_the_list_are_signed() {
    let mut pair = between(config(&[0x03]), config(&[0x00]));
    assert!(pair.client.authenticates() && pair.server.authenticates());
    pair.client.send(message()).unwrap();
    pair.server.send(message()).unwrap();
    run(&mut pair, at_ms(2000));
    assert_eq!(
        trace(&pair, 1000),
        ["1000 > AUTH, DATA 1", "1000 < DATA 1", "1050 < AUTH, SACK 1", "1050 > SACK 1",]
    );
    assert_eq!(received(&mut pair.server).len(), 1);
    assert_eq!(pair.client.observe().bytes_acked, 5);
}

/// §6.1 by hand: the key vectors from the INIT and the INIT ACK as they were on
/// the wire, the smaller first, behind the pair key; §6.2: the HMAC over the AUTH
/// chunk with zeros and all behind it.
#[test]
fn the_hmac_is_that_of_the_rfc() {
    let keys: [(u16, &[u8]); 1] = [(7, b"secret")];
    let mut pair = between(with_keys(&keys, &[3, 1]), with_keys(&keys, &[3, 1]));
    pair.client.send(message()).unwrap();
    run(&mut pair, at_ms(2000));
    let vector = |init: &InitChunk| {
        let mut vector = Vec::new();
        for parameter in &init.parameters {
            let (kind, value) = match parameter {
                Parameter::Random(octets) => (2, octets.to_vec()),
                Parameter::ChunkList(octets) => (3, octets.to_vec()),
                Parameter::HmacAlgorithms(_) => (4, vec![0, 3, 0, 1]),
                _ => continue,
            };
            vector.extend([0x80, kind, 0, value.len() as u8 + 4]);
            vector.extend(value);
        }
        vector
    };
    let mut vectors: Vec<Vec<u8>> = pair
        .log
        .iter()
        .filter_map(|line| match sctp(&line.packet).chunks.first() {
            Some(Chunk::Init(init) | Chunk::InitAck(init)) => Some(vector(init)),
            _ => None,
        })
        .collect();
    assert_eq!(vectors[0].len(), 36 + 5 + 8);
    vectors.sort();
    let key = [b"secret".as_slice(), &vectors[0], &vectors[1]].concat();
    let signed = pair.log.iter().find(|l| l.packet.payload_len() > 0).unwrap();
    let mut octets = Vec::new();
    signed.packet.emit(&anabranch_wire::AddressBook::new(), &mut octets).unwrap();
    let auth = &mut octets[20 + 12..];
    assert_eq!(auth[..8], [15, 0, 0, 40, 0, 7, 0, 3]);
    let found = auth[8..40].to_vec();
    auth[8..40].fill(0);
    assert_eq!(found, mac::hmac(&mac::sha256(&key), auth));
}

/// §6.3: without AUTH, with a wrong one, or changed on the way: silence.
#[test]
fn forged_chunks_are_discarded() {
    let mut pair = between(config(&[0]), config(&[0]));
    pair.client.send(message()).unwrap();
    let good = pair.client.poll_transmit(at_ms(1000)).unwrap();
    type Change = fn(&mut Vec<Chunk>);
    let changes: [Change; 5] = [
        |chunks| drop(chunks.remove(0)),
        |chunks| {
            if let Chunk::Auth { hmac, .. } = &mut chunks[0] {
                hmac[3] ^= 1;
            }
        },
        |chunks| {
            if let Chunk::Data(data) = &mut chunks[1] {
                data.stream = 2;
            }
        },
        |chunks| {
            if let Chunk::Auth { key, .. } = &mut chunks[0] {
                *key = 5;
            }
        },
        |chunks| chunks.swap(0, 1),
    ];
    for change in changes {
        let mut packet = good.clone();
        let Body::Sctp(sctp) = &mut packet.body else { unreachable!("it is SCTP") };
        let mut chunks: Vec<Chunk> = sctp.chunks.iter().cloned().collect();
        change(&mut chunks);
        sctp.chunks = chunks.into_iter().collect();
        pair.server.handle_input(at_ms(1000), &packet);
        assert_eq!(pair.server.poll_transmit(at_ms(1000)), None, "{packet:?}");
        assert_eq!(pair.server.receive(), None);
    }
    pair.server.handle_input(at_ms(1000), &good);
    assert!(pair.server.receive().is_some());
}

/// §6.3: where COOKIE ECHO is among the chunks it opens an association behind a right AUTH chunk only,
/// by the keys that the cookie tells of; what stands behind it counts too.
#[test]
fn a_cookie_echo_is_authenticated() {
    let wanted = config(&[0, kind::COOKIE_ECHO]);
    let (mut client, _) = ends(&config(&[]), 1);
    let (_, mut server) = ends(&wanted, 1);
    client.connect(Time::ZERO);
    let mut exchange = |packet: Packet| {
        server.handle_input(Time::ZERO, &packet);
        server.poll_transmit(Time::ZERO)
    };
    let init_ack = exchange(client.poll_transmit(Time::ZERO).unwrap()).unwrap();
    client.handle_input(Time::ZERO, &init_ack);
    client.send(message()).unwrap();
    let good = client.poll_transmit(Time::ZERO).unwrap();
    let kinds: Vec<u8> = sctp(&good).chunks.iter().map(Chunk::kind).collect();
    assert_eq!(kinds, [kind::AUTH, kind::COOKIE_ECHO, kind::DATA]);
    type Change = fn(&mut Vec<Chunk>);
    let changes: [Change; 3] = [
        |chunks| drop(chunks.remove(0)),
        |chunks| {
            if let Chunk::Auth { hmac, .. } = &mut chunks[0] {
                hmac[3] ^= 1;
            }
        },
        |chunks| drop(chunks.pop()),
    ];
    for change in changes {
        let mut packet = good.clone();
        let Body::Sctp(sctp) = &mut packet.body else { unreachable!("it is SCTP") };
        let mut chunks: Vec<Chunk> = sctp.chunks.iter().cloned().collect();
        change(&mut chunks);
        sctp.chunks = chunks.into_iter().collect();
        assert_eq!(exchange(packet), None, "discarded");
    }
    let answer = exchange(good.clone()).unwrap();
    assert_eq!(sctp(&answer).chunks.first(), Some(&Chunk::CookieAck));
    assert_eq!(server.state(), State::Established);
    assert!(server.receive().is_some());
    // The same again: by the keys of the association.
    server.handle_input(Time::ZERO, &good);
    let again = server.poll_transmit(Time::ZERO).unwrap();
    assert_eq!(sctp(&again).chunks.first(), Some(&Chunk::CookieAck));
}

/// A side that does not want it authenticated takes an authenticated one, and a peer without
/// authentication is not asked for it.
#[test]
fn who_signs_a_cookie_echo_without_need_is_heard() {
    let both = config(&[kind::COOKIE_ECHO]);
    let pair = between(both.clone(), both.clone());
    assert_eq!([pair.client.state(), pair.server.state()], [State::Established; 2]);
    let pair = between(plain(Config::rfc9260()), both);
    assert_eq!([pair.client.state(), pair.server.state()], [State::Established; 2]);
}

/// §6.3: an HMAC that is not ours is reported.
#[test]
fn an_unknown_hmac_is_reported() {
    let mut pair = between(config(&[0]), config(&[0]));
    let auth = Chunk::Auth { key: 0, algorithm: 2, hmac: [0; 20].into() };
    let packet = from_client(&pair.client, pair.server.identity.local_tag, vec![auth]);
    pair.server.handle_input(at_ms(1000), &packet);
    let answer = pair.server.poll_transmit(at_ms(1000)).unwrap();
    let Some(Chunk::Error(causes)) = sctp(&answer).chunks.first() else { panic!("{answer:?}") };
    assert_eq!(causes[..], [Cause::UnsupportedHmac(2)]);
}

/// The first of the peer's HMACs that this side has; the same keys on both
/// sides, and a change of them.
#[test]
fn keys_and_hmacs_must_agree() {
    let keys: [(u16, &[u8]); 2] = [(1, b"old"), (2, b"new")];
    for (algorithms, len) in [([3, 1].as_slice(), 32), (&[1], 20)] {
        let mut pair = between(with_keys(&keys, &[1, 3]), with_keys(&keys, algorithms));
        for id in [1, 2] {
            assert!(pair.client.use_key(id));
            pair.client.send(message()).unwrap();
            let now = pair.now;
            run(&mut pair, now + Span::from_secs(1));
            let last = pair.log.iter().rev().find(|l| l.packet.payload_len() > 0).unwrap();
            let Some(Chunk::Auth { key, hmac, .. }) = sctp(&last.packet).chunks.first() else {
                panic!("{last:?}")
            };
            assert_eq!((*key, hmac.len()), (id, len));
        }
        assert_eq!(received(&mut pair.server).len(), 2);
        assert!(!pair.client.use_key(9));
    }
    let other: [(u16, &[u8]); 1] = [(1, b"other")];
    let mut pair = between(with_keys(&keys, &[1]), with_keys(&other, &[1]));
    pair.client.send(message()).unwrap();
    run(&mut pair, at_ms(3000));
    assert_eq!(received(&mut pair.server), []);
}

/// One side alone: nothing is authenticated. Both at once, or after a restart:
/// keys are right.
#[test]
fn authentication_is_agreed_on_however_the_association_opens() {
    for (client, server) in
        [(config(&[0]), plain(Config::rfc9260())), (plain(Config::rfc9260()), config(&[0]))]
    {
        let mut pair = between(client, server);
        pair.client.send(message()).unwrap();
        run(&mut pair, at_ms(2000));
        assert!(!pair.client.authenticates() && !pair.server.authenticates());
        assert_eq!(received(&mut pair.server).len(), 1);
    }
    let seed = Seed::default();
    let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
    let client = Association::client(config(&[0]), c, s, seed.generator("client"));
    let server = Association::client(config(&[0]), s, c, seed.generator("server"));
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    pair.server.connect(Time::ZERO);
    pair.client.send(message()).unwrap();
    pair.server.send(message()).unwrap();
    run(&mut pair, at_ms(5000));
    assert!(pair.client.authenticates() && pair.server.authenticates());
    assert_eq!(received(&mut pair.server).len(), 1);
    assert_eq!(received(&mut pair.client).len(), 1);
    let again = Seed { seed: 7, replication: 0 }.generator("client");
    pair.client = Association::client(config(&[0]), c, s, again);
    pair.client.connect(pair.now);
    pair.client.send(message()).unwrap();
    run(&mut pair, at_ms(9000));
    assert_eq!(received(&mut pair.server).len(), 1, "after a restart");
}

/// No packet exceeds the MTU with its AUTH chunk.
#[test]
fn signed_packets_fit() {
    let mut pair = between(config(&[0]), config(&[0]));
    pair.client.write(100_000);
    pair.drive(at_ms(9000));
    assert_eq!(pair.server.observe().bytes_received, 100_000);
    let largest = pair.log.iter().map(|line| line.packet.wire_len().0).max().unwrap();
    assert_eq!(largest, 1500);
}

#[test]
fn what_cannot_be_is_refused() {
    let wrong = |authentication| {
        let authentication = Some(Arc::new(authentication));
        let config = Config { authentication, ..Config::rfc9260() };
        config.validate().unwrap_err().to_string()
    };
    let d = Authentication::default;
    assert!(wrong(Authentication { active_key: 3, ..d() }).contains("active_key 3"));
    assert!(wrong(Authentication { chunks: vec![0, 15], ..d() }).contains("chunk type 15"));
    assert!(wrong(Authentication { algorithms: vec![3], ..d() }).contains("[3]"));
    let config = Config { dynamic_addresses: true, ..Config::rfc9260() };
    assert_eq!(config.validate().unwrap_err().field, "dynamic_addresses");
}

/// §6.1: the key vector has one order, whatever that of the parameters was; §3.2: what is never
/// authenticated is not, though the list has it.
#[test]
fn the_order_of_the_parameters_and_a_wrong_list_do_no_harm() {
    let (client, server) = (config(&[0]), config(&[0]));
    let (mut client, _) = ends(&client, 1);
    let (_, mut server) = ends(&server, 1);
    client.connect(Time::ZERO);
    let mut init = client.poll_transmit(Time::ZERO).unwrap();
    if let Body::Sctp(sctp) = &mut init.body
        && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
    {
        init.parameters.reverse();
    }
    server.handle_input(Time::ZERO, &init);
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    while pair.step(at_ms(1000)) {}
    assert!(pair.client.authenticates() && pair.server.authenticates());
    pair.client.send(message()).unwrap();
    run(&mut pair, at_ms(2000));
    assert_eq!(received(&mut pair.server).len(), 1);
    let listed = Authentication { chunks: (0..=255).collect(), ..Authentication::default() };
    let mut all = Vec::new();
    let auth = Auth::new(&listed, &mut Seed::default().generator("peer"));
    auth.parameters(&listed).iter().for_each(|p| crate::control::auth::extend_vector(&mut all, p));
    assert_eq!(all.len(), 36 + 260 + 8);
    let own = Authentication::default();
    let mut auth = Auth::new(&own, &mut Seed::default().generator("own"));
    auth.agree(&own, &all);
    let wants = |chunk: Chunk| {
        let mut packet = SctpPacket {
            src_port: 1,
            dst_port: 2,
            tag: 3,
            udp: None,
            zero_checksum: false,
            chunks: chunk.into(),
        };
        auth.sign(&own, &mut packet);
        packet.chunks.len() == 2
    };
    assert!(wants(Chunk::CookieAck) && !wants(Chunk::ShutdownComplete { reflected: false }));
}

/// §6.3: where ABORTs are authenticated a broken packet that is not ends nothing.
#[test]
fn a_forged_violation_ends_nothing_where_aborts_are_authenticated() {
    for (chunks, lives) in [(&[6][..], true), (&[3], false)] {
        let mut pair = between(config(chunks), config(chunks));
        let data = Chunk::Data(anabranch_wire::sctp::DataChunk {
            flags: DataFlags::WHOLE,
            tsn: pair.client.sender.origin.add(1),
            stream: 0,
            ssn: 0,
            ppid: 0,
            payload: Payload::EMPTY,
        });
        let packet = from_client(&pair.client, pair.server.identity.local_tag, vec![data]);
        pair.server.handle_input(at_ms(1000), &packet);
        assert_eq!(pair.server.state() == State::Established, lives, "{chunks:?}");
    }
}

/// §3.2: a list of all types, in an INIT, leaves room for the identifiers of the HMACs.
#[test]
fn a_long_list_of_chunks_is_taken() {
    let all: Vec<u8> = (0..=255).filter(|kind| ![1, 2, 10, 14, 15].contains(kind)).collect();
    let pair = between(config(&all), config(&[0]));
    assert!(pair.client.authenticates() && pair.server.authenticates());
}

/// §6.1: a RANDOM of another length ends it before it begins.
#[test]
fn a_random_of_another_length_is_a_violation() {
    let (mut client, _) = ends(&config(&[0]), 1);
    let (_, mut server) = ends(&config(&[0]), 1);
    client.connect(Time::ZERO);
    let mut init = client.poll_transmit(Time::ZERO).unwrap();
    if let Body::Sctp(sctp) = &mut init.body
        && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
    {
        for parameter in &mut init.parameters {
            if let Parameter::Random(octets) = parameter {
                *octets = [7; 31].into();
            }
        }
    }
    server.handle_input(Time::ZERO, &init);
    let answer = server.poll_transmit(Time::ZERO).unwrap();
    assert!(matches!(sctp(&answer).chunks.first(), Some(Chunk::Abort { causes, .. })
        if causes[0].code() == 13));
}

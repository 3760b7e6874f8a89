//! Under any mix of loss, duplication, reordering and path failure, every
//! message arrives once, unaltered, and in order within its stream.

use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event, Generator, Observe, Seed};
use anabranch_sctp::{
    Association, Authentication, Concurrent, Config, Destination, Encapsulation, Message,
    Reliability, Scheduler, SendError, Window,
};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, AddressBook, Packet, Payload};
use proptest::prelude::*;
use std::sync::Arc;

const CLIENT: [Addr; 2] = [Addr(0), Addr(1)];
const SERVER: [Addr; 2] = [Addr(10), Addr(11)];

#[derive(Clone, Debug)]
struct Trouble {
    /// Per cent of packets.
    loss: u8,
    duplicate: u8,
    delay: u8,
    /// The first path is dead for these packets.
    down: std::ops::Range<u32>,
    seed: u64,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    (0_u8..20, 0_u8..10, 0_u8..20, 0_u32..200, 0_u32..40, any::<u64>()).prop_map(
        |(loss, duplicate, delay, from, len, seed)| Trouble {
            loss,
            duplicate,
            delay,
            down: from..from + len,
            seed,
        },
    )
}

/// What becomes of packets; each is also written and read again, so that the
/// association works with what a wire would bring.
fn rule(trouble: &Trouble) -> impl FnMut(Side, &Packet) -> Fate + use<> {
    let trouble = trouble.clone();
    let mut random = Generator::from_u64(trouble.seed);
    let mut n = 0;
    let book = AddressBook::new();
    move |_, packet| {
        let mut octets = Vec::new();
        packet.emit(&book, &mut octets).expect("what is sent can be sent");
        assert!(octets.len() <= 1500, "{packet:?}");
        assert_eq!(Packet::parse(&octets, &book).as_ref(), Ok(packet), "it is canonical");
        n += 1;
        let mut percent = |p: u8| random.chance(p as f64 / 100.0);
        let (lost, twice, late) =
            (percent(trouble.loss), percent(trouble.duplicate), percent(trouble.delay));
        let by = Span::from_millis(random.below(300));
        if lost || (packet.src.0.is_multiple_of(2) && trouble.down.contains(&n)) {
            Fate::Drop
        } else if twice {
            Fate::Duplicate(by)
        } else if late {
            Fate::Delay(by)
        } else {
            Fate::Deliver
        }
    }
}

fn config() -> impl Strategy<Value = Config> {
    let window = prop_oneof![
        3 => Just(Window::Standard),
        1 => Just(Window::Algorithm(anabranch_congestion::Algorithm::default())),
    ];
    let destination = prop::sample::select(Destination::ALL.to_vec());
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let concurrent = flags.prop_map(|(on, split, update, delayed, buffer)| {
        on.then_some(Concurrent {
            split_fast_retransmit: split,
            window_update: update,
            delayed_ack: delayed,
            buffer_split: buffer,
        })
    });
    let preset = prop_oneof![Just("rfc2960"), Just("rfc4960"), Just("rfc9260")];
    let switches = any::<(bool, bool, bool, bool)>();
    let extensions = (any::<bool>(), any::<bool>(), 0..Scheduler::ALL.len(), concurrent);
    (preset, destination, window, switches, 6_000_u32..100_000, extensions).prop_map(
        |(preset, destination, window, switches, receive_buffer, extensions)| {
            let (interleaving, partial_reliability, scheduler, concurrent) = extensions;
            let (authenticate, udp) = (receive_buffer % 3 == 0, receive_buffer % 5 == 0);
            let authentication = || {
                let chunks = vec![0, 3, 64, 130, 192, 194, 0xc1, 0x80];
                Arc::new(Authentication { chunks, ..Authentication::default() })
            };
            let (multiple_fast_retransmit, timestamps, heartbeat_after_rto, pf) = switches;
            let config = Config {
                destination,
                window,
                multiple_fast_retransmit,
                timestamps,
                heartbeat_after_rto,
                potentially_failed: pf.then_some(0),
                receive_buffer,
                partial_delivery_point: (receive_buffer % 4 == 0).then_some(3000),
                path_max_retrans: 1,
                association_max_retrans: 1000,
                interleaving,
                partial_reliability,
                reconfiguration: interleaving,
                scheduler: Scheduler::ALL[scheduler],
                concurrent,
                authentication: authenticate.then(authentication),
                dynamic_addresses: authenticate,
                udp: udp.then(Encapsulation::default),
                max_init_retransmits: 100,
                ..Config::preset(preset).expect("a preset")
            };
            config.validate().expect("a valid configuration");
            config
        },
    )
}

type Connect<F> = Pair<Association, F>;

fn pair<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Connect<F> {
    let seed = Seed::default();
    let (c, s) = ((CLIENT.as_slice(), 1000), (SERVER.as_slice(), 2000));
    let client = Association::client(config.clone(), c, s, seed.generator("client"));
    let server = Association::server(config.clone(), s, c, seed.generator("server"));
    let mut pair = Pair::new(client, server, Span::from_millis(30), rule);
    pair.logging = false;
    pair.client.connect(Time::ZERO);
    pair
}

/// The octets of the `index`-th message.
fn octets(index: usize, len: u32) -> Vec<u8> {
    let mut octets = vec![0; len as usize];
    anabranch_wire::pattern::fill((index as u64) << 32, &mut octets);
    octets
}

/// Seconds: time for forty timeouts of a minute, and more.
const FAR: u64 = 20_000;

/// Some are larger than the receive buffer.
fn length() -> impl Strategy<Value = u32> {
    prop_oneof![19 => 1_u32..5000, 1 => 5000_u32..150_000]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 128,
        ..ProptestConfig::default()
    })]

    #[test]
    fn messages_arrive_once_unaltered_and_in_order(
        config in config(),
        trouble in trouble(),
        messages in prop::collection::vec((0_u16..4, any::<bool>(), length()), 1..60),
    ) {
        let mut pair = pair(&config, rule(&trouble));
        let mut waiting = messages.iter().enumerate().peekable();
        let mut closed = [None; 2];
        let mut arrived: Vec<Message> = Vec::new();
        let until = Time::ZERO + Span::from_secs(FAR);
        loop {
            while let Some((index, (stream, unordered, len))) = waiting.peek().copied() {
                let payload = Payload::of_octets(octets(index, *len));
                let (stream, unordered, ppid) = (*stream, *unordered, index as u32);
                match pair.client.send(Message { unordered, ppid, ..Message::new(stream, payload) }) {
                    Ok(()) => drop(waiting.next()),
                    Err(SendError::Full) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            if waiting.peek().is_none() {
                pair.client.close();
            }
            for (side, closed) in [Side::Client, Side::Server].into_iter().zip(&mut closed) {
                while let Some(event) = pair.end(side).poll_event() {
                    if let Event::Closed(reason) = event {
                        prop_assert_eq!(closed.replace(reason), None, "closed twice");
                    }
                }
            }
            arrived.extend(std::iter::from_fn(|| pair.server.receive()));
            if !pair.step(until) {
                break;
            }
        }
        // The server may miss the SHUTDOWN COMPLETE and the answer to its own.
        prop_assert_eq!(closed[0], Some(CloseReason::Normal), "{:?}", pair.client.state());
        prop_assert_eq!(closed[1], Some(CloseReason::Normal), "{:?}", pair.server.state());
        prop_assert_eq!(arrived.len(), messages.len());
        let mut last = [None; 4];
        let mut seen = vec![false; messages.len()];
        for message in &arrived {
            let index = message.ppid as usize;
            let (stream, unordered, len) = messages[index];
            prop_assert!(!std::mem::replace(&mut seen[index], true), "{} twice", index);
            prop_assert_eq!((message.stream, message.unordered), (stream, unordered));
            prop_assert_eq!(message.payload.octets().unwrap(), octets(index, len));
            if !unordered {
                let before = last[stream as usize].replace(index);
                prop_assert!(before < Some(index), "stream {}: {:?} {}", stream, before, index);
            }
        }
    }

    /// Messages that may be given up arrive once, unaltered and in order, or
    /// not at all; the reliable ones among them arrive.
    #[test]
    fn messages_that_are_given_up_leave_no_trace(
        config in config(),
        trouble in trouble(),
        messages in prop::collection::vec((0_u16..4, any::<bool>(), length(), 0_u8..4), 1..60),
    ) {
        let config = Config { partial_reliability: true, ..config };
        let mut pair = pair(&config, rule(&trouble));
        let mut waiting = messages.iter().enumerate().peekable();
        let mut arrived: Vec<Message> = Vec::new();
        let until = Time::ZERO + Span::from_secs(FAR);
        loop {
            while let Some((index, (stream, unordered, len, limit))) = waiting.peek().copied() {
                let payload = Payload::of_octets(octets(index, *len));
                let (stream, unordered, ppid) = (*stream, *unordered, index as u32);
                let limit = match limit {
                    0 => Reliability::Reliable,
                    1 => Reliability::Retransmissions(index as u16 % 2),
                    2 => Reliability::Until(pair.now + Span::from_millis(index as u64 * 10)),
                    _ => Reliability::Priority(index as u32 % 3),
                };
                match pair.client.send_with(Message { unordered, ppid, ..Message::new(stream, payload) }, limit) {
                    Ok(()) => drop(waiting.next()),
                    Err(SendError::Full) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            if waiting.peek().is_none() {
                pair.client.close();
            }
            for side in [Side::Client, Side::Server] {
                while pair.end(side).poll_event().is_some() {}
            }
            arrived.extend(std::iter::from_fn(|| pair.server.receive()));
            if !pair.step(until) {
                break;
            }
        }
        prop_assert_eq!(pair.client.state(), anabranch_sctp::State::Closed);
        let given_up = pair.client.abandoned();
        let missing = (messages.len() - arrived.len()) as u64;
        // What was given up may have arrived all the same.
        prop_assert!(missing <= given_up.sent + given_up.unsent);
        prop_assert!(missing >= given_up.unsent);
        let mut last = [None; 4];
        let mut seen = vec![false; messages.len()];
        for message in &arrived {
            let index = message.ppid as usize;
            let (stream, unordered, len, _) = messages[index];
            prop_assert!(!std::mem::replace(&mut seen[index], true), "{} twice", index);
            prop_assert_eq!((message.stream, message.unordered), (stream, unordered));
            prop_assert_eq!(message.payload.octets().unwrap(), octets(index, len));
            if !unordered {
                let before = last[stream as usize].replace(index);
                prop_assert!(before < Some(index), "stream {}: {:?} {}", stream, before, index);
            }
        }
        for (index, message) in messages.iter().enumerate() {
            prop_assert!(seen[index] || message.3 != 0, "{} is reliable and lost", index);
        }
    }

    #[test]
    fn octets_of_both_directions_arrive_as_one_stream(
        config in config(),
        trouble in trouble(),
        lens in (1_usize..60_000, 1_usize..60_000),
    ) {
        let mut pair = pair(&config, rule(&trouble));
        let data = [octets(0, lens.0 as u32), octets(1, lens.1 as u32)];
        let mut written = [0; 2];
        let mut read = [Vec::new(), Vec::new()];
        let until = Time::ZERO + Span::from_secs(FAR);
        loop {
            for (i, side) in [Side::Client, Side::Server].into_iter().enumerate() {
                let end = pair.end(side);
                while end.poll_event().is_some() {}
                if i == 0 || end.state().is_synchronized() {
                    written[i] += end.write_octets(&data[i][written[i]..]);
                }
                let mut buf = [0; 3000];
                loop {
                    let n = end.read_octets(&mut buf);
                    read[1 - i].extend_from_slice(&buf[..n]);
                    if n < buf.len() {
                        break;
                    }
                }
            }
            let done = (0..2).all(|i| read[i].len() == data[i].len());
            if done || !pair.step(until) {
                break;
            }
        }
        for i in 0..2 {
            prop_assert_eq!(read[i].len(), data[i].len());
            prop_assert!(read[i] == data[i], "octets differ");
        }
    }
}

/// A stream that is only counted carries as much as it says.
#[test]
fn counted_octets_arrive() {
    let mut pair = pair(&Config::rfc9260(), |_, _| Fate::Deliver);
    pair.client.write(10_000_000);
    pair.client.close();
    pair.drive(Time::ZERO + Span::from_secs(600));
    assert_eq!(pair.server.observe().bytes_received, 10_000_000);
    assert_eq!(pair.client.observe().bytes_acked, 10_000_000);
}

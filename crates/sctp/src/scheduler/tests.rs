use super::*;
use crate::message::Message;
use crate::reliability::Reliability;
use crate::sender::outgoing::Outgoing;
use anabranch_wire::Payload;

#[test]
fn names_and_the_table_agree() {
    for (name, ..) in SCHEDULERS {
        assert_eq!(Scheduler::from_name(name).unwrap().name(), name);
    }
    assert_eq!(Scheduler::from_name("rr"), None);
}

/// Octets of each stream among the first `octets`, when all have endless
/// messages of the given lengths.
fn shares(scheduler: Scheduler, lens: &[u32], values: &[u16], octets: u64) -> Vec<u64> {
    let mut out = Outgoing::new(scheduler);
    for (stream, value) in values.iter().enumerate() {
        out.set_value(stream as u16, *value);
    }
    for (stream, len) in lens.iter().enumerate() {
        for _ in 0..2 * octets / *len as u64 {
            let message = Message::new(stream as u16, Payload::virtual_of(*len));
            out.push(message, Reliability::Reliable);
        }
    }
    let mut sent = vec![0; lens.len()];
    while sent.iter().sum::<u64>() < octets {
        out.begin_packet();
        let len = out.waiting(1452).unwrap().min(1452);
        sent[out.take(len).0.stream as usize] += len as u64;
    }
    sent
}

/// RFC 8260 §3.2: messages, whatever their lengths.
#[test]
fn round_robin_shares_messages() {
    let sent = shares(Scheduler::RoundRobin, &[100, 1400], &[1, 1], 150_000);
    assert_eq!(sent, [10_000, 140_000]);
}

/// §3.5: octets, whatever the lengths of the messages.
#[test]
fn fair_bandwidth_shares_octets() {
    let sent = shares(Scheduler::FairBandwidth, &[100, 1400, 700], &[9, 1, 5], 300_000);
    for share in sent {
        assert!(share.abs_diff(100_000) <= 1400, "{share}");
    }
}

/// §3.6: weight / sum of the weights; start-time fair queueing is off by no
/// more than a message of each stream.
#[test]
fn weighted_fair_queueing_shares_octets_by_weight() {
    let sent = shares(Scheduler::WeightedFair, &[300, 1400, 700], &[1, 2, 5], 800_000);
    for (share, weight) in sent.iter().zip([1, 2, 5]) {
        assert!(share.abs_diff(100_000 * weight) <= 2800, "{sent:?}");
    }
}

/// §3.4: nothing of the others while the most urgent has something.
#[test]
fn priority_is_strict() {
    assert_eq!(shares(Scheduler::Priority, &[100, 100, 100], &[2, 1, 1], 10_000), [0, 5000, 5000]);
}

/// A stream that was idle has no claim on what it did not use.
#[test]
fn an_idle_stream_earns_nothing() {
    let mut out = Outgoing::new(Scheduler::FairBandwidth);
    let push = |out: &mut Outgoing, stream| {
        let message = Message::new(stream, Payload::virtual_of(1000));
        out.push(message, Reliability::Reliable);
    };
    (0..100).for_each(|_| push(&mut out, 0));
    (0..50).for_each(|_| drop(out.take(1000)));
    (0..50).for_each(|_| push(&mut out, 1));
    let next: Vec<u16> = (0..20).map(|_| out.take(1000).0.stream).collect();
    assert_eq!(next.iter().filter(|stream| **stream == 0).count(), 10, "{next:?}");
}

/// What was set, given and dropped leaves nothing behind.
#[test]
fn a_stream_that_is_emptied_leaves_the_order() {
    for scheduler in Scheduler::ALL {
        let mut out = Outgoing::new(scheduler);
        let limit = Reliability::Priority(5);
        out.push(Message::new(3, Payload::virtual_of(10)), limit);
        assert_eq!(out.yielding(4), 10);
        assert!(out.yield_one(4).is_some() && out.yield_one(4).is_none());
        assert_eq!((out.is_empty(), out.waiting(100)), (true, None), "{scheduler:?}");
        out.push(Message::new(3, Payload::virtual_of(10)), limit);
        assert_eq!(out.take(10).0.number, 0);
        assert!(out.is_empty() && !out.has_stream(3));
    }
}

//! HTB packet by packet, and in the steady state behind sources that always have packets.

use super::super::item::testing::{at_us, item};
use super::super::{
    CakeConfig, CoDelConfig, FqCoDelConfig, PieConfig, QueueConfig, RedConfig, SfqConfig,
};
use super::*;
use anabranch_testkit::marks::record;
use anabranch_units::{Rate, Span};
use anabranch_wire::{Addr, Body, Payload, UdpDatagram};

/// A leaf for packets of a code point, with turns of one packet.
fn leaf(name: &str, parent: &str, rate: u64, ceil: u64, dscp: u8) -> HtbClass {
    HtbClass {
        parent: (!parent.is_empty()).then(|| parent.to_owned()),
        ceil: Some(Rate::mbit(ceil)),
        quantum: Some(Bytes(1500)),
        matches: HtbMatch { dscp: vec![dscp], ..HtbMatch::default() },
        ..HtbClass::new(name, Rate::mbit(rate))
    }
}

fn inner(name: &str, parent: &str, rate: u64, ceil: u64) -> HtbClass {
    HtbClass { matches: HtbMatch::default(), quantum: None, ..leaf(name, parent, rate, ceil, 0) }
}

fn htb(classes: Vec<HtbClass>) -> Htb {
    let config = HtbConfig { classes, default: None };
    config.validate().unwrap();
    Htb::new(&config, Bytes(1500), Generator::from_u64(2002))
}

fn packet(size: u32, dscp: u8) -> Packet {
    let payload = Payload::virtual_of(size - Packet::IP_HEADER);
    let packet = Packet::new(Addr(1), Addr(2), Body::Other { protocol: 17, payload });
    Packet { dscp, ..packet }
}

fn put(htb: &mut Htb, now: Time, size: u32, dscp: u8) {
    let mut losses = Losses::new();
    let item = Item { dscp, ..item(dscp.into(), size, now) };
    htb.enqueue(item, &packet(size, dscp), &mut losses);
    assert!(losses.is_empty());
}

/// Two packets of each code point always wait in front of a line of 100 Mbit/s, for 20 s. Returns dates and code
/// points of what left.
fn backlogged(htb: &mut Htb, sources: &[(u8, u32)]) -> Vec<(Time, u8, u32)> {
    for (dscp, size) in sources.iter().chain(sources) {
        put(htb, Time::ZERO, *size, *dscp);
    }
    let (mut now, mut left) = (Time::ZERO, Vec::new());
    loop {
        now = now.max(htb.opens_at());
        if now > Time::ZERO + Span::from_secs(20) {
            return left;
        }
        let item = htb.dequeue(now, &mut Losses::new()).expect("it is open");
        left.push((now, item.dscp, item.size));
        put(htb, now, item.size, item.dscp);
        now += Rate::mbit(100).time_for(Bytes(item.size.into()));
    }
}

/// Rates of the code points in Mbit/s, after the first second.
fn rates(left: &[(Time, u8, u32)], points: &[u8]) -> Vec<f64> {
    let late = |entry: &&(Time, u8, u32)| entry.0 > Time::ZERO + Span::from_secs(1);
    let of = |dscp: &u8| {
        let octets = left.iter().filter(late).filter(|entry| entry.1 == *dscp).map(|entry| entry.2);
        f64::from(octets.sum::<u32>()) * 8.0 / 19.0 / 1e6
    };
    points.iter().map(of).collect()
}

fn steady(classes: Vec<HtbClass>, sources: &[u8]) -> Vec<f64> {
    let sized: Vec<_> = sources.iter().map(|dscp| (*dscp, 1500)).collect();
    rates(&backlogged(&mut htb(classes), &sized), sources)
}

fn close(measured: &[f64], expected: &[f64]) {
    let is_close = measured.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.005 * b.max(1.0));
    assert!(is_close && measured.len() == expected.len(), "{measured:.4?}, not {expected:.4?}");
}

fn of_root(a: HtbClass, b: HtbClass) -> Vec<HtbClass> {
    vec![inner("root", "", 10, 10), a, b]
}

/// 3 and 6 of 10 Mbit/s are guaranteed; the last one is shared by quantum.
#[test]
fn guaranteed_rates_hold_and_the_excess_is_shared_by_quantum() {
    let (a, b) = (leaf("a", "root", 3, 10, 1), leaf("b", "root", 6, 10, 2));
    let alike = steady(of_root(a.clone(), b.clone()), &[1, 2]);
    let what = "HTB: rates of two loaded classes of 3 and 6 Mbit/s that share 10";
    record("Q4", what, "3.500, 6.500", format!("{:.3}, {:.3}", alike[0], alike[1]), "0.5 %");
    close(&alike, &[3.5, 6.5]);
    let larger = HtbClass { quantum: Some(Bytes(4500)), ..b.clone() };
    let one_to_three = steady(of_root(a.clone(), larger), &[1, 2]);
    let what = "HTB: the same with quanta of 1 to 3";
    let measured = format!("{:.3}, {:.3}", one_to_three[0], one_to_three[1]);
    record("Q4", what, "3.250, 6.750", measured, "0.5 %");
    close(&one_to_three, &[3.25, 6.75]);
    // Alone either has all, up to its ceil.
    close(&steady(of_root(a.clone(), b.clone()), &[1]), &[10.0]);
    close(&steady(of_root(leaf("a", "root", 3, 5, 1), b), &[1]), &[5.0]);
}

/// The excess goes to the lower number; guarantees do not depend on it.
#[test]
fn priorities_borrow_first() {
    let a = HtbClass { prio: 1, ..leaf("a", "root", 3, 10, 1) };
    let found = steady(of_root(a.clone(), leaf("b", "root", 6, 10, 2)), &[1, 2]);
    let what = "HTB: the same where the second has priority";
    record("Q4", what, "3.000, 7.000", format!("{:.3}, {:.3}", found[0], found[1]), "0.5 %");
    close(&found, &[3.0, 7.0]);
    // What the first may not have, the other gets.
    close(&steady(of_root(a, leaf("b", "root", 6, 6, 2)), &[1, 2]), &[4.0, 6.0]);
}

/// Two customers of 4 and 6 Mbit/s; the first has web and mail of 3 and 1 (the example of Devera's manual).
#[test]
fn what_a_customer_leaves_is_first_his_own() {
    let classes = || {
        let quantum = |class: HtbClass, octets| HtbClass { quantum: Some(Bytes(octets)), ..class };
        vec![
            inner("root", "", 10, 10),
            inner("a", "root", 4, 10),
            quantum(leaf("web", "a", 3, 10, 1), 4500),
            leaf("mail", "a", 1, 10, 2),
            leaf("b", "root", 6, 10, 3),
        ]
    };
    close(&steady(classes(), &[1, 2, 3]), &[3.0, 1.0, 6.0]);
    close(&steady(classes(), &[1, 3]), &[4.0, 6.0]);
    close(&steady(classes(), &[2, 3]), &[4.0, 6.0]);
    // Without the other customer, 6 Mbit/s more by quanta of 3 to 1.
    close(&steady(classes(), &[1, 2]), &[7.5, 2.5]);
}

/// As in Linux a class within its rate asks nobody: rates of children that make more than the parent's are
/// sent all the same.
#[test]
fn guarantees_are_not_checked_against_the_parent() {
    let classes = of_root(leaf("a", "root", 6, 6, 1), leaf("b", "root", 6, 6, 2));
    close(&steady(classes, &[1, 2]), &[6.0, 6.0]);
}

/// Packets of any size, in any second: no more than the ceil, the bucket, and the packet that empties it.
#[test]
fn a_ceil_is_never_exceeded_over_a_second() {
    let (a, b) = (leaf("a", "root", 1, 4, 1), leaf("b", "root", 2, 7, 2));
    let a = HtbClass { cburst: Some(Bytes(3000)), ..a };
    let left = backlogged(&mut htb(of_root(a, b)), &[(1, 1234), (2, 400)]);
    let mut most = 0;
    for (start, (from, ..)) in left.iter().enumerate() {
        let second = left[start..].iter().take_while(|it| it.0 < *from + Span::from_secs(1));
        most = most.max(second.filter(|it| it.1 == 1).map(|it| it.2).sum::<u32>());
    }
    let allowed = 500_000 + 3000 + 1234;
    let what = "HTB: most octets of a class with ceil 4 Mbit/s and cburst 3000 B in a second";
    record("Q4", what, format!("at most {allowed}"), most, "exact");
    assert!(most <= allowed && most > 499_000, "{most}");
    close(&rates(&left, &[1, 2]), &[4.0, 6.0]);
}

/// 12 Mbit/s: 1500 octets take 1 ms. Four packets are in the bucket, and the fifth empties it.
#[test]
fn a_full_bucket_is_a_burst() {
    let class = HtbClass {
        burst: Some(Bytes(6000)),
        cburst: Some(Bytes(6000)),
        ..leaf("a", "", 12, 12, 1)
    };
    let mut htb = htb(vec![class]);
    (0..9).for_each(|_| put(&mut htb, Time::ZERO, 1500, 1));
    let mut left = Vec::new();
    for us in (0..9000).step_by(250) {
        while htb.opens_at() <= at_us(us)
            && let Some(_) = htb.dequeue(at_us(us), &mut Losses::new())
        {
            left.push(us);
        }
    }
    assert_eq!(left, [0, 0, 0, 0, 0, 1000, 2000, 3000, 4000]);
}

/// The date at which the queue opens changes with what comes.
#[test]
fn a_class_within_its_rate_opens_the_queue() {
    let mut htb = htb(of_root(leaf("a", "root", 1, 1, 1), leaf("b", "root", 9, 9, 2)));
    for _ in 0..4 {
        put(&mut htb, Time::ZERO, 1500, 1);
    }
    let mut losses = Losses::new();
    // 1600 octets are in the bucket: two packets leave, and 1400 octets of debt take 11.2 ms.
    assert!(htb.dequeue(Time::ZERO, &mut losses).is_some());
    assert!(htb.dequeue(Time::ZERO, &mut losses).is_some());
    assert_eq!(htb.opens_at(), at_us(11_200));
    assert_eq!(htb.dequeue(at_us(11_199), &mut losses), None);
    put(&mut htb, at_us(2000), 1500, 2);
    assert!(htb.opens_at() <= at_us(2000));
    assert_eq!(htb.dequeue(at_us(2000), &mut losses).map(|item| item.dscp), Some(2));
    assert_eq!(htb.opens_at(), at_us(11_200));
    assert_eq!(htb.dequeue(at_us(11_200), &mut losses).map(|item| item.dscp), Some(1));
}

#[test]
fn packets_find_their_leaf() {
    let class = |name: &str, matches| HtbClass { matches, ..HtbClass::new(name, Rate::mbit(1)) };
    let none = HtbMatch::default;
    let classes = vec![
        class("dscp", HtbMatch { dscp: vec![46], ..none() }),
        class("host", HtbMatch { addresses: vec![Addr(7)], ..none() }),
        class("flow", HtbMatch { ends: vec![(Addr(1), 99)], ..none() }),
        class("rest", none()),
    ];
    let udp = |src: (u32, u16), dst: (u32, u16), dscp| {
        let datagram = UdpDatagram::of_octets(src.1, dst.1, &[0; 100]);
        Packet { dscp, ..Packet::new(Addr(src.0), Addr(dst.0), Body::Udp(datagram)) }
    };
    let leaf_of = |default: Option<&str>, packet: &Packet| {
        let config = HtbConfig { classes: classes.clone(), default: default.map(str::to_owned) };
        config.validate().unwrap();
        let mut htb = Htb::new(&config, Bytes(1500), Generator::from_u64(1));
        htb.enqueue(item(0, 128, Time::ZERO), packet, &mut Losses::new());
        htb.classes.iter().position(Class::is_backlogged)
    };
    for (packet, leaf) in [
        (udp((1, 5), (2, 6), 46), 0),
        (udp((7, 5), (2, 6), 0), 1),
        (udp((2, 5), (7, 99), 0), 1),
        (udp((1, 99), (2, 6), 0), 2),
        (udp((2, 6), (1, 99), 0), 2),
        (udp((2, 99), (1, 6), 0), 3),
    ] {
        assert_eq!(leaf_of(Some("rest"), &packet), Some(leaf));
    }
    // Without a default what nobody names goes at once.
    assert_eq!(leaf_of(None, &udp((2, 5), (3, 6), 0)), None);
}

#[test]
fn what_no_class_names_goes_before_all() {
    let mut htb = htb(vec![leaf("a", "", 1, 1, 1)]);
    for dscp in [1, 0, 1, 0] {
        put(&mut htb, Time::ZERO, 1500, dscp);
    }
    let mut losses = Losses::new();
    let order: Vec<_> =
        (0..4).filter_map(|_| htb.dequeue(Time::ZERO, &mut losses)).map(|item| item.dscp).collect();
    assert_eq!(order, [0, 0, 1, 1]);
}

/// Leaves of any kind keep the rates: those that decide on arrival, those that decide at the head.
#[test]
fn leaves_are_queues_of_any_kind() {
    for queue in [
        QueueConfig::Red(RedConfig::default()),
        QueueConfig::Pie(PieConfig::default()),
        QueueConfig::CoDel(CoDelConfig::default()),
        QueueConfig::FqCoDel(FqCoDelConfig::default()),
        QueueConfig::Sfq(SfqConfig::default()),
        QueueConfig::Cake(CakeConfig::default()),
    ] {
        let with = |class| HtbClass { queue: Some(Box::new(queue.clone())), ..class };
        let classes = of_root(with(leaf("a", "root", 3, 10, 1)), with(leaf("b", "root", 6, 10, 2)));
        close(&steady(classes, &[1, 2]), &[3.5, 6.5]);
    }
}

#[test]
fn errors_name_the_class() {
    let error = |classes: Vec<HtbClass>, default: Option<&str>| {
        let config = HtbConfig { classes, default: default.map(str::to_owned) };
        config.validate().unwrap_err().to_string()
    };
    let a = || leaf("a", "root", 3, 10, 1);
    let root = || inner("root", "", 10, 10);
    for (classes, default, said) in [
        (vec![a()], None, "classes is a: parent root; allowed: the name of a class"),
        (vec![root(), a(), a()], None, "classes is a: the name twice; allowed: a name of its own"),
        (
            vec![root(), leaf("a", "root", 3, 2, 1)],
            None,
            "classes is a: ceil 2 Mbit/s; allowed: a ceil",
        ),
        (vec![inner("x", "y", 1, 1), inner("y", "x", 1, 1)], None, "classes is x: its parents"),
        (vec![leaf("root", "", 1, 1, 4), a()], None, "classes is root: dscp, hosts or flows"),
        (vec![root(), HtbClass { prio: 8, ..a() }], None, "classes is a: prio 8; allowed: 0 to 7"),
        (vec![root(), a()], Some("root"), "default is root; allowed: the name of a class without"),
        (
            vec![HtbClass {
                queue: Some(Box::new(QueueConfig::Htb(HtbConfig::default()))),
                ..leaf("a", "", 1, 1, 1)
            }],
            None,
            "classes is a: queue; allowed: a queue without classes",
        ),
    ] {
        let found = error(classes, default);
        assert!(found.starts_with(said), "{found}");
    }
}

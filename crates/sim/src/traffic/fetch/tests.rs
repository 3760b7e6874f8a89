use super::super::{Duration, DurationLaw, Source, Traffic};
use super::*;
use crate::Sizes;
use anabranch_media::video::Selection;
use anabranch_units::{Rate, Span};
use std::sync::Arc;

const MS: fn(u64) -> Span = Span::from_millis;

fn at(ms: u64) -> Time {
    Time::ZERO + MS(ms)
}

fn object(size: u64, after: &[usize], delay: u64) -> Object {
    Object { size, after: after.into(), delay: MS(delay) }
}

fn page(objects: Vec<Object>) -> LoadSpec {
    let think = Duration { mean: MS(100), law: DurationLaw::Constant };
    LoadSpec { request: 100, objects, count: Some(2), think, think_seed: 1 }
}

/// What the client has asked for becomes known to the server.
fn pass(client: &mut Source, server: &mut Source) {
    let orders = client.take_orders();
    server.order(orders);
}

/// A main object of 1000 octets; 1 and 2 after it, 1 with 5 ms of work; 3 after both.
#[test]
fn objects_are_asked_for_when_those_before_them_have_come() {
    let list = vec![
        object(1000, &[], 0),
        object(300, &[0], 5),
        object(400, &[0], 0),
        object(50, &[1, 2], 0),
    ];
    let spec = Arc::new(page(list));
    assert_eq!((spec.requests(), spec.responses()), (800, 3500));
    let mut client = Source::new(Traffic::Load(spec));
    let mut server = Source::new(Traffic::FetchServer { request: 100, total: 3500 });
    assert_eq!((client.start(at(0)), server.start(at(0))), (100, 0));
    pass(&mut client, &mut server);
    assert_eq!(server.on_received(at(10), 99), 0);
    assert_eq!(server.on_received(at(10), 100), 1000);
    assert_eq!(client.on_received(at(20), 999), 0);
    // The second object at once, the first after its work.
    assert_eq!((client.on_received(at(21), 1000), client.due()), (100, at(26)));
    assert_eq!((client.handle_timeout(at(26)), client.due()), (100, Time::NEVER));
    pass(&mut client, &mut server);
    assert_eq!([200, 300].map(|octets| server.on_received(at(30), octets)), [400, 300]);
    assert_eq!(client.on_received(at(40), 1400), 0);
    assert_eq!(client.on_received(at(41), 1700), 100);
    pass(&mut client, &mut server);
    assert_eq!(server.on_received(at(50), 400), 50);
    assert_eq!((client.on_received(at(60), 1750), client.due()), (0, at(160)));
    assert_eq!(client.exchanges(), [(at(0), Some(at(60)))]);
    assert_eq!(client.handle_timeout(at(160)), 100);
    let Some(FetchReport::Load(summary)) = client.report(at(170)) else { panic!("no load") };
    assert_eq!((summary.begun, summary.complete), (2, 1));
    assert_eq!(summary.time.map(|time| time.max), Some(0.06));
}

#[test]
fn a_generated_page_is_as_deep_as_it_shall_be() {
    let (main, size) = (Sizes::Constant { mean: 50_000 }, Sizes::Exponential { mean: 9000 });
    let mut generator = Generator::from_u64(3);
    let objects = Object::page(&main, &size, 40, 4, MS(2), &mut generator);
    let mut depths = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        assert!(object.after.iter().all(|before| *before < i));
        depths.push(object.after.first().map_or(0, |before| depths[*before] + 1));
    }
    let on = |depth| depths.iter().filter(|found| **found == depth).count();
    assert_eq!([0, 1, 2, 3, 4].map(on), [1, 10, 10, 10, 10]);
}

#[test]
fn a_video_is_asked_for_segment_by_segment() {
    let spec = VideoSpec {
        ladder: vec![Rate::mbit(1), Rate::mbit(2)],
        segment: Span::from_secs(2),
        segments: None,
        buffer: Span::from_secs(6),
        start: Span::from_secs(2),
        selection: Selection::RateBased { safety: 0.85, window: 5 },
    };
    let mut client = Source::new(Traffic::Video(100, Arc::new(spec)));
    let mut server = Source::new(Traffic::FetchServer { request: 100, total: u64::MAX });
    assert_eq!((client.start(at(0)), server.start(at(0))), (100, 0));
    pass(&mut client, &mut server);
    assert_eq!(server.on_received(at(10), 100), 250_000);
    // 20 Mbit/s: the next is of the second rung.
    assert_eq!(client.on_received(at(100), 250_000), 100);
    pass(&mut client, &mut server);
    assert_eq!(server.on_received(at(110), 200), 500_000);
    assert_eq!(client.on_received(at(200), 750_000), 100);
    // The third fills the buffer: 5.8 s, of 6 s.
    assert_eq!((client.on_received(at(300), 1_250_000), client.due()), (0, at(2100)));
    let Some(FetchReport::Video(summary)) = client.report(at(300)) else { panic!("no video") };
    assert_eq!((summary.segments, summary.switches, summary.stalls), (3, 1, 0));
    assert_eq!(summary.startup, Some(MS(100)));
}

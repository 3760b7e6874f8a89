//! Observers change nothing, and record what happened.

use super::*;

#[test]
fn observers_change_nothing() {
    let run = |observed: bool| {
        let mut builder = Builder::new();
        let ends = line(&mut builder, &everything_wrong(), Seed { seed: 9, replication: 0 });
        let flow = builder.flow(spec(&builder, ends, 80, 100_000));
        let mut sim = builder.build().unwrap();
        if observed {
            sim.enable_trace_hash();
            sim.attach(ConservationChecker::new());
        }
        sim.run_until(Time::ZERO + Span::from_secs(100));
        (sim.flow_result(flow), sim.events())
    };
    assert_eq!(run(true), run(false));
}

/// Samples are those of the recorded changes, whether the run ends at a date or when all is read,
/// in one piece or in slices.
#[test]
fn a_sample_is_what_the_changes_had_come_to() {
    let quantities = [(Side::Client, Quantity::InFlight), (Side::Server, Quantity::Received)];
    let run = |every: Option<Span>, slice: Option<Span>, to_completion: bool| {
        let mut builder = Builder::new();
        let ends = line(&mut builder, &everything_wrong(), Seed { seed: 9, replication: 0 });
        let flow = builder.flow(spec(&builder, ends, 80, 100_000));
        let mut sim = builder.build().unwrap();
        let mut recorder = SeriesRecorder::new();
        for (side, quantity) in quantities {
            recorder.record(flow, side, quantity, every);
        }
        let recorder = sim.attach(recorder);
        let end = Time::ZERO + Span::from_secs(100);
        let mut until = Time::ZERO;
        while until < end && !(to_completion && sim.have_all_ended()) {
            until = slice.map_or(end, |slice| until + slice);
            match to_completion {
                true => _ = sim.run_to_completion(until),
                false => sim.run_until(until),
            }
        }
        let observer = sim.observer(recorder);
        let series = |(side, what)| observer.series(flow, side, what, sim.now()).unwrap();
        (quantities.map(series), sim.now(), sim.events())
    };
    for to_completion in [false, true] {
        let (changes, end, events) = run(None, None, to_completion);
        for (every, slice) in [(MS(7), None), (MS(7), Some(MS(11))), (MS(3000), None)] {
            let (samples, ended, handled) = run(Some(every), slice, to_completion);
            assert_eq!(handled, events);
            for (sampled, changes) in samples.iter().zip(&changes) {
                let dates = (0..).map(|n| Time::ZERO + every.saturating_mul(n));
                let expected: Vec<(Time, f64)> = dates
                    .take_while(|date| *date <= ended.min(end))
                    .filter_map(|date| {
                        let last = changes.time.partition_point(|at| *at <= date).checked_sub(1)?;
                        Some((date, changes.value[last]))
                    })
                    .collect();
                let found = sampled.time.iter().copied().zip(sampled.value.iter().copied());
                assert!(found.eq(expected), "{every:?} {slice:?}");
            }
        }
    }
}

#[test]
fn recorders_tell_what_happened() {
    let mut builder = Builder::new();
    let first_data =
        FlowKey { src: Addr(0), dst: Addr(2), protocol: 6, src_port: 80, dst_port: 80 };
    let kind = ImpairmentKind::Packets { flow: first_data.into(), numbers: vec![2] };
    let mut forth = config();
    let ends = line(&mut builder, &forth, Seed::default());
    assert_eq!(ends.map(|node| builder.addr(node)), [first_data.src, first_data.dst]);
    // A second way that is shorter, and loses the second data packet once.
    forth.impairments.push(ImpairmentConfig { kind, at: Position::Ingress });
    let direct = builder.link(ends[0], ends[1], "direct", forth, Seed::default().generator(""));
    let flow = builder.flow(spec(&builder, ends, 80, 3000));
    let mut sim = builder.build().unwrap();
    let mut series = SeriesRecorder::new();
    series.record(flow, Side::Client, Quantity::InFlight, None);
    series.record(flow, Side::Server, Quantity::Received, Some(MS(1)));
    let series = sim.attach(series);
    let mut packets = PacketRecorder::new();
    packets.record(flow, Side::Client);
    let packets = sim.attach(packets);
    assert!(sim.run_to_completion(Time::NEVER));

    let recorder = sim.observer(packets);
    let [lane] = recorder.lanes(flow) else { panic!("one way: {recorder:?}") };
    let sends = &lane.sends;
    assert_eq!(sends.offset, [0, 1000, 1000, 2000]);
    assert_eq!(sends.retransmission, [false, false, true, false]);
    assert_eq!(sends.time[2] - sends.time[1], RTO);
    assert_eq!(lane.receives.offset, [0, 1000, 2000]);
    assert_eq!((&lane.drops.offset[..], &lane.drops.len[..]), (&[1000][..], &[1000][..]));
    assert_eq!(lane.drops.time, [sends.time[1]]);
    // The SYN-ACK, then data; the last acknowledgment is still under way.
    assert_eq!(lane.acks.offset, [0, 1000, 2000]);
    let recorded = |side, what| sim.observer(series).series(flow, side, what, sim.now()).unwrap();
    assert_eq!(recorded(Side::Client, Quantity::InFlight).value, [1000.0]);
    let received = recorded(Side::Server, Quantity::Received);
    assert!([1000.0, 2000.0].iter().all(|octets| received.value.contains(octets)));
    assert!(received.time.windows(2).all(|pair| pair[1] - pair[0] == MS(1)));
    assert_eq!(sim.link_counters(direct).dropped_loss, 1);
    assert_eq!(sim.flow_result(flow).timeouts, 1);
}

#[test]
fn queue_lengths_are_recorded_at_every_change() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    for port in 0..3 {
        builder.flow(spec(&builder, ends, port, 1000));
    }
    let mut sim = builder.build().unwrap();
    let mut recorder = QueueRecorder::new();
    recorder.record(LinkId(0), None);
    let recorder = sim.attach(recorder);
    let end = Time::ZERO + MS(1);
    sim.run_until(end);
    // Three SYNs of 40 octets at date 0: one on the line, two wait.
    let series = sim.observer(recorder).series(LinkId(0), end).unwrap();
    assert_eq!(series.time, [0, 40, 80].map(|us| Time::ZERO + Span::from_micros(us)));
    assert_eq!(series.value, [2.0, 1.0, 0.0]);
}

#[test]
fn captures_hold_what_hosts_and_links_saw() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    builder.flow(spec(&builder, ends, 80, 1000));
    let mut sim = builder.build().unwrap();
    let mut capture = Capture::new(Vec::new(), AddressBook::new(), Snap::Whole).unwrap();
    capture.host(ends[0], "a").unwrap();
    capture.link(LinkId(0), "a-r").unwrap();
    let capture = sim.attach(capture);
    sim.run_until(Time::ZERO + Span::from_secs(5));
    let file = sim.observer_mut(capture).finish().unwrap().expect("ended once");
    // Enhanced packet blocks, with the octets in each: what the host sent and
    // received, and what crossed the first link.
    let (mut at, mut octets, mut packets) = (0, 0, [0_u64; 2]);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    while at < file.len() {
        if word(at) == 6 {
            packets[word(at + 8) as usize] += 1;
            octets += word(at + 24);
        }
        at += word(at + 4) as usize;
    }
    let crossed = sim.link_counters(LinkId(0)).delivered;
    let back = sim.link_counters(LinkId(3)).delivered;
    assert_eq!(packets, [crossed + back, crossed]);
    assert!(octets > 2 * 1040);
}

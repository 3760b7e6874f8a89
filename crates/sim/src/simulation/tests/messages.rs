//! Messages over endpoints that have none.

use super::*;
use std::sync::Arc;

/// In a live run a program may have the sending host: its messages are its own, and the application
/// that stands for it here sends nothing.
#[test]
fn an_endpoint_without_messages_sends_none() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    let traffic = MessageTraffic {
        size: Sizes::Constant { mean: 100 },
        most: 1000,
        count: Some(3),
        total: None,
        pace: Pace::Saturated,
        streams: 1,
        unordered: false,
        lifetime: None,
        retransmissions: None,
        keep: false,
        datagrams: None,
        seed: 1,
    };
    let flow = builder.flow(FlowSpec {
        client_app: App::Messages(Arc::new(traffic)),
        server_app: App::MessageSink,
        ..spec(&builder, ends, 80, 0)
    });
    let mut sim = builder.build().unwrap();
    sim.run_until(Time::ZERO + Span::from_secs(1));
    assert!(sim.is_established(flow, Side::Client));
    assert_eq!(sim.message_totals(flow, Side::Client).map(|totals| totals.delivered), Some(0));
}

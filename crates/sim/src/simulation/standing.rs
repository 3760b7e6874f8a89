//! How far a flow is, and whether it would ever go on: the watchdog that looks at a run when it is
//! over, so that a transfer that stands still is told from one that takes its time.

use super::Simulation;
use crate::app::Hosted;
use crate::flow::{FlowId, Side};
use anabranch_endpoint::{ByteStream, CloseReason};
use anabranch_units::Time;

/// Where a flow stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Its date of starting has not come.
    NotStarted,
    /// Everything that was to be read has been read.
    Complete,
    /// The connection of a side has ended before that.
    Ended(Side, CloseReason),
    /// Something is still to come: a timer at this date, the earliest; or, without one, packets that
    /// are in the network, a start, or somebody outside.
    Waiting(Time),
    /// Its applications have nothing to write and nothing to read at present.
    Idle,
    /// It stands still for ever: there is something to send or to read, no timer of either side will
    /// do anything about it, and the network holds none of its packets.
    Stalled,
}

impl<E: ByteStream> Simulation<E> {
    /// Where a flow stands now. Looks at every packet in the network, so that it is for the end of a
    /// run, or for somebody who watches.
    pub fn standing(&self, flow: FlowId) -> Standing {
        if self.flows[flow.0 as usize].start > self.fabric.now {
            return Standing::NotStarted;
        }
        let sides = [Side::Client, Side::Server];
        let [client, server] = sides.map(|side| self.hosted(flow, side));
        if client.app.is_satisfied() && server.app.is_satisfied() && has_end([client, server]) {
            return Standing::Complete;
        }
        if let Some(ended) = sides.into_iter().find_map(|side| {
            let reason = self.hosted(flow, side).app.closed?;
            Some(Standing::Ended(side, reason))
        }) {
            return ended;
        }
        let due = |it: &Hosted<E>| it.endpoint.progress_timeout().min(it.app.due(&self.stage));
        let due = due(client).min(due(server));
        if due != Time::NEVER || self.outside.is_some() || self.is_in_network(flow) {
            return Standing::Waiting(due);
        }
        let [client, server] = sides.map(|side| self.hosted(flow, side));
        let opening = !client.app.is_established();
        let lacks = |writer: &Hosted<E>, reader: &Hosted<E>| {
            writer.app.written() > reader.app.received || writer.app.has_more(&self.stage)
        };
        match opening || lacks(client, server) || lacks(server, client) {
            true => Standing::Stalled,
            false => Standing::Idle,
        }
    }

    /// Octets that the application of a side has read, and how many there will be where that is
    /// known.
    pub fn progress(&self, flow: FlowId, reader: Side) -> (u64, Option<u64>) {
        let app = &self.hosted(flow, reader).app;
        (app.received, Some(app.expected()).filter(|it| *it != u64::MAX))
    }

    /// A packet of the flow is in the network.
    fn is_in_network(&self, flow: FlowId) -> bool {
        let [client, server] = [Side::Client, Side::Server].map(|side| self.endpoint(flow, side));
        self.fabric.pool.iter().any(|packet| {
            let key = packet.flow_key();
            client.has_flow(key) || server.has_flow(key)
        })
    }

    /// A side has ended in order. Where both have, and everything was written, nothing may be
    /// missing.
    #[cold]
    pub(super) fn check_whole(&self, index: u32) {
        let (flow, _) = FlowId::of_endpoint(index);
        let sides = [Side::Client, Side::Server].map(|side| &self.hosted(flow, side).app);
        let normal = sides.iter().all(|it| it.closed == Some(CloseReason::Normal));
        if !normal || self.outside.is_some() {
            return;
        }
        for (writer, reader) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let missing = reader.missing_of(writer, &self.stage);
            assert!(
                missing == 0,
                "a transfer that ends normally is whole: flow {}, {missing} of {} octets are missing",
                self.flow_name(flow),
                writer.written(),
            );
        }
    }
}

/// It is known how much both will read, and that is something.
fn has_end<E>(sides: [&Hosted<E>; 2]) -> bool {
    let ends = sides.map(|it| it.app.expected());
    ends.iter().all(|it| *it != u64::MAX) && ends.iter().any(|it| *it != 0)
}

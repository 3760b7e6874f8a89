//! Tells how far a flow has come, and whether it would ever go on: the watchdog that looks at a
//! run when it is over, so that a transfer that stands still is told from one that takes its time.

use super::Simulation;
use crate::FlowEndpoint;
use crate::app::Hosted;
use crate::flow::{FlowId, Side};
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;

/// How far a flow has come, and whether it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The time at which it starts has not come.
    NotStarted,
    /// Everything that was to be read has been read.
    Complete,
    /// The connection of a side has ended before that.
    Ended(Side, CloseReason),
    /// Something is still to come: a timer at this date, the earliest; or, without one, packets that
    /// are in the network, a start, somebody outside, or a place at a port that strangers fill.
    Waiting(Time),
    /// Its applications have nothing to write and nothing to read at present.
    Idle,
    /// It stands still for ever: there is something to send or to read, no timer of either side will
    /// do anything about it, and the network holds none of its packets.
    Stalled,
}

impl<E: FlowEndpoint> Simulation<E> {
    /// Returns where a flow stands now. Looks at every packet in the network, so that it is for the
    /// end of a run, or for somebody who watches.
    pub fn standing(&self, flow: FlowId) -> Standing {
        if self.flows[flow.0 as usize].start > self.network.now {
            return Standing::NotStarted;
        }
        let sides = [Side::Client, Side::Server];
        let [client, server] = sides.map(|side| self.hosted(flow, side));
        if let Some(channel) =
            client.app.sent(&self.context).filter(|channel| channel.has_datagrams())
        {
            // Nothing is sent again: what was sent is there, lost, or under way.
            let is_over = channel.is_over() && channel.has_end();
            return match (self.is_in_network(flow), is_over) {
                (true, _) => Standing::Waiting(Time::NEVER),
                (false, true) => Standing::Complete,
                (false, false) => Standing::Idle,
            };
        }
        if client.app.is_satisfied() && server.app.is_satisfied() && has_end([client, server]) {
            return Standing::Complete;
        }
        if let Some(ended) = sides.into_iter().find_map(|side| {
            let reason = self.hosted(flow, side).app.closed?;
            Some(Standing::Ended(side, reason))
        }) {
            return ended;
        }
        let due = |hosted: &Hosted<E>| {
            hosted.endpoint.progress_timeout().min(hosted.app.due(&self.context))
        };
        let due = due(client).min(due(server));
        let waits =
            self.outside.is_some() || self.is_in_network(flow) || self.is_kept_waiting(flow);
        if due != Time::NEVER || waits {
            return Standing::Waiting(due);
        }
        let [client, server] = sides.map(|side| self.hosted(flow, side));
        let opening = !client.app.is_established();
        let lacks = |writer: &Hosted<E>, reader: &Hosted<E>| {
            writer.app.written() > reader.app.received || writer.app.has_more(&self.context)
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
        (app.received, Some(app.expected()).filter(|expected| *expected != u64::MAX))
    }

    /// The flow's connection waits at a port to be accepted, for strangers have all places there.
    pub fn is_kept_waiting(&self, flow: FlowId) -> bool {
        let end = flow.endpoint(Side::Server);
        let ports = self.agents.iter().flat_map(|agents| &agents.receptions);
        ports.into_iter().any(|port| port.keeps_waiting(end))
    }

    /// A packet of the flow is in the network.
    fn is_in_network(&self, flow: FlowId) -> bool {
        let [client, server] = [Side::Client, Side::Server].map(|side| self.endpoint(flow, side));
        self.network.pool.iter().any(|packet| {
            let key = packet.flow_key();
            client.has_flow(key) || server.has_flow(key)
        })
    }

    /// A side has ended in order. Where both have, and everything was written, nothing may be
    /// missing; but who is told that it all arrived, or has ended, believes it.
    #[cold]
    pub(super) fn check_whole(&self, index: u32) {
        let (flow, _) = FlowId::of_endpoint(index);
        let sides = [Side::Client, Side::Server].map(|side| &self.hosted(flow, side).app);
        let normal = sides.iter().all(|side| side.closed == Some(CloseReason::Normal));
        if !normal || self.outside.is_some() || self.flows[flow.0 as usize].is_deceived {
            return;
        }
        for (writer, reader) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let missing = reader.missing_of(writer, &self.context);
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
    let ends = sides.map(|side| side.app.expected());
    ends.iter().all(|end| *end != u64::MAX) && ends.iter().any(|end| *end != 0)
}

//! Segments that a host hears together, and answers together.

use super::Simulation;
use crate::FlowEndpoint;
use crate::offload::Offload;
use anabranch_network::{NodeId, PacketId};

impl<E: FlowEndpoint> Simulation<E> {
    /// An endpoint hears of a packet, which is then gone, and answers unless its
    /// host waits for more.
    pub(super) fn hear_together(&mut self, node: NodeId, endpoint: u32, id: PacketId) {
        let Some(offload) = self.outside.as_mut().and_then(|outside| outside.offload.as_mut())
        else {
            return;
        };
        if let Some(waiting) = offload.before(endpoint, self.network.pool.packet(id)) {
            self.service_and_set_timer(waiting);
        }
        let (now, packet) = (self.network.now, self.network.pool.packet(id));
        self.endpoints[endpoint as usize].endpoint.handle_input(now, packet);
        let offload = self.outside.as_mut().and_then(|outside| outside.offload.as_mut());
        let waits = offload.is_some_and(|offload| offload.after(node, endpoint, packet));
        self.network.pool.release(id);
        if !waits {
            self.service_and_set_timer(endpoint);
        }
    }

    /// What has come together by now is answered: to be called after
    /// [`run_until`](Simulation::run_until), before time passes.
    pub fn answer(&mut self) {
        let offload = self.outside.as_mut().and_then(|outside| outside.offload.as_mut());
        if let Some(endpoint) = offload.and_then(Offload::end) {
            self.service_and_set_timer(endpoint);
            self.end_event();
        }
    }
}

//! What all applications of a simulation share.

use crate::barrier::Barrier;
use crate::messages::Channel;
use crate::traffic::Source;
use anabranch_units::Time;

/// A buffer for streams of real octets, and the traffic and messages of those that
/// have some.
#[derive(Debug)]
pub(crate) struct AppContext {
    pub buf: Vec<u8>,
    pub sources: Vec<Source>,
    pub channels: Vec<Channel>,
    pub barriers: Vec<Barrier>,
    /// Endpoints whose applications have got a date from others.
    pub woken: Vec<u32>,
    /// Octets that an application writes at once, about.
    pub piece: u64,
    /// The application that wrote last has more, which it did not try to write.
    pub has_more: bool,
    /// Messages that are being read: when each was made, and its length.
    pub read: Vec<(Time, u32)>,
}

impl AppContext {
    pub(crate) fn new() -> AppContext {
        AppContext {
            buf: vec![0; 16 * 1024],
            sources: Vec::new(),
            channels: Vec::new(),
            barriers: Vec::new(),
            woken: Vec::new(),
            piece: u64::MAX,
            has_more: false,
            read: Vec::new(),
        }
    }

    /// What the source of a client has asked for becomes known to the one of its server.
    #[inline]
    pub(crate) fn pass_orders(&mut self, client: usize) {
        if let Some(server) = self.sources[client].server() {
            let orders = self.sources[client].take_orders();
            self.sources[server as usize].order(orders);
        }
    }

    /// The source made last, whose endpoint is this, joins.
    pub(crate) fn join(&mut self, barrier: u32, source: u32, endpoint: u32) {
        let list = &mut self.barriers;
        list.resize_with(list.len().max(barrier as usize + 1), Barrier::default);
        list[barrier as usize].join(source, endpoint);
    }

    /// A response is whole (`over`: the last), or with `gone` its connection has
    /// ended. The next round begins after the time to think of whoever comes
    /// last.
    pub(crate) fn arrive(&mut self, now: Time, barrier: u32, source: u32, gone: bool) {
        let over = gone || self.sources[source as usize].is_over();
        let barrier = &mut self.barriers[barrier as usize];
        if !barrier.arrive(source, over) {
            return;
        }
        let at = now.saturating_add(self.sources[source as usize].think());
        for (source, endpoint) in barrier.present() {
            self.sources[source as usize].request_at(at);
            self.woken.push(endpoint);
        }
    }
}

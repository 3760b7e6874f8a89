//! Small segments that wait for more to send (RFC 9293 §3.7.4): Nagle's algorithm in Minshall's form, for
//! the stream as a whole, and what the user corks.

use super::Connection;
use crate::config::Config;

/// Why a segment that is not full waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    /// Nagle's algorithm: a small segment waits while another is on its way on its subflow.
    pub nagle: bool,
    /// A small segment waits until the user says otherwise, or the probe timer expires.
    pub corked: bool,
}

impl Connection {
    /// Small segments leave at once from now on (`TCP_NODELAY`), or again wait for the ACK of the last.
    pub fn set_no_delay(&mut self, no_delay: bool) {
        self.holding.nagle = !no_delay;
        if self.scheduling.assigns() {
            self.reconfigure_subflows(|config| config.nagle = Config::nagle_of_subflow(!no_delay));
        }
        self.look_at_all();
    }

    /// Small segments wait for more to send from now on (`TCP_CORK`), or do no longer.
    pub fn set_corked(&mut self, corked: bool) {
        self.holding.corked = corked;
        self.look_at_all();
    }

    /// Changes settings of all subflows, those that will be opened included.
    pub fn reconfigure_subflows(&mut self, mut change: impl FnMut(&mut anabranch_tcp::Config)) {
        change(std::sync::Arc::make_mut(&mut self.subflow_config));
        self.subflows.iter_mut().for_each(|subflow| subflow.tcp.reconfigure(&mut change));
    }

    /// The next `len` octets, on a subflow whose segments hold `most`, are all that there is, and wait for
    /// more.
    pub(super) fn holds_back(&self, i: usize, len: u64, most: u64) -> bool {
        let subflow = &self.subflows[i];
        let waits = self.holding.corked || self.holding.nagle && subflow.has_small_outstanding();
        waits && len < most && self.is_held(len)
    }

    /// The last `len` octets may wait for more.
    fn is_held(&self, len: u64) -> bool {
        len == self.sender.unsent() && !self.sender.is_closed() && !self.sender.is_overridden()
    }

    /// What is corked waits, and nothing is outstanding whose ACK would make way for it.
    pub(super) fn is_corked_up(&self) -> bool {
        let unsent = self.sender.unsent();
        self.holding.corked && unsent < self.subflows.mss() && self.is_held(unsent)
    }

    fn look_at_all(&mut self) {
        for i in 0..self.subflows.len() {
            self.touch(i);
        }
    }
}

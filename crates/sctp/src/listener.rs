//! A listening port makes associations of the cookies that come back to it.
//!
//! Of an INIT it remembers nothing: all is in the cookie (RFC 9260 §5.1.3). What
//! waits to be accepted is limited; while there is no room COOKIE ECHOs are dropped,
//! which their senders send again.

use crate::association::Association;
use crate::config::Config;
use crate::state::State;
use anabranch_endpoint::{Demultiplex, Endpoint, Generator, Observe};
use anabranch_units::Time;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Addr, Body, FlowKey, Packet};
use std::collections::VecDeque;
use std::sync::Arc;

/// `ListenerCounters` count what a listener has seen since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListenerCounters {
    /// `cookies_sent` counts the INITs that were answered with a cookie.
    pub cookies_sent: u64,
    /// `cookies_accepted` counts the associations that were made of cookies that came back.
    pub cookies_accepted: u64,
    /// `overflows` counts the COOKIE ECHOs that were dropped because too many associations waited.
    pub overflows: u64,
}

/// A `Listener` is a listening port.
#[derive(Debug)]
pub struct Listener {
    config: Arc<Config>,
    local: (Vec<Addr>, u16),
    backlog: usize,
    key: [u8; 32],
    generator: Generator,
    /// `passive` answers INITs, and becomes the association of the next good cookie.
    passive: Association,
    ready: VecDeque<Association>,
    replies: VecDeque<Packet>,
    counters: ListenerCounters,
}

impl Listener {
    /// `new` makes a listener at the addresses and the port `local`; up to `backlog` associations
    /// wait to be accepted.
    ///
    /// # Panics
    /// It panics if `local` has no address.
    pub fn new(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        backlog: usize,
        mut generator: Generator,
    ) -> Listener {
        let config = config.into();
        let mut key = [0; 32];
        for octets in key.chunks_exact_mut(8) {
            octets.copy_from_slice(&generator.next_u64().to_be_bytes());
        }
        let local = (local.0.to_vec(), local.1);
        let passive = fresh(&config, &local, key, &mut generator);
        let (ready, replies) = (VecDeque::new(), VecDeque::new());
        let counters = ListenerCounters::default();
        Listener { config, local, backlog, key, generator, passive, ready, replies, counters }
    }

    /// Takes the association that has waited longest. From then on the host must deliver its
    /// packets to it, not to the listener.
    pub fn accept(&mut self) -> Option<Association> {
        self.ready.pop_front()
    }

    /// Returns how many associations wait to be accepted.
    pub fn waiting(&self) -> usize {
        self.ready.len()
    }

    /// Returns how many octets of memory the waiting associations take.
    pub fn memory(&self) -> u64 {
        self.ready.iter().map(Observe::memory).sum()
    }

    /// Returns the counters of what the listener has seen.
    pub fn counters(&self) -> ListenerCounters {
        self.counters
    }

    /// Handles a packet for the port that belongs to no accepted association.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        let Body::Sctp(sctp) = &packet.body else { return };
        let key = packet.flow_key().reversed();
        // §5.1.2 D: by any address that the packet names.
        let named = sctp.named_sources().map(|dst| FlowKey { dst, ..key });
        let keys: Vec<FlowKey> = std::iter::once(key).chain(named).collect();
        // One that has ended waits for its user alone; its peer may begin another.
        let known = |waiting: &&mut Association| {
            waiting.state() != State::Closed && keys.iter().any(|key| waiting.has_flow(*key))
        };
        if let Some(waiting) = self.ready.iter_mut().find(known) {
            return waiting.handle_input(now, packet);
        }
        if sctp.cookie_echo().is_some() && self.ready.len() >= self.backlog {
            self.counters.overflows += 1;
            return;
        }
        self.passive.handle_input(now, packet);
        if self.passive.state() != State::Closed {
            // The cookie was good.
            self.counters.cookies_accepted += 1;
            let next = fresh(&self.config, &self.local, self.key, &mut self.generator);
            self.ready.push_back(std::mem::replace(&mut self.passive, next));
            return;
        }
        while let Some(answer) = self.passive.poll_transmit(now) {
            if let Body::Sctp(answer) = &answer.body
                && matches!(answer.chunks.first(), Some(Chunk::InitAck(_)))
            {
                self.counters.cookies_sent += 1;
            }
            self.replies.push_back(answer);
        }
    }

    /// Handles the deadlines of waiting associations that have passed by `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        for waiting in self.ready.iter_mut().filter(|waiting| waiting.state() != State::Closed) {
            waiting.handle_timeout(now);
        }
        // What was acknowledged is for whoever accepts, even if the peer has ended in order
        // meanwhile.
        let has_messages = |waiting: &Association| waiting.waiting().len() > 0;
        self.ready.retain(|waiting| waiting.state() != State::Closed || has_messages(waiting));
    }

    /// Returns the next packet to send; call it until it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let reply = self.replies.pop_front();
        reply.or_else(|| {
            self.ready.iter_mut().find_map(|association| association.poll_transmit(now))
        })
    }

    /// Returns the date at which to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Time {
        self.ready.iter().map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER)
    }
}

/// `fresh` makes an endpoint that answers INITs. Its peer is not known yet, so that it has an
/// address to which nothing is ever sent.
fn fresh(
    config: &Arc<Config>,
    local: &(Vec<Addr>, u16),
    key: [u8; 32],
    generator: &mut Generator,
) -> Association {
    let own = Generator::from_u64(generator.next_u64());
    let peer = (&[Addr(u32::MAX)][..], 0);
    Association::server(config.clone(), (&local.0, local.1), peer, own).with_cookie_key(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_endpoint::{ByteStream, Event, Seed};

    const SERVER: Addr = Addr(0);

    fn generator(name: &str) -> Generator {
        Seed { seed: 1, replication: 0 }.generator(name)
    }

    fn client(addr: u32) -> Association {
        let local = (&[Addr(addr)][..], 1000);
        let peer = (&[SERVER][..], 80);
        let mut client =
            Association::client(Config::default(), local, peer, generator(&addr.to_string()));
        client.connect(Time::ZERO);
        client
    }

    fn exchange(listener: &mut Listener, client: &mut Association) {
        let now = Time::ZERO;
        while let Some(packet) = client.poll_transmit(now).or_else(|| listener.poll_transmit(now)) {
            match packet.dst == SERVER {
                true => listener.handle_input(now, &packet),
                false => client.handle_input(now, &packet),
            }
        }
    }

    fn listener(backlog: usize) -> Listener {
        Listener::new(Config::default(), (&[SERVER], 80), backlog, generator("server"))
    }

    #[test]
    fn anybody_may_associate_until_the_queue_is_full() {
        let mut listener = listener(2);
        let mut clients = [1, 2, 3].map(client);
        clients.iter_mut().for_each(|client| exchange(&mut listener, client));
        let states = clients.each_ref().map(|client| client.state());
        assert_eq!(states, [State::Established, State::Established, State::CookieEchoed]);
        assert_eq!(listener.waiting(), 2);
        let counters = ListenerCounters { cookies_sent: 3, cookies_accepted: 2, overflows: 1 };
        assert_eq!(listener.counters(), counters);
        // The one that has waited longest, and its application hears of it.
        let mut first = listener.accept().unwrap();
        assert!(first.has_flow(clients[0].flow_key().reversed()));
        assert_eq!(first.poll_event(), Some(Event::Connected));
    }

    /// What was acknowledged is not forgotten where the peer ends before anybody has accepted; one
    /// that has nothing to read any more is, and its peer may come again.
    #[test]
    fn who_ends_before_being_accepted_keeps_what_it_has_sent() {
        for octets in [100, 0] {
            let mut listener = listener(2);
            let mut client = client(1);
            exchange(&mut listener, &mut client);
            client.write(octets);
            exchange(&mut listener, &mut client);
            client.close();
            exchange(&mut listener, &mut client);
            assert_eq!(client.state(), State::Closed);
            listener.handle_timeout(Time::ZERO);
            assert_eq!(listener.waiting(), usize::from(octets > 0));
            if octets > 0 {
                let mut again = self::client(1);
                exchange(&mut listener, &mut again);
                assert_eq!((again.state(), listener.waiting()), (State::Established, 2));
                assert_eq!(listener.accept().unwrap().read(1000), octets);
            }
        }
    }

    /// RFC 9260 §1.3, §5.1.2 D: an INIT from another address that names one that is known is of the
    /// association with that peer, and makes no second one.
    #[test]
    fn a_known_peer_is_found_by_any_of_its_addresses() {
        let mut listener = listener(2);
        let mut first = client(1);
        exchange(&mut listener, &mut first);
        assert_eq!(listener.waiting(), 1);
        let mut again = client(7);
        let mut init = again.poll_transmit(Time::ZERO).unwrap();
        if let Body::Sctp(sctp) = &mut init.body
            && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
        {
            init.parameters.push(anabranch_wire::sctp::Parameter::Address(Addr(1).into()));
        }
        listener.handle_input(Time::ZERO, &init);
        let answer = listener.poll_transmit(Time::ZERO).unwrap();
        let Body::Sctp(sctp) = &answer.body else { panic!("{answer:?}") };
        let is_abort = matches!(sctp.chunks.first(), Some(Chunk::Abort { .. }));
        assert!(is_abort, "a restart with a new address (§5.2.2): {answer:?}");
    }

    /// RFC 9260 §5.1.3: an INIT leaves nothing behind.
    #[test]
    fn a_flood_of_inits_takes_no_memory() {
        let mut listener = listener(1);
        for addr in 1..500 {
            let init = client(addr).poll_transmit(Time::ZERO).unwrap();
            listener.handle_input(Time::ZERO, &init);
            assert!(listener.poll_transmit(Time::ZERO).is_some());
        }
        assert_eq!((listener.waiting(), listener.memory()), (0, 0));
        assert_eq!(listener.poll_timeout(), Time::NEVER);
    }
}

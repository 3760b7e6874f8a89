//! Control chunks wait here for the next packet, and so does the route of answers among them (RFC
//! 9260 §6.4, §6.10).

use crate::draft::Draft;
use crate::paths::Removal;
use crate::route::Route;
use anabranch_wire::sctp::{Chunk, kind};

/// Chunks beyond this many are not taken, so that a peer cannot make them many.
const MOST: usize = 8;

/// `Waiting` has the control chunks that leave with the next packet.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// `chunks` are in the order in which they leave.
    chunks: Vec<Chunk>,
    /// `arrival` is the route back to where the packet at hand came from.
    pub arrival: Route,
    /// `answer` is the route that the chunks must take; with `None` they go with any packet.
    answer: Option<Route>,
}

impl Waiting {
    /// `new` makes a queue in which nothing waits.
    pub fn new(arrival: Route) -> Waiting {
        Waiting { chunks: Vec::new(), arrival, answer: None }
    }

    /// Returns whether no chunk waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns how many chunks wait.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the route that the waiting chunks must take, if there is one.
    #[inline]
    pub fn answer(&self) -> Option<Route> {
        self.answer
    }

    /// Makes the waiting chunks go back to where the packet at hand came from.
    pub fn answer_arrival(&mut self) {
        self.answer = Some(self.arrival);
    }

    /// Makes the waiting chunks take this route.
    pub fn go(&mut self, route: Route) {
        self.answer = Some(route);
    }

    /// Makes the waiting chunks go with any packet.
    pub fn answer_nobody(&mut self) {
        self.answer = None;
    }

    /// Adds a chunk of this side's own, however many wait.
    pub fn insist(&mut self, chunk: Chunk) {
        self.chunks.push(chunk);
    }

    /// Adds a chunk, unless too many wait.
    pub fn push(&mut self, chunk: Chunk) {
        if self.chunks.len() < MOST {
            self.chunks.push(chunk);
        }
    }

    /// Adds an answer to the packet at hand.
    pub fn push_answer(&mut self, chunk: Chunk) {
        self.answer_arrival();
        self.push(chunk);
    }

    /// Adds a chunk unless one of its kind waits already.
    pub fn push_once(&mut self, chunk: Chunk) {
        if !self.chunks.iter().any(|other| other.kind() == chunk.kind()) {
            self.push(chunk);
        }
    }

    /// Drops the chunks that are `stale`.
    pub fn discard(&mut self, stale: impl Fn(&Chunk) -> bool) {
        self.chunks.retain(|chunk| !stale(chunk));
    }

    /// Moves chunks into a packet that takes their route, in order while they fit; an empty packet
    /// takes the first in any case.
    #[inline]
    pub fn lead(&mut self, draft: &mut Draft) {
        let mut waiting = std::mem::take(&mut self.chunks).into_iter().peekable();
        while let Some(chunk) =
            waiting.next_if(|chunk| draft.chunks.is_empty() || chunk.wire_len() <= draft.room)
        {
            draft.push(chunk);
        }
        self.chunks.extend(waiting);
        self.answer = None;
    }

    /// Returns whether one of these chunks waits.
    pub fn any(&self, is: impl Fn(&Chunk) -> bool) -> bool {
        self.chunks.iter().any(is)
    }

    /// Drops answers until what waits fits `room` octets, the last ones first (RFC 9260 §12.4: a
    /// packet is not answered by several).
    pub fn fit(&mut self, room: u32) {
        let answers = |chunk: &Chunk| matches!(chunk.kind(), kind::HEARTBEAT_ACK | kind::ERROR);
        while self.chunks.len() > 1 && self.octets() > room {
            let Some(last) = self.chunks.iter().rposition(answers) else { return };
            self.chunks.remove(last);
        }
    }

    /// Returns how many octets all that waits takes.
    fn octets(&self) -> u32 {
        self.chunks.iter().map(Chunk::wire_len).sum()
    }

    /// Changes the indices of paths in the routes as the removal of a path asks.
    pub fn follow(&mut self, removal: Removal) {
        for route in [&mut self.arrival].into_iter().chain(&mut self.answer) {
            route.path = removal.moved(route.path);
        }
    }

    /// Drops all chunks.
    pub fn clear(&mut self) {
        self.chunks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Serial32;
    use anabranch_wire::Addr;

    const ROUTE: Route = Route { path: 0, source: Addr(0) };

    fn kinds(draft: &Draft) -> Vec<u8> {
        draft.chunks.iter().map(|chunk| chunk.kind()).collect()
    }

    #[test]
    fn what_fits_leaves_in_order_and_the_first_in_any_case() {
        let mut waiting = Waiting::new(ROUTE);
        let error = |len| Chunk::Heartbeat(vec![0; len].into());
        waiting.push(error(500));
        waiting.push_answer(Chunk::CookieAck);
        assert_eq!(waiting.answer().map(|route| route.path), Some(0));
        let mut small = Draft::new(300);
        waiting.lead(&mut small);
        assert_eq!(kinds(&small), [4], "nothing is left for the other");
        assert!(waiting.answer().is_none() && waiting.len() == 1);
        let mut large = Draft::new(300);
        waiting.lead(&mut large);
        assert_eq!(kinds(&large), [11]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn a_peer_cannot_make_them_many() {
        let mut waiting = Waiting::new(ROUTE);
        (0..20).for_each(|_| waiting.push(Chunk::CookieAck));
        assert_eq!(waiting.len(), MOST);
        waiting.insist(Chunk::CookieAck);
        assert_eq!(waiting.len(), MOST + 1);
    }

    #[test]
    fn there_is_one_shutdown_at_a_time() {
        let mut waiting = Waiting::new(ROUTE);
        waiting.push_once(Chunk::Shutdown(Serial32(1)));
        waiting.push_once(Chunk::Shutdown(Serial32(2)));
        waiting.push_once(Chunk::ShutdownAck);
        assert_eq!(waiting.len(), 2);
        waiting.discard(|chunk| matches!(chunk, Chunk::Shutdown(_)));
        assert_eq!(waiting.len(), 1);
    }
}

//! What a host remembers of a peer between connections (RFC 9040 §6, temporal
//! sharing).

use std::any::Any;
use std::fmt;

/// An endpoint that starts from what earlier connections to the same peer have learnt, and adds
/// to that (RFC 9040 §6, for instance the cookies of RFC 7413 §4.1.3). One that shares nothing has
/// nothing to add to the defaults.
pub trait TemporalSharing {
    /// What the host remembers of the peer. The host calls it before the endpoint connects.
    fn recall(&mut self, _memory: &PeerMemory) {}

    /// There is something for the host to remember. A host that keeps memories
    /// asks when the connection is established and when it is over.
    fn has_learnt(&self) -> bool {
        false
    }

    /// Writes down what was learnt of the peer since the last call. The host calls it where
    /// [`has_learnt`](Self::has_learnt) says so.
    fn remember(&mut self, _memory: &mut PeerMemory) {}
}

/// What the transports of a host have learnt of one peer: at most one value of
/// each type. The host keeps one for each pair of addresses and looks into
/// none.
///
/// ```
/// use anabranch_endpoint::PeerMemory;
/// let mut memory = PeerMemory::default();
/// *memory.get_mut::<u32>() = 7;
/// assert_eq!(memory.get::<u32>(), Some(&7));
/// assert_eq!(memory.get::<u64>(), None);
/// ```
#[derive(Default)]
pub struct PeerMemory(Vec<Box<dyn Any + Send>>);

impl PeerMemory {
    /// The value of this type, if there is one.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|item| item.downcast_ref())
    }

    /// The value of this type, made when there was none.
    pub fn get_mut<T: Any + Send + Default>(&mut self) -> &mut T {
        let at = self.0.iter().position(|item| item.is::<T>()).unwrap_or_else(|| {
            self.0.push(Box::new(T::default()));
            self.0.len() - 1
        });
        self.0[at].downcast_mut().expect("the value at this place is of this type")
    }
}

impl fmt::Debug for PeerMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerMemory({})", self.0.len())
    }
}

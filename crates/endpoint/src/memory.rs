//! What a host remembers of a peer between connections (RFC 9040 §5, temporal
//! sharing).

use std::any::Any;
use std::fmt;

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
        self.0.iter().find_map(|it| it.downcast_ref())
    }

    /// The value of this type, made when there was none.
    pub fn get_mut<T: Any + Send + Default>(&mut self) -> &mut T {
        let at = self.0.iter().position(|it| it.is::<T>()).unwrap_or_else(|| {
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

//! Algorithms of the user's own in configurations: whether there are any, and
//! where they work. A flow that has one gets a copy of its configuration for
//! each side; others share theirs.

use crate::schema::Protocol;
use anabranch_congestion::Algorithm;
use anabranch_custom::{Custom, Place};
use anabranch_endpoint::Generator;
use std::sync::Arc;

/// A configuration in which algorithms of the user's own may stand.
pub(crate) trait HasOwn: Clone {
    /// It has some.
    fn has_own(&self) -> bool;
    /// They work at this place.
    fn place(&mut self, place: &Arc<Place>);
}

/// The configurations of client and server of the flow `name`.
pub(crate) fn placed<C: HasOwn>(
    config: &Arc<C>,
    name: &str,
    generator: impl Fn(&str) -> Generator,
) -> [Arc<C>; 2] {
    if !config.has_own() {
        return [config.clone(), config.clone()];
    }
    ["client", "server"].map(|side| {
        let seed = generator(&format!("{side} algorithm")).next_u64();
        let place = Arc::new(Place { name: format!("flow {name}, {side}"), seed });
        let mut config = config.as_ref().clone();
        config.place(&place);
        Arc::new(config)
    })
}

/// Whether a flow of this protocol has some.
pub(crate) fn in_protocol(protocol: &Protocol) -> bool {
    match protocol {
        Protocol::Tcp(config) => config.has_own(),
        Protocol::Mptcp(config) => config.has_own(),
        Protocol::Sctp(spec) => spec.config.has_own(),
    }
}

fn put<F: ?Sized>(custom: &mut Custom<F>, place: &Arc<Place>) {
    *custom = custom.at(place);
}

impl HasOwn for Algorithm {
    fn has_own(&self) -> bool {
        matches!(self, Algorithm::Custom(_))
    }
    fn place(&mut self, place: &Arc<Place>) {
        if let Algorithm::Custom(custom) = self {
            put(custom, place);
        }
    }
}

impl HasOwn for anabranch_tcp::Config {
    fn has_own(&self) -> bool {
        self.window.has_own()
    }
    fn place(&mut self, place: &Arc<Place>) {
        self.window.place(place);
    }
}

impl HasOwn for anabranch_mptcp::Config {
    fn has_own(&self) -> bool {
        self.subflow.has_own()
    }
    fn place(&mut self, place: &Arc<Place>) {
        self.subflow.place(place);
    }
}

impl HasOwn for anabranch_sctp::Config {
    fn has_own(&self) -> bool {
        match &self.window {
            anabranch_sctp::Window::Algorithm(algorithm) => algorithm.has_own(),
            anabranch_sctp::Window::Standard => false,
        }
    }
    fn place(&mut self, place: &Arc<Place>) {
        if let anabranch_sctp::Window::Algorithm(algorithm) = &mut self.window {
            algorithm.place(place);
        }
    }
}

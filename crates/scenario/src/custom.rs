//! Algorithms of the user's own in configurations: whether there are any, and
//! where they work. A flow that has one gets a copy of its configuration for
//! each side; others share theirs.

use crate::schema::{LinkSpec, Protocol};
use anabranch_congestion::Algorithm;
use anabranch_custom::{Custom, Place};
use anabranch_endpoint::{Generator, Seed};
use anabranch_mptcp::SchedulerKind;
use anabranch_network::{LawConfig, RegulatorConfig};
use anabranch_sctp::Destination;
use anabranch_tcp::recovery::Recovery;
use std::sync::Arc;

/// A configuration in which algorithms of the user's own may stand.
pub(crate) trait HasCustom: Clone {
    /// Whether the configuration names an algorithm of the user's own.
    fn has_custom(&self) -> bool;
    /// Puts the algorithms at this place.
    fn place(&mut self, place: &Arc<Place>);
}

/// The configurations of client and server of the flow `name`.
pub(crate) fn placed<C: HasCustom>(
    config: &Arc<C>,
    name: &str,
    generator: impl Fn(&str) -> Generator,
) -> [Arc<C>; 2] {
    if !config.has_custom() {
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

/// A regulator of the link `name`.
pub(crate) fn on_link(config: &RegulatorConfig, name: &str, seed: &Seed) -> RegulatorConfig {
    let mut config = config.clone();
    if let LawConfig::Custom(custom) = &mut config.law {
        let seed = seed.generator(&format!("link {name} algorithm")).next_u64();
        put(custom, &Arc::new(Place { name: format!("link {name}"), seed }));
    }
    config
}

/// Whether a regulator of this link has some.
pub(crate) fn in_link(link: &LinkSpec) -> bool {
    [&link.forward, &link.reverse].into_iter().any(|direction| {
        direction
            .regulator
            .as_ref()
            .is_some_and(|regulator| matches!(regulator.law, LawConfig::Custom(_)))
    })
}

/// Whether a flow of this protocol has some.
pub(crate) fn in_protocol(protocol: &Protocol) -> bool {
    match protocol {
        Protocol::Tcp(config) => config.has_custom(),
        Protocol::Mptcp(config) => config.has_custom(),
        Protocol::Sctp(spec) => spec.config.has_custom(),
        Protocol::Udp(_) => false,
    }
}

fn put<F: ?Sized>(custom: &mut Custom<F>, place: &Arc<Place>) {
    *custom = custom.at(place);
}

impl HasCustom for Algorithm {
    fn has_custom(&self) -> bool {
        matches!(self, Algorithm::Custom(_))
    }
    fn place(&mut self, place: &Arc<Place>) {
        if let Algorithm::Custom(custom) = self {
            put(custom, place);
        }
    }
}

impl HasCustom for anabranch_tcp::Config {
    fn has_custom(&self) -> bool {
        self.window.has_custom() || matches!(self.recovery, Recovery::Custom(_))
    }
    fn place(&mut self, place: &Arc<Place>) {
        self.window.place(place);
        if let Recovery::Custom(custom) = &mut self.recovery {
            put(custom, place);
        }
    }
}

impl HasCustom for anabranch_mptcp::Config {
    fn has_custom(&self) -> bool {
        self.subflow.has_custom() || matches!(self.scheduler, SchedulerKind::Custom(_))
    }
    fn place(&mut self, place: &Arc<Place>) {
        self.subflow.place(place);
        if let SchedulerKind::Custom(custom) = &mut self.scheduler {
            put(custom, place);
        }
    }
}

impl HasCustom for anabranch_sctp::Config {
    fn has_custom(&self) -> bool {
        let window = match &self.window {
            anabranch_sctp::Window::Algorithm(algorithm) => algorithm.has_custom(),
            anabranch_sctp::Window::Standard => false,
        };
        window || matches!(self.destination, Destination::Custom(_))
    }
    fn place(&mut self, place: &Arc<Place>) {
        if let anabranch_sctp::Window::Algorithm(algorithm) = &mut self.window {
            algorithm.place(place);
        }
        if let Destination::Custom(custom) = &mut self.destination {
            put(custom, place);
        }
    }
}

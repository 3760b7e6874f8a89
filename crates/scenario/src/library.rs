//! What the names of the user's own algorithms mean.
//!
//! A scenario is read without knowing; [`Scenario::bind`] looks them up in a
//! [`Library`], once, before it runs.

use crate::schema::Protocol;
use crate::{InputError, Scenario, custom};
use anabranch_congestion::{Algorithm, MakeWindow};
use anabranch_custom::{Custom, Found, Options};
use anabranch_mptcp::SchedulerKind;
use anabranch_mptcp::scheduler::MakeScheduler;
use anabranch_network::{LawConfig, MakeLaw};
use anabranch_sctp::Destination;
use anabranch_sctp::policy::MakePolicy;
use anabranch_tcp::recovery::{MakeDetector, Recovery};

/// Finds algorithms by their names. A method answers what is wrong with a name
/// or its options, for the message of an [`InputError`].
pub trait Library {
    /// Finds a window algorithm by its name.
    fn window(&self, name: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
        let _ = options;
        Err(none("window algorithm", name))
    }

    /// Finds a recovery scheme by its name.
    fn recovery(&self, name: &str, options: &Options) -> Result<Found<MakeDetector>, String> {
        let _ = options;
        Err(none("recovery scheme", name))
    }

    /// A scheduler of Multipath TCP.
    fn scheduler(&self, name: &str, options: &Options) -> Result<Found<MakeScheduler>, String> {
        let _ = options;
        Err(none("scheduler", name))
    }

    /// Finds a path policy of SCTP by its name.
    fn destination(&self, name: &str, options: &Options) -> Result<Found<MakePolicy>, String> {
        let _ = options;
        Err(none("path policy", name))
    }

    /// Finds a law that holds ACKs by its name.
    fn regulator(&self, name: &str, options: &Options) -> Result<Found<MakeLaw>, String> {
        let _ = options;
        Err(none("delay law", name))
    }
}

fn none(what: &str, name: &str) -> String {
    format!("a known {what}; there is no {name}")
}

/// A library without algorithms.
struct Empty;

impl Library for Empty {}

type Find<'a, F> = &'a dyn Fn(&str, &Options) -> Result<Found<F>, String>;

impl Scenario {
    /// Whether it names algorithms of the user's own.
    pub fn has_custom_algorithms(&self) -> bool {
        self.flows.iter().any(|flow| custom::in_protocol(&flow.protocol))
            || self.links.iter().any(custom::in_link)
    }

    /// Refuses algorithms of the user's own that nobody has looked up.
    pub(crate) fn check_bound(&self) -> Result<(), InputError> {
        if self.has_custom_algorithms() { self.clone().bind(&Empty) } else { Ok(()) }
    }

    /// Looks up the algorithms of the user's own that were not looked up yet.
    ///
    /// # Errors
    /// The first that is not found, by its field.
    pub fn bind(&mut self, library: &dyn Library) -> Result<(), InputError> {
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let path = |field: &str| format!("flows[{i}].{field}");
            let window = |algorithm: &mut Algorithm, field: &str| match algorithm {
                Algorithm::Custom(custom) => {
                    bind(custom, path(field), &|n, o| library.window(n, o))
                }
                _ => Ok(()),
            };
            let tcp = |config: &mut anabranch_tcp::Config| {
                window(&mut config.window, "tcp.window")?;
                match &mut config.recovery {
                    Recovery::Custom(custom) => {
                        bind(custom, path("tcp.recovery"), &|n, o| library.recovery(n, o))
                    }
                    _ => Ok(()),
                }
            };
            match &mut flow.protocol {
                Protocol::Tcp(config) => tcp(config)?,
                // It has no algorithms.
                Protocol::Udp(_) => {}
                Protocol::Mptcp(config) => {
                    tcp(&mut config.subflow)?;
                    if let SchedulerKind::Custom(custom) = &mut config.scheduler {
                        bind(custom, path("mptcp.scheduler"), &|n, o| library.scheduler(n, o))?;
                    }
                }
                Protocol::Sctp(spec) => {
                    if let anabranch_sctp::Window::Algorithm(algorithm) = &mut spec.config.window {
                        window(algorithm, "sctp.window")?;
                    }
                    if let Destination::Custom(custom) = &mut spec.config.destination {
                        bind(custom, path("sctp.destination"), &|n, o| library.destination(n, o))?;
                    }
                }
            }
        }
        for (i, link) in self.links.iter_mut().enumerate() {
            for (way, direction) in [("", &mut link.forward), ("reverse.", &mut link.reverse)] {
                let law = direction.regulator.as_mut().map(|regulator| &mut regulator.law);
                if let Some(LawConfig::Custom(custom)) = law {
                    let field = format!("links[{i}].{way}regulator.law");
                    bind(custom, field, &|n, o| library.regulator(n, o))?;
                }
            }
        }
        Ok(())
    }
}

fn bind<F: ?Sized>(
    custom: &mut Custom<F>,
    field: String,
    find: Find<'_, F>,
) -> Result<(), InputError> {
    if custom.is_bound() {
        return Ok(());
    }
    let name = custom.name().to_owned();
    let found = find(&name, custom.options());
    found
        .and_then(|item| custom.bind(item))
        .map_err(|allowed| InputError::field(field, name, allowed))
}

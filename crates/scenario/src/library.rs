//! What the names of the user's own algorithms mean.
//!
//! A scenario is read without knowing; [`Scenario::bind`] looks them up in a
//! [`Library`], once, before it runs.

use crate::schema::Protocol;
use crate::{InputError, Scenario, own};
use anabranch_congestion::{Algorithm, MakeWindow};
use anabranch_custom::{Custom, Found, Options};

/// Finds algorithms by their names. A method answers what is wrong with a name
/// or its options, for the message of an [`InputError`].
pub trait Library {
    /// A window algorithm.
    fn window(&self, name: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
        let _ = options;
        Err(none("window algorithm", name))
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
    pub fn has_own_algorithms(&self) -> bool {
        self.flows.iter().any(|flow| own::in_protocol(&flow.protocol))
    }

    /// Refuses algorithms of the user's own that nobody has looked up.
    pub(crate) fn check_bound(&self) -> Result<(), InputError> {
        if self.has_own_algorithms() { self.clone().bind(&Empty) } else { Ok(()) }
    }

    /// Looks up the algorithms of the user's own that were not looked up yet.
    ///
    /// # Errors
    /// The first that is not found, by its field.
    pub fn bind(&mut self, library: &dyn Library) -> Result<(), InputError> {
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let path = |field: &str| format!("flows[{i}].{field}");
            let window = |algorithm: &mut Algorithm, protocol: &str| match algorithm {
                Algorithm::Custom(custom) => {
                    let find = |name: &str, options: &Options| library.window(name, options);
                    bind(custom, path(&format!("{protocol}.window")), &find)
                }
                _ => Ok(()),
            };
            match &mut flow.protocol {
                Protocol::Tcp(config) => window(&mut config.window, "tcp")?,
                Protocol::Mptcp(config) => window(&mut config.subflow.window, "tcp")?,
                Protocol::Sctp(spec) => {
                    if let anabranch_sctp::Window::Algorithm(it) = &mut spec.config.window {
                        window(it, "sctp")?;
                    }
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
    found.and_then(|it| custom.bind(it)).map_err(|allowed| InputError::field(field, name, allowed))
}

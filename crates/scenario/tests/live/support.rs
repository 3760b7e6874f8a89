//! What tests of live runs share.

use anabranch_scenario::Scenario;
use anabranch_scenario::live::{LiveOptions, LiveResult, live};

/// This machine holds live runs.
pub fn machine() -> bool {
    anabranch_testkit::needs::live(anabranch_live::ExternalHost::probe())
}

/// Runs the scenario in `text` live.
pub fn run(text: &str) -> LiveResult {
    run_with(text, &LiveOptions::default())
}

/// The same with options.
pub fn run_with(text: &str, options: &LiveOptions) -> LiveResult {
    let scenario = Scenario::from_toml(text, "live.toml").unwrap_or_else(|e| panic!("{e}"));
    live(&scenario, options, |_| ()).unwrap_or_else(|e| panic!("{e}"))
}

/// A transfer over a link of its own between a host of ours and an external one.
#[derive(Clone)]
pub struct Case {
    /// Name of the flow.
    pub name: String,
    /// Octets to send.
    pub bytes: u64,
    link: String,
    tcp: String,
    /// The external host sends.
    by_kernel: bool,
}

impl Case {
    /// We send; `link` are further fields of the link on the way of the data, `tcp` options.
    pub fn ours(name: &str, link: &str, tcp: &str) -> Case {
        let [name, link, tcp] = [name, link, tcp].map(str::to_owned);
        Case { name, bytes: 700_000, link, tcp, by_kernel: false }
    }

    /// The same with so many octets.
    pub fn of(self, bytes: u64) -> Case {
        Case { bytes, ..self }
    }

    /// The kernel sends.
    pub fn kernels(name: &str, link: &str, tcp: &str) -> Case {
        Case { by_kernel: true, ..Case::ours(name, link, tcp) }
    }
}

/// The scenario of all of them side by side, links of 10 Mbit/s and 10 ms.
pub fn cases(list: &[Case]) -> String {
    let hosts: Vec<_> = (0..list.len())
        .map(|i| format!("\"o{i}\", {{ name = \"k{i}\", external = true }}"))
        .collect();
    let mut text = format!("hosts = [{}]\n", hosts.join(", "));
    for (i, Case { name, bytes, link, tcp, by_kernel }) in list.iter().enumerate() {
        let (from, to) = if *by_kernel { ('k', 'o') } else { ('o', 'k') };
        text += &format!(
            "[[links]]\nends = [\"{from}{i}\", \"{to}{i}\"]\nrate = \"10 Mbit/s\"\n\
             delay = \"10 ms\"\n{link}\nreverse = {{ impairments = [] }}\n\
             [[flows]]\nname = \"{name}\"\nfrom = \"{from}{i}\"\nto = \"{to}{i}\"\n\
             size = \"{bytes} B\"\ntcp = {{ {tcp} }}\n"
        );
    }
    text
}

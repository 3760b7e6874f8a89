//! Our TCP in a live run: a host of ours and an external one, whose kernel's TCP
//! the same program drives, and a link that is never in the way between them.

use crate::{BUFFER, Direction, Figures};
use anabranch_scenario::Scenario;
use anabranch_scenario::live::{LiveOptions, live};
use std::io::{Error, Result};

/// One transfer; `options` are further fields of both hosts.
pub fn run(direction: Direction, octets: u64, options: &str) -> Result<Figures> {
    let (from, to) = match direction {
        Direction::Receive => ("kernel", "ours"),
        Direction::Send => ("ours", "kernel"),
    };
    let text = format!(
        "hosts = [{{ name = \"ours\"{options} }}, {{ name = \"kernel\", external = true{options} }}]\n\
         [[links]]\nends = [\"ours\", \"kernel\"]\nrate = \"100 Gbit/s\"\ndelay = \"0 s\"\n\
         queue = {{ limit = \"unlimited\" }}\n\
         [[flows]]\nname = \"flow\"\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"300 ms\"\n\
         size = \"{octets} B\"\n\
         tcp = {{ window = \"cubic\", timestamps = false, receive_buffer = \"{BUFFER} B\", \
         send_buffer = \"{BUFFER} B\", time_wait = \"1 ms\" }}\n",
    );
    let scenario = Scenario::from_toml(&text, "tcp-peers").map_err(Error::other)?;
    let own = std::env::current_exe()?;
    let logs = std::env::temp_dir().join(format!("tcp-peers-{}", std::process::id()));
    std::fs::create_dir_all(&logs)?;
    let options = LiveOptions {
        programs: vec![(
            "kernel".into(),
            format!("exec {} {}", own.display(), crate::command(direction, "{ours}", octets)),
        )],
        logs: logs.clone(),
        ..LiveOptions::default()
    };
    let result =
        live(&scenario, &options, |_| ()).map_err(|error| Error::other(error.to_string()))?;
    let wrong = result.result.flows[0].wrong_octets;
    if wrong > 0 {
        return Err(Error::other(format!("{wrong} octets are wrong")));
    }
    let said = std::fs::read_to_string(logs.join("kernel.log"))?;
    std::fs::remove_dir_all(&logs)?;
    let seconds = said.trim().parse().map_err(|_| Error::other(format!("the peer: {said}")))?;
    let packets = result.ports.iter().map(|port| port.counters.entered + port.counters.left).sum();
    Ok(Figures { seconds, cpu: result.precision.cpu.as_secs_f64(), packets })
}

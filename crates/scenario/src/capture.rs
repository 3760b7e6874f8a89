//! Where a run's packets are captured: at hosts, at their interfaces, and at
//! the far ends of links, by name.

use crate::graph::Graph;
use crate::run_error::RunError;
use crate::transport::Transport;
use crate::{InputError, Scenario};
use anabranch_sim::observe::Capture;
use anabranch_sim::{Handle, LinkId, NodeId, Simulation};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A capture that is under way, and its file.
pub(crate) struct Running<'a> {
    handle: Handle<Capture<BufWriter<File>>>,
    path: &'a PathBuf,
}

/// Starts a capture into the file at `path`. `places` are names of hosts (all
/// their interfaces), of interfaces, of links (both directions) and of a link's
/// reverse direction; none means all hosts.
///
/// # Errors
/// [`RunError::Input`] for a name that nothing has, [`RunError::Output`].
pub(crate) fn start<'a>(
    path: &'a PathBuf,
    places: &[String],
    scenario: &Scenario,
    links: &[(String, LinkId)],
    simulation: &mut Simulation<Transport>,
) -> Result<Running<'a>, RunError> {
    let graph = Graph::new(scenario);
    let (nodes, ids) = chosen(places, scenario, &graph, links)?;
    let make = || {
        let mut capture = Capture::new(BufWriter::new(File::create(path)?), scenario.book())?;
        for node in nodes {
            capture.host(NodeId(node as u32), &graph.names()[node])?;
        }
        for (name, id) in ids {
            capture.link(*id, name)?;
        }
        Ok(simulation.attach(capture))
    };
    let handle = make().map_err(failed(path))?;
    Ok(Running { handle, path })
}

impl Running<'_> {
    /// Completes the file.
    ///
    /// # Errors
    /// The first that the file has had.
    pub(crate) fn finish(self, simulation: &mut Simulation<Transport>) -> Result<(), RunError> {
        let done = simulation.observer_mut(self.handle).finish();
        done.map(drop).map_err(failed(self.path))
    }
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> RunError + use<> {
    let path = path.to_owned();
    move |error| RunError::Output { path, error }
}

/// Nodes and directions of links, in the order of the scenario.
type Chosen<'a> = (Vec<usize>, Vec<&'a (String, LinkId)>);

fn chosen<'a>(
    places: &[String],
    scenario: &Scenario,
    graph: &Graph<'_>,
    links: &'a [(String, LinkId)],
) -> Result<Chosen<'a>, InputError> {
    let (mut nodes, mut directions) = (Vec::new(), Vec::new());
    if places.is_empty() {
        nodes.extend(graph.interfaces());
    }
    for place in places {
        let of_host = graph.interfaces().filter(|node| graph.owner(*node) == place);
        let interface = graph.interface(place).filter(|_| place.contains('.'));
        let mut found: Vec<usize> = of_host.chain(interface).collect();
        let both = scenario.links.iter().find(|link| link.name == *place);
        let names = both.map_or([place, place], |link| [&link.name, &link.reverse_name]);
        let ways: Vec<_> = links.iter().filter(|(name, _)| names.contains(&name)).collect();
        if found.is_empty() && ways.is_empty() {
            let hosts = scenario.hosts.iter().map(|host| host.name.as_str());
            let links = links.iter().map(|(name, _)| name.as_str());
            let known: Vec<&str> = hosts.chain(links).take(40).collect();
            let allowed = format!("a host, an interface or a link: {}", known.join(", "));
            return Err(InputError::field("--capture", place, allowed));
        }
        nodes.append(&mut found);
        directions.extend(ways);
    }
    nodes.sort_unstable();
    nodes.dedup();
    directions.sort_unstable_by_key(|(_, id)| *id);
    directions.dedup();
    Ok((nodes, directions))
}

//! Captures a run's packets: at hosts, at their interfaces, and at the far ends
//! of links, by name.

use crate::build::BuiltFlow;
use crate::graph::Graph;
use crate::run_error::RunError;
use crate::transport::Transport;
use crate::{InputError, Scenario};
use anabranch_sim::observe::Capture;
use anabranch_sim::{Handle, LinkId, NodeId, Simulation};
use anabranch_wire::pcapng::Snap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The places that are captured, and how much of each packet is kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CaptureOptions {
    /// Names of hosts (all their interfaces), of interfaces, of links (both directions, as they come
    /// out at the far end) and of a link's reverse direction. None: all hosts, each flow at `end`.
    pub places: Vec<String>,
    /// The ends at which flows are captured when no place is named.
    pub end: CaptureEnd,
    /// Octets of each packet that are kept.
    pub snap: Snap,
}

/// The end of each flow at which its packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CaptureEnd {
    /// Packets are captured where the data is sent: data as they leave, ACKs as they arrive.
    #[default]
    Sender,
    /// Packets are captured where the data is received.
    Receiver,
    /// Both: a packet that arrives is there twice.
    Both,
}

/// A capture that is under way, and its file.
pub(crate) struct Running<'a> {
    handle: Handle<Capture<BufWriter<File>>>,
    path: &'a PathBuf,
}

/// Starts a capture into the file at `path`.
///
/// # Errors
/// [`RunError::Input`] for a name that nothing has, [`RunError::Output`].
pub(crate) fn start<'a>(
    path: &'a PathBuf,
    options: &CaptureOptions,
    scenario: &Scenario,
    flows: &[BuiltFlow],
    links: &[(String, LinkId)],
    simulation: &mut Simulation<Transport>,
) -> Result<Running<'a>, RunError> {
    let graph = Graph::new(scenario);
    let (nodes, ids) = chosen(&options.places, scenario, &graph, links)?;
    let make = || {
        let file = BufWriter::new(File::create(path)?);
        let mut capture = Capture::new(file, scenario.book(), options.snap)?;
        for node in nodes {
            capture.host(NodeId(node as u32), &graph.names()[node])?;
        }
        for (name, id) in ids {
            capture.link(*id, name)?;
        }
        if options.places.is_empty() {
            for flow in flows {
                match options.end {
                    CaptureEnd::Sender => capture.only(flow.id, flow.sender),
                    CaptureEnd::Receiver => capture.only(flow.id, flow.sender.peer()),
                    CaptureEnd::Both => {}
                }
            }
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

//! `drill`: packetdrill scripts.

use crate::InputError;
use crate::guard::guarded;
use anabranch_packetdrill::Profile;
use anabranch_packetdrill::report::Verdict;
use anabranch_packetdrill::runner::{Against, Drill, write_trace};
use anabranch_packetdrill::stack::{IpVersion, Network};
use anabranch_packetdrill::suites::{Listed, list};
use anabranch_packetdrill::{Definitions, Settings};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Runs the scripts at `places` (files, folders, indexes) on `jobs` threads: a
/// dictionary each, in order; `against` our stacks (`ours`), the running kernel (`kernel`) or
/// `usrsctp`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "each is an option of the command")]
#[pyo3(signature = (places, profile="auto", definitions=vec![], settings=vec![], jobs=1,
    traces=None, against="ours", ip_version="ipv4"))]
pub(crate) fn drill<'py>(
    py: Python<'py>,
    places: Vec<PathBuf>,
    profile: &str,
    definitions: Vec<(String, String)>,
    settings: Vec<(String, String)>,
    jobs: usize,
    traces: Option<PathBuf>,
    against: &str,
    ip_version: &str,
) -> PyResult<Bound<'py, PyList>> {
    let profile = match (profile, Profile::from_name(profile)) {
        ("auto", _) => None,
        (_, Some(known)) => Some(known),
        (profile, None) => {
            let message = format!("--profile: `{profile}`: allowed: auto, linux, rfc, freebsd");
            return Err(InputError::new_err(message));
        }
    };
    let Some(version) = IpVersion::from_name(ip_version) else {
        let allowed = "ipv4, ipv6, ipv4-mapped-ipv6";
        let message = format!("--ip-version: `{ip_version}`: allowed: {allowed}");
        return Err(InputError::new_err(message));
    };
    let mut scripts = Vec::new();
    for place in &places {
        scripts.extend(scripts_at(place)?);
    }
    let against = match against {
        "ours" => Against::ours(),
        "kernel" => anabranch_drill::kernel().map_err(PyOSError::new_err)?,
        "usrsctp" => anabranch_drill::usrsctp().map_err(PyOSError::new_err)?,
        other => {
            let message = format!("--against: `{other}`: allowed: ours, kernel, usrsctp");
            return Err(InputError::new_err(message));
        }
    };
    let trace = traces.is_some();
    let network = Network::over(version);
    let drill = Drill {
        definitions: Definitions::from_iter(definitions),
        settings: Settings { network, configure: settings, trace, ..Settings::default() },
        against,
        ..Drill::new(profile)
    };
    let reports = guarded(py, || drill.all(&scripts, jobs))?;
    let out = PyList::empty(py);
    for (number, (listed, report)) in scripts.iter().zip(&reports).enumerate() {
        let entry = PyDict::new(py);
        entry.set_item("suite", &listed.suite)?;
        entry.set_item("category", &listed.category)?;
        entry.set_item("script", listed.file.to_string_lossy())?;
        let (verdict, line) = match &report.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(failure) => ("failed", Some(failure.pos.line)),
            Verdict::NotApplicable(_) => ("not applicable", None),
            Verdict::Unreadable(_) => ("unreadable", None),
        };
        entry.set_item("verdict", verdict)?;
        entry.set_item("line", line)?;
        entry.set_item("report", report.to_string())?;
        if let Some(folder) = &traces {
            let stem = listed.file.file_stem().unwrap_or_default().to_string_lossy();
            let name = match reports.len() {
                1 => format!("{stem}.pcapng"),
                _ => format!("{:04}-{stem}.pcapng", number + 1),
            };
            let file = folder.join(name);
            let written = std::fs::File::create(&file)
                .and_then(|out| write_trace(report, BufWriter::new(out)));
            written.map_err(|e| PyOSError::new_err(format!("{}: {e}", file.display())))?;
            entry.set_item("trace", file.to_string_lossy())?;
        }
        out.append(entry)?;
    }
    Ok(out)
}

/// One script, or those of a folder or an index.
fn scripts_at(place: &Path) -> PyResult<Vec<Listed>> {
    let allowed = "a script (.pkt), a folder of scripts or an index";
    let wrong = |found: String| {
        InputError::new_err(format!("{}: {found}: allowed: {allowed}", place.display()))
    };
    if place.extension().is_some_and(|extension| extension == "pkt") && place.is_file() {
        let category = place.parent().and_then(Path::file_name).unwrap_or_default();
        return Ok(vec![Listed {
            suite: String::new(),
            category: category.to_string_lossy().into_owned(),
            path: place.to_string_lossy().into_owned(),
            file: place.to_owned(),
        }]);
    }
    let listed = list(place).map_err(|error| wrong(error.to_string()))?;
    if listed.is_empty() { Err(wrong("no script in it".into())) } else { Ok(listed) }
}

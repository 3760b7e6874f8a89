//! A full mesh whose subflows, but for the first, are backups (RFC 8684
//! §3.3.8): they carry data only while no other can.

use super::{Wanted, full_mesh};

pub(super) fn wanted(own: usize, peer: usize) -> Vec<Wanted> {
    let mut all = full_mesh::wanted(own, peer);
    all.iter_mut().for_each(|wanted| wanted.backup = true);
    all
}

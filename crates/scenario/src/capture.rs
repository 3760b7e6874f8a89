//! A packet capture of a run: every packet that a host sends or receives, as
//! pcapng with one interface per host. Packets are put into octets here, so a
//! capture opens in Wireshark as one of a real network would.

use anabranch_sim::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use anabranch_units::Time;
use anabranch_wire::pcapng::Writer;
use anabranch_wire::{AddressBook, Packet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a capture; an error is kept and told by [`finish`](Self::finish).
pub(crate) struct Capture {
    writer: Option<Writer<BufWriter<File>>>,
    book: AddressBook,
    /// By number of the node.
    interfaces: Vec<u32>,
    error: Option<io::Error>,
}

impl Capture {
    /// A capture into the file at `path`, with the nodes in the order in
    /// which they were built.
    pub(crate) fn create<'a>(
        path: &Path,
        nodes: impl Iterator<Item = &'a String>,
    ) -> io::Result<Capture> {
        let mut writer = Writer::new(BufWriter::new(File::create(path)?))?;
        let interfaces: io::Result<Vec<u32>> =
            nodes.map(|name| writer.add_interface(name, None)).collect();
        Ok(Capture {
            writer: Some(writer),
            book: AddressBook::new(),
            interfaces: interfaces?,
            error: None,
        })
    }

    /// Completes the file; the first error since the start, if there was one.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match self.writer.take() {
            Some(writer) => writer.finish()?.flush(),
            None => Ok(()),
        }
    }
}

impl Observer for Capture {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        let (PacketEventKind::Sent | PacketEventKind::Received, Place::Node(node)) =
            (event.kind, event.place)
        else {
            return;
        };
        let Some(writer) = &mut self.writer else { return };
        let interface = self.interfaces[node.0 as usize];
        if let Err(error) = writer.packet_value(interface, now, packet, &self.book) {
            self.error = Some(error);
            self.writer = None;
        }
    }
}

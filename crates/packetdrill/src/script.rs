//! A script as it was read: events in order, each with its place in the file.
//!
//! Everything is kept as written; what a word means (a constant of a socket
//! call, a sysctl) is known by who runs the script.

pub(crate) mod chunk;
mod packet;
mod value;

pub use packet::{
    AddressName, Ect, Encapsulation, Flags, IcmpQuote, IcmpSpec, IpSpec, MptcpArgument,
    MptcpOption, OptionsSpec, PacketBody, PacketSpec, SctpSpec, Sequence, Subflow, TcpOptionSpec,
    TcpSpec, UdpSpec,
};
pub use value::{Field, Value};

use crate::code::Statement;
use anabranch_units::Span;
use std::fmt;

/// A place in a script, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Pos {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A script.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// Its name, as errors and reports call it.
    pub name: String,
    /// `--name=value` before the first event.
    pub options: Vec<ToolOption>,
    /// The command before the first event, where there is one.
    pub init: Option<Shell>,
    /// The events.
    pub events: Vec<Event>,
    /// The command after the last event, where there is one.
    pub cleanup: Option<Shell>,
}

/// An option of the tool that the script sets: `--tolerance_usecs=10000`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolOption {
    /// Where.
    pub pos: Pos,
    /// Without the dashes.
    pub name: String,
    /// After the equals sign.
    pub value: Option<String>,
}

/// A command between backquotes, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shell {
    /// Where.
    pub pos: Pos,
    /// What stands between the quotes.
    pub text: String,
}

/// One event.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Where it begins.
    pub pos: Pos,
    /// What is written, without the time, spaces made one.
    pub text: String,
    /// When it happens.
    pub time: When,
    /// When a blocking call returns, on the same base as `time`.
    pub end: Option<Span>,
    /// What happens.
    pub action: Action,
}

/// When an event happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// `T`: since the start.
    Absolute(Span),
    /// `T~T`.
    AbsoluteRange(Span, Span),
    /// `+T`: since the end of the event before.
    Relative(Span),
    /// `+T~+T`.
    RelativeRange(Span, Span),
    /// `*`: whenever.
    Any,
}

/// What happens.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet that comes or is expected.
    Packet(Box<PacketSpec>),
    /// A socket call.
    Call(Call),
    /// A command of the shell.
    Shell(Shell),
    /// Code between `%{` and `}%`.
    Code(Vec<Statement>),
}

/// A socket call and what it returns.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Value>,
    /// What it returns.
    pub result: Value,
    /// The symbol after a result of -1.
    pub errno: Option<String>,
    /// What stands in parentheses behind it.
    pub note: Option<String>,
}

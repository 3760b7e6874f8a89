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
    /// Number of the line, from 1.
    pub line: u32,
    /// Number of the column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A script as it was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// Name of the script in errors and reports.
    pub name: String,
    /// `--name=value` before the first event.
    pub options: Vec<ToolOption>,
    /// The command before the first event, where there is one.
    pub init: Option<Shell>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The command after the last event, where there is one.
    pub cleanup: Option<Shell>,
}

/// An option of the tool that the script sets: `--tolerance_usecs=10000`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolOption {
    /// Place of the option in the script.
    pub pos: Pos,
    /// Name of the option, without the dashes.
    pub name: String,
    /// Text after the equals sign.
    pub value: Option<String>,
}

/// A command between backquotes, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shell {
    /// Place of the command in the script.
    pub pos: Pos,
    /// What stands between the quotes.
    pub text: String,
}

/// One event of a script: a time, and what happens then.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Place at which it begins.
    pub pos: Pos,
    /// Text of the event without the time, with single spaces.
    pub text: String,
    /// Time at which it happens, as written.
    pub time: When,
    /// Time at which a blocking call returns, on the same base as `time`.
    pub end: Option<Span>,
    /// The packet, call, command or code.
    pub action: Action,
}

/// The time of an event, as a script writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// `T`: a time since the start.
    Absolute(Span),
    /// `T~T`: a range of times since the start.
    AbsoluteRange(Span, Span),
    /// `+T`: since the end of the event before.
    Relative(Span),
    /// `+T~+T`: a range since the end of the event before.
    RelativeRange(Span, Span),
    /// `*`: any time.
    Any,
}

/// What happens in an event.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet that comes or is expected.
    Packet(Box<PacketSpec>),
    /// A socket call with its result.
    Call(Call),
    /// A command of the shell.
    Shell(Shell),
    /// Code between `%{` and `}%`.
    Code(Vec<Statement>),
}

/// A socket call and what it returns.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Name of the call.
    pub name: String,
    /// Arguments of the call, in order.
    pub arguments: Vec<Value>,
    /// Value that it returns.
    pub result: Value,
    /// The symbol after a result of -1.
    pub errno: Option<String>,
    /// What stands in parentheses behind it.
    pub note: Option<String>,
}

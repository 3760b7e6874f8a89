//! The program in C that usrsctp runs in: compiled when it is wanted, and asked through its standard input
//! and output.

use anabranch_units::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// What is compiled, under the names that it includes itself by.
const SOURCES: [(&str, &str); 2] =
    [("stack.c", include_str!("stack.c")), ("layout.h", include_str!("layout.h"))];

/// Time in which the program must answer: hours of the script's time need less than a second.
const PATIENCE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// Requests to the program, in the order of `enum call` in stack.c.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub(crate) enum Ask {
    /// What structures look like.
    Layout,
    /// Lets time pass in usrsctp.
    Pass,
    /// A packet of SCTP came; `a` is its ECN field.
    Input,
    /// Sets the variable that the octets name to `a`.
    Sysctl,
    /// A socket of type `a`, to peers behind links whose MTU leaves `b` octets to SCTP.
    Socket,
    /// Binds a socket to port `a`.
    Bind,
    /// Listens, with the backlog `a`.
    Listen,
    /// Accepts a connection.
    Accept,
    /// Connects a socket to port `a`.
    Connect,
    /// Sends `a` octets with the flags `b` to port `c`, 0 for none, as the octets say.
    Send,
    /// Receives `a` octets at most.
    Receive,
    /// Sets the option `b` of level `a`.
    Set,
    /// Reads the option `b` of level `a`.
    Get,
    /// Shuts down, `a` says how.
    Shutdown,
    /// Closes a socket.
    Close,
    /// Gives association `a` a socket of its own.
    PeelOff,
    /// The addresses of the peer, if `a` is 1, in association `b`, or of the stack.
    Addresses,
    /// Says which calls would not block.
    Events,
}

/// A request to the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub ask: Ask,
    pub fd: i64,
    pub numbers: [i64; 3],
    pub octets: &'a [u8],
}

impl Request<'_> {
    /// Makes a request without arguments.
    pub fn of(ask: Ask, fd: i64) -> Request<'static> {
        Request { ask, fd, numbers: [0; 3], octets: &[] }
    }
}

/// The program's answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    pub value: i64,
    /// The number of the error, 0 for none.
    pub error: i32,
    pub octets: Vec<u8>,
    pub time: Time,
}

/// A packet of SCTP that the stack has sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    /// The octet of DSCP and ECN.
    pub tos: u8,
    pub octets: Vec<u8>,
}

/// The program, as it runs.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    pub sent: VecDeque<Sent>,
}

impl Program {
    /// Starts one.
    ///
    /// # Errors
    /// What the machine lacks for it.
    pub fn start() -> Result<Program, String> {
        let file = compiled()?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mut command = Command::new(path);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("usrsctp: {error}"))?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (to, from) = to.zip(from).expect("both were asked for");
        Ok(Program { child, to, from, sent: VecDeque::new() })
    }

    /// Asks at `now`, and waits for what comes of it.
    ///
    /// # Errors
    /// The program has ended, or gives no answer.
    pub fn ask(&mut self, now: Time, request: Request<'_>) -> Result<Reply, String> {
        let Request { ask, fd, numbers, octets } = request;
        let mut message = Vec::with_capacity(32 + octets.len());
        for number in [ask as i64, fd, numbers[0], numbers[1], numbers[2], octets.len() as i64] {
            message.extend((number as i32).to_ne_bytes());
        }
        message.extend(((now.as_nanos() / 1000) as i64).to_ne_bytes());
        message.extend(octets);
        self.to.write_all(&message).and_then(|()| self.to.flush()).map_err(|_| self.end())?;
        loop {
            let head: [u8; 24] = self.read(24)?.try_into().expect("as many as were asked for");
            let word =
                |at: usize| i32::from_ne_bytes(head[at..at + 4].try_into().expect("four of them"));
            let micros = i64::from_ne_bytes(head[16..].try_into().expect("eight of them"));
            let octets = self.read(word(12) as u32 as usize)?;
            if word(0) == 0 {
                let time = Time::from_picos(micros as u64 * 1_000_000);
                return Ok(Reply { value: word(4).into(), error: word(8), octets, time });
            }
            self.sent.push_back(Sent { tos: word(4) as u8, octets });
        }
    }

    /// Reads so many octets of the program's answer.
    fn read(&mut self, len: usize) -> Result<Vec<u8>, String> {
        let mut octets = vec![0; len];
        let mut filled = 0;
        while filled < len {
            let mut answers = [PollFd::new(&self.from, PollFlags::IN)];
            if !poll(&mut answers, Some(&PATIENCE)).is_ok_and(|n| n > 0) {
                return Err(format!("usrsctp gives no answer in {} s", PATIENCE.tv_sec));
            }
            match self.from.read(&mut octets[filled..]) {
                Ok(n) if n > 0 => filled += n,
                _ => return Err(self.end()),
            }
        }
        Ok(octets)
    }

    /// Says how the program ended.
    fn end(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => format!("usrsctp has ended: {status}"),
            Err(error) => format!("usrsctp has ended: {error}"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The program as an open file, which has no name any more.
fn compiled() -> Result<&'static File, String> {
    static COMPILED: OnceLock<Result<File, String>> = OnceLock::new();
    COMPILED.get_or_init(|| Folder::new()?.compile()).as_ref().map_err(Clone::clone)
}

/// A folder for the time of the compilation.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("anabranch-usrsctp-{}", std::process::id()));
        // What an earlier process of this number has left.
        _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Folder(path))
    }

    fn compile(&self) -> Result<File, String> {
        let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
        for (name, text) in SOURCES {
            fs::write(self.0.join(name), text).map_err(|error| failed(name, error))?;
        }
        let mut compiler = Command::new("cc");
        let compiler = compiler.current_dir(&self.0).stdin(Stdio::null());
        let arguments = ["-O1", "-o", "stack", "stack.c", "-lusrsctp", "-lpthread", "-ldl"];
        let output = compiler.args(arguments).output();
        let output = output.map_err(|error| {
            format!("usrsctp needs a C compiler, `cc` (Debian: gcc, libc6-dev): {error}")
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().find(|line| line.contains("error") || line.contains("cannot"));
            let said = said.unwrap_or("it does not compile").trim();
            return Err(format!("usrsctp is needed (Debian: libusrsctp-dev, libc6-dev): {said}"));
        }
        File::open(self.0.join("stack")).map_err(|error| failed("the program", error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

//! The peer of both: the kernel's TCP, driven by a program of its own, which says
//! how long the transfer took.

use anabranch_wire::pattern;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Reads all that one connection brings.
pub fn sink(port: u16) -> Result<()> {
    let (mut stream, _) = TcpListener::bind(("0.0.0.0", port))?.accept()?;
    let start = Instant::now();
    drain(&mut stream)?;
    say(start)
}

/// Connects from the same port, as soon as somebody listens, and sends by CUBIC;
/// the peer closes when it has all.
pub fn source(address: Ipv4Addr, port: u16, octets: u64) -> Result<()> {
    let mut tries = 0;
    let mut stream = loop {
        match connected(SocketAddr::from((address, port))) {
            Ok(stream) => break stream,
            Err(error) if tries > 50 => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
        tries += 1;
    };
    let start = Instant::now();
    let (mut block, mut sent) = ([0; 1 << 16], 0);
    while sent < octets {
        let len = (octets - sent).min(block.len() as u64) as usize;
        pattern::fill(sent, &mut block[..len]);
        stream.write_all(&block[..len])?;
        sent += len as u64;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    drain(&mut stream)?;
    say(start)
}

fn connected(to: SocketAddr) -> Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    // The default differs between machines.
    socket.set_tcp_congestion(b"cubic")?;
    socket.bind(&SocketAddr::from(([0; 4], to.port())).into())?;
    socket.connect(&to.into())?;
    Ok(socket.into())
}

fn drain(stream: &mut TcpStream) -> Result<()> {
    let mut block = [0; 1 << 16];
    while stream.read(&mut block)? > 0 {}
    Ok(())
}

fn say(start: Instant) -> Result<()> {
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}

//! smoltcp on a TUN device in a network namespace of this process, in a loop like
//! that of its own benchmark: poll, the application, sleep until something comes.

use crate::{BUFFER, Direction, Figures, PORT};
use anabranch_wire::pattern;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};
use std::io::{Error, Read, Result};
use std::os::fd::AsRawFd;
use std::process::{Child, Command};

/// How often the loop asks whether the peer has ended.
const LOOK: Duration = Duration::from_millis(10);
const OURS: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
const KERNEL: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);

/// One transfer; `cubic`: with its congestion control, which it has off unless told.
pub fn run(direction: Direction, octets: u64, cubic: bool, checked: bool) -> Result<Figures> {
    // The kernel's side of the device is in this process's namespace: the stack's
    // address exists behind the device alone.
    succeeded(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    let device = TunTapInterface::new("tun0", Medium::Ip)?;
    let up = "ip link set lo up && ip addr add 10.0.0.2/24 dev tun0 && \
              ip link set tun0 mtu 1500 txqueuelen 1000 up && \
              { echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; } 2>/dev/null; \
              echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save";
    if !Command::new("sh").args(["-c", up]).status()?.success() {
        return Err(Error::other("the device was not set up; iproute2 is needed"));
    }
    let mut peer = crate::peer(direction, "10.0.0.1", octets)?;
    be_precise();
    transfer(device, direction, octets, cubic, checked, &mut peer)
}

fn transfer(
    mut device: TunTapInterface,
    direction: Direction,
    octets: u64,
    cubic: bool,
    checked: bool,
    peer: &mut Child,
) -> Result<Figures> {
    let fd = device.as_raw_fd();
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = std::process::id().into();
    let mut interface = Interface::new(config, &mut device, Instant::now());
    interface.update_ip_addrs(|list| {
        let _ = list.push(IpCidr::new(IpAddress::Ipv4(OURS), 24));
    });
    let buffer = || SocketBuffer::new(vec![0; BUFFER]);
    let mut socket = Socket::new(buffer(), buffer());
    if cubic {
        socket.set_congestion_control(CongestionControl::Cubic);
    }
    let mut sockets = SocketSet::new(vec![]);
    let handle = sockets.add(socket);
    let socket = sockets.get_mut::<Socket>(handle);
    match direction {
        Direction::Receive => socket.listen(PORT).map_err(Error::other)?,
        Direction::Send => {
            std::thread::sleep(crate::HEAD_START);
            socket.connect(interface.context(), (KERNEL, PORT), 50_000).map_err(Error::other)?;
        }
    }
    let cpu = cpu_seconds();
    let (mut done, mut figures) = (0, None);
    loop {
        let now = Instant::now();
        interface.poll(now, &mut device, &mut sockets);
        let socket = sockets.get_mut::<Socket>(handle);
        match direction {
            Direction::Receive => {
                while socket.can_recv() {
                    let read = socket.recv(|data| {
                        let wrong = checked && pattern::verify(done, data).is_err();
                        (data.len(), (data.len() as u64, wrong))
                    });
                    let (len, wrong) = read.map_err(Error::other)?;
                    done += len;
                    if wrong {
                        return Err(Error::other("wrong octets"));
                    }
                }
            }
            Direction::Send => {
                while socket.can_send() && done < octets {
                    let most = (octets - done).min(BUFFER as u64) as usize;
                    let given = socket.send(|room| {
                        let len = room.len().min(most);
                        if checked {
                            pattern::fill(done, &mut room[..len]);
                        }
                        (len, len)
                    });
                    done += given.unwrap_or(0) as u64;
                }
            }
        }
        if done == octets && figures.is_none() && socket.send_queue() == 0 {
            figures = Some(Figures { seconds: 0.0, cpu: cpu_seconds() - cpu, packets: packets()? });
            socket.close();
            continue;
        }
        if let Some(figures) = &figures
            && peer.try_wait()?.is_some()
        {
            let mut said = String::new();
            peer.stdout.take().ok_or_else(|| Error::other("no pipe"))?.read_to_string(&mut said)?;
            let seconds =
                said.trim().parse().map_err(|_| Error::other(format!("the peer: {said}")))?;
            return Ok(Figures { seconds, ..*figures });
        }
        match interface.poll_delay(now, &sockets) {
            Some(delay) if delay.total_micros() == 0 => {}
            delay => wait(fd, delay.map_or(Some(LOOK), |it| Some(it.min(LOOK))))?,
        }
    }
}

/// Those that the device has passed, both ways.
fn packets() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("tun0:"));
    let fields: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    let number = |i: usize| fields.get(i).and_then(|it| it.parse::<u64>().ok());
    let sum = number(1).zip(number(9)).map(|(received, sent)| received + sent);
    sum.ok_or_else(|| Error::other("no counters of the device in /proc/net/dev"))
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// As the live loop asks for it.
fn be_precise() {
    let param = libc::sched_param { sched_priority: 10 };
    // SAFETY: plain numbers, and one struct that outlives the call.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &param);
    }
}

fn succeeded(status: i32) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

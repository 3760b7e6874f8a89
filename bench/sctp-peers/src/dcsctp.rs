//! dcSCTP 0.1.16, with its log line guarded.

use crate::{End, PACKET, RECEIVE_BUFFER};
use ::dcsctp::api::{
    DcSctpSocket, Message, Options, PpId, SendOptions, SocketEvent, SocketState, SocketTime,
    StreamId,
};
use std::collections::VecDeque;
use std::time::Duration;

struct Side {
    socket: Box<dyn DcSctpSocket>,
    out: VecDeque<Vec<u8>>,
}

fn at(nanos: u64) -> SocketTime {
    SocketTime::zero() + Duration::from_nanos(nanos)
}

impl End for Side {
    fn advance(&mut self, now: u64) {
        self.socket.advance_time(at(now));
    }
    fn input(&mut self, now: u64, packet: Vec<u8>) {
        self.socket.advance_time(at(now));
        self.socket.handle_input(&packet);
    }
    fn output(&mut self, _now: u64) -> Option<Vec<u8>> {
        while let Some(event) = self.socket.poll_event() {
            if let SocketEvent::SendPacket(packet) = event {
                self.out.push_back(packet);
            }
        }
        self.out.pop_front()
    }
    fn timeout(&self) -> Option<u64> {
        let due = self.socket.poll_timeout();
        (due != SocketTime::infinite_future()).then(|| (due - SocketTime::zero()).as_nanos() as u64)
    }
    fn is_up(&self) -> bool {
        self.socket.state() == SocketState::Connected
    }
    fn send(&mut self, message: &[u8]) -> bool {
        let message = Message::new(StreamId(0), PpId(0), message.to_vec());
        self.socket.send(message, &SendOptions::default()).is_ok()
    }
    fn receive(&mut self) -> Option<usize> {
        self.socket.get_next_message().map(|message| message.payload.len())
    }
}

pub fn ends() -> [Box<dyn End>; 2] {
    let options = Options {
        mtu: PACKET,
        max_receiver_window_buffer_size: RECEIVE_BUFFER as usize,
        ..Options::default()
    };
    let mut client = ::dcsctp::new_socket("client", &options);
    client.connect();
    let server = ::dcsctp::new_socket("server", &options);
    [client, server].map(|socket| Box::new(Side { socket, out: VecDeque::new() }) as Box<dyn End>)
}

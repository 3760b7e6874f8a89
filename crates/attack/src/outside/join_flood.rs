//! MP_JOIN floods (RFC 8684 §5): SYNs that name a connection by a token. One that
//! guesses right makes the victim keep a subflow half-open until the HMAC of the
//! third ACK fails to come.

use super::Form;
use super::scene::{Scene, segment};
use anabranch_units::Serial32;
use anabranch_wire::TcpFlags;
use anabranch_wire::tcp::mptcp::{Join, MptcpOption};

/// SYNs with tokens of chance.
pub(super) struct JoinFlood;

impl Form for JoinFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        let mut syn = segment(Serial32(scene.random()), Serial32(0), TcpFlags::SYN);
        let (token, nonce) = (scene.random(), scene.random());
        let join = Join::Syn { backup: false, address: 1, token, nonce };
        syn.options.mss = Some(1460);
        syn.options.rare_mut().mptcp = vec![MptcpOption::Join(join)];
        scene.send_tcp(from, syn);
    }
}

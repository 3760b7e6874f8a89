//! D-LIA: what its smaller reductions are worth under random loss, and what they cost those that share a bottleneck with it.

use super::coupled_bbr::beside;

/// Goodput in Mbit/s over two links of 100 Mbit/s and 40 ms that lose one segment of a thousand at random.
fn under_random_loss(window: &str) -> f64 {
    let link = |name: &str| {
        format!(
            "[[links]]\nname = \"{name}\"\nends = [\"a.{name}\", \"b.{name}\"]\nrate = \"100 Mbit/s\"\n\
             delay = \"20 ms\"\nqueue = {{ limit = \"333 packets\" }}\n\
             impairments = [{{ kind = \"bernoulli\", rate = 0.001 }}]\nreverse = {{ impairments = [] }}\n"
        )
    };
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]\n";
    let flow = super::flow(&format!(
        "tcp = {{ window = \"{window}\", receive_buffer = \"4 MiB\", recovery = \"rack\" }}\n\
         mptcp = {{ path_manager = \"pairs\" }}"
    ));
    let text = format!("duration = \"60 s\"\n{hosts}{}{}{flow}", link("x"), link("y"));
    super::play(&text).flows[0].goodput_bps / 1e6
}

/// The paper's aim: under random loss, where losses often follow each other soon, it keeps more of the window than LIA.
#[test]
fn random_loss_takes_less_than_from_lia() {
    let (d_lia, lia) = (under_random_loss("d-lia"), under_random_loss("lia"));
    assert!(d_lia > 1.5 * lia, "{d_lia} {lia}");
}

/// RFC 6356's second goal, which the paper claims too, does not hold: where the losses of a full queue are as irregular, two
/// subflows have as much more than one flow of Reno as uncoupled ones. LIA's have about as much as that flow.
#[test]
fn two_subflows_have_more_of_a_bottleneck_than_one_flow() {
    let of = |window: &str| beside(window, 2, "reno").0;
    let (d_lia, lia, reno) = (of("d-lia"), of("lia"), of("reno"));
    assert!((0.9..1.4).contains(&lia), "{lia}");
    assert!(d_lia > 1.4 && d_lia > 1.25 * lia, "{d_lia} {lia}");
    assert!(d_lia < 1.1 * reno, "{d_lia} {reno}");
}

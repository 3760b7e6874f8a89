"""A network in code: CUBIC and Reno share a bottleneck; their rates as a figure and a table.

python examples/python/shared_bottleneck.py
"""

from anabranch import Network, stats
from anabranch.units import Gbit_s, Mbit_s, ms, packets, s

net = Network("CUBIC beside Reno", duration=s(60), seed=7)
left, right = net.router("left"), net.router("right")
net.link(left, right, rate=Mbit_s(50), delay=ms(20), queue={"limit": packets(200)})
for window in ("cubic", "reno"):
    sender, receiver = net.host(f"{window}-sender"), net.host(f"{window}-receiver")
    net.link(sender, left, rate=Gbit_s(1), delay=ms(1))
    net.link(right, receiver, rate=Gbit_s(1), delay=ms(1))
    net.flow(sender, receiver, name=window, tcp={"profile": "linux", "window": window})
net.observe("received")
net.observe("queue", link="left-right")

result = net.scenario().run()
result.plot("throughput").savefig("throughput.png")
result.plot("queue").savefig("queue.png")

flows = result.table("flows")
for name, rate in zip(flows["flow"].to_pylist(), flows["goodput_bps"].to_pylist(), strict=True):
    print(f"{name}: {rate / 1e6:.1f} Mbit/s")
print(f"Jain's index: {stats.jain(flows['goodput_bps'].to_pylist()):.3f}")

"""Writes leo.csv: delay, rate and handovers of a low-orbit satellite link.

    python examples/traces/leo.py > examples/traces/leo.csv

Satellites follow each other in one plane, which passes over the user and the
gateway beside it. A satellite at the central angle psi from the zenith is at the
distance

    d = sqrt(R^2 + (R + h)^2 - 2 R (R + h) cos psi)

with R = 6371 km and h = 550 km; it moves by psi = t sqrt(mu / (R + h)^3), the
Earth taken as at rest. The path up and down takes 2 d / c. The user stays with a
satellite until its elevation falls to 40 degrees, that is to

    psi_max = acos(R cos(40 deg) / (R + h)) - 40 deg,

and is then handed over to the next one, 360/44 degrees behind, during an outage of
150 ms. The rate is 10 Mbit/s at the zenith and follows Shannon's law with a signal
ratio of 10 dB there that falls with the square of the distance. The table begins
at a zenith and ends before the next: it repeats.
"""

from math import acos, cos, log2, pi, radians, sqrt

R, H, MU, C = 6371e3, 550e3, 3.986004418e14, 299_792_458.0
SATELLITES = 44
LOWEST = radians(40)
STEP_S = 5
ZENITH_RATE, ZENITH_RATIO = 10e6, 10.0

ORBIT = R + H
SPEED = sqrt(MU / ORBIT**3)
SPACING = 2 * pi / SATELLITES
PSI_MAX = acos(R * cos(LOWEST) / ORBIT) - LOWEST
PERIOD_S = SPACING / SPEED


def distance(psi: float) -> float:
    """Metres to a satellite at a central angle from the zenith."""
    return sqrt(R**2 + ORBIT**2 - 2 * R * ORBIT * cos(psi))


def row(t: float, psi: float, outage: str = "") -> str:
    """A line of the table."""
    far = distance(psi)
    ratio = ZENITH_RATIO * (H / far) ** 2
    rate = ZENITH_RATE * log2(1 + ratio) / log2(1 + ZENITH_RATIO)
    return f"{t:.1f} s, {2 * far / C * 1e6:.0f} us, {rate / 1e3:.0f} kbit/s, {outage}".rstrip()


def main() -> None:
    """Prints the table."""
    handover = PSI_MAX / SPEED
    print(f"# Written by leo.py. It repeats after {PERIOD_S:.1f} s.")
    print("time, delay, rate, outage")
    rows = []
    for i in range(int(PERIOD_S // STEP_S) + 1):
        t = i * STEP_S
        psi = SPEED * t if t < handover else SPEED * t - SPACING
        rows.append((float(t), row(t, psi)))
    after = row(handover, PSI_MAX - SPACING, "150 ms")
    rows.append((round(handover, 1), after))
    print("\n".join(line for _, line in sorted(rows)))


if __name__ == "__main__":
    main()

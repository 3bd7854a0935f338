# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on curves of time against N: sizes, extrapolation, crossovers, and the performance
portability of Pennycook, Sewall & Lee. A curve is a list of (N, seconds), rising in N."""
import math

# Of the experiment `time`: what is told of it, the slower and the faster method.
CROSSOVERS = [("treecode below direct", "direct", "treecode"), ("FMM below direct", "direct", "fmm"),
              ("FMM below treecode", "treecode", "fmm")]


def sizes(first, last, per_decade):
    """Numbers of bodies, evenly spread over the logarithm, with both ends where they fit."""
    steps = round(per_decade * math.log10(last / first))
    return [round(first * 10 ** (k / per_decade)) for k in range(steps + 1)]


def pairs(n):
    return n * (n - 1)


def extrapolate_direct(curve, n):
    """Seconds of a direct sum of n bodies: as many pairs a second as at the largest N measured."""
    measured, seconds = curve[-1]
    return seconds * pairs(n) / pairs(measured)


def interpolate(curve, n):
    """Seconds at n, linear in the logarithms of both; None outside of the curve."""
    for (a, s), (b, t) in zip(curve, curve[1:]):
        if a <= n <= b:
            share = math.log(n / a) / math.log(b / a)
            return s * (t / s) ** share
    return curve[0][1] if curve and curve[0][0] == n else None


class Crossover:
    """From which N on one curve stays below another one: at `n`; or from the first N they share
    (`always`), or not up to the last (`never`). `between` are the points on both sides of n."""

    def __init__(self, n=None, always=False, never=False, between=None, shared=None):
        self.n, self.always, self.never = n, always, never
        self.between, self.shared = between, shared

    def text(self):
        if self.shared is None:
            return "-"
        if self.always:
            return f"below {self.shared[0]:.2g}"
        if self.never:
            return f"above {self.shared[1]:.2g}"
        return f"{self.n:.2g}"


def crossover(slower, faster):
    """Where `faster` begins to stay below `slower`, interpolated between the N that both have, linear
    in the logarithms."""
    at = dict(slower)
    gains = [(n, math.log(at[n] / seconds)) for n, seconds in faster if n in at]
    if not gains:
        return Crossover()
    shared = (gains[0][0], gains[-1][0])
    if gains[-1][1] <= 0:
        return Crossover(never=True, shared=shared)
    for (a, before), (b, after) in reversed(list(zip(gains, gains[1:]))):
        if before <= 0 < after:
            share = -before / (after - before)
            return Crossover(n=a * (b / a) ** share, between=(a, b), shared=shared)
    return Crossover(always=True, shared=shared)


def curve_of(points, variant, method, resource, measured=False):
    """That of the experiment `time`, from the rows of its file."""
    return sorted((p["n"], p["seconds"]) for p in points
                  if p["variant"] == variant and p["method"] == method
                  and p["resource"] == resource and not (measured and p["extrapolated"]))


def portability(efficiencies):
    """The harmonic mean of a program's efficiencies (0..1) on the platforms of a set, and 0 if it
    does not run on one of them (None). S. J. Pennycook, J. D. Sewall, V. W. Lee: Implications of a
    metric for performance portability. Future Gener. Comput. Syst. 92, 947 (2019)."""
    values = list(efficiencies)
    if not values or any(not value for value in values):
        return 0.0
    return len(values) / sum(1 / value for value in values)

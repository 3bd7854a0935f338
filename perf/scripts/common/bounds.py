# SPDX-License-Identifier: BSD-3-Clause
"""How much of each platform's bound is reached: by P2P, by M2L, and by the whole.

A platform is what the experiment `flops` ran on. Its bounds are those of platforms.json, counted or
measured as it says: a `value`, or the multiplications and multiply-adds of an item (`slots`), which take turns
in the pipes whose rate was measured. Otherwise they are the rates of multiply-adds and copies that were measured
in the same experiment.
"""
import json
import os

from common.curves import portability
from common.paths import ROOT

FLOPS_OF_A_PAIR = 20  # as reports count


class Platform:
    def __init__(self, flops, breakdown=(), known=()):
        """`flops`, `breakdown`: results of these experiments; `known`: entries of platforms.json."""
        self.flops, self.breakdown = flops, breakdown
        first = flops[0]
        self.device, self.space = first["device"], first["space"]
        threads = first.get("threads")
        self.name = f"{self.device}, {self.space}"
        if self.space == "OpenMP" and threads:
            self.name += f", {threads} threads"
        entry = next((e for e in known
                      if e["device"] in self.device and self.space in e["space"].split(", ")), {})
        bounds = entry.get("bounds", {})
        self.known = {name: bound["value"] for name, bound in bounds.items() if "value" in bound}
        flops_peak = self.peak("flops")
        for name, bound in bounds.items():
            if "slots" in bound and flops_peak:
                self.known[name] = flops_peak / 2 / bound["slots"]

    def best(self, operator):
        """The fastest result of an operator; None without one."""
        found = [r for r in self.flops if r["operator"] == operator and rate_of(r)]
        return max(found, key=rate_of, default=None)

    def peak(self, what):
        """`flops` (issued, float) or `bytes` a second; None if unknown."""
        if what in self.known:
            return self.known[what]
        operator, key = {"flops": ("peak/multiply-add/float", "issued_flops_per_second"),
                         "bytes": ("peak/copy", "bytes_per_second")}[what]
        return max((r[key] for r in self.flops if r["operator"] == operator), default=None)

    def bound(self, result):
        """The largest rate of an operator's items here: counted, or by the roofline."""
        operator, rate = result["operator"], rate_of(result)
        for name in (operator, operator.split("/")[0] if operator.startswith("P2P") else None):
            if name in self.known:
                return self.known[name]
        limits = []
        for peak, key in (("flops", "issued_flops_per_second"), ("bytes", "bytes_per_second")):
            if self.peak(peak) and result.get(key):
                limits.append(self.peak(peak) * rate / result[key])
        return min(limits, default=None)

    def efficiency(self, operator):
        best = self.best(operator)
        bound = best and self.bound(best)
        return rate_of(best) / bound if bound else None

    def whole(self):
        """The FMM of the breakdown: the time of its pairs and of all its other operations at their
        bounds, over that measured."""
        fmm = next((p for p in self.breakdown if p["method"] == "fmm" and p["variant"] == "best"),
                   None)
        pairs = self.best("P2P/all") or self.best("P2P/near")
        peak = self.peak("flops")
        if not (fmm and pairs and peak):
            return None
        count = fmm["interactions"]["p2p_pairs"]
        bound = count / self.bound(pairs) + (fmm["flops"] - FLOPS_OF_A_PAIR * count) / peak
        return bound / fmm["seconds"]

    def efficiencies(self):
        return {"P2P, all pairs": self.efficiency("P2P/all"),
                "P2P, near field": self.efficiency("P2P/near"),
                "M2L, order 6": self.efficiency("M2L/rotation/order:6"),
                "whole FMM": self.whole()}


def rate_of(result):
    """Pairs, evaluations or translations a second."""
    for what in ("pairs", "evaluations", "translations"):
        if result.get(f"{what}_per_second"):
            return result[f"{what}_per_second"]
    return 0


def known_platforms():
    path = os.path.join(ROOT, "perf", "platforms.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table_of(platforms):
    """Rows (what, efficiency on each platform, their harmonic mean)."""
    found = [platform.efficiencies() for platform in platforms]
    return [(what, [e[what] for e in found], portability([e[what] for e in found]))
            for what in (found[0] if found else {})]

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plots reports of fmm_forces: time by method, stage breakdown, distribution of the force errors.

    plot_demo.py OUTDIR report.json...

writes time_by_method.png, stage_breakdown.png and error_distribution.png to OUTDIR. Each report is
a JSON array with an entry for each method, as `fmm_forces --report` writes it; one report makes one
group of bars or one panel.
"""
import argparse
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

# Colours that are told apart with every kind of colour vision (Okabe & Ito).
METHOD_COLOURS = {"direct": "#999999", "treecode": "#E69F00", "fmm": "#0072B2"}
STAGE_COLOURS = {
    "bounds": "#dddddd", "keys": "#c4c4c4", "sort": "#a0a0a0", "tree": "#787878",
    "lists": "#505050", "charges": "#f0e442", "p2m": "#b8e0a0", "m2m": "#60b060",
    "m2l": "#0072B2", "m2p": "#56B4E9", "l2l": "#88509c", "l2p": "#CC79A7", "p2p": "#D55E00",
    "results": "#f5c6a0",
}
STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#e6e6e6", "legend.frameon": False, "figure.dpi": 120,
}


def title_of(entry):
    """What all entries of a report have in common."""
    return f"{os.path.basename(entry['input'])}, N = {entry['n']:,}"


def machine_of(entry):
    threads = f", {entry['threads']} threads" if entry["threads"] else ""
    parts = [entry[key] for key in ("kernel", "precision", "device", "backend")]
    return ", ".join(parts) + threads


def method_of(entry):
    order = f"\norder {entry['order']}" if entry["order"] is not None else ""
    theta = rf", $\theta$ = {entry['theta']:.3g}" if entry["theta"] is not None else ""
    return entry["method"] + order + theta


def seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def plot_times(reports, path):
    """Bars with the total time of each method, one group for each report."""
    methods = list(dict.fromkeys(entry["method"] for report in reports for entry in report))
    fig, axes = plt.subplots(figsize=(1.8 + 1.3 * len(methods) * len(reports), 4.2))
    width = 0.8 / len(methods)
    extrapolated = False
    for group, report in enumerate(reports):
        for entry in report:
            slot = methods.index(entry["method"])
            x = group + (slot - (len(methods) - 1) / 2) * width
            total = entry["seconds"]["total"]
            guess = entry.get("extrapolated", False)
            extrapolated = extrapolated or guess
            axes.bar(x, total, 0.92 * width, color=METHOD_COLOURS.get(entry["method"], "black"),
                     alpha=0.55 if guess else 1, hatch="///" if guess else None, edgecolor="white",
                     label=entry["method"] if group == 0 else None)
            text = seconds(total) + ("*" if guess else "")
            if entry["error"]:
                text += f"\nerror {entry['error']['force_l2']:.1e}"
            axes.annotate(text, (x, total), (0, 3), textcoords="offset points", ha="center",
                          fontsize=8.5)
    axes.set_yscale("log")
    axes.margins(y=0.18)
    axes.grid(axis="x", visible=False)
    axes.set_xticks(range(len(reports)), [title_of(report[0]) for report in reports])
    axes.set_ylabel("seconds, positions and charges to forces")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_title("Time by method, with the relative L2 error of the force", loc="left",
                   fontsize=11)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    note = machine_of(reports[0][0])
    if extrapolated:
        note += "\n* extrapolated from a sample of the targets"
    fig.text(0.01, 0.01, note, fontsize=8, color="#555555")
    fig.tight_layout(rect=(0, 0.06, 1, 1))
    fig.savefig(path)
    plt.close(fig)


def plot_stages(reports, path):
    """Stacked bars with each stage's share of a method's time; direct sums have but one stage."""
    fig, panels = plt.subplots(len(reports), 1, figsize=(9.5, 1.2 + 1.6 * len(reports)),
                               sharex=True, squeeze=False)
    used = set()
    for axes, report in zip(panels[:, 0], reports):
        entries = [entry for entry in reversed(report) if entry["method"] != "direct"]
        for row, entry in enumerate(entries):
            stages = {name: value for name, value in entry["seconds"]["stages"].items() if value}
            used.update(stages)
            total, left = sum(stages.values()) or 1, 0
            for stage, value in stages.items():
                share, colour = 100 * value / total, STAGE_COLOURS.get(stage, "#000000")
                axes.barh(row, share, 0.66, left, color=colour, edgecolor="white", linewidth=0.5)
                if share > 6:
                    axes.text(left + share / 2, row, f"{stage}\n{seconds(value)}", ha="center",
                              va="center", fontsize=8,
                              color="white" if is_dark(colour) else "black")
                left += share
            axes.text(101, row, seconds(total), va="center", fontsize=9)
        axes.set_yticks(range(len(entries)), [method_of(entry) for entry in entries])
        axes.grid(axis="y", visible=False)
        axes.set_title(title_of(report[0]), loc="left", fontsize=11)
        axes.set_xlim(0, 100)
    panels[-1, 0].set_xlabel("% of the method's time, and seconds")
    names = [stage for stage in STAGE_COLOURS if stage in used]
    handles = [plt.Rectangle((0, 0), 1, 1, color=STAGE_COLOURS[stage]) for stage in names]
    fig.legend(handles, names, loc="lower center", ncol=len(STAGE_COLOURS), fontsize=8,
               handlelength=1, columnspacing=1)
    fig.tight_layout(rect=(0, 0.35 / fig.get_figheight(), 0.99, 1))
    fig.savefig(path)
    plt.close(fig)


def is_dark(colour):
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


def plot_errors(reports, path):
    """Histograms of |a - a_ref| / |a_ref| over the checked targets, one panel for each report."""
    fig, panels = plt.subplots(1, len(reports), figsize=(4.6 * len(reports) + 0.6, 3.9),
                               sharex=True, sharey=True, squeeze=False)
    for axes, report in zip(panels[0], reports):
        for entry in report:
            error = entry["error"]
            if not error or not error["histogram"]["counts"]:
                continue
            histogram = error["histogram"]
            width, samples = histogram["log10_width"], error["samples"]
            shares = {round(low / width): 100 * count / samples
                      for low, count in zip(histogram["log10_from"], histogram["counts"])}
            first, last = min(shares), max(shares)
            edges = [10 ** (width * bin_) for bin_ in range(first, last + 2)]
            heights = [shares.get(bin_, 0) for bin_ in range(first, last + 1)]
            colour = METHOD_COLOURS.get(entry["method"], "black")
            name = entry["method"]
            if entry.get("extrapolated"):
                name += f" at {entry['sampled_targets']:,} targets"
            axes.stairs(heights, edges, color=colour, fill=True, alpha=0.3)
            axes.stairs(heights, edges, color=colour, linewidth=1.4,
                        label=f"{name}: L2 {error['force_l2']:.1e}, p99 {error['force_p99']:.1e}")
        axes.set_xscale("log")
        axes.margins(y=0.35)
        axes.set_title(title_of(report[0]), loc="left", fontsize=11)
        axes.set_xlabel(r"relative force error  $|a - a_{\rm ref}| \, / \, |a_{\rm ref}|$")
        axes.legend(loc="upper left", fontsize=8)
    panels[0, 0].set_ylabel("% of targets in a tenth of a decade")
    fig.tight_layout()
    fig.savefig(path)
    plt.close(fig)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir")
    parser.add_argument("reports", nargs="+", metavar="report.json")
    arguments = parser.parse_args()
    reports = []
    for name in arguments.reports:
        with open(name, encoding="utf-8") as file:
            report = json.load(file)
        if not report:
            sys.exit(f"plot_demo.py: {name} has no entries")
        reports.append(report)
    os.makedirs(arguments.outdir, exist_ok=True)
    plt.rcParams.update(STYLE)
    for name, plot in (("time_by_method", plot_times), ("stage_breakdown", plot_stages),
                       ("error_distribution", plot_errors)):
        path = os.path.join(arguments.outdir, name + ".png")
        plot(reports, path)
        print(path)


if __name__ == "__main__":
    main()

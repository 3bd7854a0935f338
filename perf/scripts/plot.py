#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes every figure from JSON.

    perf/scripts/plot.py --all [--data FILE_OR_FOLDER...] [--out FOLDER]    the documents' figures, as SVG
    perf/scripts/plot.py --demo FOLDER report.json...                       scripts/demo's figures, as PNG

--all takes the files that perf/scripts/experiments.py, perf/scripts/criteria.py and perf/scripts/accuracy.py wrote, from perf/results
unless told, to docs/figures. Each report of --demo is a JSON array with an entry for each method, as `fmm_forces
--report` writes it; one report makes one group of bars or one panel.
"""
import argparse
import json
import os
import sys

import matplotlib

from common.bounds import Platform, known_platforms, table_of
from common.curves import CROSSOVERS, crossover, curve_of
from common.paths import ROOT
from common.tables import print_table, seconds_text

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

# Colours that are told apart with every kind of colour vision (Okabe & Ito).
METHOD_COLOURS = {"direct": "#999999", "treecode": "#E69F00", "fmm": "#0072B2"}
STAGE_COLOURS = {
    "bounds": "#dddddd", "keys": "#c4c4c4", "sort": "#a0a0a0", "tree": "#787878",
    "lists": "#505050", "charges": "#f0e442", "p2m": "#b8e0a0", "m2m": "#60b060",
    "m2l": "#0072B2", "p2l": "#009E73", "m2p": "#56B4E9", "l2l": "#88509c", "l2p": "#CC79A7",
    "p2p": "#D55E00", "results": "#f5c6a0",
}
STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#e6e6e6", "legend.frameon": False, "figure.dpi": 120,
    "svg.hashsalt": "fmm",  # the same bytes from the same data
}
OPERATOR_COLOURS = {"P2P/all": "#D55E00", "P2P/near": "#E69F00", "M2P": "#56B4E9",
                    "M2L/rotation": "#0072B2", "M2L/direct": "#009E73", "whole FMM": "#000000"}
CRITERION_COLOURS = {"radius": "#999999", "field": "#0072B2", "power": "#009E73",
                     "relative": "#D55E00"}
LISTS = "classic lists"  # an experiment of which criteria's figure has a curve, if it is there
PRECISION_COLOURS = {"float": "#E69F00", "mixed": "#009E73", "double": "#0072B2"}


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


def save(fig, path):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    fig.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    plt.close(fig)
    print(path)


# ---- of reports of one N ------------------------------------------------------------------------


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
            text = seconds_text(total) + ("*" if guess else "")
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
    save(fig, path)


def plot_stages(panels, path):
    """Stacked bars with each stage's share of the time: panels of (title, [(label, {stage: s})])."""
    fig, all_axes = plt.subplots(len(panels), 1, sharex=True, squeeze=False, figsize=(
        9.5, 1.2 + 0.5 * len(panels) + 0.6 * sum(len(rows) for _, rows in panels)))
    used = set()
    for axes, (title, rows) in zip(all_axes[:, 0], panels):
        for row, (_, stages) in enumerate(reversed(rows)):
            stages = {name: value for name, value in stages.items() if value}
            used.update(stages)
            total, left = sum(stages.values()) or 1, 0
            for stage, value in stages.items():
                share, colour = 100 * value / total, STAGE_COLOURS.get(stage, "#000000")
                axes.barh(row, share, 0.66, left, color=colour, edgecolor="white", linewidth=0.5)
                if share > 6:
                    axes.text(left + share / 2, row, f"{stage}\n{seconds_text(value)}",
                              ha="center", va="center", fontsize=8,
                              color="white" if is_dark(colour) else "black")
                left += share
            axes.text(101, row, seconds_text(total), va="center", fontsize=9)
        axes.set_yticks(range(len(rows)), [label for label, _ in reversed(rows)])
        axes.grid(axis="y", visible=False)
        axes.set_title(title, loc="left", fontsize=11)
        axes.set_xlim(0, 100)
    all_axes[-1, 0].set_xlabel("% of the method's time, and seconds")
    names = [stage for stage in STAGE_COLOURS if stage in used]
    handles = [plt.Rectangle((0, 0), 1, 1, color=STAGE_COLOURS[stage]) for stage in names]
    fig.legend(handles, names, loc="lower center", ncol=len(STAGE_COLOURS), fontsize=8,
               handlelength=1, columnspacing=1)
    fig.tight_layout(rect=(0, 0.35 / fig.get_figheight(), 0.99, 1))
    save(fig, path)


def stages_of_reports(reports):
    """Panels of plot_stages; direct sums have but one stage."""
    return [(title_of(report[0]), [(method_of(entry), entry["seconds"]["stages"])
                                   for entry in report if entry["method"] != "direct"])
            for report in reports]


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
    save(fig, path)


# ---- of experiments -------------------------------------------------------------------------------


def plot_time(points, variant, path):
    """Time against N: a panel for each of one core, all cores and GPU; a direct sum that was
    extrapolated is dashed, and a crossover is a vertical line."""
    resources = list(dict.fromkeys(p["resource"] for p in points))
    fig, panels = plt.subplots(1, len(resources), sharey=True, squeeze=False,
                               figsize=(1 + 4.2 * len(resources), 4.6))
    for axes, resource in zip(panels[0], resources):
        curves = {method: curve_of(points, variant, method, resource) for method in METHOD_COLOURS}
        for method, curve in curves.items():
            measured = curve_of(points, variant, method, resource, measured=True)
            colour = METHOD_COLOURS[method]
            if measured:
                axes.plot(*zip(*measured), "o-", color=colour, markersize=3.5, label=method)
            if len(measured) < len(curve):
                axes.plot(*zip(*curve[max(len(measured) - 1, 0):]), "--", color=colour,
                          label=f"{method}, extrapolated")
        for name, slower, faster in CROSSOVERS[:2]:
            found = crossover(curves[slower], curves[faster])
            if found.n:
                axes.axvline(found.n, color=METHOD_COLOURS[faster], linestyle=":", linewidth=1)
                axes.annotate(f"{found.n:.2g}", (found.n, 0.01 if faster == "fmm" else 0.06),
                              (3, 0), xycoords=("data", "axes fraction"),
                              textcoords="offset points", color=METHOD_COLOURS[faster], fontsize=8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("N")
        axes.set_title(f"{device_of(points, resource)}, {resource}", loc="left", fontsize=10)
    panels[0, 0].set_ylabel("seconds, positions and charges to forces")
    panels[0, 0].legend(fontsize=8)
    fig.suptitle("Force error 1e-4 at most: " + {
        "best": "each method at its own best", "same-depth": "both on one uniform tree"}[variant],
        x=0.01, ha="left", fontsize=11)
    fig.tight_layout()
    save(fig, path)


def device_of(points, resource):
    return next(p["device"] for p in points if p["resource"] == resource)


def stages_of_breakdowns(breakdowns):
    def label(p):
        tree = "best" if p["variant"] == "best" else f"depth {p['depth']}"
        return f"{p['method']}, {tree}\norder {p['order']}"

    return [(f"{points[0]['device']}, {points[0]['resource']}, N = {points[0]['n']:,}",
             [(label(p), p["stages"]) for p in points]) for points in breakdowns]


def colour_of(operator):
    return next((c for name, c in OPERATOR_COLOURS.items() if operator.startswith(name)), "black")


def plot_gflops(platforms, path):
    """Gflop/s against N, a panel for each platform: as the chapter counts, and as issued (dotted)."""
    fig, panels = plt.subplots(1, len(platforms), squeeze=False,
                               figsize=(1 + 4.6 * len(platforms), 4.4))
    for axes, platform in zip(panels[0], platforms):
        results = [r for r in platform.flops if r["n"]]
        for operator in dict.fromkeys(r["operator"] for r in results):
            for key, style in (("flops_per_second", "o-"), ("issued_flops_per_second", ":")):
                curve = [(r["n"], r[key] / 1e9) for r in results
                         if r["operator"] == operator and key in r]
                if curve:
                    axes.plot(*zip(*sorted(curve)), style, color=colour_of(operator), markersize=3.5,
                              label=operator + (", issued" if style == ":" else ""))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("N")
        axes.set_title(platform.name, loc="left", fontsize=10)
    panels[0, 0].set_ylabel("Gflop/s")
    panels[0, -1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    fig.tight_layout()
    save(fig, path)


def plot_roofline(platforms, path):
    """Issued flop/s against flops a byte (each array once), below the roof."""
    platforms = [p for p in platforms if p.peak("flops") and p.peak("bytes")]
    if not platforms:
        print("roofline: no platform has both peaks")
        return
    fig, panels = plt.subplots(1, len(platforms), squeeze=False,
                               figsize=(1 + 4.6 * len(platforms), 4.4))
    for axes, platform in zip(panels[0], platforms):
        flops, bytes_ = platform.peak("flops"), platform.peak("bytes")
        found = []
        for operator in dict.fromkeys(r["operator"] for r in platform.flops if r["n"]):
            best = platform.best(operator)
            if best:
                rate = best["issued_flops_per_second"]
                found.append((operator, rate / best["bytes_per_second"], rate))
        for p in platform.breakdown:
            if p["method"] == "fmm" and p["variant"] == "best" and p["memory_bytes"]:
                found.append(("whole FMM", p["flops"] / p["memory_bytes"],
                              p["flops"] / p["seconds"]))
        ridge = flops / bytes_
        ends = [min([ridge, *(x for _, x, _ in found)]) / 4, max([ridge, *(x for _, x, _ in found)]) * 4]
        axes.plot([ends[0], ridge, ends[1]], [ends[0] * bytes_, flops, flops], color="black",
                  linewidth=1.2)
        for name, intensity, rate in found:
            axes.plot(intensity, rate, "o", color=colour_of(name), label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("flops a byte")
        axes.set_title(f"{platform.name}\n{flops / 1e9:.4g} Gflop/s, {bytes_ / 1e9:.4g} GB/s",
                       loc="left", fontsize=10)
        axes.set_ylim(bottom=min(flops, *(rate for _, _, rate in found)) / 4)
    panels[0, 0].set_ylabel("flop/s, issued")
    panels[0, -1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    fig.tight_layout()
    save(fig, path)


def plot_portability(platforms, path):
    """Fractions of the bounds, and their harmonic means."""
    rows = table_of(platforms)
    fig, axes = plt.subplots(figsize=(8, 3.8))
    width = 0.8 / (len(platforms) + 1)
    for k, name in enumerate([*(p.name for p in platforms), "harmonic mean"]):
        values = [[*efficiencies, mean][k] for _, efficiencies, mean in rows]
        places = [x + (k - len(platforms) / 2) * width for x in range(len(rows))]
        axes.bar(places, [100 * (v or 0) for v in values], 0.92 * width, label=name,
                 color="#444444" if k == len(platforms) else plt.cm.tab10(k))
        for x, value in zip(places, values):
            text = "-" if value is None else f"{100 * value:.0f}"
            axes.annotate(text, (x, 100 * (value or 0)), (0, 2), textcoords="offset points",
                          ha="center", fontsize=8)
    axes.set_xticks(range(len(rows)), [what for what, _, _ in rows])
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("% of the platform's bound")
    axes.legend(fontsize=8)
    fig.tight_layout()
    save(fig, path)
    print_table(["fraction of the bound", *(p.name for p in platforms), "harmonic mean"],
                [[what, *("-" if e is None else f"{e:.2f}" for e in efficiencies), f"{mean:.2f}"]
                 for what, efficiencies, mean in rows])


def plot_criteria(results, lists, path):
    """Errors against time, a curve for each criterion and one for the classic lists of all orders: two rows of
    panels for each device, the L2 error and below it the 99th percentile."""
    def group_of(row):
        return tuple(row[key] for key in ("model", "n", "precision", "order"))

    devices = list(dict.fromkeys(row["device"] for row in results))
    groups = {device: list(dict.fromkeys(group_of(row) for row in results if row["device"] == device))
              for device in devices}
    width = max(map(len, groups.values()))
    fig, panels = plt.subplots(2 * len(devices), width, squeeze=False,
                               figsize=(1 + 3.6 * width, 0.5 + 5.2 * len(devices)))
    for axes in panels.flat:
        axes.set_visible(False)
    for i, device in enumerate(devices):
        for column, group in zip(panels[2 * i:2 * i + 2].T, groups[device]):
            model, n, precision, order = group
            column[0].set_title(f"{device}\n{model}, N = {n:,}, {precision}, order {order}", loc="left",
                                fontsize=8)
            for axes, key in zip(column, ("force_l2", "force_p99")):
                axes.set_visible(True)
                for criterion, colour in CRITERION_COLOURS.items():
                    curve = [(row["seconds"], row[key]) for row in results if row["device"] == device and
                             group_of(row) == group and row["criterion"] == criterion]
                    if curve:
                        axes.plot(*zip(*curve), "o-", color=colour, markersize=3.5, label=criterion)
                curve = [(row["seconds"], row[key]) for row in sorted(lists, key=lambda row: row["order"])
                         if row["device"] == device and group_of(row)[:3] == group[:3]]
                if curve:
                    axes.plot(*zip(*curve), "s:", color="black", markersize=3, label=LISTS)
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axes.xaxis.set_minor_formatter(NullFormatter())
            column[1].set_xlabel("seconds")
        panels[2 * i, 0].set_ylabel("force error, relative L2")
        panels[2 * i + 1, 0].set_ylabel("force error, 99th percentile")
        panels[2 * i, len(groups[device]) - 1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    fig.tight_layout()
    save(fig, path)


def plot_accuracy(results, path):
    """Errors against the order, a curve for each theta; a row of panels for each precision."""
    def values(key):
        return list(dict.fromkeys(row[key] for row in results))

    models, precisions, thetas = values("model"), values("precision"), sorted(values("theta"))
    fig, panels = plt.subplots(len(precisions), len(models), sharex=True, sharey=True, squeeze=False,
                               figsize=(1.5 + 3 * len(models), 0.8 + 2.6 * len(precisions)))
    for row_of_panels, precision in zip(panels, precisions):
        for axes, model in zip(row_of_panels, models):
            for theta, colour in zip(thetas, plt.cm.viridis([0.9 * k / len(thetas)
                                                             for k in range(len(thetas))])):
                curve = [(row["order"], row["force_l2"]) for row in results if row["model"] == model and
                         row["precision"] == precision and row["theta"] == theta]
                if curve:
                    axes.plot(*zip(*sorted(curve)), "o-", color=colour, markersize=3,
                              label=rf"$\theta$ = {theta:g}")
            axes.set_yscale("log")
            axes.set_title(f"{model}, {precision}", loc="left", fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel("order")
    for axes in panels[:, 0]:
        axes.set_ylabel("force error, relative L2")
    panels[0, -1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    fig.suptitle(f"N = {results[0]['n']:,}; {results[0]['device']}", x=0.01, ha="left", fontsize=9)
    fig.tight_layout()
    save(fig, path)


def plot_fastest(results, path):
    """The fastest setting for each error: seconds against the error, a curve for each precision."""
    models = list(dict.fromkeys(row["model"] for row in results))
    fig, panels = plt.subplots(1, len(models), sharex=True, sharey=True, squeeze=False,
                               figsize=(1.5 + 3 * len(models), 3.2))
    for axes, model in zip(panels[0], models):
        for precision, colour in PRECISION_COLOURS.items():
            rows = [row for row in results if row["model"] == model and row["precision"] == precision]
            points = sorted((row["force_l2"], row["seconds"], row["order"], row["theta"]) for row in rows)
            front = [p for p in points if p[1] <= min(q[1] for q in points if q[0] <= p[0])]
            if front:
                axes.plot([p[0] for p in front], [p[1] for p in front], "o-", color=colour, markersize=3,
                          label=precision)
            for k, (error, seconds, order, theta) in enumerate(front):
                if k % 3 == 0 and precision != "mixed":
                    axes.annotate(f"{order}, {theta:g}", (error, seconds), (2, 4), fontsize=6,
                                  textcoords="offset points", color=colour)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(f"{model} (order, theta)", loc="left", fontsize=9)
        axes.set_xlabel("force error, relative L2")
    panels[0, 0].set_ylabel("seconds")
    panels[0, -1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    fig.tight_layout()
    save(fig, path)


def experiments_in(places):
    """{experiment: the results of each of its files}, in the order of their names."""
    names = []
    for place in places:
        if os.path.isdir(place):
            names += sorted(os.path.join(place, name) for name in os.listdir(place)
                            if name.endswith(".json"))
        else:
            names.append(place)
    found = {"time": [], "breakdown": [], "flops": [], "criteria": [], "accuracy": [], LISTS: []}
    for name in names:
        with open(name, encoding="utf-8") as file:
            data = json.load(file)
        if isinstance(data, dict) and data.get("experiment") in found and data.get("results"):
            found[data["experiment"]].append(data["results"])
    return found


def plot_all(places, out):
    found = experiments_in(places)
    points = [p for results in found["time"] for p in results]
    for variant in dict.fromkeys(p["variant"] for p in points):
        plot_time([p for p in points if p["variant"] == variant], variant,
                  os.path.join(out, f"time-{variant}.svg"))
    if found["breakdown"]:
        plot_stages(stages_of_breakdowns(found["breakdown"]), os.path.join(out, "stages.svg"))
    known = known_platforms()

    def breakdown_of(results):
        for points in found["breakdown"]:
            gpu = points[0]["resource"] == "GPU"
            serial = points[0]["resource"] == "Serial"
            space = "Cuda" if gpu else "Serial" if serial else "OpenMP"
            if points[0]["device"] == results[0]["device"] and space == results[0]["space"]:
                return points
        return ()

    platforms = [Platform(results, breakdown_of(results), known) for results in found["flops"]]
    if platforms:
        plot_gflops(platforms, os.path.join(out, "gflops.svg"))
        plot_roofline(platforms, os.path.join(out, "roofline.svg"))
        plot_portability(platforms, os.path.join(out, "portability.svg"))
    if found["criteria"]:
        plot_criteria([row for results in found["criteria"] for row in results],
                      [row for results in found[LISTS] for row in results], os.path.join(out, "criteria.svg"))
    for results in found["accuracy"][:1]:  # errors are the same everywhere, to rounding
        plot_accuracy(results, os.path.join(out, "accuracy.svg"))
        plot_fastest(results, os.path.join(out, "fastest.svg"))
    wanted = [name for name in found if name != LISTS]
    missing = [name for name in wanted if not found[name]]
    if missing:
        print(f"No results of {', '.join(missing)} in {', '.join(places)}: "
              "perf/scripts/experiments.py, perf/scripts/criteria.py and perf/scripts/accuracy.py make them")
    if missing == wanted:
        sys.exit(1)


def plot_demo(names, outdir):
    reports = []
    for name in names:
        with open(name, encoding="utf-8") as file:
            report = json.load(file)
        if not report:
            sys.exit(f"plot.py: {name} has no entries")
        reports.append(report)
    plot_times(reports, os.path.join(outdir, "time_by_method.png"))
    plot_stages(stages_of_reports(reports), os.path.join(outdir, "stage_breakdown.png"))
    plot_errors(reports, os.path.join(outdir, "error_distribution.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--all", action="store_true", help="the documents' figures")
    what.add_argument("--demo", metavar="FOLDER", help="figures of reports, to that folder")
    parser.add_argument("reports", nargs="*", metavar="report.json")
    parser.add_argument("--data", nargs="+", default=[os.path.join(ROOT, "perf", "results")])
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "figures"))
    options = parser.parse_args()
    if bool(options.demo) != bool(options.reports):
        parser.error("--demo needs reports, and --all takes none")
    plt.rcParams.update(STYLE)
    if options.demo:
        plot_demo(options.reports, options.demo)
    else:
        plot_all(options.data, options.out)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""Tables on the terminal, in Markdown, and the words of their cells."""


def print_table(header, rows):
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    print(flush=True)


def seconds_text(value):
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"

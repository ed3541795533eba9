"""Figures of benchmarks as a page with a table and a picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS = Path(__file__).resolve().parent / "results"
Figures = Mapping[str, Any]

COLOURS = ("#1a7f5a", "#7a8794", "#c9a227", "#8d5a97")
#: Of the picture, in pixels: heights, room for what is written at its left, width of a bar and between groups of them.
HEIGHT, TOP, BOTTOM, LEFT, BAR, GAP = 260, 34, 34, 52, 26, 28
#: The rows whose fastest side is drawn as a line.
CEILING = "ceiling"


def write(benchmark: str, files: Iterable[Path], figure_of: str) -> None:
    """docs/BENCHMARK.md and its picture, and the figures themselves in ``results``; of rows that were measured more than once, the last counts."""
    said = [json.loads(file.read_text()) for file in files]
    rows = list({row["name"]: row for each in said for row in each["rows"]}.values())
    # What was measured is kept, but for what lost.
    kept = [{name: value for name, value in row.items() if name != "tried"} for row in rows]
    text = json.dumps({**said[-1], "rows": kept}, indent=1)
    (RESULTS / f"{benchmark}.json").write_text(text + "\n")
    (DOCS / f"{benchmark}.svg").write_text(figure(rows, figure_of))
    (DOCS / f"{benchmark}.md").write_text(page(benchmark, said[-1], rows))


def page(benchmark: str, run: Figures, rows: Sequence[Figures]) -> str:
    """Markdown: who was measured, the picture, all rows."""
    libraries = libraries_of(rows)
    beside = (f"ours / {name}" for name in ("Triton", *libraries))
    header = ["", "ours", "Triton", *libraries, *beside, "rounds"]
    lines = [
        f"# {benchmark.capitalize()} on tensor cores",
        "",
        f"TFLOP/s on one {run['device']}, torch {run['torch']}, Triton {run['triton']}: the same source files and configurations on both sides, each side at its best,",
        f"medians of so many rounds in turn as the last column says; ratios with their 95 % intervals. `python benchmarks/{benchmark}.py --json …` measures it,",
        f"and `--page benchmarks/results/{benchmark}.json …` makes this page of what was measured; nothing here is written by hand.",
        "",
        f"![{benchmark}: ours, Triton, libraries]({benchmark}.svg)",
        "",
        table(header, [cells(row, libraries) for row in rows]),
        "",
        "## The configurations that were best",
        "",
        table(
            ["", "ours", "Triton"],
            [
                [row["name"], *(row["sides"].get(side, {}).get("config", "–") for side in ("ours", "Triton"))]
                for row in rows
            ],
        ),
        "",
    ]
    failed = [line for row in rows for line in row["failed"]]
    if failed:
        lines += ["## Left out", "", *(f"- {line}" for line in failed), ""]
    return "\n".join(lines)


def libraries_of(rows: Sequence[Figures]) -> list[str]:
    """All sides that are neither ours nor Triton's, in the order they come up."""
    return list(
        dict.fromkeys(side for row in rows for side in row["sides"] if side not in ("ours", "Triton"))
    )


def cells(row: Figures, libraries: Sequence[str]) -> list[str]:
    sides = row["sides"]
    speeds = [f"{sides[s]['tflops']:.1f}" if s in sides else "–" for s in ("ours", "Triton", *libraries)]
    ratios = [interval(sides.get(side, {}).get("ratio")) for side in ("Triton", *libraries)]
    return [row["name"], *speeds, *ratios, str(row["rounds"])]


def interval(ratio: Sequence[float] | None) -> str:
    return "–" if ratio is None else f"{ratio[0]:.3f} ({ratio[1]:.3f}–{ratio[2]:.3f})"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def figure(rows: Sequence[Figures], of: str) -> str:
    """SVG: a group of bars for each row with ``of`` in its name, and the ceiling as a line."""
    drawn = [row for row in rows if of in row["name"] and not row["name"].startswith(CEILING)]
    sides = ["ours", "Triton", *libraries_of(drawn)]
    ceilings = [
        side["tflops"] for row in rows if row["name"].startswith(CEILING) for side in row["sides"].values()
    ]
    speeds = [side["tflops"] for row in drawn for side in row["sides"].values()]
    highest = max([*speeds, *ceilings, 1.0]) * 1.05
    group = BAR * len(sides) + GAP
    width = LEFT + group * max(len(drawn), 1) + GAP
    base = TOP + HEIGHT

    def at(speed: float) -> float:
        return round(base - HEIGHT * speed / highest, 1)

    parts: list[str] = []
    for step in range(0, int(highest) + 1, 200 if highest > 400 else 50):
        parts.append(f'<path d="M{LEFT} {at(step)}H{width}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, at(step) + 4, str(step), "end"))
    for place, row in enumerate(drawn):
        left = LEFT + GAP + group * place
        for i, side in enumerate(sides):
            if side in row["sides"]:
                top = at(row["sides"][side]["tflops"])
                parts.append(
                    f'<rect x="{left + BAR * i}" y="{top}" width="{BAR - 2}" height="{round(base - top, 1)}" fill="{COLOURS[i]}">'
                    f"<title>{escape(row['name'])}, {escape(side)}: {row['sides'][side]['tflops']:.1f}</title></rect>"
                )
        parts.append(
            text(left + BAR * len(sides) / 2, base + 18, row["name"].replace(of, "") or of, "middle")
        )
    if ceilings:
        parts.append(
            f'<path d="M{LEFT} {at(max(ceilings))}H{width}" stroke="#b03030" stroke-dasharray="6 4"/>'
        )
        parts.append(text(width - 4, at(max(ceilings)) - 5, f"ceiling {max(ceilings):.0f}", "end"))
    for i, side in enumerate(sides):
        parts.append(f'<rect x="{LEFT + 110 * i}" y="8" width="10" height="10" fill="{COLOURS[i]}"/>')
        parts.append(text(LEFT + 110 * i + 15, 17, side, "start"))
    parts.append(text(4, 17, "TFLOP/s", "start"))
    size = f'width="{max(width, LEFT + 110 * len(sides))}" height="{base + BOTTOM}"'
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'


def text(x: float, y: float, what: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(what)}</text>'

"""Writes the tables of the pages from the stored results, or checks that they agree.

A page marks where a table goes:

    <!-- generated: NAME -->
    <!-- end -->

`python3 bench/tables.py` replaces what stands between the two comments; with `--check` it changes nothing and fails if
a page differs. It needs no third-party package.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from functools import cache

import choosing_table
import peers_table
import record
import rivals_table
from markdown_table import markdown_table

BLOCK = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
# What the stages of instructions.json measure.
STAGES = {
    "grow": "growing the forest",
    "top-k": "counting co-leaf pairs",
    "product": "products of the kernel with vectors",
    "k-means": "k-means",
}


@cache
def _choosing() -> list[choosing_table.Line]:
    return choosing_table.latest()


@cache
def _peers() -> list[peers_table.Line]:
    return peers_table.latest()


def _instructions() -> str:
    counts = json.loads((record.ROOT / "bench" / "instructions.json").read_text())
    rows = [(stage, STAGES[stage], f"{count:,}") for stage, count in counts.items()]
    return markdown_table(("stage", "what it measures", "instructions"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "choosing-run": lambda: choosing_table.run_of(_choosing()),
    "choosing-means": lambda: choosing_table.means(_choosing()),
    "choosing-targets": lambda: choosing_table.targets(_choosing()),
    "choosing-sets": lambda: choosing_table.scores(_choosing(), "ari"),
    "peers-run": lambda: peers_table.run_of(_peers()),
    "peers-mixture": lambda: peers_table.mixture(_peers()),
    "peers-growth": lambda: peers_table.growth(_peers()),
    "peers-large": lambda: peers_table.large(_peers()),
    "peers-targets": lambda: peers_table.targets(_peers()),
    "instructions": _instructions,
    "rivals-run": rivals_table.run_of,
    "rivals-kmeans": rivals_table.kmeans,
    "rivals-njw": rivals_table.njw,
}


def filled(page: str) -> str:
    """Return the text of a page with every marked table written anew."""

    def block(match: re.Match[str]) -> str:
        opening, name, closing = match.groups()
        if name not in TABLES:
            sys.exit(f"there is no table {name}; the tables are {', '.join(TABLES)}")
        return f"{opening}\n{TABLES[name]()}\n\n{closing}"

    return BLOCK.sub(block, page)


def main() -> None:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page differs from the results")
    check = parser.parse_args().check
    stale = []
    for path in sorted([record.ROOT / "README.md", *(record.ROOT / "docs").rglob("*.md")]):
        text = path.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            stale.append(str(path.relative_to(record.ROOT)))
            if not check:
                path.write_text(new, encoding="utf-8")
    if check and stale:
        sys.exit(f"tables differ from bench/results in {', '.join(stale)}; run make tables")
    print(f"tables: {', '.join(stale) or 'all pages'} {'written' if stale else 'up to date'}")


if __name__ == "__main__":
    main()

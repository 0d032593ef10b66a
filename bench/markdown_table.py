"""Markdown tables, as printed by the benchmarks and written into the pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """Return a table with these column names, below a heading if there is a title."""
    head = [f"### {title}", ""] if title else []
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join(head + lines + ["| " + " | ".join(row) + " |" for row in rows])

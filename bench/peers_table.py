"""The tables of bench/peers.py: targets, growth, and time, memory and accuracy for each data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import record
from markdown_table import markdown_table

GIB = 2**30
Line = dict[str, Any]
# The reference of all ratios: rpf with its default parameters.
OURS = "rpf default"
KMEANS = "KMeans"
RBF = "SpectralClustering rbf"
SCALED = "SpectralClustering rbf, scaled gamma"
NEAREST = "SpectralClustering nearest_neighbors"
TREES = "RandomTreesEmbedding + SVD + KMeans"
LINEAR = "rpf linear, 100 trees"
TOP_K = "rpf top-k, 100 trees"
RINGS = "rpf top-k, 50 trees"
KEY = ("work", "method", "n", "dtype", "seed")


def measured(source: str, dtype: str = "float64", seed: int = 0) -> list[Line]:
    """Return the latest results of one source; real data have a type of their own."""
    found = record.kept("peers", KEY, source).values()
    return [x for x in found if x["seed"] == seed and (x["work"] in ("mnist", "wine") or x["dtype"] == dtype)]


def latest() -> list[Line]:
    """Return the results of the latest source that was measured on a million rows."""
    return measured(record.last_source("peers", lambda x: (x["work"], x["n"]) == ("mixture", 1_000_000)))


def tables(lines: list[Line]) -> str:
    """Return all tables of these results, as markdown."""
    if not lines:
        return "no results"
    parts = [run_of(lines), targets(lines, title="targets")]
    if any(line["work"] == "mixture" for line in lines):
        parts += [growth(lines, title="growth on the mixture")]
    for work, n in sorted({(line["work"], line["n"]) for line in lines}):
        parts.append(_work(work, n, [line for line in lines if (line["work"], line["n"]) == (work, n)]))
    return "\n\n".join(parts) + "\n"


def run_of(lines: list[Line]) -> str:
    """Return date, commit, machine and versions of these results."""
    last = max(lines, key=lambda line: line["at"])
    on = last["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in last["versions"].items())
    return (
        f"{last['at'][:10]}, commit {last['commit']}, {on['cores']} cores of {on['cpu']}, {on['memory_gib']} GiB.\n"
        f"{versions}."
    )


def mixture(lines: list[Line]) -> str:
    """Return the seconds of each method on the mixture by number of rows, and its accuracy on the largest size."""
    of_mixture = [line for line in lines if line["work"] == "mixture"]
    sizes = sorted({line["n"] for line in of_mixture})
    rows = []
    for method in dict.fromkeys(line["method"] for line in of_mixture):
        by_n = {line["n"]: line for line in of_mixture if line["method"] == method}
        done = [line for line in by_n.values() if "failed" not in line]
        cells = [_seconds(by_n[n]) if n in by_n else "" for n in sizes]
        rows.append((method, *cells, f"{done[-1]['rho_c']:.1f}" if done else ""))
    return markdown_table(("method", *(f"{n:,}" for n in sizes), "accuracy, %"), rows)


def _seconds(line: Line) -> str:
    return line["failed"].split(":")[0] if "failed" in line else f"{line['seconds']:.2f}"


def large(lines: list[Line]) -> str:
    """Return time, memory and accuracy of rpf on the largest inputs."""
    found = {(line["work"], line["method"], line["n"]): line for line in lines if "seconds" in line}
    asked = [("mixture", method, n) for n in (80_000, 1_000_000) for method in (LINEAR, TOP_K, OURS)]
    rows = [
        (
            f"{work}, {n:,} x {found[work, method, n]['d']}",
            method,
            f"{found[work, method, n]['seconds']:.0f} s",
            f"{found[work, method, n]['peak'] / GIB:.1f} GiB",
            f"{found[work, method, n]['rho_c']:.1f} %",
        )
        for work, method, n in (*asked, ("mnist", OURS, 70_000), ("rings", RINGS, 10_000_000))
        if (work, method, n) in found
    ]
    return markdown_table(("data", "method", "time", "peak memory", "accuracy"), rows)


def _work(work: str, n: int, lines: list[Line]) -> str:
    ours = next((line for line in lines if line["method"] == OURS and "seconds" in line), None)
    rows = []
    for line in lines:
        if "failed" in line:
            ratio = _at_least(line, ours)
            rows.append((line["method"], ratio, "", line["failed"].replace("|", "/"), *[""] * 5))
            continue
        by = [f"{line[name] / ours[name]:.2f}" if ours and name in line else "" for name in ("seconds", "above")]
        sizes = [f"{line[name] / 2**20:,.0f}" if name in line else "" for name in ("peak", "above")]
        quality = [f"{line['ari']:.3f}", f"{line['nmi']:.3f}", f"{line['rho_c']:.2f}"]
        rows.append((line["method"], *by, f"{line['seconds']:.2f}", *sizes, *quality))
    ratios = (f"time / {OURS}", f"memory / {OURS}")
    head = ("method", *ratios, "s", "peak, MiB", "above data, MiB", "ARI", "NMI", "accuracy")
    return markdown_table(head, rows, f"{work}, {n:,} rows")


def _at_least(line: Line, ours: Line | None) -> str:
    limit = _limit(line)
    return f"over {limit / ours['seconds']:.0f}" if ours and limit else ""


def _limit(line: Line) -> float | None:
    """Return the time limit of a method that exceeded it."""
    why = line.get("failed", "")
    return float(why.removeprefix("over ").removesuffix(" s")) if why.startswith("over ") else None


def slope(points: list[tuple[float, float]]) -> float:
    """Return the least-squares slope of log y over log x."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(max(y, 1e-9)) for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((x - mx) ** 2 for x in xs)


def _points(lines: list[Line], method: str, name: str, least: int = 10_000) -> list[tuple[float, float]]:
    mine = [line for line in lines if (line["work"], line["method"]) == ("mixture", method) and name in line]
    return [(line["n"], line[name]) for line in mine if line["n"] >= least]


def growth(lines: list[Line], title: str = "") -> str:
    """Return the slopes of time and memory over the number of rows, on log-log axes."""
    rows = []
    for method in dict.fromkeys(line["method"] for line in lines if line["work"] == "mixture"):
        time, memory = (_points(lines, method, name) for name in ("seconds", "above"))
        if len(time) > 1:
            sizes = f"{min(time)[0]:,} to {max(time)[0]:,}"
            rows.append((method, f"{slope(time):.2f}", f"{slope(memory):.2f}", sizes))
    return markdown_table(("method", "slope of time", "slope of memory", "rows"), rows, title)


def targets(lines: list[Line], title: str = "") -> str:
    """Return every target, whether it is met, and what was measured."""
    found = {(line["work"], line["method"], line["n"]): line for line in lines}
    rows = []
    for what, target, judge in _targets():
        try:
            seen, met = judge(found)
        except KeyError:
            seen, met = "", None
        verdict = "not measured" if met is None else "met" if met else "NOT met"
        rows.append((what, target, verdict, seen))
    return markdown_table(("data", "target", "result", "measured"), rows, title)


Judge = Callable[[dict[tuple[str, str, int], Line]], tuple[str, "bool | None"]]


def _targets() -> Iterator[tuple[str, str, Judge]]:
    ratios = (
        (10_000, OURS, RBF, 40),
        (10_000, OURS, SCALED, 40),
        (20_000, OURS, NEAREST, 15),
        (80_000, LINEAR, TREES, 6),
    )
    for n, ours, theirs, times in ratios:
        judge = _faster("mixture", n, ours, theirs, times)
        yield f"mixture, {n:,}, {ours}", f"{times} times faster than {theirs}", judge
    million = "mixture, 1,000,000"
    yield f"{million}, linear, 100 trees", "at most 4 times KMeans, 2.5 GiB, accuracy 99", _large(LINEAR, 4, 2.5, 99.0)
    for trees, method in ((100, TOP_K), (200, OURS)):
        yield f"{million}, top-k, {trees} trees", "at most 8 times KMeans, 4 GiB", _large(method, 8, 4.0, 0.0)
    yield "growth from 10,000 to 1,000,000", "slope of time at most 1.10, of memory 1.02", _slopes
    yield "MNIST, 70,000 x 784, 200 trees, top-k", f"NMI 0.80, 10 times faster than {NEAREST}", _mnist
    yield "three rings, 10,000,000, 50 trees", "accuracy 99.9 within 20 GiB", _rings
    for affinity in ("top-k", "linear"):
        yield f"predict, 1,000,000 rows, 200 trees, {affinity}", "500,000 rows per second", _predict(affinity)
    for cut in ("ncut", "kway"):
        yield f"the paper's grid on Wine, {cut}", "10,450 settings in at most 60 s", _wine(cut)


def _done(found: dict[tuple[str, str, int], Line], work: str, method: str, n: int) -> Line:
    """Return a successful result; a failed one counts as not measured."""
    line = found[work, method, n]
    if "failed" in line:
        raise KeyError(line["failed"])
    return line


def _up_to(found: dict[tuple[str, str, int], Line], work: str, method: str, n: int) -> Line:
    """Return the result at this size, or the failure at a smaller size, after which larger ones are not run."""
    failed = (found[key] for key in found if key[:2] == (work, method) and key[2] < n and "failed" in found[key])
    line = found.get((work, method, n)) or next(failed, None)
    if line is None:
        raise KeyError(method)
    return line


def _faster(work: str, n: int, ours: str, theirs: str, times: float) -> Judge:
    def judge(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool | None]:
        mine, other = _done(found, work, ours, n), _up_to(found, work, theirs, n)
        if "failed" in other:
            ratio = (_limit(other) or 0.0) / mine["seconds"]
            seen = f"over {ratio:.0f} times: {theirs} takes {other['failed']} at {other['n']:,} rows"
            # A peer that runs out of memory has no time to compare with.
            return seen, True if ratio >= times else None
        ratio = other["seconds"] / mine["seconds"]
        seen = f"{ratio:.1f} times: {mine['seconds']:.2f} s, accuracy {mine['rho_c']:.2f}, NMI {mine['nmi']:.3f}"
        return f"{seen}, against {other['seconds']:.1f} s, accuracy {other['rho_c']:.2f}", ratio >= times

    return judge


def _large(method: str, times: float, gib: float, rho_c: float) -> Judge:
    def judge(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool]:
        mine, other = (_done(found, "mixture", m, 1_000_000) for m in (method, KMEANS))
        ratio, peak = mine["seconds"] / other["seconds"], mine["peak"] / GIB
        seen = f"{ratio:.2f} times ({mine['seconds']:.1f} s, {other['seconds']:.1f} s), {peak:.2f} GiB"
        seen += f", accuracy {mine['rho_c']:.2f} (KMeans {other['rho_c']:.2f})"
        return seen, ratio <= times and peak <= gib and mine["rho_c"] >= rho_c

    return judge


def _slopes(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool]:
    seen, met = [], True
    for method in (LINEAR, TOP_K, OURS):
        _done(found, "mixture", method, 1_000_000)
        time, memory = (slope(_points(list(found.values()), method, name)) for name in ("seconds", "above"))
        seen.append(f"{method}: {time:.2f} and {memory:.2f}")
        met &= time <= 1.10 and memory <= 1.02
    return "; ".join(seen), met


def _mnist(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool | None]:
    mine = _done(found, "mnist", OURS, 70_000)
    seen, fast = _faster("mnist", 70_000, OURS, NEAREST, 10)(found)
    return f"NMI {mine['nmi']:.3f}; {seen}", fast if mine["nmi"] >= 0.80 else False


def _rings(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool]:
    mine = _done(found, "rings", RINGS, 10_000_000)
    peak = mine["peak"] / GIB
    seen = f"accuracy {mine['rho_c']:.2f}, {peak:.1f} GiB, {mine['seconds']:.0f} s"
    return seen, mine["rho_c"] >= 99.9 and peak <= 20.0


def _predict(affinity: str) -> Judge:
    def judge(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool]:
        mine = _done(found, "predict", f"rpf {affinity}, predict", 1_100_000)
        seen = f"{mine['rows_a_second']:,.0f} rows per second, accuracy {mine['rho_c']:.2f}, model of 100,000 rows"
        return seen, mine["rows_a_second"] >= 500_000

    return judge


def _wine(cut: str) -> Judge:
    def judge(found: dict[tuple[str, str, int], Line]) -> tuple[str, bool]:
        mine = _done(found, "wine", f"rpf sweep {cut}", 178)
        seen = f"{mine['seconds']:.1f} s, {mine['settings']:,} settings, best by labels accuracy {mine['rho_c']:.2f}"
        return seen, mine["seconds"] <= 60.0 and mine["settings"] >= 10_450

    return judge

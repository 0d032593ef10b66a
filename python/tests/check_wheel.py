"""Check distributions of the package as a user gets them.

``python check_wheel.py [--build] FILE ... [INTERPRETER ...]``; ``make wheelcheck`` and ``make sdistcheck`` run it. A
wheel is installed with its dependencies in a fresh environment of each interpreter and must give the known labels.
The contents of a source distribution are compared with the checkout; with ``--build`` it is installed like a wheel
too. Not a pytest module: it must not see what pytest's own environment has.
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "crates" / "rpfcluster-data" / "tests" / "labels.txt"
# Bytes. Three times the present wheel; a debug build or an embedded data set exceeds it.
LARGEST_WHEEL = 10_000_000

USE = """
import sys, time
import numpy
begun = time.perf_counter()
import rpfcluster
seconds = time.perf_counter() - begun
assert "site-packages" in rpfcluster.__file__, rpfcluster.__file__
from rpfcluster import RPFCluster, load, save
from rpfcluster.datasets import make_shape

def fnv(labels):
    state = 0xCBF29CE484222325
    for byte in labels.astype("<u4").tobytes():
        state = ((state ^ byte) * 0x100000001B3) % 2**64
    return f"{state:016x}"

lines = open(sys.argv[1]).read().splitlines()
for line in lines:
    shape, n, k, seed, affinity, recorded = line.split()
    X, _ = make_shape(shape, int(n), random_state=0)
    model = RPFCluster(int(k), affinity=affinity, random_state=int(seed)).fit(X)
    assert fnv(model.labels_) == recorded, line
save(model, "model.rpf")
assert (load("model.rpf").predict(X) == model.labels_).all()
import sklearn
version = ".".join(map(str, sys.version_info[:3]))
print(f"Python {version}, numpy {numpy.__version__}, scikit-learn {sklearn.__version__}: "
      f"{len(lines)} sets as recorded, import {seconds:.3f} s beyond numpy")
"""


def check_labels(distribution: Path, interpreter: str) -> None:
    """Install into a new environment and use the package from another folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "env"
        if interpreter == sys.executable:
            venv.create(place, with_pip=True)
        else:
            subprocess.run([interpreter, "-m", "venv", place], check=True)
        python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", distribution]
        subprocess.run(install, check=True)
        subprocess.run([python, "-I", "-c", USE, RECORD], check=True, cwd=folder)


def check_wheel(wheel: Path) -> None:
    """Check size, tag and metadata."""
    size = wheel.stat().st_size
    assert size < LARGEST_WHEEL, f"{wheel.name} is {size} bytes, more than {LARGEST_WHEEL}"
    assert "-cp310-abi3-" in wheel.name, f"{wheel.name} is not for the stable ABI of Python 3.10"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    for field in ("License-Expression: MIT OR Apache-2.0", "Project-URL: Source", "License-File: LICENSE-MIT"):
        assert field in text, f"{wheel.name}: METADATA has no '{field}'"
    assert "rpfcluster/py.typed" in names, f"{wheel.name} has no type information"
    tests = [name for name in names if "/tests/" in name]
    assert not tests, f"{wheel.name} contains {tests}"
    print(f"{wheel.name}: {size / 1e6:.2f} MB")


def check_sdist(sdist: Path) -> None:
    """Check that everything the native module is compiled from is there."""
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    crates = {name.split("/")[1] for name in packed if name.startswith("crates/")}
    assert "rpfcluster-py" in crates, f"{sdist.name} has no native module"
    wanted = ["Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "pyproject.toml"]
    folders = [
        "python/rpfcluster",
        *(f"crates/{crate}/{part}" for crate in crates for part in ("src", "data", "fonts")),
    ]
    tracked = subprocess.run(
        ["git", "ls-files", "-z", *wanted, *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    missing = set(filter(None, tracked.stdout.split("\0"))) - packed
    assert not missing, f"{sdist.name} lacks {sorted(missing)}"
    print(f"{sdist.name}: {len(packed)} files, {sdist.stat().st_size / 1e6:.2f} MB, crates {' '.join(sorted(crates))}")


def main() -> None:
    """Check every file, then install what can be installed with every interpreter."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--build"]
    files = [Path(argument).resolve() for argument in arguments if argument.endswith((".whl", ".tar.gz"))]
    interpreters = [argument for argument in arguments if not argument.endswith((".whl", ".tar.gz"))]
    assert files, "name a wheel or a source distribution"
    for file in files:
        wheel = file.suffix == ".whl"
        if wheel:
            check_wheel(file)
        else:
            check_sdist(file)
        if wheel or "--build" in sys.argv:
            for interpreter in interpreters or [sys.executable]:
                check_labels(file, interpreter)


if __name__ == "__main__":
    main()

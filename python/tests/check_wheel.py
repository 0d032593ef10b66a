"""The wheel as a user gets it: installed with its dependencies in fresh environments, it must give the known labels.

``python check_wheel.py WHEEL [INTERPRETER ...]``; `make wheelcheck` runs it. Not a pytest module: it must not see what
pytest's own environment has.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

RECORD = Path(__file__).parents[2] / "crates" / "rpfcluster-data" / "tests" / "labels.txt"
LARGEST = 10_000_000

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


def check(wheel: Path, interpreter: str) -> None:
    """Install into a new environment and use it from another folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "env"
        if interpreter == sys.executable:
            venv.create(place, with_pip=True)
        else:
            subprocess.run([interpreter, "-m", "venv", place], check=True)
        python = place / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
        subprocess.run(install, check=True)
        subprocess.run([python, "-I", "-c", USE, RECORD], check=True, cwd=folder)


def main() -> None:
    """Check the size and the tag, then every interpreter."""
    wheel = Path(sys.argv[1]).resolve()
    size = wheel.stat().st_size
    assert size < LARGEST, f"{wheel.name} is {size} bytes, more than {LARGEST}"
    assert "-cp310-abi3-" in wheel.name, f"{wheel.name} is not for the stable ABI of Python 3.10"
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    for interpreter in sys.argv[2:] or [sys.executable]:
        check(wheel, interpreter)


if __name__ == "__main__":
    main()

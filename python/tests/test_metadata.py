"""Version and addresses are stated in several files; all must agree."""

import re
from pathlib import Path

import rpfcluster

ROOT = Path(__file__).parents[2]
CARGO = (ROOT / "Cargo.toml").read_text()


def stated(key, text=CARGO, form=r'^{} = "(.*)"'):
    return re.search(form.format(re.escape(key)), text, re.MULTILINE)[1]


def test_version_is_the_same_everywhere():
    version = stated("version")
    assert rpfcluster.__version__ == version
    assert stated("version", (ROOT / "CITATION.cff").read_text(), r"^{}: (.*)") == version
    released = re.findall(r"^## \[(\d.*?)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == version
    assert set(re.findall(r'path = "crates/.*version = "(.*?)"', CARGO)) == {version}


def test_repository_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text()
    assert stated("repository-code", citation, r"^{}: (.*)") == stated("repository")
    assert stated("url", citation, r"^{}: (.*)") == stated("homepage")
    assert f"[Unreleased]: {stated('repository')}/" in (ROOT / "CHANGELOG.md").read_text()

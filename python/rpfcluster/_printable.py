r"""Text from outside (names of columns, cells, paths) made safe to print, by the rule of the library (`printable`).

A terminal obeys control characters, and bidirectional controls reorder what a reader sees. Both are shown as ``\u{…}``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Control and format characters, and separators of lines and paragraphs, except line feeds and the joiners U+200C and
# U+200D: the rule of the library. Surrogates, which its text cannot hold, cannot be printed.
_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_SHORT = {"\t": r"\t", "\r": r"\r"}


def escaped(text: str) -> str:
    """Return the text with hidden characters escaped; line feeds are kept."""
    return _HIDDEN.sub(lambda found: _SHORT.get(found[0], f"\\u{{{ord(found[0]):x}}}"), text)


def printable_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with the texts of its exceptions, also those of NumPy and scikit-learn, escaped."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _escape(error)
            raise

    return checked


def _escape(error: BaseException) -> None:
    """Escape the text of an exception and of those that a traceback shows with it, and keep their types."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        # The text of a KeyError and that of an OSError with a file are escaped by `repr`.
        if _HIDDEN.search(str(found)):
            found.args = tuple(escaped(part) if isinstance(part, str) else part for part in found.args)
        waiting += [found.__cause__, found.__context__]

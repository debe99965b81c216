"""Put measured tables into the docs: ``python -m benchmarks.paste [RESULTS] [PAGE]``.

Whatever stands between ``<!-- table: NAME -->`` and ``<!-- end: NAME -->`` is replaced by ``RESULTS/NAME.md``, if
that file exists.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def paste(text: str, results: Path) -> tuple[str, list[str]]:
    """The page with its tables, and the names of those that were put in."""
    done = []

    def put(mark: re.Match[str]) -> str:
        name, file = mark["name"], results / f"{mark['name']}.md"
        if not file.exists():
            return mark[0]
        done.append(name)
        return f"<!-- table: {name} -->\n\n{file.read_text().strip()}\n\n<!-- end: {name} -->"

    return re.sub(r"<!-- table: (?P<name>\S+) -->.*?<!-- end: (?P=name) -->", put, text, flags=re.DOTALL), done


def main(results: str = "results", page: str = "docs/benchmarks.md") -> None:
    """Rewrite the page."""
    text, done = paste(Path(page).read_text(), Path(results))
    Path(page).write_text(text)
    print(f"{page}: {', '.join(done) or 'nothing to put in'}")


if __name__ == "__main__":
    main(*sys.argv[1:])

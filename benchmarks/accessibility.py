"""What axe-core, a checker of accessibility, finds on pages: violations of its rules.

Run ``python -m benchmarks.accessibility axe.min.js page.html ...``: ``npm pack axe-core`` gets the
checker, which is no part of this project. Every page is looked at in headless Chromium as wide as a
phone, a laptop and a large screen, in light and in dark. ``--keep`` keeps the result.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks import results_file

WIDTHS = {"phone": 500, "laptop": 1280, "wide": 1920}  # headless windows are no narrower
SCHEMES = ("light", "dark")
DARK = "screen and (prefers-color-scheme: dark)"
RUN = """<script>{axe}</script><script>
axe.run().then(function (found) {{
  const told = found.violations.map(v => ({{rule: v.id, impact: v.impact,
    nodes: v.nodes.map(n => n.html.slice(0, 200))}}));
  const result = {{violations: told, passes: found.passes.length,
    incomplete: found.incomplete.map(v => v.id)}};
  document.body.innerHTML = '';
  document.body.textContent = 'FOUND' + btoa(encodeURIComponent(JSON.stringify(result))) + 'END';
}});</script></body>"""


def checked(page: str, axe: str, width: int, scheme: str) -> dict[str, Any]:
    """What the checker says of a page, which it is written into: its own policy would forbid it."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = page.replace(DARK, "screen" if scheme == "dark" else "not all")
    page = page.replace("</body>", RUN.format(axe=axe))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, "utf-8")
        shown = subprocess.run(
            [
                _chromium(),
                "--headless=new",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                *(["--no-sandbox"] if os.geteuid() == 0 else []),
                f"--user-data-dir={folder}/profile",
                f"--window-size={width},900",
                "--virtual-time-budget=120000",
                "--dump-dom",
                path.as_uri(),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    return _found(shown.stdout)


def _found(shown: str) -> dict[str, Any]:
    told = re.search("FOUND(.*?)END", shown)
    if told is None:
        raise RuntimeError("the checker did not come to an end")
    found: dict[str, Any] = json.loads(unquote(b64decode(told[1]).decode()))
    return found


def _chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise FileNotFoundError("Chromium is not installed (Debian's package chromium).")
    return found


def main() -> None:
    """Check pages, and tell what is wrong with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("axe", type=Path)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    axe = given.axe.read_text("utf-8")
    version = re.search(r"axe v([\d.]+)", axe)
    results: dict[str, Any] = {"axe": version[1] if version else "unknown", "pages": {}}
    for path in given.pages:
        page, own = path.read_text("utf-8"), {}
        for name, width in WIDTHS.items():
            for scheme in SCHEMES:
                found = checked(page, axe, width, scheme)
                own[f"{name}, {scheme}"] = {
                    "violations": len(found["violations"]),
                    "rules_passed": found["passes"],
                }
                print(path.name, name, scheme, len(found["violations"]), "violations,", end=" ")
                print(found["passes"], "rules passed; undecided:", found["incomplete"])
                for one in found["violations"]:
                    print("  ", one["rule"], one["impact"], len(one["nodes"]), one["nodes"][:3])
        results["pages"][path.stem] = own
    if given.keep:
        command = "python -m benchmarks.accessibility axe.min.js PAGES"
        results_file.write("accessibility", command, results)


if __name__ == "__main__":
    main()

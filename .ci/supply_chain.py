"""What the product is made of and what is known against it: bandit over the source, the advisories on every locked
package, and a bill of materials in build/sbom.cdx.json. Fails on anything found; tells what could not be looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
BILL = ROOT / "build" / "sbom.cdx.json"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)


def source_is_clean() -> bool:
    done = run(BIN / "bandit", "--quiet", "--recursive", "--configfile", "pyproject.toml", "src")
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    else:
        print("bandit: nothing found in src")
    return done.returncode == 0


def packages_are_clean(lock: str) -> bool:
    """Advisories come from the package index; an index that keeps none leaves a package unchecked, which is said."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = run(
            BIN / "pip-audit", "--requirement", f"requirements/{lock}", "--disable-pip", "--require-hashes",
            "--progress-spinner", "off", "--format", "json", "--output", report.name,
        )  # fmt: skip
        text = Path(report.name).read_text("utf-8")
    if not text:
        print(f"pip-audit: {lock} could not be looked at:\n{done.stderr}")
        return False
    packages = json.loads(text)["dependencies"]
    unchecked = [package["name"] for package in packages if "skip_reason" in package]
    found = [package for package in packages if package.get("vulns")]
    print(f"pip-audit: {lock}: {len(packages)} packages, {len(found)} with an advisory, {len(unchecked)} not checked")
    if len(unchecked) == len(packages):
        print("  the package index that is set up keeps no advisories: run this again where PyPI itself is reached")
    for package in found:
        for advisory in package["vulns"]:
            print(f"  {package['name']} {package['version']}: {advisory['id']}, mended in {advisory['fix_versions']}")
    return not found


def bill_of_materials() -> bool:
    BILL.parent.mkdir(exist_ok=True)
    done = run(
        BIN / "cyclonedx-py", "requirements", "requirements/run.txt", "--pyproject", "pyproject.toml",
        "--output-reproducible", "--output-file", BILL,
    )  # fmt: skip
    if done.returncode:
        print(f"cyclonedx: {done.stderr}")
        return False
    components = json.loads(BILL.read_text("utf-8"))["components"]
    print(f"SBOM: {len(components)} components with their hashes in {BILL.relative_to(ROOT)}")
    return bool(components) and all("externalReferences" in component for component in components)


if __name__ == "__main__":
    checks = [source_is_clean(), packages_are_clean("run.txt"), packages_are_clean("dev.txt"), bill_of_materials()]
    sys.exit(0 if all(checks) else 1)

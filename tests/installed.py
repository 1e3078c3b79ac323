"""Packages that are installed beside bioeval, in a folder of a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path


def install(
    site: Path,
    package: str,
    files: Mapping[str, str],
    entry_points: Mapping[str, Mapping[str, str]],
    requires: str = "bioeval-protocols>=0.2",
    version: str = "1.0",
) -> None:
    """Write the modules and the metadata of a package, as pip does."""
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folder = site / f"{package.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    about = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    about += f"Requires-Dist: {requires}\n"
    (folder / "METADATA").write_text(about, encoding="utf-8")
    lines = []
    for group, points in entry_points.items():
        lines.append(f"[bioeval.{group}]")
        lines += [f"{name} = {value}" for name, value in points.items()]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def install_source(site: Path, source: Path) -> None:
    """Install the package of a folder with a ``pyproject.toml``, without building it."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = project["name"].replace("-", "_")
    shutil.copytree(source / module, site / module)
    groups = {key.removeprefix("bioeval."): x for key, x in project["entry-points"].items()}
    install(site, project["name"], {}, groups, project["dependencies"][0], project["version"])


def run(
    site: Path, *words: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with a folder of packages on its path."""
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(site), **variables},
        cwd=cwd or site,
        capture_output=True,
        text=True,
    )

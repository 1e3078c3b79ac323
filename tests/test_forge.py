"""The workflows and templates of the forge are valid, and the version is one."""

import os
import re
import shutil
import subprocess

import pytest
from optional import REQUIRED

import bioeval

SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "custom.github-workflows-require-timeout": ".github/workflows/*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "vendor.citation-file-format": "CITATION.cff",
}


def checked(root, tool: str, *args: str) -> None:
    """Run a checker, or skip and say which is missing."""
    if shutil.which(tool) is None:
        message = f"{tool} is not installed"
        pytest.fail(message) if REQUIRED else pytest.skip(message)
    process = subprocess.run([tool, *args], cwd=root, capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.slow
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_of_the_forge_follow_their_schema(root, schema):
    files = [str(path) for path in root.glob(SCHEMAS[schema])]
    assert files
    checked(
        root, "check-jsonschema", "--default-filetype", "yaml", "--builtin-schema", schema, *files
    )


def test_workflows_are_safe(root):
    checked(root, "zizmor", "--offline", "--quiet", "--config", ".github/zizmor.yml", ".github")


def test_workflows_run_scripts_that_exist(root):
    said = "\n".join(path.read_text() for path in (root / ".github" / "workflows").glob("*.yml"))
    scripts = set(re.findall(r"run: (\S*(?:scripts|\.ci)/\S+)", said))
    assert {"scripts/test", "scripts/lint", "scripts/docs", ".ci/archive", ".ci/run"} <= scripts
    for script in scripts:
        assert os.access(root / script, os.X_OK), script


def test_pythons_of_the_workflows_are_those_of_the_package(root):
    workflow = (root / ".github/workflows/tests.yml").read_text()
    tested = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", workflow)[1])
    declared = re.findall(r"Python :: (3\.\d+)", (root / "pyproject.toml").read_text())
    assert tested == declared


def test_the_workflow_runs_the_lines_that_install(root):
    """Each line names the wheel of this version."""
    workflow = (root / ".github/workflows/tests.yml").read_text()
    wheel = f"bioeval_protocols-{bioeval.__version__}-py3-none-any.whl"
    assert f"- ./{wheel}\n" in (root / "environment.yml").read_text()
    readme = (root / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^!?(.* bioeval demo|.*\\bioeval demo|.*/bioeval demo)$", readme, re.M)
    assert len(lines) == 4
    for line in lines:
        assert line in workflow
        assert wheel in line or "environment.yml" in line


def test_a_release_uploads_what_was_tested(root):
    yaml = pytest.importorskip("yaml")
    release = yaml.safe_load((root / ".github/workflows/release.yml").read_text())["jobs"]
    assert release["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert release["upload"]["needs"] == "tests"
    wheel = yaml.safe_load((root / ".github/workflows/tests.yml").read_text())["jobs"]["wheel"]
    pythons = re.findall(r"Python :: (3\.\d+)", (root / "pyproject.toml").read_text())
    assert wheel["strategy"]["matrix"]["python"] == [pythons[0], pythons[-1]]


def test_the_citation_has_the_version(root):
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", text, re.MULTILINE)[1] == bioeval.__version__

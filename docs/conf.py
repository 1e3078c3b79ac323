"""The site: built by ``scripts/docs``, from the pages as they are read in the repository."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
sys.path.insert(0, str(HERE.parent / "scripts"))
sys.path.insert(0, str(HERE.parent))

from bioeval.base.version import __version__  # noqa: E402

project = "bioeval"
author = "The bioeval developers"
copyright = "the bioeval developers"
version = release = __version__

# The sources are the repository, so that links between pages hold in both places.
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**",
]
exclude_patterns = ["docs/_build", "docs/_static", "docs/_extensions", "docs/images"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "page_anchors",
    "reference_tables",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
# page_anchors writes links to plain anchors in these two.
myst_url_schemes = {
    "http": None,
    "https": None,
    "mailto": None,
    "page": "{{path}}.html#{{fragment}}",
    "here": "#{{fragment}}",
}

# Pages that are notebooks run when the site is built; an error ends the build.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_excludepatterns = ["*/course/lab-*.ipynb"]  # labs have gaps
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_display_short_literal_types = True
python_maximum_signature_line_length = 100  # else one argument a line
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # types are words, not names to link
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # of attributes: the same

html_theme = "furo"
html_title = f"bioeval {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

"""How the documentation site is built: ``make docs``."""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import halfseen  # noqa: E402

project = "halfseen"
author = "The halfseen developers"
copyright = "The halfseen developers"
version = release = halfseen.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "root_pages",
    "public_names",
    "kept",
    "llms",
    "mathml",
]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "gallery/**/*.py", "**/*.md5"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "html_image"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpick_ignore_regex = [
    # scikit-learn, NumPy and Python have sites of their own, which a build need not reach.
    (r"py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|collections|os|typing|Any|Self).*"),
]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown.*")
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
    "doc_module": ("halfseen",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
    "abort_on_example_error": False,
    "only_warn_on_example_error": True,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "halfseen"
html_static_path = ["_static"]
html_css_files = ["halfseen.css"]
html_extra_path = ["../src/halfseen/report/assets/report.schema.json"]
html_show_sourcelink = False
html_copy_source = True  # llms.txt points to them
# The theme complains in the console of a reader who has not chosen one.
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

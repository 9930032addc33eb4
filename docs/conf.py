# Sphinx settings. The build is offline, its pages ask nothing of other hosts, and a warning is an error.

import pathlib
import sys

import evenhand

sys.path.insert(0, str(pathlib.Path(__file__).parent / "_ext"))

project = "evenhand"
author = "The evenhand authors"
copyright = "The evenhand authors, Apache-2.0"
version = release = evenhand.__version__

extensions = [
    "catalogue",
    "catalogue_glossary",
    "example_files",
    "mathml",
    "pictures",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = "evenhand"
html_static_path = ["_static"]
html_css_files = ["evenhand.css"]
html_favicon = "../src/evenhand/app/static/icon.svg"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_center": [],
    "globaltoc_includehidden": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": ["globaltoc.html"]}
html_show_sourcelink = False

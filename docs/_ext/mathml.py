"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

ACCENTED = re.compile(
    r"<munderover>\s*(<mi>[^<]*</mi>)\s*(<m(\w+)>.*?</m\3>)\s*"
    r'(<mo stretchy="false">[^<]*</mo>)\s*</munderover>',
    re.DOTALL,
)
BESIDE = r"<msub><mover accent='true'>\1\4</mover>\2</msub>"


def drawn(formula: str, as_block: bool) -> str:
    """MathML, in which indices stand beside letters with an accent, and not below them."""
    return ACCENTED.sub(BESIDE, tex2mathml(formula, as_block=as_block))


def inline(self: HTML5Translator, node: nodes.Element) -> None:
    """A formula in a sentence."""
    self.body.append(drawn(node.astext(), as_block=False))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.Element) -> None:
    """A formula on lines of its own."""
    self.body.append(f'<div class="formula">{drawn(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def leave(self: HTML5Translator, node: nodes.Element) -> None:
    """Nothing is left to do: nodes were skipped."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (inline, leave), (block, leave))
    return {"parallel_read_safe": True}

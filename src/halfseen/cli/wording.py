"""The library's sentences in the words of the command line."""

import ast
import re

OPTIONS = {
    "n_components": "-k",
    "method": "--method",
    "complete_above": "--complete-above",
    "covariance_type": "--covariance",
    "feature_weights": "--weights",
    "moments": "--moments",
}
PHRASES = {
    "overwrite=True": "--force",
    "refine='em'": "--refine",
    "refine=None": "--no-refine",
    "Files(path, columns=...)": "--columns",
}
_SETTING = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:'([^']*)'|(\w+))")
_NAME = re.compile(r"\b(n_components|complete_above|covariance_type)\b")
_WORDS = re.compile(r"\bmissing_values=(\[[^\]]*\])")
_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+ must")


def in_options(sentence: str) -> str:
    """Parameters of estimators replaced by the options that set them.

    >>> in_options("Lower complete_above, or use method='weighted'.")
    'Lower --complete-above, or use --method weighted.'
    >>> in_options("n_components=9 needs at least 9 rows.")
    '-k 9 needs at least 9 rows.'
    >>> in_options("use missing_values=['refused', '-9']")
    "use --missing-values 'refused,-9'"
    """
    for words, option in PHRASES.items():
        sentence = sentence.replace(words, option)
    sentence = _WORDS.sub(
        lambda m: f"--missing-values '{','.join(ast.literal_eval(m[1]))}'", sentence
    )
    sentence = _PARAMETER.sub(r"\1 must", sentence)
    sentence = _SETTING.sub(lambda m: f"{OPTIONS[m[1]]} {m[2] or m[3]}", sentence)
    return _NAME.sub(lambda m: OPTIONS[m[1]], sentence)

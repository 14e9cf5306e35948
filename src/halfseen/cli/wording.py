"""The library's sentences in the words of the command line."""

import re

OPTIONS = {
    "n_components": "-k",
    "method": "--method",
    "feature_weights": "--weights",
    "complete_above": "--complete-above",
    "covariance_type": "--covariance",
    "random_state": "--seed",
    "refine": "--refine",
}
_SETTING = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:'([^']*)'|(\w+))")
_NAME = re.compile(rf"\b({'|'.join(OPTIONS)})\b")
_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+ must")


def in_options(sentence: str) -> str:
    """Parameters of estimators replaced by the options that set them.

    >>> in_options("Lower complete_above, or use method='weighted'.")
    'Lower --complete-above, or use --method weighted.'
    >>> in_options("n_components=9 needs at least 9 rows.")
    '-k 9 needs at least 9 rows.'
    """
    sentence = _PARAMETER.sub(r"\1 must", sentence)
    sentence = _SETTING.sub(lambda m: f"{OPTIONS[m[1]]} {m[2] or m[3]}", sentence)
    sentence = _NAME.sub(lambda m: OPTIONS[m[1]], sentence)
    return sentence.replace("overwrite=True", "--force")

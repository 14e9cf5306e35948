"""The library's sentences in the words of the command line."""

import ast
import re
from shlex import quote

from halfseen.cli.messages import in_options as rendered
from halfseen.cli.options import as_option

OPTIONS = {
    "n_components": "-k",
    "method": "--method",
    "complete_above": "--complete-above",
    "covariance_type": "--covariance",
    "n_factors": "--factors",
    "feature_weights": "--weights",
    "moments": "--moments",
    "scale": "--scale",
    "gaps": "--gaps",
    "step": "--step",
    "table": "--table",
    "encoding": "--encoding",
    "skip": "--skip",
    "dates": "--dates",
    "decimal": "--decimal",
}
ALONE = {"random_state": "--seed", "moments": "--moments", "max_seconds": "--max-seconds"}
"""Options of parameters that are named by themselves."""
PHRASES = {
    "', n_factors=": "' n_factors=",
    "name it in missing_values (show_text=True shows it)": "name it with --missing-values "
    "('halfseen describe --show-text' shows it)",
    "or by NaN if they stand for missing values": "or mark them as missing with --missing-values "
    "inf,-inf",
    "use header=True": "use --header",
    "header=True says": "--header says",
    "header=False says": "--no-header says",
    "with table=.": "with --table.",
    "overwrite=True": "--force",
    "leave_out=True": "--leave-out",
    "refine='em'": "--refine",
    "refine=None": "--no-refine",
    "Files(path, columns=...)": "--columns",
    "adjust='location' takes": "--adjust location takes",
    "adjust='location' ": "--adjust location ",
    "(rename=)": "(--rename)",
    "(on=)": "(--on)",
    "rename names": "--rename names",
    "units names": "--unit names",
    "declare it in kinds": "declare it with --kind",
    "declare them in kinds": "declare them with --kind",
    "declare the column in kinds": "declare the column with --kind",
    "leave it out of kinds": "leave out its --kind",
    "kinds says that": "--kind says that",
    "kinds names": "--kind names",
    "missing_values names": "--missing-values names",
    "absent_as_zero names": "--absent-as-zero names",
    "absent_as_zero=": "--absent-as-zero ",
    "Give order= too": "Give --order too",
    "give more memory with Files(path, memory=...)": "cut it into files",
}
_SETTING = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:'([^']*)'|(\w+))")
_NAME = re.compile(r"\b(n_components|complete_above|covariance_type)\b")
_LIST = r"""(\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|, )*\])"""
_WORDS = re.compile(rf"\bmissing_values={_LIST}")
_OUT = re.compile(rf"\b([Ll]eave) out {_LIST}")
_ANY = re.compile(r"[=_\[]|kinds|(rename|units) names|parameter of|by NaN")
"""What is in every one of these."""
_USE = {"Leave": "Use", "leave": "use"}
_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+ must")


def in_options(sentence: str) -> str:
    """Parameters of estimators replaced by the options that set them.

    >>> in_options("Lower complete_above, or use method='weighted'.")
    'Lower --complete-above, or use --method weighted.'
    >>> in_options("n_components=9 needs at least 9 rows.")
    '-k 9 needs at least 9 rows.'
    >>> in_options("The 'random_state' parameter of Topics must be an int. Got -1 instead.")
    '--seed must be an int. Got -1 instead.'
    >>> in_options("use missing_values=['not known', '-9']")
    "use --missing-values 'not known,-9'"
    >>> in_options("Leave out ['age', 'body mass'].")
    "Use --drop 'age,body mass'."
    """
    sentence = rendered(sentence)
    if not _ANY.search(sentence):  # a table may have a million columns, and a sentence of each
        return sentence
    for words, option in PHRASES.items():
        sentence = sentence.replace(words, option)
    sentence = _WORDS.sub(lambda m: f"--missing-values {_option(m[1])}", sentence)
    sentence = _OUT.sub(lambda m: f"{_USE[m[1]]} --drop {_option(m[2])}", sentence)
    sentence = _PARAMETER.sub(lambda m: f"{ALONE.get(m[1], m[1])} must", sentence)
    sentence = _SETTING.sub(lambda m: f"{OPTIONS[m[1]]} {quote(m[2] or m[3])}", sentence)
    return _NAME.sub(lambda m: OPTIONS[m[1]], sentence)


def _option(names: str) -> str:
    return as_option(ast.literal_eval(names))

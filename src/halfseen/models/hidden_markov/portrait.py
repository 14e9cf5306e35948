"""How a chain of states is shown to people."""

from typing import Any

from halfseen.explain.states import States
from halfseen.method.fit import Fitted
from halfseen.structures.chain.parameters import ChainParameters
from halfseen.structures.one_class.mixed.portrait import as_classes


def as_states(fitted: Fitted[Any]) -> States:
    """States of rows, in the words of the table, and how they follow each other."""
    parameters: ChainParameters = fitted.parameters
    classes = as_classes(fitted)
    order = classes.order
    return States.made_of(classes, parameters.start[order], parameters.transition[order][:, order])

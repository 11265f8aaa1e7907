"""Device selectors: compiled, evaluated on planned devices, and checked for what goes wrong with them."""

from aks_dra.cel.engine import Program, Result, RuntimeProblem, Undecided, compile_expression
from aks_dra.cel.lint import SelectorProblem, lint
from aks_dra.cel.projection import project
from aks_dra.cel.refusals import CompileError

__all__ = [
    "CompileError", "Program", "Result", "RuntimeProblem", "SelectorProblem", "Undecided", "compile_expression", "lint",
    "project",
]  # fmt: skip

"""Calls that torch's compiler traces: of operators, whose module needs torch and is loaded when the first call is traced."""

from .function import Function


def _call_traced(function: Function, tensors: tuple, out, named: dict):
    """A call as torch's compiler traces it: that of an operator."""
    from .operators import call_traced

    return call_traced(function, tensors, out, named)


def _operator_name(function: Function) -> str:
    """The name in torch.ops.tc of the operator that `function` is, which tracers record."""
    from .operators import operator_of

    return operator_of(function)._opname


_operator_name._dynamo_marked_constant = True  # type: ignore[attr-defined]

Function._call_traced = _call_traced
Function._operator_name = _operator_name

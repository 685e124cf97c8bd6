"""The stub of the extension names what the extension has, and nothing else."""

import ast
import pathlib
import re

import pytest

from tensor_comprehensions import _core
from tensor_comprehensions.typed import OptionFields


def members(value):
    return {name for name in vars(value) if not name.startswith("__") or name in ("__call__",)} - {"_pybind11_conduit_v1_"}


def declared():
    stub = pathlib.Path(_core.__file__).with_name("_core.pyi")
    names = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef):
            inside = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            inside |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
            names[node.name] = {name for name in inside if not name.startswith("__") or name == "__call__"}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = None
    return names


def test_checkers_of_types_know_all_mapping_options():
    with pytest.raises(_core.OptionsError, match="the options are") as error:
        _core.MappingOptions("none=1")
    assert set(OptionFields.__annotations__) == set(re.search(r"the options are (.*)", str(error.value))[1].split(", "))


def test_stub_and_extension_agree():
    stub = declared()
    public = {name: value for name, value in vars(_core).items() if not name.startswith("__")}
    assert set(stub) == set(public)
    for name, inside in stub.items():
        value = public[name]
        if isinstance(value, type) and not issubclass(value, Exception):
            assert inside == members(value), name

"""Cycles among the imports of a Python package."""

import ast
from pathlib import PurePosixPath
from typing import Dict, Iterator, List, Tuple

Edges = Dict[str, Dict[str, int]]
"""For each module the modules it imports, with the line."""


def modules_of(files: List[str], root: str) -> Dict[str, str]:
    """The names of the modules among `files` below the folder `root`, each with its file; a stub stands for an extension."""
    found = {}
    for file in files:
        path = PurePosixPath(file)
        if file.startswith(f"{root}/") and path.suffix in (".py", ".pyi"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def edges_of(modules: Dict[str, str], texts: Dict[str, str]) -> Edges:
    """The imports among `modules`, also those inside of functions and for checkers of types. A module in a package does not count as
    importing the package, as `from . import name` does where `name` is no module."""
    found: Edges = {}
    for module, file in modules.items():
        package = module.split(".") if PurePosixPath(file).stem == "__init__" else module.split(".")[:-1]
        for node in ast.walk(ast.parse(texts[file])):
            for target in _targets(node, package, modules):
                if target in modules and target != module:
                    found.setdefault(module, {}).setdefault(target, node.lineno)
    return found


def _targets(node: ast.AST, package: List[str], modules: Dict[str, str]) -> List[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = package[: len(package) - node.level + 1] if node.level else []
    origin = ".".join([*base, *([node.module] if node.module else [])])
    named = [f"{origin}.{alias.name}" for alias in node.names]
    return [name if name in modules else origin for name in named]


def cycles(edges: Edges) -> Iterator[List[str]]:
    """A shortest cycle of each set of modules that reach each other, from its first module by name on."""
    rest = sorted(edges)
    while rest:
        start = rest.pop(0)
        cycle = _way_back(edges, start)
        if cycle:
            yield cycle
            together = _reached(edges, start)
            rest = [module for module in rest if module not in together or start not in _reached(edges, module)]


def _way_back(edges: Edges, start: str) -> List[str]:
    """The shortest way from `start` to itself; empty where there is none."""
    ways, seen = [[start]], {start}
    for way in ways:
        for target in edges.get(way[-1], {}):
            if target == start:
                return way
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
    return []


def _reached(edges: Edges, start: str) -> set:
    found, left = set(), [start]
    while left:
        for target in edges.get(left.pop(), {}):
            if target not in found:
                found.add(target)
                left.append(target)
    return found


def findings(files: List[str], texts: Dict[str, str], root: str) -> Iterator[Tuple[str, int, str]]:
    """(file, line, message) for each cycle of imports below `root`; the line is the first import of the cycle."""
    modules = modules_of(files, root)
    edges = edges_of(modules, texts)
    for cycle in cycles(edges):
        steps = [f"{target} ({modules[module]}:{edges[module][target]})" for module, target in zip(cycle, [*cycle[1:], cycle[0]])]
        yield modules[cycle[0]], edges[cycle[0]][[*cycle, cycle[0]][1]], f"{cycle[0]} imports itself: -> {' -> '.join(steps)}"

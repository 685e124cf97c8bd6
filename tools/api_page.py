"""Writes docs/api.md, the reference of the Python package, from its signatures and docstrings.

    api_page.py            writes the page
    api_page.py --check    fails where the page differs
"""

import inspect
import pathlib
import re
import sys
import typing

import tensor_comprehensions as tc

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "api.md"

SECTIONS = {
    "Defining and compiling": ["define", "compile", "load", "spec", "host_target", "Module", "Function", "Executable", "Inference", "Output", "TensorSpec", "MappingOptions"],
    "Transforms": ["grad", "jvp", "vmap", "Gradient", "Tangent", "Batched"],
    "Layouts and derivation": ["layout", "Layout", "derive", "roll", "Candidate", "tune_derivations"],
    "Operators without layouts": ["virtual.tensor", "virtual.text", "virtual.Runtime", "virtual.Program", "virtual.Plan"],
    "Tuning": ["autotune", "TuneResult", "tune_parts"],
    "Threads and devices": ["set_num_threads", "get_num_threads", "set_threads", "get_threads", "check"],
    "torch and JAX": ["torch_op", "torch.Module", "torch.export", "torch.reports", "jax.op"],
    "The cache": ["cache.Cache", "cache.Entry", "cache.Measurement", "cache.environment"],
    "Errors": ["Error", "SyntaxError", "SemanticError", "ArgumentError", "NoSuchDef", "OptionsError", "DeviceError", "ResourceError", "EarlierRunError", "InternalError", "Diagnostic"],
}
HEAD = """# Reference

Made from the signatures and docstrings of `import tensor_comprehensions as tc` by `tools/api_page.py`. Types of arguments: a `Tensor` is an array of any library ([arrays.md](arrays.md))
or a number, a `Given` an array or a `tc.spec()`. For the first steps see the [lessons](lessons/README.md).
"""


def resolve(path):
    found = tc
    for name in path.split("."):
        found = getattr(found, name)
    return found


def plain(annotation: str) -> str:
    """An annotation without the modules and the quotes of its names."""
    text = re.sub(r"\b(?:typing|tensor_comprehensions(?:\.\w+)*|collections\.abc)\.", "", annotation)
    return re.sub(r"ForwardRef\('(\w+)'(?:, [^)]*)?\)", r"\1", text).replace("'", "").replace("_core.", "")


NAMES = {"typed": ("Tensor", "Out"), "given": ("Given", "OutGiven", "Dims"), "options": ("MappingChoice", "AnyCache", "Layouts", "Names")}
ALIASES = {getattr(getattr(tc, module), name): name for module, names in NAMES.items() for name in names}


def annotated(annotation) -> str:
    if annotation in ALIASES:
        return ALIASES[annotation]
    if typing.get_origin(annotation) is typing.Union and set(typing.get_args(tc.given.Given)) < set(typing.get_args(annotation)):
        return "Given | float"
    return plain(inspect.formatannotation(annotation))


def signature(name, thing) -> str:
    """The call of `thing`; one argument a line where it is long. Of what has no signature, its name."""
    try:
        of = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    arguments, star = [], False
    for parameter in of.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            arguments.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        written = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name
        if parameter.annotation is not parameter.empty:
            written += f": {annotated(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            written += f" = {parameter.default!r}" if parameter.annotation is not parameter.empty else f"={parameter.default!r}"
        arguments.append(written)
    result = f" -> {annotated(of.return_annotation)}" if of.return_annotation is not of.empty else ""
    line = f"{name}({', '.join(arguments)}){result}"
    return line if len(line) <= 120 else f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){result}"


def documented(name, thing):
    """The call of `thing` and its own documentation. A function of the extension has both in its docstring."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    first, _, rest = text.partition("\n")
    if first.startswith(f"{thing.__name__}(") if hasattr(thing, "__name__") else False:
        call = re.sub(r"SupportsInt \| SupportsIndex", "int", plain(first))
        return re.sub(r"^\w+\(self: \w+(?:, )?", f"{name}(", call) if "self:" in call else name + call[len(thing.__name__) :], rest.strip()
    if isinstance(thing, property) or not callable(thing) or inspect.isclass(thing):
        return name, text
    return signature(name, thing), text


def linked(text) -> str:
    return re.sub(r"(?<![\[`/(\w])docs/([\w/]+\.md)", r"[\1](\1)", text)


def members(kind):
    """The public methods and properties of a class, and its fields with their comments."""
    for name, thing in vars(kind).items():
        if name.startswith("_") or isinstance(thing, (int, str, tuple, list, dict)):
            continue
        thing = getattr(kind, name) if isinstance(thing, (classmethod, staticmethod)) else thing
        if hasattr(thing, "func"):
            yield name, inspect.cleandoc(thing.func.__doc__ or "")
        elif callable(thing) or isinstance(thing, property):
            yield documented(name, thing)


def entry(path) -> str:
    thing = resolve(path)
    name = f"tc.{path}"
    shown, documentation = documented(name, thing)
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return f"**`{name}`** ({thing.__base__.__name__}): {linked(' '.join(documentation.split()))}\n"
    text = f"### {name}\n\n" + (f"```py\n{shown}\n```\n\n" if "(" in shown else "") + (linked(documentation) + "\n" if documentation else "")
    if inspect.isclass(thing):
        rows = [f"* `{' '.join(call.split())}`: {linked(' '.join(says.split()))}" for call, says in members(thing) if says]
        text += "\n" + "\n".join(rows) + "\n" if rows else ""
    return text


def page() -> str:
    parts = [HEAD]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [entry(name) for name in names]
    return "\n".join(parts)


if __name__ == "__main__":
    made = page()
    if "--check" in sys.argv:
        sys.exit(f"{PAGE} differs: run tools/api_page.py" if PAGE.read_text(encoding="utf-8") != made else 0)
    PAGE.write_text(made, encoding="utf-8")

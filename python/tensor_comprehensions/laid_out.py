"""Executables of tensors in layouts."""

from . import _core
from .cache import environment
from .executable import Executable
from .function import Function
from .layout_conversions import kept_layouts
from .layouts import LogicalView, as_layout


class LaidOutExecutable(Executable):
    """An executable of tensors in layouts. It takes tensors of the shapes behind these, or views of them without.

    `layouts` tells which tensors have which.
    """

    def __init__(self, core, layouts, views, *of_executable):
        super().__init__(core, *of_executable)
        self.layouts = layouts
        self._views = views

    def __call__(self, *tensors, out=None):
        placed = [self._views[i](tensor) if i in self._views else tensor for i, tensor in enumerate(tensors)]
        return super().__call__(*placed, out=out)

    def __reduce__(self):
        layouts = {name: str(layout) for name, layout in self.layouts.items()}
        return _restored, (self.serialise(), layouts, self._views)


def _restored(binary, layouts, views) -> LaidOutExecutable:
    layouts = {name: as_layout(text) for name, text in layouts.items()}
    return LaidOutExecutable(_core.load_executable(binary), layouts, views)


def compile_in_layouts(function, given, layouts, out, how, constants) -> LaidOutExecutable:
    """`function` for the tensors `given`, which are as it takes them, with those that `layouts` names in layouts."""
    chosen = {name: as_layout(value) for name, value in layouts.items()}
    if both := sorted(set(constants) & set(chosen)):
        raise _core.OptionsError(f"'{both[0]}' is a constant and has a layout: give it as a tensor of the layout's shape")
    definition, specs = _core.in_layouts(function, list(given), _core.propagated_layouts(function, list(given), chosen))
    names = function._parameters()
    settings = how.settings()
    laid_out = Function(definition, settings)
    bound = tuple(tensor if name in constants else spec for name, tensor, spec in zip(names, given, specs))
    core = laid_out._compile(bound, out, settings, constants)
    held = {name: given[names.index(name)] for name in constants}
    taken = [(name, tensor) for name, tensor in zip(names, given) if name not in constants]
    all_views = [LogicalView.of(chosen.get(name), tensor) for name, tensor in taken]
    views = {i: view for i, view in enumerate(all_views) if view is not None}
    return LaidOutExecutable(core, chosen, views, laid_out, how, held)


def tuned_layouts(function, given, out, how) -> dict:
    """The layouts that a cache has for `function` and the tensors `given`, empty where plain ones are the fastest. Raises OptionsError where it
    has none."""
    store = environment() if how.cache is None else how.cache
    key = function._cache_key(tuple(given), out, _core.Settings(target=how.target))
    found = kept_layouts(store, key, function) if store else None
    if found is None:
        raise _core.OptionsError(f"the cache has no layouts for '{function.name}' and these tensors\nhelp: tc.autotune(..., layouts=True) finds some")
    return found

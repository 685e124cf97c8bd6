"""Operators that know no layouts, after VTensor: called at once, or recorded and planned with all layouts chosen together. See docs/layouts.md.

    run = tc.virtual.Runtime("onednn", "own")
    x, k = tc.virtual.tensor(X, "NCHW"), tc.virtual.tensor(K, "OIRS", constant=True)
    y = run.relu(run.conv(x, k, stride=2))                  # normal mode: converts what a routine requires, and runs
    y.layout, run.plain(y)

    program = run.record(lambda net: net.relu(net.conv(net.input(X.shape, "NCHW"), k, stride=2)))
    plan = program.plan("both")
    plan(x)
"""

from typing import Any, Callable, List, Sequence, Tuple, Union

from ._core import ArgumentError, Layout, LayoutPlan, OperatorProgram, OperatorRuntime, VirtualTensor, operator_names
from ._core import operator_text as _operator_text
from ._core import placeholder as _placeholder
from ._core import virtual_tensor as _virtual_tensor
from .layouts import as_layout

OPERATORS = tuple(operator_names())
"""The names of the operators, which a Runtime and a Program have as methods."""


def tensor(data: Any, dims: str, *, constant: bool = False, name: str = "") -> VirtualTensor:
    """The float32 array `data`, whose dimensions are called `dims`, a letter each ("NCHW"). Its memory is used, not copied. It is dense, in any
    order of its dimensions: one of torch with channels last is in the layout NHWC. A constant is converted once."""
    return _virtual_tensor(data, dims, constant, name or dims)


def text(op: str, *tensors: VirtualTensor, **attributes: int) -> str:
    """The TC def that operator `op` computes on `tensors`, whatever their layouts: all that libraries are told of it."""
    return _operator_text(op, list(tensors), attributes)


class _Operators:
    """Has a method for each operator: its tensors, then its attributes by name."""

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if op not in OPERATORS:
            raise AttributeError(f"there is no operator '{op}': the operators are {', '.join(OPERATORS)}")
        return lambda *tensors, **attributes: self.call(op, *tensors, **attributes)  # type: ignore[attr-defined]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *OPERATORS]


class Runtime(_Operators):
    """Calls operators by routines of `libraries`, the one to be preferred first: "own" (compiled code), "reference" (the interpreter), "onednn"
    or another library. The first one that has a routine for a call computes it."""

    def __init__(self, *libraries: str):
        self._core = OperatorRuntime(list(libraries or ("own",)))

    def call(self, op: str, *tensors: VirtualTensor, **attributes: int) -> VirtualTensor:
        """The result of operator `op`, in the layout that its routine gives it. Inputs in other layouts than it requires are converted first."""
        return self._core.call(op, list(tensors), attributes)

    def converted(self, tensor: VirtualTensor, layout: Union[str, Layout]) -> VirtualTensor:
        """`tensor` in `layout`: itself, or a copy."""
        return self._core.converted(tensor, as_layout(layout))

    def plain(self, tensor: VirtualTensor) -> memoryview:
        """The elements of `tensor` in the order of its dimensions, for `numpy.asarray` or `torch.asarray`."""
        return memoryview(self._core.converted(tensor, Layout("identity")))

    @property
    def conversions(self) -> int:
        """How many calls have made, but for constants."""
        return self._core.conversions

    def record(self, network: Callable[["Program"], Any]) -> "Program":
        """The calls that `network` makes of its argument, which has the same methods. Nothing runs."""
        program = Program(self)
        network(program)
        return program


class Recorded:
    """A tensor of a Program: `dims` and `shape`, without elements."""

    def __init__(self, program: "Program", number: int):
        self._program, self._number = program, number
        described = program._core.tensor(number)
        self.dims: str = described.dims
        self.shape: Tuple[int, ...] = described.shape


class Program(_Operators):
    """Calls of operators that were recorded. `plan()` makes them ready to run."""

    def __init__(self, runtime: Runtime):
        self._runtime, self._core = runtime, OperatorProgram()

    def input(self, shape: Sequence[int], dims: str, *, layout: Union[str, Layout] = "identity", name: str = "") -> Recorded:
        """A tensor that each run gives, in `layout`."""
        return Recorded(self, self._core.add(_placeholder(list(shape), dims, as_layout(layout), name or dims)))

    def call(self, op: str, *tensors: Union[Recorded, VirtualTensor], **attributes: int) -> Recorded:
        """The result of operator `op` on tensors of this program and on constants."""
        return Recorded(self, self._core.call(op, [self._number_of(tensor) for tensor in tensors], attributes))

    def _number_of(self, tensor: Union[Recorded, VirtualTensor]) -> int:
        if isinstance(tensor, Recorded):
            if tensor._program is not self:
                raise ArgumentError("a tensor of another program was given")
            return tensor._number
        if not tensor.constant:
            raise ArgumentError(f"'{tensor.name}' is no constant: what changes from run to run is an input of the program")
        return self._core.add(tensor)

    def plan(self, layouts: str = "shared") -> "Plan":
        """Its calls with kernels, and conversions between them. `layouts` says how they are chosen: "asked" (each call gets what its routine requires),
        "hoisted" (conversions of a tensor that all consumers require become one), "element-wise" (element-wise calls choose), "both",
        "shared" (they choose, and each conversion is made once), "greedy" (call by call) or "measured" (libraries and layouts of all calls by measured
        seconds; takes some 10 to 60 s)."""
        return Plan(self._runtime._core.plan(self._core, layouts))


class Plan:
    """A program made ready to run: `plan(x)` takes its inputs in order, and returns what no call reads, one tensor or a list. `print(plan)`
    shows its steps, and the layouts of their tensors."""

    def __init__(self, core: LayoutPlan):
        self._core = core

    def __call__(self, *inputs: VirtualTensor) -> Union[VirtualTensor, List[VirtualTensor]]:
        results = self._core.run(list(inputs))
        return results[0] if len(results) == 1 else results

    def profile(self, *inputs: VirtualTensor) -> List[float]:
        """The seconds of each step in one run."""
        return self._core.profile(list(inputs))

    @property
    def steps(self) -> List[Tuple[str, str, str]]:
        """For each step the operator or "convert", the library that was chosen, and who computes: "own code" or a routine."""
        return self._core.steps

    @property
    def conversions(self) -> int:
        """In each run."""
        return self._core.conversions

    @property
    def stats(self) -> dict:
        """Milliseconds of choosing layouts and of making kernels, and the bytes of the workspace."""
        return {name: getattr(self._core, name) for name in ("choosing_ms", "making_ms", "workspace_bytes")}

    def __str__(self):
        return str(self._core)

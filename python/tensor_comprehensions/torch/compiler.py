"""The door to the compiler: `Compiler.compile` and `Compiler.bind`."""

import contextlib
import dataclasses
import functools
import threading
import warnings
from typing import Callable, Optional

import torch

from .. import _core
from ..api import define
from ..executable import Executable, compiled
from ..given import spec
from ..options import Options


@functools.lru_cache(maxsize=64)
def defined(text):
    """The last def in `text`. Texts that update inputs in place mean it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"warning\[TC130\]")
        module = define(text)
    return module[list(module)[-1]]


class Compiler:
    """Compiles defs as `how` says; equal ones for equal tensors once. Safe to use from several threads.

    `freeze` and `specialise_seconds` are options of the backend, see dynamo.py.
    """

    def __init__(self, how: Options = Options(), freeze: bool = False, specialise_seconds: float = 10.0):
        self.how, self.freeze, self.specialise_seconds = how, freeze, specialise_seconds
        self._known: dict = {}
        self._against: dict = {}
        self._lock = threading.Lock()

    def check_options(self) -> None:
        """Raises OptionsError, ArgumentError for options that no def could be compiled with: before a model is compiled without them."""
        seconds = self.specialise_seconds
        if not isinstance(seconds, (int, float)) or not seconds >= 0:
            raise _core.OptionsError(f"specialise_seconds={seconds!r}: it is a number of seconds, 0 or more")
        with contextlib.suppress(_core.ResourceError):
            self._compile_a_copy(self.how.target)

    def _compile_a_copy(self, target):
        one = spec((1,), "float32")
        self._compile("def copy(float(N) A) -> (B) { B(i) = A(i) }", [one], [one], target=target)

    def target_of(self, device: torch.device) -> Optional[str]:
        """The target of code for tensors on `device`: that of the options, else the device's own; None for the processor that this runs on.
        Raises OptionsError where the options' is of another kind, DeviceError where there is no such device."""
        chosen, is_gpu = self.how.target, device.type == "cuda"
        if not is_gpu and device.type != "cpu":
            raise _core.OptionsError(f"it is on '{device}': the backend takes tensors on the CPU and on CUDA devices")
        if chosen is None:
            return _core.device_target(device.index or 0) if is_gpu else None
        if is_gpu != chosen.startswith("cuda"):
            raise _core.OptionsError(f"it is on {device}, and the option target is '{chosen}'")
        return chosen

    def reason_against(self, device: torch.device) -> Optional[str]:
        """Why nothing on `device` is taken, found out once; None where code can be compiled for it."""
        if device not in self._against:
            try:
                target = self.target_of(device)
                if target is not None:
                    self._compile_a_copy(target)
                self._against[device] = None
            except _core.ResourceError:
                self._against[device] = None
            except _core.Error as error:
                self._against[device] = str(error).splitlines()[0]
        return self._against[device]

    def compile(self, text: str, inputs, outputs, partition="auto", target=None, dynamic=()) -> Callable:
        """An executable of the last def in `text` for tensors like the specs `inputs` and `outputs`; called as executable(*inputs, out=outputs).
        One of sizes that are `dynamic` is not kept here."""
        if dynamic:
            return self._compile(text, inputs, outputs, partition=partition, target=target, dynamic=dynamic)
        key = (text, tuple(map(repr, inputs)), tuple(map(repr, outputs)), partition, target)
        with self._lock:
            found = self._known.get(key)
        if found is None:
            found = self._compile(text, inputs, outputs, partition=partition, target=target)
            with self._lock:
                found = self._known.setdefault(key, found)
        return found

    def bind(self, text: str, inputs, outputs, constants, target=None) -> Callable:
        """As compile, an executable that holds the tensors among `inputs` whose places `constants` are. Not kept."""
        return self._compile(text, inputs, outputs, constants, target=target)

    def _compile(self, text, inputs, outputs, constants=(), **changes) -> Executable:
        function = defined(text)
        names = function._parameters()
        out = tuple(outputs) if len(outputs) > 1 else outputs[0]
        how = dataclasses.replace(self.how, **changes)
        return compiled(function, function._in_order(*inputs), out, how, [names[place] for place in constants])

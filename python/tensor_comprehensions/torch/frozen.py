"""Executables that hold tensors of a call, as long as nobody changes these."""

import functools
import weakref

from torch.optim.optimizer import register_optimizer_step_post_hook


class Frozen:
    """An executable that holds the tensors `held` of a call, as long as they are what they were.

    It takes `reads`, for which a call prepares its inputs `fixed`.
    """

    _all: "weakref.WeakSet[Frozen]" = weakref.WeakSet()

    def __init__(self, run, reads, fixed, held):
        self.run, self.reads, self.fixed, self._stepped = run, reads, fixed, False
        self._held = [(k, data, data._version, data.data_ptr()) for k, data in held]
        if not self._all:
            _watch_optimizers()
        self._all.add(self)

    def is_for(self, inputs):
        return not self._stepped and all(
            inputs[k] is data and data._version == version and data.data_ptr() == address
            for k, data, version, address in self._held
        )

    @classmethod
    def note_step(cls, parameters):
        """An optimizer has changed the tensors with the ids `parameters`."""
        for frozen in list(cls._all):
            frozen._stepped = frozen._stepped or any(id(data) in parameters for _, data, _, _ in frozen._held)


@functools.cache
def _watch_optimizers():
    """Tells what is frozen of every step of an optimizer from here on: fused ones change parameters and no version counter."""
    register_optimizer_step_post_hook(
        lambda optimizer, *_: Frozen.note_step({id(p) for group in optimizer.param_groups for p in group["params"]})
    )

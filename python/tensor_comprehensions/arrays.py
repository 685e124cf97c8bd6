"""Arrays of libraries of the array API standard on GPUs."""

from . import _core


def empty_beside(array, shape, dtype: str):
    """An uninitialised array of the library and on the device of `array`. Raises ArgumentError where the library has no such type, or its arrays cannot be
    written."""
    library, device = array.__array_namespace__(), array.device
    if library.__name__.startswith("jax"):
        raise _core.ArgumentError("arrays of JAX on a GPU cannot be written: call with tensors of torch, or on the CPU")
    made = getattr(library, dtype, None) or getattr(library, f"{dtype}_", None)
    if made is None:
        raise _core.ArgumentError(f"{library.__name__} has no type {dtype}: pass the output as out=")
    if hasattr(device, "__enter__"):
        with device:
            return library.empty(tuple(shape), dtype=made)
    return library.empty(tuple(shape), dtype=made, device=device)

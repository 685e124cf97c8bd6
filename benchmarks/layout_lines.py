"""Lines of code of operators that know no layouts, and of those that do: one text serves all layouts and libraries, or each layout needs its own.

    python benchmarks/layout_lines.py            # a table of the operators of tc.virtual, in NCHW, NHWC and NCHW16c

Counted from the texts themselves, as the compiler prints them: `oblivious` is the def of an operator, which own code, the interpreter and other
libraries share; `aware` are the defs that it becomes in the three layouts, each proved to compute the same. Lines without the braces' own,
and characters without blanks.
"""

import numpy as np

import tensor_comprehensions as tc
from tensor_comprehensions import _core, virtual
from tensor_comprehensions.function import Function
from tensor_comprehensions.layouts import as_layout

# Layouts of images and weights by their dimensions, for channels last and for blocks.
LAYOUTS = {
    "NHWC": {"NCHW": "NHWC", "OIRS": "HWIO", "CRS": "reorder(1,2,0)", "OC": "reorder(1,0)"},
    "NCHW16c": {"NCHW": "NCHW16c", "OIRS": "OIhw16i16o", "CRS": "split(0,16)reorder(0,2,3,1)", "OC": "split(0,16)reorder(0,2,1)"},
}


def tensor(dims, *shape):
    return virtual.tensor(np.zeros(shape, "float32"), dims)


def calls():
    """Operators, and what they are called with."""
    image, channels = tensor("NCHW", 1, 32, 14, 14), tensor("C", 32)
    padded = dict(top=1, left=1, bottom=1, right=1)
    others = {
        "add": [image, image],
        "batch_norm": [image, channels, channels, channels, channels],
        "bias_add": [image, channels],
        "concat": [image, image],
        "conv": [image, tensor("OIRS", 64, 32, 3, 3)],
        "depthwise": [image, tensor("CRS", 32, 3, 3)],
        "matmul": [tensor("NC", 8, 32), tensor("OC", 64, 32)],
        "mul": [image, image],
    }
    windows = {"conv": padded, "depthwise": padded, "pad": padded}
    pooled = dict.fromkeys(("avg_pool", "max_pool"), dict(padded, height=3, width=3, stride=2))
    for op in virtual.OPERATORS:
        yield op, others.get(op, [image]), windows.get(op, {}) | pooled.get(op, {})


def text_in(function, tensors, layouts):
    """The text of `function` for tensors of these shapes in `layouts`."""
    definition, _ = _core.in_layouts(function, [tc.spec(t.shape) for t in tensors], layouts)
    return Function(definition, function._settings())._source()


def layouts_of(function, tensors, result, name):
    """The layouts of the parameters and the result of `function` that have any where images are in layout `name`."""
    *params, returned = [*_core.tensor_names(function)[: len(tensors)], "Y"]
    dims = dict(zip(params, (t.dims for t in tensors))) | {returned: result}
    return {tensor: as_layout(LAYOUTS[name][dims[tensor]]) for tensor in dims if dims[tensor] in LAYOUTS[name]}


def size(text):
    """Lines that say something, and characters without blanks."""
    lines = [line for line in text.splitlines() if line.strip(" {}")]
    return len(lines), sum(len("".join(line.split())) for line in lines)


def main():
    print("| operator | oblivious: lines | characters | aware: lines | characters |\n|---|---|---|---|---|")
    total, run = [0] * 4, virtual.Runtime("reference")
    for op, tensors, attributes in calls():
        module = tc.define(virtual.text(op, *tensors, **attributes))
        function = module[next(iter(module))]
        result = run.call(op, *tensors, **attributes).dims
        plain = text_in(function, tensors, {})
        texts = [plain, *(text_in(function, tensors, layouts_of(function, tensors, result, name)) for name in LAYOUTS)]
        row = [*size(plain), *map(sum, zip(*map(size, texts)))]
        total = [a + b for a, b in zip(total, row)]
        print(f"| {op} | " + " | ".join(map(str, row)) + " |")
    print("| all | " + " | ".join(map(str, total)) + " |")


if __name__ == "__main__":
    main()

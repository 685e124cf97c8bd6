"""Lines of code of operators that know no layouts, and of those that do: one text serves all layouts, or each needs its own.

    python benchmarks/layout_lines.py            # a table of operators, in NCHW, NHWC and NCHW16c

Counted from the texts themselves, as the compiler prints them: `oblivious` is the def; `aware` are the defs that it becomes in
the three layouts, each proved to compute the same. Lines without the braces' own, and characters without blanks.
"""

import tensor_comprehensions as tc
from tensor_comprehensions import _core
from tensor_comprehensions.function import Function
from tensor_comprehensions.layouts import as_layout

IMAGE, WEIGHTS = (1, 32, 14, 14), (64, 32, 3, 3)
OPERATORS = {
    "convolution": (
        "def f(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }",
        (IMAGE, WEIGHTS),
        {"NHWC": "XY K:HWIO", "NCHW16c": "XY K:OIhw16i16o"},
    ),
    "depthwise convolution": (
        "def f(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! X(n,c,h+r,w+s) * K(c,r,s) }",
        (IMAGE, (32, 3, 3)),
        {"NHWC": "XY K:reorder(1,2,0)", "NCHW16c": "XY K:split(0,16)reorder(0,2,3,1)"},
    ),
    "maximum pooling": (
        "def f(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) max=! X(n,c,2*h+r,2*w+s) where r in 0:2, s in 0:2 }",
        (IMAGE,),
        {"NHWC": "XY", "NCHW16c": "XY"},
    ),
    "padding": (
        "def f(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? X(n,c,h-1,w-1) : 0"
        " where h in 0:H+2, w in 0:W+2 }",
        (IMAGE,),
        {"NHWC": "XY", "NCHW16c": "XY"},
    ),
    "norm and relu": (
        "def f(float(N,C,H,W) X, float(C) s, float(C) t) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w) * s(c) + t(c), 0) }",
        (IMAGE, (32,), (32,)),
        {"NHWC": "XY", "NCHW16c": "XY"},
    ),
    "addition": (
        "def f(float(N,C,H,W) X, float(N,C,H,W) Z) -> (Y) { Y(n,c,h,w) = X(n,c,h,w) + Z(n,c,h,w) }",
        (IMAGE, IMAGE),
        {"NHWC": "XYZ", "NCHW16c": "XYZ"},
    ),
    "mean of channels": (
        "def f(float(N,C,H,W) X) -> (Y) { S(n,c) +=! X(n,c,h,w)  Y(n,c) = S(n,c) / (H * W) }",
        (IMAGE,),
        {"NHWC": "X", "NCHW16c": "X"},
    ),
}


def layouts_of(name, words):
    """The layouts of an operator: tensors in layout `name`, and others by name."""
    images, *others = words.split(" ")
    chosen = dict.fromkeys(images, name) | dict(word.split(":") for word in others)
    return {tensor: as_layout(layout) for tensor, layout in chosen.items()}


def text_in(function, shapes, layouts):
    """The text of `function` for tensors of `shapes` in `layouts`."""
    definition, _ = _core.in_layouts(function, [tc.spec(shape) for shape in shapes], layouts)
    return Function(definition, function._settings())._source()


def size(text):
    """Lines that say something, and characters without blanks."""
    lines = [line for line in text.splitlines() if line.strip(" {}")]
    return len(lines), sum(len("".join(line.split())) for line in lines)


def main():
    print("| operator | oblivious: lines | characters | aware: lines | characters |\n|---|---|---|---|---|")
    total = [0] * 4
    for name, (text, shapes, chosen) in OPERATORS.items():
        function = tc.define(text).f
        texts = [text_in(function, shapes, {})]
        texts += [text_in(function, shapes, layouts_of(layout, words)) for layout, words in chosen.items()]
        sizes = [size(one) for one in texts]
        row = [*sizes[0], sum(lines for lines, _ in sizes), sum(count for _, count in sizes)]
        total = [a + b for a, b in zip(total, row)]
        print(f"| {name} | " + " | ".join(map(str, row)) + " |")
    print("| all | " + " | ".join(map(str, total)) + " |")


if __name__ == "__main__":
    main()

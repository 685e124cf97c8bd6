"""Convolutions: grouped, depthwise, ResNet's, a stencil, and one with bias and activation."""

import torch
import torch.nn.functional as F

from ..case import Case, Goal, random, sized

GROUPED = """def gconv(float(N,G,C,H,W) I, float(G,F,C,KH,KW) K) -> (O) {
  O(n,g,f,h,w) +=! I(n,g,c,h+kh,w+kw) * K(g,f,c,kh,kw)
}"""
DEPTHWISE = """def depthwise(float(N,C,H,W) I, float(C,KH,KW) K) -> (O) {
  O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * K(c,kh,kw)
}"""
DEPTHWISE_PADDED = """def depthwise(float(N,C,H,W) I, float(C,KH,KW) K) -> (O) {
  O(n,c,h,w) +=! (h+kh >= 1 && h+kh < H+1 && w+kw >= 1 && w+kw < W+1) ? I(n,c,h+kh-1,w+kw-1) * K(c,kh,kw) : 0
    where h in 0:H, w in 0:W
}"""
STENCIL = """def stencil(float(H,W) I, float(KH,KW) K) -> (O) {
  O(h,w) +=! I(h+kh,w+kw) * K(kh,kw)
}"""
CONV = """def conv(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw)
}"""
CONV_PADDED = """def conv(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! (h+kh >= 1 && h+kh < H+1 && w+kw >= 1 && w+kw < W+1) ? I(n,c,h+kh-1,w+kw-1) * K(m,c,kh,kw) : 0
    where h in 0:H, w in 0:W
}"""
CONV_STRIDE_2 = """def conv(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! I(n,c,2*h+kh,2*w+kw) * K(m,c,kh,kw)
}"""
CONV_BIAS_RELU = """def conv(float(N,C,H,W) I, float(M,C,KH,KW) K, float(M) B) -> (O) {
  O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw)
  O(n,m,h,w) = fmax(O(n,m,h,w) + B(m), 0)
}"""
RESNET_GOALS = (Goal("eager", 0.7, 1.1),)


def grouped_reference(i, k):
    """Group convolution of the five-dimensional tensors of the text."""
    n, g, c, h, w = i.shape
    out = F.conv2d(i.reshape(n, g * c, h, w), k.flatten(0, 1), groups=g)
    return out.reshape(n, g, -1, *out.shape[2:])


def grouped(size, n, g, c, image, goals=(), **more):
    """g groups of c channels into c, 3x3, NCHW, output image x image."""
    name = f"conv/grouped-c{c}-{g * c}@{image}"
    n, g, c, image = sized(size)(n, g, c, image)
    return Case(
        name,
        GROUPED,
        lambda: (random(n, g, c, image + 2, image + 2), random(g, c, c, 3, 3)),
        grouped_reference,
        terms=9 * c,
        flops=2.0 * n * g * c * c * 9 * image * image,
        goals=goals,
        native=("conv", n, g, c, c, image + 2, 3, 1),
        **more,
    )


def depthwise(size, n, c, image, goals=(), padded=False, **more):
    """c channels, 3x3, NCHW, output image x image."""
    name = f"conv/depthwise-{c}@{image}" + ("-padded" if padded else "")
    n, c, image = sized(size)(n, c, image)
    border = 0 if padded else 2
    return Case(
        name,
        DEPTHWISE_PADDED if padded else DEPTHWISE,
        lambda: (random(n, c, image + border, image + border), random(c, 3, 3)),
        lambda i, k: F.conv2d(i, k.unsqueeze(1), groups=k.shape[0], padding=1 if padded else 0),
        terms=9,
        flops=2.0 * n * c * 9 * image * image,
        goals=goals,
        native=None if padded else ("conv", n, c, 1, 1, image + 2, 3, 1),
        **more,
    )


def dense(size, name, n, c, m, image, kernel=3, stride=1, goals=(), text=CONV, dtype=torch.float32, **more):
    """A dense convolution, output image x image, of an input that holds its border already."""
    n, c, m, image = sized(size)(n, c, m, image)
    border = (image - 1) * stride + kernel
    return Case(
        f"conv/{name}",
        text if dtype == torch.float32 else text.replace("float(", f"{str(dtype).partition('.')[2]}("),
        lambda: (random(n, c, border, border, dtype=dtype), random(m, c, kernel, kernel, dtype=dtype)),
        lambda i, k: F.conv2d(i, k, stride=stride),
        terms=c * kernel * kernel,
        flops=2.0 * n * m * c * kernel * kernel * image * image,
        goals=goals,
        native=("conv", n, 1, c, m, border, kernel, stride) if dtype == torch.float32 else None,
        **more,
    )


def resnet_padded(size, c, image):
    """A 3x3 layer as networks have it: the border is zeros that nothing stores."""
    name = f"conv/resnet-{c}@{image}-padded"
    c, image = sized(size)(c, image)
    return Case(
        name,
        CONV_PADDED,
        lambda: (random(1, c, image, image), random(c, c, 3, 3)),
        lambda i, k: F.conv2d(i, k, padding=1),
        terms=9 * c,
        flops=2.0 * c * c * 9 * image * image,
        goals=RESNET_GOALS,
    )


def bias_relu(size, c, image):
    """A 3x3 layer with bias and activation."""
    c, image = sized(size)(c, image)
    return Case(
        "conv/bias-relu-64@56",
        CONV_BIAS_RELU,
        lambda: (random(1, c, image + 2, image + 2), random(c, c, 3, 3), random(c)),
        lambda i, k, b: torch.relu(F.conv2d(i, k, b)),
        terms=9 * c,
        flops=2.0 * c * c * 9 * image * image,
        goals=(Goal("eager", 1.2, 3.0),),
    )


def stencil(size, image):
    """One image, one 5x5 kernel."""
    (image,) = sized(size)(image)
    return Case(
        "conv/stencil-5x5-2048",
        STENCIL,
        lambda: (random(image + 4, image + 4), random(5, 5)),
        lambda i, k: F.conv2d(i[None, None], k[None, None])[0, 0],
        terms=25,
        flops=50.0 * image * image,
        goals=(Goal("eager", 5.0, 30.0),),
    )


def cases(size):
    yield grouped(size, 8, 32, 4, 56, (Goal("eager", 3.0, 10.0),), scaling=True)
    yield grouped(size, 8, 32, 8, 28, (Goal("eager", 1.2, 2.0),))
    yield grouped(size, 8, 32, 16, 14)
    yield grouped(size, 8, 32, 32, 7)
    yield depthwise(size, 1, 32, 112, (Goal("eager", 1.2, 3.0),))
    yield depthwise(size, 8, 192, 56, (Goal("eager", 4.0, 15.0),))
    yield depthwise(size, 1, 32, 112, (Goal("eager", 1.2, 3.0),), padded=True)
    yield stencil(size, 2048)
    for channels, image in ((64, 56), (128, 28), (256, 14), (512, 7)):
        yield dense(size, f"resnet-{channels}@{image}", 1, channels, channels, image, goals=RESNET_GOALS)
    yield dense(size, "resnet-conv1-7x7", 1, 3, 64, 112, 7, 2, RESNET_GOALS, CONV_STRIDE_2)
    yield resnet_padded(size, 64, 56)
    yield resnet_padded(size, 256, 14)
    yield bias_relu(size, 64, 56)

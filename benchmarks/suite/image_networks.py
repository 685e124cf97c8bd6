"""Networks that classify images, beside those of networks.py: VGG, DenseNet, SqueezeNet, GoogLeNet, with random weights."""

import torch
from torch import nn


def vgg19(stages=((2, 64), (2, 128), (4, 256), (4, 512), (4, 512)), classes=1000):
    layers, inputs = [], 3
    for count, width in stages:
        for _ in range(count):
            layers += [nn.Conv2d(inputs, width, 3, 1, 1), nn.ReLU()]
            inputs = width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(inputs * 49, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, classes))


class Dense(nn.Module):
    """A layer of DenseNet: its input, and `growth` channels more."""

    def __init__(self, inputs, growth):
        super().__init__()
        layers = [nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, 4 * growth, 1, bias=False)]
        layers += [nn.BatchNorm2d(4 * growth), nn.ReLU(), nn.Conv2d(4 * growth, growth, 3, 1, 1, bias=False)]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return torch.cat((x, self.body(x)), 1)


def densenet121(blocks=(6, 12, 24, 16), growth=32, classes=1000):
    width = 2 * growth
    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for stage, count in enumerate(blocks):
        for _ in range(count):
            layers.append(Dense(width, growth))
            width += growth
        if stage + 1 < len(blocks):
            layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width // 2, 1, bias=False), nn.AvgPool2d(2)]
            width //= 2
    layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes)]
    return nn.Sequential(*layers)


class Branches(nn.Module):
    """What several modules make of one image, one behind another along its channels."""

    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


def squeezenet(classes=1000):
    def fire(inputs, narrow, wide):
        both = Branches(nn.Conv2d(narrow, wide, 1), nn.Conv2d(narrow, wide, 3, 1, 1))
        return nn.Sequential(nn.Conv2d(inputs, narrow, 1), nn.ReLU(), both, nn.ReLU())

    layers = [nn.Conv2d(3, 64, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2), fire(64, 16, 64), fire(128, 16, 64), nn.MaxPool2d(3, 2)]
    layers += [fire(128, 32, 128), fire(256, 32, 128), nn.MaxPool2d(3, 2), fire(256, 48, 192), fire(384, 48, 192)]
    layers += [fire(384, 64, 256), fire(512, 64, 256), nn.Conv2d(512, classes, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*layers, nn.Flatten())


INCEPTIONS = (
    ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64)),
    ((480, 192, 96, 208, 16, 48, 64), (512, 160, 112, 224, 24, 64, 64), (512, 128, 128, 256, 24, 64, 64),
     (512, 112, 144, 288, 32, 64, 64), (528, 256, 160, 320, 32, 128, 128)),
    ((832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128)),
)


def googlenet(stages=INCEPTIONS, classes=1000):
    def conv(inputs, outputs, size, stride=1):
        return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())

    def inception(inputs, one, narrow, three, thin, five, pooled):
        return Branches(conv(inputs, one, 1), nn.Sequential(conv(inputs, narrow, 1), conv(narrow, three, 3)),
                        nn.Sequential(conv(inputs, thin, 1), conv(thin, five, 3)),
                        nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(inputs, pooled, 1)))

    layers = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1), conv(64, 64, 1), conv(64, 192, 3), nn.MaxPool2d(3, 2, 1)]
    for stage in stages:
        layers += [*(inception(*block) for block in stage), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*layers[:-1], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, classes))

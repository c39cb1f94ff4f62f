"""training_nets: the networks that training is measured and checked on, in plain torch: ResNet-18 and -50, MobileNetV2 and EfficientNet-Lite0 as
published, ResNet-8 and -20 for CIFAR-10, MobileNetV1 0.25, and a vision transformer of MobileNet's size."""
import torch
from torch import nn


def unit(inputs, outputs, size=1, stride=1, groups=1, act=nn.ReLU6, eps=1e-5):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs, eps=eps)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Residual(nn.Module):
    def __init__(self, body, shortcut=None, act=None):
        super().__init__()
        self.body, self.shortcut, self.act = body, shortcut or nn.Identity(), act or nn.Identity()

    def forward(self, x):
        return self.act(self.body(x) + self.shortcut(x))


def head(width, classes, dropout=0.0):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), *([nn.Dropout(dropout)] if dropout else []), nn.Linear(width, classes)]


def resnet(blocks, bottleneck, classes):
    """He and others, Deep Residual Learning for Image Recognition, 2016; stride in the 3x3 convolution."""
    layers, width = [unit(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate(blocks):
        inner, outer = 64 << stage, (256 if bottleneck else 64) << stage
        for i in range(count):
            stride = 2 if i == 0 and stage > 0 else 1
            if bottleneck:
                body = [unit(width, inner, act=nn.ReLU), unit(inner, inner, 3, stride, act=nn.ReLU), unit(inner, outer, act=None)]
            else:
                body = [unit(width, inner, 3, stride, act=nn.ReLU), unit(inner, outer, 3, act=None)]
            shortcut = unit(width, outer, 1, stride, act=None) if stride > 1 or width != outer else None
            layers.append(Residual(nn.Sequential(*body), shortcut, nn.ReLU()))
            width = outer
    return nn.Sequential(*layers, *head(width, classes))


def inverted(inputs, outputs, size, stride, expand, eps=1e-5):
    inner = inputs * expand
    body = [unit(inputs, inner, eps=eps)] if expand > 1 else []
    body += [unit(inner, inner, size, stride, inner, eps=eps), unit(inner, outputs, act=None, eps=eps)]
    return Residual(nn.Sequential(*body)) if stride == 1 and inputs == outputs else nn.Sequential(*body)


def stages(rows, width, eps=1e-5):
    layers = []
    for expand, outputs, count, size, stride in rows:
        for i in range(count):
            layers.append(inverted(width, outputs, size, stride if i == 0 else 1, expand, eps))
            width = outputs
    return layers, width


def mobilenet_v2(classes):
    """Sandler and others, MobileNetV2, 2018, table 2."""
    rows = [(1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 32, 3, 3, 2), (6, 64, 4, 3, 2), (6, 96, 3, 3, 1), (6, 160, 3, 3, 2), (6, 320, 1, 3, 1)]
    layers, width = stages(rows, 32)
    return nn.Sequential(unit(3, 32, 3, 2), *layers, unit(width, 1280), *head(1280, classes))


def efficientnet_lite0(classes):
    """EfficientNet-B0 without squeeze and excitation, with ReLU6 (tensorflow/tpu, efficientnet lite)."""
    rows = [(1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2), (6, 112, 3, 5, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1)]
    layers, width = stages(rows, 32, 1e-3)
    return nn.Sequential(unit(3, 32, 3, 2, eps=1e-3), *layers, unit(width, 1280, eps=1e-3), *head(1280, classes))


def mobilenet_v1(classes, alpha=0.25):
    """Howard and others, MobileNets, 2017, table 1."""
    widths = [int(w * alpha) for w in (32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)]
    strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]
    layers = [unit(3, widths[0], 3, 2)]
    for inputs, outputs, stride in zip(widths, widths[1:], strides):
        layers += [unit(inputs, inputs, 3, stride, inputs), unit(inputs, outputs)]
    return nn.Sequential(*layers, *head(widths[-1], classes))


def cifar_resnet(classes, blocks):
    """For CIFAR-10, three stages of so many blocks: with one block each the ResNet of MLPerf Tiny, with three a ResNet-20 with shortcuts by convolution."""
    layers, width = [unit(3, 16, 3, act=nn.ReLU)], 16
    for outputs in (16, 32, 64):
        for _ in range(blocks):
            stride = 1 if width == outputs else 2
            body = nn.Sequential(unit(width, outputs, 3, stride, act=nn.ReLU), unit(outputs, outputs, 3, act=None))
            layers.append(Residual(body, nn.Conv2d(width, outputs, 1, stride) if stride > 1 else None, nn.ReLU()))
            width = outputs
    return nn.Sequential(*layers, *head(width, classes))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        def split(y):
            return y.reshape(y.shape[0], y.shape[1], self.heads, self.size).transpose(1, 2)
        scores = split(self.query(x)) @ split(self.key(x)).transpose(2, 3) / self.size ** 0.5
        mixed = torch.softmax(scores, -1) @ split(self.value(x))
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


class Vit(nn.Module):
    """A vision transformer: patches, `depth` blocks with the norm in front, the mean of all tokens."""

    def __init__(self, classes, width=192, depth=12, heads=3, size=224, patch=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.place = nn.Parameter(0.02 * torch.randn(1, (size // patch) ** 2, width))
        self.blocks = nn.Sequential(*[
            nn.Sequential(Residual(nn.Sequential(nn.LayerNorm(width), Attention(width, heads))),
                          Residual(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))))
            for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.place
        return self.head(self.norm(self.blocks(x)).mean(1))


# name -> (size of an image, the network of so many classes)
NETS = {
    "mobilenet_v2": (224, mobilenet_v2),
    "resnet18": (224, lambda classes: resnet((2, 2, 2, 2), False, classes)),
    "resnet50": (224, lambda classes: resnet((3, 4, 6, 3), True, classes)),
    "efficientnet_lite0": (224, efficientnet_lite0),
    "mobilenet_v1_025": (224, mobilenet_v1),
    "resnet8": (32, lambda classes: cifar_resnet(classes, 1)),
    "resnet20": (32, lambda classes: cifar_resnet(classes, 3)),
    "vit_tiny": (224, Vit),
}


def make(name, classes=10, seed=0, size=None):
    """With its first weights; `size`: of images that are not of the size above."""
    torch.manual_seed(seed)
    network = NETS[name][1]
    return network(classes, size=size or NETS[name][0]) if network is Vit else network(classes)


def save(net, name, path, size=None):
    """As TorchScript, batch norms and all."""
    size = size or NETS[name][0]
    torch.jit.trace(net.eval(), torch.zeros(1, 3, size, size)).save(path)

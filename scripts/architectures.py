"""architectures: the networks of scripts/make-nets that torchvision does not have, in plain torch 1.13.

InceptionV2 is GoogLeNet with batch norms and two 3x3 convolutions for each 5x5 (Ioffe and Szegedy, "Batch Normalization: Accelerating
Deep Network Training by Reducing Internal Covariate Shift", 2015, figure 5). Bert is the encoder of Devlin et al., "BERT: Pre-training of
Deep Bidirectional Transformers for Language Understanding", 2018, section 3, with its inputs and outputs as exports usually have them.
"""
import torch
from torch import nn

# Added to the scores of what the attention mask hides.
HIDDEN = -10000.0


# ------------------------------------------------------------------------------------------------ Inception-v2
def unit(inputs, outputs, size=1, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs, eps=1e-3), nn.ReLU())


class Mixed(nn.Module):
    """Four branches side by side: 1x1, 3x3, twice 3x3, a pool. No `one`: stride 2 and the pool as it is."""

    def __init__(self, inputs, one, three, double, pool):
        super().__init__()
        stride = 1 if one else 2
        branches = [unit(inputs, one)] if one else []
        branches.append(nn.Sequential(unit(inputs, three[0]), unit(three[0], three[1], 3, stride)))
        branches.append(nn.Sequential(unit(inputs, double[0]), unit(double[0], double[1], 3), unit(double[1], double[1], 3, stride)))
        kind, width = pool
        if kind == "mean":
            branches.append(nn.Sequential(nn.AvgPool2d(3, 1, 1), unit(inputs, width)))
        elif one:
            branches.append(nn.Sequential(nn.MaxPool2d(3, 1, 1), unit(inputs, width)))
        else:
            branches.append(nn.MaxPool2d(3, 2, ceil_mode=True))
        self.branches = nn.ModuleList(branches)
        self.width = one + three[1] + double[1] + (width or inputs)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class InceptionV2(nn.Module):
    BLOCKS = [(64, (64, 64), (64, 96), ("mean", 32)), (64, (64, 96), (64, 96), ("mean", 64)), (0, (128, 160), (64, 96), ("max", 0)),
              (224, (64, 96), (96, 128), ("mean", 128)), (192, (96, 128), (96, 128), ("mean", 128)),
              (160, (128, 160), (128, 160), ("mean", 96)), (96, (128, 192), (160, 192), ("mean", 96)),
              (0, (128, 192), (192, 256), ("max", 0)),
              (352, (192, 320), (160, 224), ("mean", 128)), (352, (192, 320), (192, 224), ("max", 128))]

    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(unit(3, 64, 7, 2), nn.MaxPool2d(3, 2, ceil_mode=True), unit(64, 64), unit(64, 192, 3),
                                  nn.MaxPool2d(3, 2, ceil_mode=True))
        width, blocks = 192, []
        for one, three, double, pool in self.BLOCKS:
            blocks.append(Mixed(width, one, three, double, pool))
            width = blocks[-1].width
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AvgPool2d(7)
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(self.pool(self.blocks(self.stem(x))).flatten(1))


# ------------------------------------------------------------------------------------------------ BERT
class SelfAttention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.project = (nn.Linear(hidden, hidden) for _ in range(4))

    def forward(self, x, mask):
        n, t, c = x.shape
        q, k, v = (layer(x).view(n, t, self.heads, c // self.heads).permute(0, 2, 1, 3) for layer in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / (c // self.heads) ** 0.5 + mask
        return self.project((scores.softmax(-1) @ v).permute(0, 2, 1, 3).contiguous().view(n, t, c))


class EncoderLayer(nn.Module):
    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.attention = SelfAttention(hidden, heads)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.inner, self.outer, self.gelu = nn.Linear(hidden, inner), nn.Linear(inner, hidden), nn.GELU()
        self.norm = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x, mask):
        x = self.attention_norm(x + self.attention(x, mask))
        return self.norm(x + self.outer(self.gelu(self.inner(x))))


class Bert(nn.Module):
    def __init__(self, layers, hidden, heads, vocabulary=30522, positions=512):
        super().__init__()
        self.words, self.positions, self.types = nn.Embedding(vocabulary, hidden), nn.Embedding(positions, hidden), nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(hidden, heads, 4 * hidden) for _ in range(layers))
        self.pooler = nn.Linear(hidden, hidden)
        self.register_buffer("position_ids", torch.arange(positions).expand(1, -1), persistent=False)

    def forward(self, input_ids, attention_mask, token_type_ids):
        mask = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * HIDDEN
        places = self.position_ids[:, :input_ids.shape[1]]
        x = self.norm(self.words(input_ids) + self.types(token_type_ids) + self.positions(places))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))

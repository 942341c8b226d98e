"""The sizes of GPT-2: lightning attention, perceptrons or bilinear layers, no biases or norms."""

from dataclasses import replace

from agattn import Attention, Bilinear, Network, Perceptron

attention = Attention(768, rank=64, heads=12, value_rank=64, mask="causal", skip=True)
perceptron = Perceptron([3072, 768], degree=3, skip=True)

gpt2 = Network([attention, perceptron] * 12, dim=768, tokens=2)
tensor = Network([attention, Bilinear(3072, 768, skip=True)] * 12, dim=768, tokens=2)
heads = Network([attention] * 12, dim=768, tokens=2)

# The same layers without skip connections, one after the other: changes of basis act between them.
plain = [replace(attention, skip=False), replace(perceptron, skip=False)]
stack = Network(plain * 12, dim=768, tokens=2)

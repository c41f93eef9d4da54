"""A decoder layer of Qwen3-8B (random weights) whose feed-forward half comes from a package of Kiln's: against PyTorch, eager and compiled, all in this process.

usage: ffn.py PACKAGE [--rows 1,16,…] [--rounds N]

PACKAGE is a folder that `kiln export` wrote of matmul_swiglu(m, n=12288, k=4096, bf16, weights=kn) and matmul(m, n=4096, k=12288, bf16, weights=kn) for these
numbers of rows; where it has ffn(m, h=4096, n=12288, k=4096, bf16, weights=kn) too, the chain tuned as one, that is timed beside the two. Times are medians over rounds, in us, of CUDA graphs, everything once a round in a new order (harness.py): hot, several calls in a graph, and cold, one
after 256 MB were read. In bold: PyTorch's time over that with Kiln's feed-forward in the same layer, eager or compiled.
"""
import argparse
import json
import sys

import torch
from torch import nn
from torch.nn import functional

from harness import DEVICE, current_stream, load_package, timed

HIDDEN, INNER, HEADS, KV_HEADS, HEAD = 4096, 12288, 32, 8, 128
ROPE_BASE, EPSILON = 1e6, 1e-6
ROWS = "1,16,64,256,1024,4096,7239"
BOUND = 1e-2  # norm of the difference from float64 over the result's: three roundings to bf16, each 1.7e-3, and the sums of a long product
GRAPH_US, MOST_CALLS = 2000, 20
FLOPS_PER_US, BYTES_PER_US = 6e8, 4e6  # of an H200, roughly: what sets how many calls a graph has


def linear(outputs, inputs):
    layer = nn.Linear(inputs, outputs, bias=False, device=DEVICE, dtype=torch.bfloat16).requires_grad_(False)
    nn.init.normal_(layer.weight, std=inputs**-0.5)
    return layer


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = linear(INNER, HIDDEN), linear(INNER, HIDDEN), linear(HIDDEN, INNER)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))

    def in_double(self, x):
        gate, up = (functional.linear(x.double(), part.weight.double()).bfloat16().double() for part in (self.gate, self.up))
        return functional.linear((functional.silu(gate) * up).bfloat16().double(), self.down.weight.double())


class Attention(nn.Module):
    """Causal, of the rows among themselves."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = linear(HEADS * HEAD, HIDDEN), linear(KV_HEADS * HEAD, HIDDEN), linear(KV_HEADS * HEAD, HIDDEN)
        self.out = linear(HIDDEN, HEADS * HEAD)
        self.q_norm, self.k_norm = (nn.RMSNorm(HEAD, EPSILON, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))

    def forward(self, x, turn):
        q, k, v = (part(x).view(x.shape[0], -1, HEAD) for part in (self.q, self.k, self.v))
        q, k = turned(self.q_norm(q), turn), turned(self.k_norm(k), turn)
        mixed = functional.scaled_dot_product_attention(*(part.transpose(0, 1)[None] for part in (q, k, v)), is_causal=True, enable_gqa=True)
        return self.out(mixed[0].transpose(0, 1).reshape(x.shape[0], -1))


def turned(heads, turn):
    cosine, sine = turn
    first, second = heads.chunk(2, -1)
    return heads * cosine + torch.cat((-second, first), -1) * sine


def turn_of(rows):
    """Cosine and sine of each row's place, of each pair of a head's elements."""
    steps = ROPE_BASE ** (-torch.arange(0, HEAD, 2, device=DEVICE) / HEAD)
    angles = (torch.arange(rows, device=DEVICE)[:, None] * steps).repeat(1, 2)[:, None]
    return angles.cos().bfloat16(), angles.sin().bfloat16()


class Layer(nn.Module):
    def __init__(self, attention, feed_forward):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.before_attention, self.before_feed_forward = (nn.RMSNorm(HIDDEN, EPSILON, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))

    def forward(self, x, turn):
        x = x + self.attention(self.before_attention(x), turn)
        return x + self.feed_forward(self.before_feed_forward(x))


class Entries:
    """The package's two functions, and one plan for each number of rows."""

    def __init__(self, folder):
        self.module = load_package(folder)
        self.module.load_device(0)
        self.plans = {}
        of_bf16 = [entry for entry in json.loads(self.module.manifest())["entries"] if entry["type"] == "bf16"]
        self.names = {entry["operator"]: entry["name"] for entry in of_bf16 if entry["params"].get("weights") == "kn" and entry["params"].get("epilogue", "none") == "none"}
        missing = {"matmul_swiglu", "matmul"} - set(self.names)
        if missing:
            raise SystemExit("%s has no bf16 entry with weights=kn of %s" % (self.module.__name__, " and ".join(sorted(missing))))

    def planned(self, x, gate, up, down, inner, y):
        if x.shape[0] not in self.plans:
            swiglu, product = (getattr(self.module, self.names[name]) for name in ("matmul_swiglu", "matmul"))
            self.plans[x.shape[0]] = [with_space(swiglu.plan(x, gate, up, inner)), with_space(product.plan(inner, down, y))]
        return self.plans[x.shape[0]]

    def chain(self, feed_forward, x):
        """A function that runs the chain that was tuned as one; None where there is none for these rows."""
        if "ffn" not in self.names:
            return None
        y = torch.empty_like(x)
        arguments = x, feed_forward.gate.weight, feed_forward.up.weight, feed_forward.down.weight, y
        try:
            plan, space = with_space(getattr(self.module, self.names["ffn"]).plan(*arguments))
        except self.module.Error:
            return None

        def run():
            plan.run(*arguments, stream=current_stream(), workspace=space)
            return y

        return run


def with_space(plan):
    return plan, torch.empty(plan.workspace_bytes, device=DEVICE, dtype=torch.uint8) if plan.workspace_bytes else None


entries = None  # a custom operator has no self


@torch.library.custom_op("kiln::feed_forward", mutates_args=())
def kiln_feed_forward(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    inner, y = x.new_empty(x.shape[0], INNER), torch.empty_like(x)
    (swiglu, first_space), (product, second_space) = entries.planned(x, gate, up, down, inner, y)
    swiglu.run(x, gate, up, inner, stream=current_stream(), workspace=first_space)
    product.run(inner, down, y, stream=current_stream(), workspace=second_space)
    return y


@kiln_feed_forward.register_fake
def _(x, gate, up, down):
    return torch.empty_like(x)


class KilnFeedForward(nn.Module):
    def __init__(self, original):
        super().__init__()
        self.original = original

    def forward(self, x):
        return kiln_feed_forward(x.contiguous(), self.original.gate.weight, self.original.up.weight, self.original.down.weight)


def error_of(result, exact):
    return ((result.double() - exact).norm() / exact.norm()).item()


def calls_of(rows):
    us = max(2 * rows * 3 * HIDDEN * INNER / FLOPS_PER_US, 2 * 3 * HIDDEN * INNER / BYTES_PER_US)
    return max(1, min(MOST_CALLS, round(GRAPH_US / us)))


def compared(rows, original, layer, kiln_layer, rounds):
    x, turn = torch.randn(rows, HIDDEN, device=DEVICE).bfloat16(), turn_of(rows)
    kiln = kiln_layer.feed_forward
    exact = original.in_double(x)
    chain = entries.chain(original, x)
    for name, function in (("eager", original), ("Kiln", kiln), ("Kiln, as one", chain and (lambda x: chain()))):
        error = error_of(function(x), exact) if function else 0
        if not error <= BOUND:
            raise SystemExit("%d rows, %s: the error's norm is %.3g of the result's, at most %.3g is right" % (rows, name, error, BOUND))
    whole = {"layer": lambda: layer(x, turn), "layer, Kiln": lambda: kiln_layer(x, turn)}
    difference = error_of(whole["layer, Kiln"](), whole["layer"]().double())
    if not difference <= BOUND:
        raise SystemExit("%d rows: the layers differ by %.3g of their norm, at most %.3g is right" % (rows, difference, BOUND))
    torch.compiler.reset()
    compiled = {name: torch.compile(module, dynamic=False) for name, module in (("layer", layer), ("layer, Kiln", kiln_layer), ("ffn", original))}
    functions = {
        "ffn": lambda: original(x),
        "ffn compiled": lambda: compiled["ffn"](x),
        "ffn, Kiln": lambda: kiln(x),
        **({"ffn, Kiln as one": chain} if chain else {}),
        "layer": whole["layer"],
        "layer, Kiln": whole["layer, Kiln"],
        "layer compiled": lambda: compiled["layer"](x, turn),
        "layer compiled, Kiln": lambda: compiled["layer, Kiln"](x, turn),
    }
    times = timed(functions, {name: [function] for name, function in functions.items()}, calls_of(rows), rounds)
    pairs = (("ffn", "ffn, Kiln"), ("ffn compiled", "ffn, Kiln"), ("layer", "layer, Kiln"), ("layer compiled", "layer compiled, Kiln"))
    cells = ["%.1f / %.1f" % (times[name][0], times[name][2]) if name in times else "-" for name in ("ffn, Kiln", "ffn, Kiln as one")]
    cells += ["%.1f / %.1f **%.3f** / **%.3f**" % (times[a][0], times[a][2], times[a][0] / times[b][0], times[a][2] / times[b][2]) for a, b in pairs]
    cells.append("%.1f %% / %.1f %%" % (max(times[b][1] for _, b in pairs), max(times[b][3] for _, b in pairs)))
    print("| %d | %s |" % (rows, " | ".join(cells)), flush=True)


@torch.no_grad()
def main():
    global entries
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--rounds", type=int, default=31)
    flags = parser.parse_args()
    entries = Entries(flags.package)
    torch.manual_seed(20261130)
    original, attention = FeedForward(), Attention()
    layer, kiln_layer = Layer(attention, original), Layer(attention, KilnFeedForward(original))
    kiln_layer.load_state_dict(layer.state_dict(), strict=False)
    print("%s, PyTorch %s; hot / cold\n" % (torch.cuda.get_device_name(DEVICE), torch.__version__))
    print("| rows | Kiln's FFN | as one | eager FFN | compiled FFN | eager layer | compiled layer | half the quartiles' distance, at most |\n|---|---|---|---|---|---|---|---|")
    for rows in map(int, flags.rows.split(",")):
        compared(rows, original, layer, kiln_layer, flags.rounds)


if __name__ == "__main__":
    sys.exit(main())

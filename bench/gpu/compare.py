"""A kernel set against PyTorch on the GPU at hand: results against float64, then times, both in this process.

usage: compare.py PACKAGE [PROBLEM…] [--cold PACKAGE] [--modes eager,compile,max] [--rounds N]

PACKAGE is the folder that `kiln export --set streams` wrote; --cold names another, whose kernels take part in the cold races instead, as far as it has some. Times are medians over
rounds; in each round everything is timed once, in a new order. hot: a CUDA graph of several calls on the same arguments, submitted while the GPU is held
up. cold: after reading 256 MB, a graph of one call.
"""
import argparse
import importlib.util
import os
import random
import re
import statistics
import sys

import torch

DEVICE = torch.device("cuda", 0)
POISON = 0xFF  # NaN in every float type: what is not written is seen
LONG_BYTES, SHORT_BYTES = 10**9, 10**6
COLD_BYTES = 256 << 20
HELD_CYCLES = 60_000  # some 30 us: longer than a graph takes to be submitted


def load_package(folder):
    path = os.path.join(folder, "python", "streams.py")
    spec = importlib.util.spec_from_file_location("streams", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.load()
    return module


def parse(problem):
    name, rest = re.fullmatch(r"(\w+)\((.*)\)", problem).groups()
    items = [item.strip() for item in rest.split(",")]
    extents = {key: int(value) for key, _, value in (item.partition("=") for item in items) if value.isdigit()}
    params = {key: value for key, _, value in (item.partition("=") for item in items) if value and not value.isdigit()}
    types = [item for item in items if "=" not in item]
    return name, extents, params, types[0] if types else "f32"


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype)


class Case:
    """Arguments in the order of the package's function, outputs last, and the same in PyTorch."""

    def __init__(self, inputs, outputs, scalars, torch_function, reference, tolerance):
        self.inputs, self.outputs, self.scalars = inputs, outputs, scalars
        self.torch_function, self.reference, self.tolerance = torch_function, reference, tolerance

    def buffers(self):
        return [*self.inputs, *self.outputs]

    def arguments(self):
        return [*self.inputs, *self.scalars, *self.outputs]

    def bytes(self):
        return sum(tensor.numel() * tensor.element_size() for tensor in self.buffers())


def bf16_error(output, exact):
    return ((output.double() - exact).norm() / exact.norm()).item()


def swiglu(m, n):
    g, u = normal(m, n), normal(m, n)
    y = torch.empty_like(g)
    exact = lambda: (torch.nn.functional.silu(g.double()) * u.double(),)
    return Case([g, u], [y], [], lambda: torch.nn.functional.silu(g) * u, exact, [(bf16_error, 4e-3)])


def e4m3_ulps(codes, exact):
    """Largest distance to the exact value, in half spacings of E4M3 there: 1 is correct rounding."""
    value = codes.view(torch.float8_e4m3fn).double()
    spacing = torch.exp2(torch.clamp(torch.floor(torch.log2(torch.clamp(exact.abs(), min=2.0**-12))), min=-6) - 3)
    return ((value - exact.clamp(-448, 448)).abs() / (spacing / 2)).max().item()


def swiglu_quant(m, n, scale="fixed"):
    g, u = normal(m, n), normal(m, n)
    y = torch.empty(m, n, device=DEVICE, dtype=torch.uint8)
    exact_value = lambda: torch.nn.functional.silu(g.double()) * u.double()
    if scale == "fixed":
        inv = 16.0

        def with_torch():
            value = torch.nn.functional.silu(g.float()) * u.float() * inv
            return value.clamp(-448, 448).to(torch.float8_e4m3fn)

        return Case([g, u], [y], [inv], with_torch, lambda: (exact_value() * inv,), [(e4m3_ulps, 1.01)])
    scales = torch.empty(m, device=DEVICE)

    def with_torch():
        value = torch.nn.functional.silu(g.float()) * u.float()
        row = value.abs().amax(1).clamp(min=1 / 512) / 448
        return (value / row[:, None]).to(torch.float8_e4m3fn), row

    # The codes are checked against the scale that was written: what divides is that number.
    exact = lambda: (exact_value() / scales.double()[:, None], exact_value().abs().amax(1).clamp(min=1 / 512) / 448)
    relative = lambda output, exact: ((output.double() - exact).abs() / exact).max().item()
    return Case([g, u], [y, scales], [], with_torch, exact, [(e4m3_ulps, 1.01), (relative, 1e-5)])


def rmsnorm(m, n):
    x, gamma, eps = normal(m, n), normal(n), 1e-5
    y = torch.empty_like(x)

    def exact():
        x64 = x.double()
        return (x64 * torch.rsqrt(x64.pow(2).mean(1, keepdim=True) + eps) * gamma.double(),)

    return Case([x, gamma], [y], [eps], lambda: torch.nn.functional.rms_norm(x, (n,), gamma, eps), exact, [(bf16_error, 4e-3)])


def softmax(m, n):
    x = normal(m, n)
    y = torch.empty_like(x)
    return Case([x], [y], [], lambda: torch.softmax(x, 1), lambda: (torch.softmax(x.double(), 1),), [(bf16_error, 4e-3)])


def transpose(m, n):
    x = normal(n, m, dtype=torch.float32)
    y = torch.empty(m, n, device=DEVICE)
    differing = lambda output, exact: (output != exact).sum().item()
    return Case([x], [y], [], lambda: x.t().contiguous(), lambda: (x.t(),), [(differing, 0)])


def matvec(m, n, k, weights="nk"):
    x = normal(m, k)
    w = normal(k, n) if weights == "nk" else normal(n, k)
    y = torch.empty(m, n, device=DEVICE, dtype=torch.bfloat16)
    as_matrix = w if weights == "nk" else w.t()
    return Case([x, w], [y], [], lambda: x @ as_matrix, lambda: (x.double() @ as_matrix.double(),), [(bf16_error, 4e-3)])


CASES = {"swiglu": swiglu, "swiglu_quant": swiglu_quant, "rmsnorm": rmsnorm, "softmax": softmax, "transpose": transpose, "matvec": matvec}


def entry_of(package, name, params, type_name):
    """The package names an operator's entries by what sets them apart, when there are several."""
    candidates = [name, *(name + "_" + key + "_" + value for key, value in params.items())]
    candidates += [candidate + "_" + type_name for candidate in list(candidates)]
    found = [getattr(package, candidate) for candidate in reversed(candidates) if hasattr(package, candidate)]
    if not found:
        raise LookupError("%s has none of %s" % (package.__name__, ", ".join(candidates)))
    return found[0]


def poison(case):
    for output in case.outputs:
        output.view(torch.uint8).fill_(POISON)


def check(case, what):
    """Empty when every output is within its bound; else what is wrong."""
    for output, exact, (measure, bound) in zip(case.outputs, case.reference(), case.tolerance):
        error = measure(output, exact)
        if not error <= bound:
            return "%s: error %.3g, at most %.3g is right" % (what, error, bound)
    return ""


def captured(function, calls):
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(calls):
                function()
    return graph


def current_stream():
    return torch.cuda.current_stream().cuda_stream


class Kiln:
    def __init__(self, entry, case):
        self.case = case
        self.plan = entry.plan(*case.buffers())
        self.workspace = torch.empty(self.plan.workspace_bytes, device=DEVICE, dtype=torch.uint8) if self.plan.workspace_bytes else None

    def __call__(self):
        self.plan.run(*self.case.arguments(), stream=current_stream(), workspace=self.workspace)


def rivals(case, modes):
    made = {}
    for mode in modes:
        torch._dynamo.reset()
        if mode == "eager":
            made[mode] = case.torch_function
        else:
            made[mode] = torch.compile(case.torch_function, dynamic=False, mode=None if mode == "compile" else "max-autotune-no-cudagraphs")
            made[mode]()
    return made


def checked_everywhere(kiln, case, what):
    """The direct call, one on a side stream and one from a graph: right, and the same bits."""
    bits = []
    side = torch.cuda.Stream()
    graph = captured(kiln, 1)
    for way in ("direct", "side stream", "graph"):
        poison(case)
        torch.cuda.synchronize()
        if way == "direct":
            kiln()
        elif way == "graph":
            graph.replay()
        else:
            with torch.cuda.stream(side):
                kiln()
        torch.cuda.synchronize()
        wrong = check(case, what + ", " + way)
        if wrong:
            return wrong
        bits.append([output.view(torch.uint8).clone() for output in case.outputs])
    same = all(torch.equal(a, b) for way in bits[1:] for a, b in zip(bits[0], way))
    return "" if same else what + ": direct call, side stream and graph differ in bits"


def timed(hot_functions, cold_functions, case, rounds):
    """{name: (hot us, half the distance of the quartiles in %, the same cold)}"""
    calls = 5 if case.bytes() > LONG_BYTES else 20 if case.bytes() > SHORT_BYTES else 200  # a graph costs some us to begin and end
    hot = {name: captured(function, calls) for name, function in hot_functions.items()}
    cold = {name: captured(function, 1) for name, function in cold_functions.items()}
    evict = torch.randn(COLD_BYTES // 4, device=DEVICE)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = {name: ([], []) for name in hot}

    def one(graph, per):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / per

    for each in range(rounds + 2):
        order = list(hot)
        random.shuffle(order)
        for name in order:
            torch.cuda._sleep(HELD_CYCLES)
            us = one(hot[name], calls)
            if each >= 2:
                times[name][0].append(us)
        for name in order:
            evict.sum()
            us = one(cold[name], 1)
            if each >= 2:
                times[name][1].append(us)

    def summary(samples):
        low, middle, high = statistics.quantiles(samples, n=4)
        return middle, 50 * (high - low) / middle

    return {name: (*summary(h), *summary(c)) for name, (h, c) in times.items()}


def ragged(extents):
    """Rows that no block divides, within what the set serves."""
    return {**extents, "m": max(1, extents["m"] - extents["m"] // 3 - 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--cold", metavar="PACKAGE", help="whose kernels take part in the cold races")
    parser.add_argument("--modes", default="eager,compile,max")
    parser.add_argument("--rounds", type=int, default=41)
    flags = parser.parse_args()
    packages = [load_package(folder) for folder in (flags.package, flags.cold) if folder]
    for package in packages:
        package.load_device(0)
    torch.manual_seed(20261130)
    problems = flags.problems or [line.split(" ", 1)[1] for line in open(os.path.join(os.path.dirname(__file__), "demand.txt")).read().splitlines() if not line.startswith("#")]
    modes = [mode for mode in flags.modes.split(",") if mode]
    print("| problem | Kiln hot | cold | copy hot | cold | " + " | ".join(mode + " hot | cold" for mode in modes) + " | ratio hot | cold | spread hot | cold |")
    print("|---|" + "---|" * (2 * len(modes) + 8))
    failures = 0
    for problem in problems:
        name, extents, params, type_name = parse(problem)
        wrong, kilns = "", []
        for what, shape in (("ragged", ragged(extents)), ("timed", extents)):
            case = CASES[name](**shape, **params)
            kilns.clear()
            for package in packages:
                try:
                    kilns.append(Kiln(entry_of(package, name, params, type_name), case))
                except (package.Error, LookupError) as error:
                    if what == "timed" and package is packages[0]:
                        raise error
                    print("%s: %s is not served, so not checked: %s" % (problem, shape, error), file=sys.stderr)
                    continue
                wrong = wrong or checked_everywhere(kilns[-1], case, "%s %s" % (what, shape))
        if wrong:
            failures += 1
            print("| %s | WRONG: %s |" % (problem, wrong), flush=True)
            continue
        half = torch.empty(case.bytes() // 8, device=DEVICE).normal_()  # a kernel's copy: the driver's is slower at some sizes
        target = torch.empty_like(half)
        functions = {"kiln": kilns[0], "copy": lambda: torch.neg(half, out=target), **rivals(case, modes)}
        cold_functions = {**functions, "kiln": kilns[-1]}
        times = timed(functions, cold_functions, case, flags.rounds)
        best = [min(times[mode][at] for mode in modes) if modes else float("nan") for at in (0, 2)]
        cells = ["%.2f" % times[each][at] for each in ("kiln", "copy", *modes) for at in (0, 2)]
        ours = times["kiln"]
        print("| %s | %s | **%.2f** | **%.2f** | %.1f %% | %.1f %% |" % (problem, " | ".join(cells), best[0] / ours[0], best[1] / ours[2], ours[1], ours[3]), flush=True)
        del case, kilns, functions, cold_functions, half, target
        torch.cuda.empty_cache()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

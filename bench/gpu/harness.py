"""What the comparisons on a GPU share: a package's kernels as callables, results against float64, and times of graphs taken in turn."""
import glob
import importlib.util
import os
import random
import re
import statistics

import torch

DEVICE = torch.device("cuda", 0)
POISON = 0xFF  # NaN in every float type: what is not written is seen
COLD_BYTES = 256 << 20
HELD_CYCLES = 60_000  # some 30 us: longer than a graph takes to be submitted
WARM_ROUNDS = 2


def load_package(folder):
    """The one module of a package, its library loaded."""
    (path,) = glob.glob(os.path.join(folder, "python", "*.py"))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
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


def norm_error(output, exact):
    return ((output.double() - exact).norm() / exact.norm()).item()


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
    stream.wait_stream(torch.cuda.current_stream())  # the arguments may still be made there, out of memory that an output has next
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
    def __init__(self, entry, case, plainly=False):
        self.case = case
        self.plan = entry.plan(*case.buffers())
        self.plan.launches_plainly = plainly
        self.workspace = torch.empty(self.plan.workspace_bytes, device=DEVICE, dtype=torch.uint8) if self.plan.workspace_bytes else None

    def __call__(self):
        self.plan.run(*self.case.arguments(), stream=current_stream(), workspace=self.workspace)


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


def timed(hot_functions, cold_functions, calls, rounds):
    """{name: (hot us, half the distance of the quartiles in %, the same cold)}. hot: a graph of `calls` calls; cold: a graph of one, after a flush, each round
    of the next of the name's functions, which may have other buffers: what a hint kept in L2 through the flush is not found again then."""
    hot = {name: captured(function, calls) for name, function in hot_functions.items()}
    cold = {name: [captured(function, 1) for function in functions] for name, functions in cold_functions.items()}
    evict = torch.randn(COLD_BYTES // 4, device=DEVICE)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = {name: ([], []) for name in hot}

    def one(graph, per):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / per

    for each in range(rounds + WARM_ROUNDS):
        order = list(hot)
        random.shuffle(order)
        for name in order:
            torch.cuda._sleep(HELD_CYCLES)
            us = one(hot[name], calls)
            if each >= WARM_ROUNDS:
                times[name][0].append(us)
        for name in order:
            evict.sum()
            us = one(cold[name][each % len(cold[name])], 1)
            if each >= WARM_ROUNDS:
                times[name][1].append(us)

    def summary(samples):
        low, middle, high = statistics.quantiles(samples, n=4)
        return middle, 50 * (high - low) / middle

    return {name: (*summary(h), *summary(c)) for name, (h, c) in times.items()}

"""Kiln's tensor-core products against cuBLASLt and PyTorch on the GPU at hand: results against float64, then times, all in this process.

usage: products.py PACKAGE [PROBLEM…] [--cold PACKAGE] [--rounds N]

PACKAGE is a folder that `kiln export` wrote of problems such as those of products.txt; without PROBLEM those that its kernels were chosen for are measured.
--cold names another package, whose kernels take part in the cold races instead, as far as it has some.

Times are medians over rounds, in us; in each round everything is timed once, in a new order. hot: a CUDA graph of several calls on the same arguments, submitted
while the GPU is held up. cold: after reading 256 MB, a graph of one call, on sets of arguments in turn that together exceed the L2 cache twice. cuBLASLt default
is its heuristic's first choice, best of 8 the winner of a short race before, hot and cold apart. Kiln's kernels are launched plainly, and beside that as tuned where that
is while the kernel before still runs. In bold behind each time: it over Kiln's, so above 1 Kiln is faster. error: the norm of the difference from float64 over the
result's. Of a gated product also: the fastest rival, the ceiling (that rival over cuBLASLt's product of both weights alone, hot and cold), and how much of the
way from 1 to it Kiln has gone.
"""
import argparse
import functools
import gc
import json
import math
import sys

import torch
import torch._dynamo

import cublaslt
from harness import DEVICE, Case, Kiln, checked_everywhere, current_stream, load_package, norm_error, normal, parse, poison, timed

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
DEFAULTS = {
    "matmul": {"weights": "nk", "epilogue": "none", "output": "same", "has_bias": "false", "has_residual": "false", "pairs": "false"},
    "matmul_fp8": {"accumulation": "promoted"},
    "matmul_swiglu": {"weights": "nk", "products": "same"},
}
DEFAULT_TYPES = {"matmul": "f32", "matmul_fp8": "bf16", "matmul_swiglu": "f32"}
PRODUCTS = {"matmul_swiglu": 2}  # of m, n and k, in one call; 1 of the others

# Of a result of each type: the error's norm over the result's, and the largest error over |exact| + rms. Rounding alone gives 1.7e-3 and 3.9e-3 in bf16.
BOUNDS = {torch.bfloat16: (4e-3, 1.2e-2), torch.float16: (1e-3, 4e-3), torch.float32: (1e-4, 1e-3)}
# Sums of E4M3 that never leave the tensor cores are off by 1.3e-3 at k=4096 before they are rounded, those taken out every 128 terms by 1.3e-4 at any k.
FP8_BOUNDS = {torch.bfloat16: (1.9e-3, 6e-3), torch.float16: (6e-4, 4e-3)}
PLAIN_FP8_BOUNDS = (5e-3, 3e-2)  # up to k=16384, where they are off by 3.1e-3
# Both products rounded, the silu of one times the other rounded again; a product on the edge between two values may be rounded the other way.
DUAL_BOUNDS = {torch.bfloat16: (5e-3, 2.4e-2), torch.float16: (1.2e-3, 8e-3)}
RIVAL_SLACK = 12  # a rival may round twice, or sum E4M3 in the tensor cores; it may not compute something else

E4M3_MOST = 448
ROWS_AT_ONCE = 1024  # in double
MOST_COPIES = 8
KILN, DEPENDENT = "Kiln", "Kiln, dependent launch"
RACE_ROUNDS = 7
GRAPH_US, LEAST_CALLS, MOST_CALLS = 1000, 5, 20
FLOPS_PER_US, FP8_FLOPS_PER_US, BYTES_PER_US = 7e8, 1.3e9, 4e6  # of an H200, roughly: what sets how many calls a graph has

ACTIVATIONS = {
    "none": lambda value: value,
    "relu": torch.relu,
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": functools.partial(torch.nn.functional.gelu, approximate="tanh"),
}

# One element-wise kernel each, of whole vectors.
IN_PLACE = {
    "silu": lambda output: torch.ops.aten.silu.out(output, out=output),
    "gelu": lambda output: torch.ops.aten.gelu.out(output, out=output),
}


class Subject:
    """One set of arguments. products: {name: (Product, what PyTorch does to its output in place after it, or None)}; others: {name: function}. Each writes the case's output, and
    gives what it gave. exact_of: what a name computes where that is not what the case does. whole: names of products that are all of the multiplying."""

    def __init__(self, case, products, others, exact_of, whole=()):
        self.case, self.products, self.others, self.exact_of, self.whole = case, products, others, exact_of, whole


class Call:
    """A product by one algorithm."""

    def __init__(self, subject, name, algorithm):
        self.output = subject.case.outputs[0]
        self.product, self.rest = subject.products[name]
        self.algorithm = algorithm

    def __call__(self):
        self.alone()
        if self.rest:
            self.rest(self.output)
        return self.output

    def alone(self):
        self.product.run(self.algorithm, current_stream())


def product_in_double(x, matrix):
    wide = matrix.double()
    return torch.cat([rows.double() @ wide for rows in x.split(ROWS_AT_ONCE)])


def within(norm_bound, worst_bound):
    """A measure in units of what is allowed. The norm of millions does not show one wrong element: the largest error does."""

    def measure(output, exact):
        error = (output.double() - exact).abs_()
        size = exact.norm()
        worst = (error / (exact.abs() + size / math.sqrt(exact.numel()))).max()
        return torch.stack([error.norm() / size / norm_bound, worst / worst_bound]).max().item()  # NaN where one is

    return measure, 1.0


def matmul(context, element, m, n, k, weights="nk", epilogue="none", output="same", has_bias="false", has_residual="false"):
    x = normal(m, k, dtype=element)
    w = normal(*((k, n) if weights == "nk" else (n, k)), dtype=torch.float32).div_(math.sqrt(k)).to(element)
    bias = normal(n, dtype=element) if has_bias == "true" else None
    residual = normal(m, n, dtype=element) if has_residual == "true" else None
    y = torch.empty(m, n, device=DEVICE, dtype=torch.float32 if output == "f32" else element)
    matrix = w if weights == "nk" else w.t()

    def finished(sums):
        value = ACTIVATIONS[epilogue](sums if bias is None else sums + bias)
        return value if residual is None else value + residual

    is_plain = epilogue == "none" and bias is None and residual is None

    def with_torch():
        if y.dtype != element:
            return finished(torch.mm(x, matrix, out_dtype=y.dtype))
        return torch.mm(x, matrix, out=y) if is_plain else finished(torch.mm(x, matrix))

    exact = functools.cache(lambda: (finished(product_in_double(x, matrix)),))
    added = [tensor for tensor in (bias, residual) if tensor is not None]
    case = Case([x, w, *added], [y], [], with_torch, exact, [within(*BOUNDS[y.dtype])])
    # cuBLASLt adds a residual before the epilogue, Kiln after it.
    is_fused = epilogue in cublaslt.EPILOGUES and y.dtype == element and (residual is None or epilogue == "none")
    if is_plain or is_fused:
        product = cublaslt.Product(context, x, w, y, weights, epilogue, bias, residual), None
    elif epilogue in IN_PLACE and bias is None and residual is None:
        product = cublaslt.Product(context, x, w, y, weights), IN_PLACE[epilogue]
    else:
        product = cublaslt.Product(context, x, w, y, weights), lambda output: output.copy_(finished(output))
    return Subject(case, {"cuBLASLt": product}, {"torch": with_torch}, {})


def quantised(rows, columns):
    """E4M3 codes and a scale a row."""
    wide = normal(rows, columns, dtype=torch.float32)
    scales = wide.abs().amax(1) / E4M3_MOST
    return (wide / scales[:, None]).to(torch.float8_e4m3fn), scales


def matmul_fp8(context, element, m, n, k, accumulation="promoted"):
    """Beside Kiln's scales of rows and columns: the same from PyTorch, and cuBLASLt with one scale a matrix, which is less work."""
    x, x_scales = quantised(m, k)
    w, w_scales = quantised(n, k)
    y = torch.empty(m, n, device=DEVICE, dtype=element)
    x_scale, w_scale = x_scales.mean().reshape(1), w_scales.mean().reshape(1)
    sums = functools.cache(lambda: product_in_double(x, w.t()))
    row_wise = lambda: (sums() * x_scales[:, None].double() * w_scales.double(),)
    tensor_wise = lambda: (sums() * x_scale.double() * w_scale.double(),)

    def scaled_mm(fast):
        return torch._scaled_mm(x, w.t(), x_scales[:, None], w_scales[None, :], out_dtype=element, use_fast_accum=fast, out=y)

    case = Case([x.view(torch.uint8), w.view(torch.uint8), x_scales, w_scales], [y], [], None, row_wise, [within(*(PLAIN_FP8_BOUNDS if accumulation == "plain" else FP8_BOUNDS[element]))])
    products = {name: (cublaslt.Product(context, x, w, y, scales=(x_scale, w_scale), fast=fast), None) for name, fast in (("cuBLASLt", False), ("cuBLASLt fast", True))}
    others = {"torch row-wise": lambda: scaled_mm(False), "torch row-wise fast": lambda: scaled_mm(True)} if element == torch.bfloat16 else {}
    return Subject(case, products, others, {name: tensor_wise for name in products})


class TwoProducts:
    """Of one shape, by one algorithm, one after the other."""

    def __init__(self, *products):
        self.products = products

    def algorithms(self):
        return self.products[0].algorithms()

    def run(self, algorithm, stream):
        for product in self.products:
            product.run(algorithm, stream)


# Torch compiles it for each shape and layout anew, as often as there are any: one kernel that writes y.
torch._dynamo.config.recompile_limit = 1000


@functools.partial(torch.compile, dynamic=False)
def gated(gate, up, y):
    y.copy_(torch.nn.functional.silu(gate.float()) * up.float())


def matmul_swiglu(context, element, m, n, k, weights="nk", products="same"):
    """Beside Kiln: two products and the element-wise kernel, and one product of both weights side by side, in either order of the weights."""
    x = normal(m, k, dtype=element)
    both = normal(2 * n, k, dtype=torch.float32).div_(math.sqrt(k)).to(element)
    both_nk = both.t().contiguous()
    pair = [part.clone() if weights == "kn" else part.t().contiguous() for part in both.chunk(2)]
    y, parts, side_by_side = (torch.empty(*shape, device=DEVICE, dtype=element) for shape in ((m, n), (2, m, n), (m, 2 * n)))

    def with_torch():
        gate, up = (torch.mm(x, part.t() if weights == "kn" else part) for part in pair)
        return torch.mul(torch.nn.functional.silu(gate), up, out=y)

    def in_double():
        gate, up = (product_in_double(x, part.t()) for part in both.chunk(2))
        if products == "same":
            gate, up = gate.to(element).double(), up.to(element).double()
        return (torch.nn.functional.silu(gate) * up,)

    case = Case([x, *pair], [y], [], with_torch, functools.cache(in_double), [within(*DUAL_BOUNDS[element])])
    two = TwoProducts(*(cublaslt.Product(context, x, part, out, weights) for part, out in zip(pair, parts)))
    halves = side_by_side.chunk(2, 1)
    found = {"cuBLASLt two": (two, lambda output: gated(parts[0], parts[1], output))}
    for order, matrix in (("kn", both), ("nk", both_nk)):
        found["cuBLASLt one " + order] = cublaslt.Product(context, x, matrix, side_by_side, order), lambda output: gated(*halves, output)
    return Subject(case, found, {"torch": with_torch}, {}, ["cuBLASLt one kn", "cuBLASLt one nk"])


SUBJECTS = {"matmul": matmul, "matmul_fp8": matmul_fp8, "matmul_swiglu": matmul_swiglu}


class Problem:
    def __init__(self, text):
        self.text = text
        self.operator, self.extents, params, _ = parse(text)
        if self.operator not in SUBJECTS:
            raise SystemExit("%s: one of %s is needed" % (text, ", ".join(SUBJECTS)))
        self.params = {key: value for key, value in params.items() if value != DEFAULTS[self.operator].get(key)}
        self.type = next((name for name in TYPES if name in text.strip(" )").replace(",", " ").split()), DEFAULT_TYPES[self.operator])
        if self.type not in TYPES:
            raise SystemExit("%s: one of the types %s is needed" % (text, ", ".join(TYPES)))

    def flop(self):
        return 2 * PRODUCTS.get(self.operator, 1) * self.extents["m"] * self.extents["n"] * self.extents["k"]

    def subject(self, context, extents=None):
        return SUBJECTS[self.operator](context, TYPES[self.type], **(extents or self.extents), **self.params)

    def calls(self, case):
        """In a graph: about a millisecond of them."""
        flops_per_us = FP8_FLOPS_PER_US if self.operator == "matmul_fp8" else FLOPS_PER_US
        return max(LEAST_CALLS, min(MOST_CALLS, round(GRAPH_US / max(self.flop() / flops_per_us, case.bytes() / BYTES_PER_US))))

    def order(self):
        return self.operator, sorted(self.params.items()), self.type, self.extents["n"], self.extents["k"], self.extents["m"]


class Package:
    def __init__(self, folder):
        self.module = load_package(folder)
        self.module.load_device(0)
        self.entries = json.loads(self.module.manifest())["entries"]

    def problems(self):
        """That a kernel was chosen for."""
        texts = dict.fromkeys(m["problem"] for entry in self.entries if entry["operator"] in SUBJECTS for v in entry["variants"] for m in v["measured"])
        return sorted(map(Problem, texts), key=Problem.order)

    def entry(self, problem):
        for entry in self.entries:
            defaults = DEFAULTS.get(entry["operator"], {})
            params = {key: value for key, value in entry["params"].items() if value != defaults.get(key)}
            type_name = entry["type"] or DEFAULT_TYPES.get(entry["operator"])
            if (entry["operator"], params, type_name) == (problem.operator, problem.params, problem.type) and not entry["orders"]:
                return entry
        raise LookupError("%s has no entry for %s" % (self.module.__name__, problem.text))

    def kiln(self, problem, case, plainly=False):
        return Kiln(getattr(self.module, self.entry(problem)["name"]), case, plainly)

    def candidate(self, problem, kiln):
        return self.entry(problem)["variants"][kiln.plan.variant]["candidate"]

    def is_dependent(self, problem, kiln):
        return "dependent_launch()" in self.entry(problem)["variants"][kiln.plan.variant]["schedule"]

    def ragged(self, problem, candidate):
        """Other extents that this kernel serves: the ends of its intervals, none beyond twice what is timed, and one between that no tile divides."""
        found = []
        for variant in self.entry(problem)["variants"]:
            guards = variant["guard"]["extents"]
            if variant["candidate"] != candidate or any(not least <= problem.extents[symbol] <= most for symbol, (least, most) in guards.items()):
                continue
            for symbol, (least, most) in guards.items():
                here = problem.extents[symbol]
                values = (least, min(most, (least + here) // 2 | 1), min(most, 2 * here))
                found += [{**problem.extents, symbol: value} for value in values if value != here]
        return [extents for at, extents in enumerate(found) if extents not in found[:at]]


def checked(package, problem, context, subject):
    """Empty where the kernel is right on the timed extents and on the others that it serves; else what is wrong."""
    kiln = package.kiln(problem, subject.case)
    wrong = checked_everywhere(kiln, subject.case, "timed %s" % problem.extents)
    others = package.ragged(problem, package.candidate(problem, kiln))
    if not others and not wrong:
        print("%s: no other extents are served, so none are checked" % problem.text, file=sys.stderr)
    for extents in others:
        if wrong:
            break
        case = problem.subject(context, extents).case
        try:
            wrong = checked_everywhere(package.kiln(problem, case), case, "ragged %s" % extents)
        except package.module.Error as error:
            print("%s: %s is not served, so not checked: %s" % (problem.text, extents, error), file=sys.stderr)
    return wrong and "WRONG: " + wrong


def is_right(function, subject, what, exact):
    """Whether a rival runs and computes what it is compared for; says so where not."""
    poison(subject.case)
    try:
        output = function()
        torch.cuda.synchronize()
    except (RuntimeError, ValueError) as error:
        print("%s is left out: %s" % (what, str(error).splitlines()[0]), file=sys.stderr)
        return False
    measure, bound = subject.case.tolerance[0]
    error = measure(output, exact()[0])
    if not error <= RIVAL_SLACK * bound:
        print("%s is left out: its error is %.3g times what Kiln may have" % (what, error), file=sys.stderr)
    return error <= RIVAL_SLACK * bound


def raced(problem, subjects, name, calls):
    """{column: (its functions hot, its functions cold)} of a product by the heuristic's first choice and by the fastest of those it names."""
    first = subjects[0]
    exact = first.exact_of.get(name, first.case.reference)
    try:
        algorithms = first.products[name][0].algorithms()
    except cublaslt.Error as error:
        print("%s: %s is left out: %s" % (problem.text, name, error), file=sys.stderr)
        return {}
    functions = {at: [Call(subject, name, algorithm) for subject in subjects] for at, algorithm in enumerate(algorithms)}
    functions = {at: each for at, each in functions.items() if is_right(each[0], first, "%s: %s #%d" % (problem.text, name, at), exact)}
    if not functions:
        return {}
    default = best_hot = best_cold = min(functions)
    if len(functions) > 1:
        times = timed({at: each[0] for at, each in functions.items()}, functions, calls, RACE_ROUNDS)
        best_hot, best_cold = (min(times, key=lambda at: times[at][which]) for which in (0, 2))
    return {name + " default": (functions[default], functions[default]), name + " best of 8": (functions[best_hot], functions[best_cold])}


def columns_of(subject):
    return [name + which for name in subject.products for which in (" default", " best of 8")] + list(subject.others)


def rivals(problem, subjects, calls):
    found = {}
    for name in subjects[0].products:
        found.update(raced(problem, subjects, name, calls))
    for name in subjects[0].others:
        functions = [subject.others[name] for subject in subjects]
        if is_right(functions[0], subjects[0], "%s: %s" % (problem.text, name), subjects[0].case.reference):
            found[name] = functions, functions
    return found


def copies(problem, context):
    """Sets of arguments that together exceed the L2 cache twice."""
    subjects = [problem.subject(context)]
    l2_bytes = torch.cuda.get_device_properties(DEVICE).L2_cache_size
    more = min(MOST_COPIES, math.ceil(2 * l2_bytes / subjects[0].case.bytes())) - 1
    return subjects + [problem.subject(context) for _ in range(more)]


class Table:
    """Markdown, a table for each operator in a row, with the geometric means of its ratios below."""

    def __init__(self):
        self.operator, self.columns, self.has_ceiling, self.ratios = None, [], False, {}

    def begin(self, operator, columns, has_ceiling):
        if operator == self.operator:
            return
        self.end()
        self.operator, self.columns, self.has_ceiling, self.ratios = operator, columns, has_ceiling, {}
        names = ["Kiln", "TFLOP/s", *columns, *(["fastest rival", "ceiling", "closed"] if has_ceiling else []), "spread", "schedule"]
        print("| problem | " + " | ".join(name + " hot | cold" for name in names) + " | error |")
        print("|---|" + "---|" * (2 * len(names) + 1), flush=True)

    def failed(self, problem, what):
        print("| %s | %s |" % (problem.text, what), flush=True)

    def row(self, problem, times, alone, schedules, error):
        """alone: names in `times` of the products alone."""
        ours = times[KILN]
        cells = ["%.2f" % ours[at] for at in (0, 2)] + ["%.0f" % (problem.flop() / ours[at] * 1e-6) for at in (0, 2)]
        cells += [self._cell(name, at, times.get(name), ours) for name in self.columns for at in (0, 2)]
        if self.has_ceiling:
            cells += self._ceiling(times, alone)
        cells += ["%.1f %%" % ours[at] for at in (1, 3)] + schedules + ["%.2e" % error]
        print("| %s | %s |" % (problem.text, " | ".join(cells)), flush=True)

    def _cell(self, name, at, times, ours):
        if times is None:
            return "-"
        ratio = self._kept(name, at, times[at] / ours[at])
        return "%.2f **%.3f**" % (times[at], ratio)

    def _kept(self, name, at, ratio):
        self.ratios.setdefault((name, at), []).append(ratio)
        return ratio

    def _ceiling(self, times, alone):
        fastest = [min(times[name][at] for name in times if name not in alone and name not in (KILN, DEPENDENT)) for at in (0, 2)]
        ratios = [self._kept("fastest rival", at, each / times[KILN][at]) for at, each in zip((0, 2), fastest)]
        ceilings = [each / min(times[name][at] for name in alone) for at, each in zip((0, 2), fastest)]
        closed = ["%.0f %%" % (100 * (ratio - 1) / (ceiling - 1)) if ceiling > 1 else "-" for ratio, ceiling in zip(ratios, ceilings)]
        return ["**%.3f**" % ratio for ratio in ratios] + ["%.3f" % ceiling for ceiling in ceilings] + closed

    def end(self):
        if not self.ratios:
            return
        means = {column: math.exp(sum(map(math.log, ratios)) / len(ratios)) for column, ratios in self.ratios.items()}
        names = [*self.columns, *(["fastest rival"] if self.has_ceiling else [])]
        cells = ["**%.3f**" % means[name, at] if (name, at) in means else "-" for name in names for at in (0, 2)]
        print("| geometric mean | | | | | %s |%s\n" % (" | ".join(cells), " |" * (9 if self.has_ceiling else 5)), flush=True)


def compared(problem, packages, context, rounds, table):
    """Whether every kernel is right."""
    subjects = copies(problem, context)
    case = subjects[0].case
    table.begin(problem.operator, [DEPENDENT, *columns_of(subjects[0])], bool(subjects[0].whole))
    served, wrong = [], ""
    for package in packages:
        try:
            wrong = wrong or checked(package, problem, context, subjects[0])
            served.append(package)
        except (package.module.Error, LookupError) as error:
            print("%s is not served: %s" % (problem.text, error), file=sys.stderr)
            if package is packages[0]:
                wrong = "not served"
    if wrong:
        table.failed(problem, wrong)
        return False
    hot, cold = served[0], served[-1]
    as_tuned = hot.kiln(problem, case), [cold.kiln(problem, subject.case) for subject in subjects]
    functions = {KILN: ([hot.kiln(problem, case, plainly=True)], [cold.kiln(problem, subject.case, plainly=True) for subject in subjects])}
    if hot.is_dependent(problem, as_tuned[0]) or cold.is_dependent(problem, as_tuned[1][0]):
        functions[DEPENDENT] = [as_tuned[0]], as_tuned[1]
    calls = problem.calls(case)
    functions.update(rivals(problem, subjects, calls))
    alone = {name + " alone": tuple([call.alone for call in each] for each in functions[name + " best of 8"]) for name in subjects[0].whole if name + " best of 8" in functions}
    functions.update(alone)
    times = timed({name: each[0][0] for name, each in functions.items()}, {name: each[1] for name, each in functions.items()}, calls, rounds)
    schedules = [hot.candidate(problem, as_tuned[0])[:12], cold.candidate(problem, as_tuned[1][0])[:12]]
    table.row(problem, times, alone, schedules, error_of(as_tuned[0], case))
    return True


def error_of(kiln, case):
    poison(case)
    kiln()
    return norm_error(case.outputs[0], case.reference()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--cold", metavar="PACKAGE", help="whose kernels take part in the cold races")
    parser.add_argument("--rounds", type=int, default=31)
    flags = parser.parse_intermixed_args()
    packages = [Package(folder) for folder in (flags.package, flags.cold) if folder]
    problems = [Problem(text) for text in flags.problems] or packages[0].problems()
    torch.manual_seed(20261130)
    context = cublaslt.Context(DEVICE)
    print("%s, PyTorch %s, cuBLASLt %d\n" % (torch.cuda.get_device_name(DEVICE), torch.__version__, context.library.version()))
    table = Table()
    failures = 0
    for problem in problems:
        failures += not compared(problem, packages, context, flags.rounds, table)
        gc.collect()
        torch.cuda.empty_cache()
    table.end()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

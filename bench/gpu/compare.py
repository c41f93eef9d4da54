"""A kernel set against PyTorch on the GPU at hand: results against float64, then times, both in this process.

usage: compare.py PACKAGE [PROBLEM…] [--cold PACKAGE] [--modes eager,compile,max] [--rounds N]

PACKAGE is the folder that `kiln export --set streams` wrote; --cold names another, whose kernels take part in the cold races instead, as far as it has some. Times are medians over
rounds; in each round everything is timed once, in a new order. hot: a CUDA graph of several calls on the same arguments, submitted while the GPU is held
up. cold: after reading 256 MB, a graph of one call.
"""
import argparse
import os
import sys

import torch

from harness import DEVICE, Case, Kiln, checked_everywhere, load_package, norm_error, normal, parse, timed

LONG_BYTES, SHORT_BYTES = 10**9, 10**6


def swiglu(m, n):
    g, u = normal(m, n), normal(m, n)
    y = torch.empty_like(g)
    exact = lambda: (torch.nn.functional.silu(g.double()) * u.double(),)
    return Case([g, u], [y], [], lambda: torch.nn.functional.silu(g) * u, exact, [(norm_error, 4e-3)])


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

    return Case([x, gamma], [y], [eps], lambda: torch.nn.functional.rms_norm(x, (n,), gamma, eps), exact, [(norm_error, 4e-3)])


def softmax(m, n):
    x = normal(m, n)
    y = torch.empty_like(x)
    return Case([x], [y], [], lambda: torch.softmax(x, 1), lambda: (torch.softmax(x.double(), 1),), [(norm_error, 4e-3)])


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
    return Case([x, w], [y], [], lambda: x @ as_matrix, lambda: (x.double() @ as_matrix.double(),), [(norm_error, 4e-3)])


CASES = {"swiglu": swiglu, "swiglu_quant": swiglu_quant, "rmsnorm": rmsnorm, "softmax": softmax, "transpose": transpose, "matvec": matvec}


def entry_of(package, name, params, type_name):
    """The package names an operator's entries by what sets them apart, when there are several."""
    candidates = [name, *(name + "_" + key + "_" + value for key, value in params.items())]
    candidates += [candidate + "_" + type_name for candidate in list(candidates)]
    found = [getattr(package, candidate) for candidate in reversed(candidates) if hasattr(package, candidate)]
    if not found:
        raise LookupError("%s has none of %s" % (package.__name__, ", ".join(candidates)))
    return found[0]


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


def ragged(extents):
    """Rows that no block divides, within what the set serves: a multiple of 4, which transposed rows need."""
    rows = extents["m"] - extents["m"] // 3 - 1
    return {**extents, "m": rows - rows % 4 if rows > 4 else max(1, rows)}


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
        calls = 5 if case.bytes() > LONG_BYTES else 20 if case.bytes() > SHORT_BYTES else 200  # a graph costs some us to begin and end
        times = timed(functions, {name: [function] for name, function in cold_functions.items()}, calls, flags.rounds)
        best = [min(times[mode][at] for mode in modes) if modes else float("nan") for at in (0, 2)]
        cells = ["%.2f" % times[each][at] for each in ("kiln", "copy", *modes) for at in (0, 2)]
        ours = times["kiln"]
        print("| %s | %s | **%.2f** | **%.2f** | %.1f %% | %.1f %% |" % (problem, " | ".join(cells), best[0] / ours[0], best[1] / ours[2], ours[1], ours[3]), flush=True)
        del case, kilns, functions, cold_functions, half, target
        torch.cuda.empty_cache()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

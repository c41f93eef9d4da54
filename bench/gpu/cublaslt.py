"""Matrix products by cuBLASLt through ctypes, on row-major torch tensors: y = x · weights, 16-bit floats or E4M3 codes, summed in f32.

cuBLASLt's matrices are column-major, so a row-major matrix is its transpose there. What is computed is yᵀ = weightsᵀ · xᵀ: cuBLASLt's A are the weights, its B is
x, its rows are our columns. The numbers are those of cublasLt.h, cublas_api.h and library_types.h of CUDA 13.0; 12 has the same.
"""
import ctypes
import glob
import os

import torch

WORKSPACE_BYTES = 32 << 20
MOST_ALGORITHMS = 8

CUDA_TYPES = {torch.float32: 0, torch.float16: 2, torch.bfloat16: 14, torch.float8_e4m3fn: 28}  # cudaDataType_t
COMPUTE_32F = 68  # cublasComputeType_t
NOT_TRANSPOSED, TRANSPOSED = 0, 1  # cublasOperation_t

# cublasLtMatmulDescAttributes_t
DESC_TRANSA, DESC_TRANSB, DESC_EPILOGUE, DESC_BIAS_POINTER = 3, 4, 7, 8
DESC_A_SCALE_POINTER, DESC_B_SCALE_POINTER, DESC_FAST_ACCUM = 17, 18, 25
PREF_MAX_WORKSPACE_BYTES = 1  # cublasLtMatmulPreferenceAttributes_t

# cublasLtEpilogue_t, of which BIAS is a bit; its GELU is the one with tanh.
EPILOGUES = {"none": 1, "relu": 2, "gelu_tanh": 32}
EPILOGUE_NONE, EPILOGUE_BIAS = 1, 4


class Error(RuntimeError):
    pass


class Algorithm(ctypes.Structure):  # cublasLtMatmulAlgo_t
    _fields_ = [("data", ctypes.c_uint64 * 8)]


class Heuristic(ctypes.Structure):  # cublasLtMatmulHeuristicResult_t
    _fields_ = [("algorithm", Algorithm), ("workspace_bytes", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


_pointer, _handle_out = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
_SIGNATURES = {
    "Create": [_handle_out],
    "MatmulDescCreate": [_handle_out, ctypes.c_int, ctypes.c_int],
    "MatmulDescDestroy": [_pointer],
    "MatmulDescSetAttribute": [_pointer, ctypes.c_int, _pointer, ctypes.c_size_t],
    "MatrixLayoutCreate": [_handle_out, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64],
    "MatrixLayoutDestroy": [_pointer],
    "MatmulPreferenceCreate": [_handle_out],
    "MatmulPreferenceDestroy": [_pointer],
    "MatmulPreferenceSetAttribute": [_pointer, ctypes.c_int, _pointer, ctypes.c_size_t],
    "MatmulAlgoGetHeuristic": [_pointer] * 7 + [ctypes.c_int, ctypes.POINTER(Heuristic), ctypes.POINTER(ctypes.c_int)],
    # handle, description, alpha, A, its layout, B, its layout, beta, C, its layout, D, its layout, algorithm, workspace, its bytes, stream
    "Matmul": [_pointer] * 12 + [ctypes.POINTER(Algorithm), _pointer, ctypes.c_size_t, _pointer],
}


def library_path():
    """The library that torch has loaded, else the one that its wheels brought."""
    with open("/proc/self/maps") as maps:
        loaded = [line.split()[-1] for line in maps if "libcublasLt.so" in line]
    packages = os.path.dirname(os.path.dirname(torch.__file__))
    found = loaded + sorted(glob.glob(os.path.join(packages, "nvidia", "*", "lib", "libcublasLt.so.*")))
    return found[0] if found else "libcublasLt.so"


class Library:
    """The functions, without the prefix cublasLt; what is no success raises Error."""

    def __init__(self, path=None):
        self._library = ctypes.CDLL(path or library_path())
        self._name_of = self._library.cublasLtGetStatusName
        self._name_of.argtypes, self._name_of.restype = [ctypes.c_int], ctypes.c_char_p
        self._library.cublasLtGetVersion.restype = ctypes.c_size_t
        self._functions = {name: getattr(self._library, "cublasLt" + name) for name in _SIGNATURES}
        for name, function in self._functions.items():
            function.argtypes, function.restype = _SIGNATURES[name], ctypes.c_int

    def version(self):
        return self._library.cublasLtGetVersion()

    def call(self, name, *arguments):
        status = self._functions[name](*arguments)
        if status != 0:
            raise Error("cublasLt%s: %s" % (name, self._name_of(status).decode()))

    def made(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def set(self, name, what, attribute, value):
        self.call(name, what, attribute, ctypes.byref(value), ctypes.sizeof(value))


class Context:
    """A handle and a workspace on the current GPU, for one stream at a time."""

    def __init__(self, device):
        self.workspace = torch.empty(WORKSPACE_BYTES, device=device, dtype=torch.uint8)  # also makes the GPU's context the current one
        self.library = Library()
        self.handle = self.library.made("Create")


def _matrix(library, tensor):
    """A row-major matrix as the transpose that it is to cuBLASLt."""
    assert tensor.is_contiguous() and tensor.dim() == 2
    rows, columns = tensor.shape
    return library.made("MatrixLayoutCreate", CUDA_TYPES[tensor.dtype], columns, rows, columns)


class Product:
    """y = epilogue(x · weights + bias) + residual, on these tensors. weights: [k][n] where order is "nk", [n][k] where it is "kn", as an entry of Kiln has it.
    scales: of x and of the weights, one f32 on the GPU each; for E4M3 codes, whose weights are "kn". A residual goes with the epilogue "none" alone."""

    def __init__(self, context, x, weights, y, order="kn", epilogue="none", bias=None, residual=None, scales=None, fast=False):
        self.context, self._kept = context, (x, weights, y, bias, residual, scales)  # their addresses are in the description
        library = context.library
        self.layouts = [_matrix(library, tensor) for tensor in (weights, x, y)]
        self.description = library.made("MatmulDescCreate", COMPUTE_32F, CUDA_TYPES[torch.float32])
        self._set(DESC_TRANSA, ctypes.c_int32(TRANSPOSED if order == "kn" else NOT_TRANSPOSED))
        self._set(DESC_TRANSB, ctypes.c_int32(NOT_TRANSPOSED))
        self._describe_epilogue(epilogue, bias)
        if scales is not None:
            self._set(DESC_A_SCALE_POINTER, ctypes.c_void_p(scales[1].data_ptr()))
            self._set(DESC_B_SCALE_POINTER, ctypes.c_void_p(scales[0].data_ptr()))
            self._set(DESC_FAST_ACCUM, ctypes.c_int8(fast))
        self._one, self._beta = ctypes.c_float(1), ctypes.c_float(0 if residual is None else 1)
        self._weights, self._x, self._y = weights.data_ptr(), x.data_ptr(), y.data_ptr()
        self._added = self._y if residual is None else residual.data_ptr()

    def _set(self, attribute, value):
        self.context.library.set("MatmulDescSetAttribute", self.description, attribute, value)

    def _describe_epilogue(self, epilogue, bias):
        code = EPILOGUES[epilogue]
        if bias is not None:
            code = EPILOGUE_BIAS if code == EPILOGUE_NONE else code | EPILOGUE_BIAS
            self._set(DESC_BIAS_POINTER, ctypes.c_void_p(bias.data_ptr()))
        self._set(DESC_EPILOGUE, ctypes.c_int32(code))

    def algorithms(self, most=MOST_ALGORITHMS):
        """What the heuristic proposes, its first choice first."""
        library, (a, b, d) = self.context.library, self.layouts
        preference = library.made("MatmulPreferenceCreate")
        library.set("MatmulPreferenceSetAttribute", preference, PREF_MAX_WORKSPACE_BYTES, ctypes.c_size_t(WORKSPACE_BYTES))
        results, count = (Heuristic * most)(), ctypes.c_int()
        try:
            library.call("MatmulAlgoGetHeuristic", self.context.handle, self.description, a, b, d, d, preference, most, results, ctypes.byref(count))
        finally:
            library.call("MatmulPreferenceDestroy", preference)
        return [result.algorithm for result in results[: count.value] if result.state == 0]

    def run(self, algorithm, stream):
        a, b, d = self.layouts
        context = self.context
        context.library.call("Matmul", context.handle, self.description, ctypes.byref(self._one), self._weights, a, self._x, b, ctypes.byref(self._beta), self._added, d,
                             self._y, d, ctypes.byref(algorithm), context.workspace.data_ptr(), WORKSPACE_BYTES, stream)

    def __del__(self):
        library = self.context.library
        for layout in getattr(self, "layouts", []):
            library.call("MatrixLayoutDestroy", layout)
        if hasattr(self, "description"):
            library.call("MatmulDescDestroy", self.description)

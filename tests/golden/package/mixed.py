"""Kernel set mixed 2.0.1, made by Kiln. load(), then call the entries; arguments are buffers or objects with __dlpack__."""
import ctypes
import os

_library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lib", "libmixed.so.1"))


class Error(Exception):
    """A negative code of the library, with its sentence."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("dtype", _DataType), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("parallel_for", ctypes.c_void_p), ("parallel_for_user", ctypes.c_void_p),
        ("calls_path", ctypes.c_char_p), ("fallback", ctypes.c_int32), ("reserved", ctypes.c_uint32), ("warn", ctypes.c_void_p),
        ("warn_user", ctypes.c_void_p)]


class _Plan(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("tier", ctypes.c_int32), ("variant", ctypes.c_int32), ("reserved", ctypes.c_uint32),
                ("workspace_bytes", ctypes.c_uint64), ("launches_plainly", ctypes.c_uint64), ("opaque", ctypes.c_uint64 * 124)]


class _PyBuffer(ctypes.Structure):  # Py_buffer
    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


_library.mixed_last_error.restype = ctypes.c_char_p
_library.mixed_manifest.restype = ctypes.c_char_p
_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_api.PyBuffer_Release.argtypes = [ctypes.POINTER(_PyBuffer)]

if _library.mixed_abi_version() != 1:
    raise ImportError("mixed: the library has ABI %d, this module has 1" % _library.mixed_abi_version())

_TYPES = {"f": (2, 32), "d": (2, 64), "e": (2, 16), "b": (0, 8), "h": (0, 16), "i": (0, 32), "l": (0, 64), "q": (0, 64),
          "B": (1, 8), "c": (1, 8), "H": (1, 16), "I": (1, 32), "L": (1, 64), "Q": (1, 64), "?": (6, 8)}
_PYBUF_READ, _PYBUF_WRITE = 0x1C, 0x1D  # PyBUF_STRIDES | PyBUF_FORMAT, without and with PyBUF_WRITABLE


class _View:
    """A DLTensor over any object with __dlpack__ or the buffer protocol; keeps the object's memory alive."""

    def __init__(self, name, source, is_output):
        self._buffer = None
        if hasattr(source, "__dlpack__"):
            on_gpu = source.__dlpack_device__()[0] == 2
            self._capsule = source.__dlpack__(stream=-1) if on_gpu else source.__dlpack__()  # -1: the caller's stream orders the call
            address = _api.PyCapsule_GetPointer(self._capsule, b"dltensor")
            self.tensor = _Tensor.from_address(address)  # DLManagedTensor begins with it
        else:
            self._read_buffer(name, source, is_output)

    def _read_buffer(self, name, source, is_output):
        view = _PyBuffer()
        _api.PyObject_GetBuffer(source, ctypes.byref(view), _PYBUF_WRITE if is_output else _PYBUF_READ)
        self._buffer = view
        code = view.format.decode() if view.format else "B"
        if code.lstrip("@<=") not in _TYPES:
            raise TypeError("mixed: argument %s has elements of format %r; one of %s is needed" % (name, code, " ".join(_TYPES)))
        kind, bits = _TYPES[code.lstrip("@<=")]
        if bits != 8 * view.itemsize:  # native sizes differ from standard ones
            bits = 8 * view.itemsize
        if any(view.strides[d] % view.itemsize for d in range(view.ndim)):
            raise TypeError("mixed: argument %s has strides that are not multiples of its element size %d" % (name, view.itemsize))
        self._shape = (ctypes.c_int64 * view.ndim)(*[view.shape[d] for d in range(view.ndim)])
        self._strides = (ctypes.c_int64 * view.ndim)(*[view.strides[d] // view.itemsize for d in range(view.ndim)])
        self.tensor = _Tensor(data=view.buf, device_type=1, ndim=view.ndim, dtype=_DataType(kind, bits, 1), shape=self._shape, strides=self._strides)

    @property
    def address(self):
        return (self.tensor.data or 0) + self.tensor.byte_offset

    def __del__(self):
        if self._buffer is not None:
            _api.PyBuffer_Release(ctypes.byref(self._buffer))


def _check(code):
    if code < 0:
        raise Error(code, _library.mixed_last_error().decode())
    return code


TIERS = {1: "exact", 2: "bucket", 3: "generic"}
ALLOW, WARN_ONCE, REFUSE = 1, 0, 2  # for load(fallback=...)


def load(threads=0, calls_path=None, fallback=WARN_ONCE):
    """Starts the threads; 0: as tuned. calls_path: where unload writes the call counts."""
    options = _Options(size=ctypes.sizeof(_Options), threads=threads, fallback=fallback)
    if calls_path is not None:
        options.calls_path = os.fsencode(calls_path)
    _check(_library.mixed_load(ctypes.byref(options)))


def unload():
    _check(_library.mixed_unload())


class _Device(ctypes.Structure):  # DLDevice
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


_library.mixed_supports.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), _Device]


def supports(entry, *extents, device=None):
    """The tier that would serve dense arguments of these extents on cuda:device (None: the CPU), or None."""
    where = _Device(1, 0) if device is None else _Device(2, device)
    code = _library.mixed_supports(entry.encode(), (ctypes.c_int64 * len(extents))(*extents), where)
    return TIERS.get(code)


def load_device(device=0):
    """Puts the kernels onto cuda:device; to be done before a graph is captured."""
    _check(_library.mixed_load_device(device))


def _stream(stream):
    return getattr(stream, "cuda_stream", stream)  # torch's streams say their handle so


def _workspace(workspace):
    return (None, 0) if workspace is None else (workspace.data_ptr(), workspace.numel() * workspace.element_size())


def dump_calls(path):
    _check(_library.mixed_dump_calls(os.fsencode(path)))


def manifest():
    """The text of manifest.json."""
    return _library.mixed_manifest(None).decode()


class Plan:
    """How one call will be served: tier, variant, and run() on arguments of the same shapes."""

    def __init__(self, entry, views):
        self._entry, self._plan = entry, _Plan()
        _check(entry._plan(*[ctypes.byref(view.tensor) for view in views], ctypes.byref(self._plan)))
        self.tier, self.variant = TIERS[self._plan.tier], self._plan.variant

    @property
    def workspace_bytes(self):
        """Memory of the GPU that run needs beside the arguments."""
        return self._plan.workspace_bytes

    @property
    def launches_plainly(self):
        """False, as it is at first: as tuned, perhaps while the kernels before in the stream end (what they write is waited for). True: when they have ended."""
        return self._plan.launches_plainly != 0

    @launches_plainly.setter
    def launches_plainly(self, value):
        self._plan.launches_plainly = bool(value)

    def run(self, *arguments, stream=0, workspace=None):
        """On a GPU it returns when the kernels are in the stream: a number (CUstream; 0: the default stream) or an object with `cuda_stream`.
        `workspace`: a tensor of at least workspace_bytes on that GPU."""
        # Reading data_ptr() takes a tenth of the time that a view takes.
        values = [value.data_ptr() if hasattr(value, "data_ptr") else value for value in arguments]
        if len(values) != len(self._entry._arguments) or any(hasattr(value, "__dlpack__") or isinstance(value, memoryview) for value in values):
            values = [view.address if isinstance(view, _View) else view for view in self._entry._views(arguments)]
        _check(self._entry._run(ctypes.byref(self._plan), *values, *_workspace(workspace), _stream(stream)))


class _Entry:
    """One function of the set; `arguments` are (name, role, ctypes type of a scalar)."""

    def __init__(self, name, arguments):
        self._arguments = arguments
        self._plan = getattr(_library, "mixed_%s_plan" % name)
        self._run = getattr(_library, "mixed_%s_run" % name)
        self._run.argtypes = [ctypes.c_void_p] + [scalar or ctypes.c_void_p for _, _, scalar in arguments] + [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]

    def _views(self, arguments):
        if len(arguments) != len(self._arguments):
            names = ", ".join(name for name, _, _ in self._arguments)
            raise TypeError("mixed: %d arguments given, %d are needed: %s" % (len(arguments), len(self._arguments), names))
        return [value if scalar else _View(name, value, role == "output") for value, (name, role, scalar) in zip(arguments, self._arguments)]

    def plan(self, *buffers):
        """A Plan for these buffers (scalars are left out)."""
        named = [(name, role) for name, role, scalar in self._arguments if not scalar]
        if len(buffers) != len(named):
            raise TypeError("mixed: %d buffers given, %d are needed: %s" % (len(buffers), len(named), ", ".join(name for name, _ in named)))
        return Plan(self, [_View(name, value, role == "output") for value, (name, role) in zip(buffers, named)])

    def __call__(self, *arguments, stream=0, workspace=None):
        views = self._views(arguments)
        plan = Plan(self, [view for view in views if isinstance(view, _View)])
        values = [view.address if isinstance(view, _View) else view for view in views]
        _check(self._run(ctypes.byref(plan._plan), *values, *_workspace(workspace), _stream(stream)))


# scale(f32, mode=half): in[m, n] y[m, n]
scale = _Entry("scale", [("in", "input", None), ("factor", "scalar", ctypes.c_float), ("y", "output", None)])
# scaled(bf16): x[m, n] y[m, n]
scaled = _Entry("scaled", [("x", "input", None), ("eps", "scalar", ctypes.c_float), ("y", "output", None)])

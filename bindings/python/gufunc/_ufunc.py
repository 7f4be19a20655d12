# SPDX-License-Identifier: Apache-2.0
"""Ufuncs with the functions that find and create them, modules, raw kernels, and plans."""

import operator

from . import _array, _dtypes, _gufunc, _indexing, lowlevel
from ._errors import make_refusal
from ._objects import as_device, load_module, ufunc_names

__all__ = ["Kernel", "Module", "Plan", "Ufunc", "create", "find", "load", "names"]

_IDENTITIES = {lowlevel.GUF_IDENTITY_ZERO: 0, lowlevel.GUF_IDENTITY_ONE: 1,
               lowlevel.GUF_IDENTITY_MINUS_ONE: -1,
               lowlevel.GUF_IDENTITY_MINUS_INF: float("-inf")}
_IDENTITY_NAMES = _dtypes.NameTable("identity", {
    None: lowlevel.GUF_IDENTITY_NONE, "reorderable": lowlevel.GUF_IDENTITY_REORDERABLE,
    0: lowlevel.GUF_IDENTITY_ZERO, 1: lowlevel.GUF_IDENTITY_ONE,
    -1: lowlevel.GUF_IDENTITY_MINUS_ONE, float("-inf"): lowlevel.GUF_IDENTITY_MINUS_INF})
_ROLES = _dtypes.NameTable("a role", {
    "in": lowlevel.GUF_ROLE_IN, "out": lowlevel.GUF_ROLE_OUT, "inout": lowlevel.GUF_ROLE_INOUT})
_FLAGS = _dtypes.NameTable("a flag", {
    "commutative": lowlevel.GUF_FUNCTION_COMMUTATIVE,
    "associative": lowlevel.GUF_FUNCTION_ASSOCIATIVE,
    "inplace_safe": lowlevel.GUF_FUNCTION_INPLACE_SAFE,
    "accepts_empty": lowlevel.GUF_FUNCTION_ACCEPTS_EMPTY,
    "keeps_precision": lowlevel.GUF_FUNCTION_KEEPS_PRECISION})


class Ufunc(_gufunc.UfuncBase):
    """A universal or generalized universal function, called as in NumPy.

    ``ufunc(*inputs, out=None, where=True, axes=, axis=, keepdims=False, casting="same_kind",
    order="K", dtype=None, signature=None, stream=None, device=None, dims=, host_policy=,
    threads=0)``

    Operands are arrays of this package, ndarrays, numbers, lists, and objects that support the
    buffer protocol or DLPack. Classes with extra data or behaviour are rejected with a CallError:
    Series, quantities, lazy and masked arrays, and subclasses of ndarray except memmap. If an input
    is an array of this package, the results are arrays of this package, too. Otherwise the results
    are ndarrays, or NumPy scalars for 0-d results. With `stream` the call is queued, and ndarrays
    must not be accessed before ``stream.synchronize()``. Without `stream`, results on the host are
    complete on return. NumPy's errstate has no effect; `gufunc.errstate` replaces it. `dims` is a
    dict with the sizes of the core dimensions that only outputs have. `host_policy` "copy" or
    "warn" allows a call to mix host and device operands; the host operands are copied. Errors
    derive from `gufunc.Error` and NumPy's classes.
    """

    __slots__ = ()

    info = property(lambda self: lowlevel.guf_ufunc_get_info(self),
                    doc="name, doc, nin, nout, nloops, signature, rules, identity, flags, roles.")
    __name__ = property(lambda self: self.info.name)
    signature = property(lambda self: self.info.signature or None,
                         doc='"(n),(n)->()", or None for an elementwise ufunc.')
    nargs = property(lambda self: self.nin + self.nout, doc="The number of operands.")
    ntypes = property(lambda self: len(self.types), doc="The number of loops in `types`.")

    @property
    def loops(self):
        """The dtypes of every loop, in the order in which the loops are tried."""
        return [tuple(map(_dtypes.of_code, lowlevel.guf_ufunc_loop_types(self, i, self.nargs)))
                for i in range(self.info.nloops)]

    @property
    def identity(self):
        """The identity of a reduction, or None if there is none. It is a bool if the results of all
        loops are bools."""
        found = _IDENTITIES.get(self.info.identity)
        if found in (0, 1) and self.info.nloops:
            if all(result.kind == "b" for loop in self.loops for result in loop[self.nin:]):
                return bool(found)
        return found

    @property
    def types(self):
        """The loops in NumPy's notation: ["dd->d"]. NumPy has no letter for bfloat16; only `loops`
        lists the loops with bfloat16."""
        found = []
        for loop in self.loops:
            if any(dtype.kind == "E" for dtype in loop):
                continue
            letters = "".join(dtype.char for dtype in loop)
            found.append(f"{letters[:self.nin]}->{letters[self.nin:]}")
        return found

    def __repr__(self):
        return f"<gufunc.Ufunc {self.__name__!r}>"

    def __reduce__(self):
        """Pickles the ufunc by its name. Raises a PicklingError if the name is not in the default
        context, because another process could not find it."""
        import pickle

        name = self.__name__
        if name not in names() or find(name) != self:
            raise pickle.PicklingError(
                f"the ufunc {name!r} belongs to another context: its name is not known in the "
                "default context")
        return find, (name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def at(self, a, indices, b=None, **keywords):
        """``a[indices] = op(a[indices], b)``, applied once per occurrence of an index. `indices` is
        an integer, an array of integers, a slice, Ellipsis, None, a mask, or a tuple of such
        indices, as in NumPy. IndexOutOfRange if an index is outside `a`, which is then
        unchanged."""
        a, indices = _indexing.as_integers(a, indices, _array.as_array)
        operands = (a, indices) if b is None else (a, indices, b)
        return super().at(*operands, **keywords)

    def resolve(self, *args, method="call", **keywords):
        """Returns the loop, dtypes and shapes of a call or method without running the call. Raises
        the errors that the call would raise for its types and shapes."""
        found = _gufunc.query(False, method, self, *args, **keywords)
        for key in ("loop_dtypes", "dtypes"):
            found[key] = [code and _dtypes.of_code(code) for code in found[key]]
        return found

    def explain(self, *args, method="call", **keywords):
        """A text that describes what a call or method would do and why."""
        return _gufunc.query(True, method, self, *args, **keywords)

    def plan(self, *args, **keywords):
        """Prepares a call and returns a Plan. Nothing is computed yet. All outputs must be given.
        CallError if an output is missing."""
        return _gufunc.plan_create(self, *args, **keywords)

    def call_chunked(self, *args, chunk_bytes=0, depth=0, first_item=0, progress=None, **keywords):
        """Runs a call in chunks, for arrays that are larger than the memory of a device. Blocks.

        All operands must be in host memory and all outputs must be given. An item of the call is
        one index of its outermost loop dimension. ``progress(done, items)`` is called after each
        chunk with the number of completed items and the number of all items; a true result or an
        exception ends the call. If the call raises an exception, the exception has the attribute
        `items_done`, the number of completed items. To resume the call, pass it as `first_item`.
        """
        items = []
        options = (size_of(chunk_bytes, "chunk_bytes", 2**64 - 1),
                   size_of(depth, "depth", 2**31 - 1),
                   size_of(first_item, "first_item", 2**63 - 1), progress, items)
        try:
            return _gufunc.call_chunked(options, self, *args, **keywords)
        except Exception as error:
            error.items_done = items[0] if items else 0
            raise

    def add_loop(self, types, function, *, user=0, any_thread=False, fallible=False):
        """Adds a host loop with these types.

        function    a callable ``(addresses, dims, steps)``, which runs with the GIL; or the address
                    of a C function with NumPy's inner-loop signature. The call raises the
                    exceptions of the callable. The ufunc keeps the callable alive. A callable that
                    refers to its ufunc is never freed
        fallible    for an address. True: the function returns a status. "error": the function also
                    has a ``guf_error *`` as its last parameter; see `ufunc_from_pointer`
        any_thread  for an address: the function may run on any thread, and on several threads at
                    once
        """
        codes = self._codes(types)
        kind = _KINDS[loop_kind(fallible)]
        flags = lowlevel.GUF_LOOP_ANY_THREAD if any_thread else 0
        if isinstance(function, int) and not isinstance(function, bool):
            function = size_of(function, "function", ADDRESS)
        user = size_of(user, "user", ADDRESS)
        _gufunc._forget_types()
        _gufunc.add_loop(self, codes, function, kind, flags, _core_counts(self.info), user)

    def _codes(self, types):
        """The dtype codes of a loop's types, one per operand."""
        codes = tuple(map(_dtypes.parse, types.replace("->", "") if isinstance(types, str)
                          else types))
        if len(codes) != self.nargs:
            raise make_refusal(f"types: expected {self.nargs} types, got {types!r}")
        return codes

    def add_module_loop(self, module, function, types):
        """Adds a module's function as a loop with these types. The ufunc keeps the module loaded.
        """
        codes = self._codes(types)
        _gufunc._forget_types()
        lowlevel.guf_ufunc_add_module_loop(self, module, function, len(codes), codes)

    def set_reduction(self, merge, finish=None):
        """Defines a reduction with a user-defined accumulator. This ufunc computes accumulators
        from elements, `merge` combines two accumulators, and `finish` computes the results from an
        accumulator. Returns this ufunc. ShapeError if the signatures do not fit together."""
        lowlevel.guf_ufunc_set_reduction(self, (merge, finish))
        _gufunc._describe(self)
        return self


_KINDS = {"numpy": lowlevel.GUF_LOOP_NUMPY, "status": lowlevel.GUF_LOOP_STATUS,
          "error": lowlevel.GUF_LOOP_ERROR}


def loop_kind(fallible):
    """The kind of a C loop for a value of `fallible`."""
    if fallible == "error":
        return "error"
    if fallible not in (True, False):
        raise make_refusal(f"fallible: expected True, False or 'error', got {fallible!r}")
    return "status" if fallible else "numpy"


def _core_counts(info):
    """The number of distinct core dimensions, plus 256 times the number of core dimensions of all
    operands. A loop receives these numbers of core sizes and core strides."""
    return info.ncore + 256 * sum(info.core_ndim)


class Module(_gufunc.Handle):
    """A module of kernels compiled by gufcc. Its ufuncs are attributes and items by short name.

    `load` and `build` return modules. The ufuncs and kernels of a module keep its file loaded.
    """

    __slots__ = ("_context",)

    info = property(lambda self: lowlevel.guf_module_get_info(self),
                    doc="name, path, nfunctions, nkernels, nimages, flags.")
    __name__ = property(lambda self: self.info.name)

    def names(self):
        """The short names of the module's ufuncs."""
        return [lowlevel.guf_module_function_at(self, i).rpartition(":")[2]
                for i in range(self.info.nfunctions)]

    def kernels(self):
        """The short names of the module's raw kernels."""
        return [lowlevel.guf_module_kernel_at(self, i).rpartition(":")[2]
                for i in range(self.info.nkernels)]

    def __getitem__(self, name):
        return lowlevel.guf_ufunc_find(self._context, f"{self.__name__}:{name}")

    def kernel(self, name):
        """The raw kernel with a short name. ArgumentError if there is no such kernel."""
        return lowlevel.guf_kernel_find(self, name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self.names():
            return self[name]
        if name in self.kernels():
            return self.kernel(name)
        raise AttributeError(f"module {self.__name__} has no ufunc or kernel {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *self.names(), *self.kernels()]

    def __repr__(self):
        return f"<gufunc.Module {self.__name__!r} of {self.info.path!r}>"


class Kernel(_gufunc.Handle):
    """A raw kernel of a module. Launch it with `launch` or as ``kernel[grid, block](x, y)``."""

    __slots__ = ()

    info = property(lambda self: lowlevel.guf_kernel_get_info(self),
                    doc="name, doc, nparameters, max_threads, shared_bytes, flags.")
    __name__ = property(lambda self: self.info.name)

    @property
    def parameters(self):
        """(kind, dtype, ndim, flags) of each parameter."""
        found = []
        for i in range(self.info.nparameters):
            kind, code, ndim, flags = lowlevel.guf_kernel_get_parameter(self, i)
            found.append((kind, _dtypes.of_code(code), ndim, flags))
        return found

    def device_info(self, device=None):
        """The limits of a launch on a device. Loads the kernel's code on the device."""
        return lowlevel.guf_kernel_get_device_info(self, as_device(device))

    def launch(self, grid, block, *arguments, stream=None, shared_bytes=0):
        """Runs `grid` blocks of `block` threads. Each of `grid` and `block` is a number or one to
        three numbers, x first.

        The arguments are numbers, and arrays of one device. With a stream the launch is queued. The
        memory accesses of the kernel are not checked.
        """
        _gufunc.kernel_launch(self, stream, three(grid, "grid"), three(block, "block"),
                              size_of(shared_bytes, "shared_bytes"), arguments)


ADDRESS = 2**64 - 1
_MOST = 2**32 - 1


def size_of(number, what, most=_MOST):
    """Checks an integer for an unsigned parameter of the C interface: from 0 to `most`."""
    try:
        size = operator.index(number)
    except TypeError:
        raise make_refusal(f"{what}: expected an integer, got {number!r}") from None
    if not 0 <= size <= most:
        raise make_refusal(f"{what}: expected 0 to {most}, got {size}")
    return size


def three(size, what):
    """A grid or block as three numbers, x first. `size` is an integer or one to three integers."""
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3:
        raise make_refusal(f"{what}: expected an integer or one to three integers, got {size!r}")
    return tuple(size_of(number, f"{what}.{axis}") for number, axis in zip((*sizes, 1, 1), "xyz"))


def find(name, context=None):
    """The ufunc with a name: "add", "module:name", or a short name that is unique. ArgumentError if
    there is no such ufunc."""
    return lowlevel.guf_ufunc_find(context, name)


def names(context=None):
    """The names of all ufuncs, sorted: "add", "module:name"."""
    return ufunc_names(context)


def load(path, *, data_only=False, context=None):
    """Loads a module file compiled by gufcc and returns a Module. With `data_only` no code of the
    file runs. FileError if the file cannot be read or is not a module."""
    return load_module(path, data_only, context)


def create(name, nin=0, nout=0, *, signature=None, rules=None, doc=None, identity=None, flags=(),
           roles=None, core_dims=None, context=None):
    """Creates a ufunc without loops and registers its name. ArgumentError if the name is taken.

    signature  the signature of a generalized ufunc, which determines nin and nout
    identity   None, 0, 1, -1, -inf or "reorderable"
    flags      any of "commutative", "associative", "inplace_safe", "accepts_empty",
               "keeps_precision"
    roles      "in", "out" or "inout" for each operand
    core_dims  a function ``f(sizes)`` that receives the core sizes of every call, with -1 for an
               unknown size. It may return the sizes with each -1 replaced, and it may raise an
               exception to reject the call. The ufunc keeps the function alive
    """
    bits = 0
    for flag in flags:
        bits |= _FLAGS[flag]
    numbers = None if roles is None else tuple(_ROLES[role] for role in roles)
    return _gufunc.ufunc_create(context, name, nin, nout, signature, rules, doc,
                                _IDENTITY_NAMES[identity], bits, numbers, core_dims)


class Plan(_gufunc.Handle):
    """A call prepared for operands of certain dtypes, shapes and strides: ``ufunc.plan(a, out=b)``.

    All decisions of the call are made when the plan is created. A launch needs only addresses.
    """

    __slots__ = ()

    @property
    def workspace(self):
        """(bytes, alignment) of the workspace that a launch needs on the plan's device."""
        return lowlevel.guf_plan_workspace(self)

    def explain(self):
        """A text that describes what the plan does and why."""
        return _gufunc.plan_explain(self)

    def launch(self, *operands, stream=None, workspace=0):
        """Runs the plan on operands with the layout for which the plan was created. The operands
        are the inputs, the outputs, and then the mask if the plan has one.

        Each operand is an Array, an ndarray, an address, or None for a scalar. The layout is not
        checked. With a stream, the caller must keep the operands alive until the work is complete.
        """
        if len(operands) > lowlevel.GUF_MAX_NDIM:
            raise make_refusal("too many operands")
        lowlevel.guf_plan_launch(self, stream, len(operands),
                                 tuple(address_of(operand) for operand in operands),
                                 address_of(workspace))


def address_of(operand):
    """The address of an operand; 0 for None."""
    if operand is None:
        return 0
    if isinstance(operand, int):
        return operand
    if isinstance(operand, _gufunc.ArrayBase):
        return operand.address
    try:
        return operand.ctypes.data
    except AttributeError:
        raise make_refusal(f"an operand of a launch cannot be a {type(operand).__name__}: "
                           "pass an array, an address or None") from None

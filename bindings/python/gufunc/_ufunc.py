# SPDX-License-Identifier: Apache-2.0
"""Ufuncs: found, loaded, created; and modules, which bring them."""

import operator

from . import _array, _dtypes, _gufunc, _indexing, lowlevel
from ._errors import make_refusal
from ._objects import as_device, load_module, ufunc_names

_IDENTITIES = {lowlevel.GUF_IDENTITY_ZERO: 0, lowlevel.GUF_IDENTITY_ONE: 1,
               lowlevel.GUF_IDENTITY_MINUS_ONE: -1,
               lowlevel.GUF_IDENTITY_MINUS_INF: float("-inf")}
_WORDS = _dtypes.Words("identity", {
    None: lowlevel.GUF_IDENTITY_NONE, "reorderable": lowlevel.GUF_IDENTITY_REORDERABLE,
    0: lowlevel.GUF_IDENTITY_ZERO, 1: lowlevel.GUF_IDENTITY_ONE,
    -1: lowlevel.GUF_IDENTITY_MINUS_ONE, float("-inf"): lowlevel.GUF_IDENTITY_MINUS_INF})
_ROLES = _dtypes.Words("a role", {
    "in": lowlevel.GUF_ROLE_IN, "out": lowlevel.GUF_ROLE_OUT, "inout": lowlevel.GUF_ROLE_INOUT})
_FLAGS = _dtypes.Words("a flag", {
    "commutative": lowlevel.GUF_FUNCTION_COMMUTATIVE,
    "associative": lowlevel.GUF_FUNCTION_ASSOCIATIVE,
    "inplace_safe": lowlevel.GUF_FUNCTION_INPLACE_SAFE,
    "takes_none": lowlevel.GUF_FUNCTION_TAKES_NONE})


class Ufunc(_gufunc.UfuncBase):
    """A universal or generalized universal function, called as NumPy's are.

    ``ufunc(*inputs, out=None, where=True, axes=, axis=, keepdims=False, casting="same_kind",
    order="K", dtype=None, signature=None, stream=None, device=None, dims=, host_policy=,
    threads=0)``

    Operands are arrays of this package, ndarrays, numbers, lists, and what has the buffer protocol
    or exports DLPack. Classes that NumPy's ufuncs would call or return are refused with a
    CallError: Series, quantities, lazy and masked arrays, subclasses of ndarray but memmap. Results
    are arrays of this package where an input is one, else NumPy's: a scalar for a 0-d result. With
    `stream` the call is queued, and ndarrays must not be touched before ``stream.synchronize()``;
    else results on the host are complete on return. NumPy's errstate does not apply:
    `gufunc.errstate` does. `dims` gives sizes of dimensions that only outputs have, by name;
    `host_policy` "copy" or "warn" lets host operands be copied beside device ones. Errors are
    subclasses of `gufunc.Error` and of NumPy's.
    """

    __slots__ = ()

    info = property(lambda self: lowlevel.guf_ufunc_get_info(self),
                    doc="name, doc, nin, nout, nloops, signature, rules, identity, flags, roles.")
    __name__ = property(lambda self: self.info.name)
    signature = property(lambda self: self.info.signature or None,
                         doc='"(n),(n)->()", or None for an elementwise ufunc.')
    nargs = property(lambda self: self.nin + self.nout, doc="How many operands.")
    ntypes = property(lambda self: len(self.types), doc="How many loops `types` lists.")

    @property
    def loops(self):
        """The dtypes of every loop, in the order they are tried."""
        return [tuple(map(_dtypes.of_code, lowlevel.guf_ufunc_loop_types(self, i, self.nargs)))
                for i in range(self.info.nloops)]

    @property
    def identity(self):
        """The identity of a reduction, or None; a bool where results are always bools."""
        found = _IDENTITIES.get(self.info.identity)
        if found in (0, 1) and self.info.nloops:
            if all(result.kind == "b" for loop in self.loops for result in loop[self.nin:]):
                return bool(found)
        return found

    @property
    def types(self):
        """The loops as NumPy writes them: ["dd->d"]. Those of bfloat16, for which NumPy has no
        letter, are listed by `loops` only."""
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
        """By its name; refused where another process would not find it under that."""
        import pickle

        name = self.__name__
        if name not in names() or find(name) != self:
            raise pickle.PicklingError(
                f"the ufunc {name!r} is of a context of its own: its name says nothing elsewhere")
        return find, (name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def at(self, a, indices, b=None, **keywords):
        """``a[indices] = op(a[indices], b)``, every occurrence counted. `indices` is all that NumPy
        takes: integers, arrays of them, slices, Ellipsis, None, masks, or a tuple of these.
        IndexOutOfRange for an index outside `a`, which is unchanged then."""
        a, indices = _indexing.as_integers(a, indices, _array.as_array)
        operands = (a, indices) if b is None else (a, indices, b)
        return super().at(*operands, **keywords)

    def resolve(self, *args, method="call", **keywords):
        """What a call or method would do: loop, dtypes and shapes, without doing it. Raises what
        the call would raise for its types and shapes."""
        found = _gufunc.ask(False, method, self, *args, **keywords)
        for key in ("loop_dtypes", "dtypes"):
            found[key] = [code and _dtypes.of_code(code) for code in found[key]]
        return found

    def explain(self, *args, method="call", **keywords):
        """What a call or method would do, and why, as text."""
        return _gufunc.ask(True, method, self, *args, **keywords)

    def plan(self, *args, **keywords):
        """Prepares a call with all outputs given: a Plan. Nothing is computed yet. CallError where
        an output is missing."""
        return _gufunc.plan_create(self, *args, **keywords)

    def call_chunked(self, *args, chunk_bytes=0, depth=0, first_item=0, progress=None, **keywords):
        """A call on arrays larger than a device's memory, cut into chunks. Blocks.

        All operands lie on the host and all outputs are given. ``progress(done, items)`` is called
        behind each chunk; a true answer or an exception ends the call. An exception has
        `items_done`: the `first_item` to go on with.
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
        """Adds a host loop of these types.

        function    a callable ``(addresses, dims, steps)``, run with the GIL, whose exception is
                    the call's; or the address of a C function with NumPy's inner-loop signature.
                    The ufunc keeps it: one that refers to its ufunc is never freed
        fallible    of an address: True: the function returns a status; "error": and takes a
                    ``guf_error *`` as its last parameter, see `ufunc_from_pointer`
        any_thread  of an address: it may run on any thread, several at once
        """
        codes = self._codes(types)
        kind = _KINDS[loop_kind(fallible)]
        flags = lowlevel.GUF_LOOP_ANY_THREAD if any_thread else 0
        if isinstance(function, int) and not isinstance(function, bool):
            function = size_of(function, "function", ADDRESS)
        user = size_of(user, "user", ADDRESS)
        _gufunc._forget_types()
        _gufunc.add_loop(self, codes, function, kind, flags, _core_counts(self.signature), user)

    def _codes(self, types):
        """The codes of a loop's types, one per operand."""
        codes = tuple(map(_dtypes.parse, types.replace("->", "") if isinstance(types, str)
                          else types))
        if len(codes) != self.nargs:
            raise make_refusal(f"types: found {types!r}, wanted {self.nargs} of them")
        return codes

    def add_module_loop(self, module, function, types):
        """Adds a module's function as a loop of these types; the ufunc keeps the module loaded."""
        codes = self._codes(types)
        _gufunc._forget_types()
        lowlevel.guf_ufunc_add_module_loop(self, module, function, len(codes), codes)

    def set_reduction(self, merge, finish=None):
        """Makes this ufunc the leaf of a reduction with a state: it makes states of elements,
        `merge` one of two, `finish` results of states. This ufunc; ShapeError where signatures do
        not fit."""
        lowlevel.guf_ufunc_set_reduction(self, (merge, finish))
        _gufunc._describe(self)
        return self


_KINDS = {"numpy": lowlevel.GUF_LOOP_NUMPY, "status": lowlevel.GUF_LOOP_STATUS,
          "error": lowlevel.GUF_LOOP_ERROR}


def loop_kind(fallible):
    """The kind of a loop in C, by what says how it may fail."""
    if fallible == "error":
        return "error"
    if fallible not in (True, False):
        raise make_refusal(f"fallible is True, False or 'error', not {fallible!r}")
    return "status" if fallible else "numpy"


def _core_counts(signature):
    """Distinct core dimensions, and 256 times those of all operands: what a loop is handed."""
    if not signature:
        return 0
    names = [name.strip().rstrip("?").partition("|")[0]
             for part in signature.replace("->", ",").replace("(", " ").split(")")
             for name in part.split(",") if name.strip()]
    return len(dict.fromkeys(names)) + 256 * len(names)


class Module(_gufunc.Handle):
    """A module of kernels that gufcc made: its ufuncs are attributes and items, by short name.

    What `load` and `build` give. Its ufuncs and kernels keep the file loaded.
    """

    __slots__ = ("_context",)

    info = property(lambda self: lowlevel.guf_module_get_info(self),
                    doc="name, path, nfunctions, nkernels, nimages, flags.")
    __name__ = property(lambda self: self.info.name)

    def names(self):
        """Short names of its ufuncs."""
        return [lowlevel.guf_module_function_at(self, i).rpartition(":")[2]
                for i in range(self.info.nfunctions)]

    def kernels(self):
        """Short names of its raw kernels."""
        return [lowlevel.guf_module_kernel_at(self, i).rpartition(":")[2]
                for i in range(self.info.nkernels)]

    def __getitem__(self, name):
        return lowlevel.guf_ufunc_find(self._context, f"{self.__name__}:{name}")

    def kernel(self, name):
        """A raw kernel by its short name; ArgumentError where there is none."""
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
    """A raw kernel of a module, launched by `launch`, or as ``kernel[grid, block](x, y)``."""

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
        """What a launch on a device may ask for; loads the code there."""
        return lowlevel.guf_kernel_get_device_info(self, as_device(device))

    def launch(self, grid, block, *arguments, stream=None, shared_bytes=0):
        """Runs `grid` blocks of `block` threads: numbers, or up to three of them, x first.

        Arguments are arrays of one device, and numbers. On a stream the launch is queued; what the
        kernel reads and writes is not checked.
        """
        _gufunc.kernel_launch(self, stream, three(grid, "grid"), three(block, "block"),
                              size_of(shared_bytes, "shared_bytes"), arguments)


ADDRESS = 2**64 - 1
_MOST = 2**32 - 1


def size_of(number, what, most=_MOST):
    """A number that is none below 0 in the C interface, and has 32 bits in it or up to `most`."""
    try:
        size = operator.index(number)
    except TypeError:
        raise make_refusal(f"{what}: found {number!r}, wanted an integer") from None
    if not 0 <= size <= most:
        raise make_refusal(f"{what}: found {size}, wanted 0 to {most}")
    return size


def three(size, what):
    """A grid or a block as three numbers, x first: of an integer, or of one to three of them."""
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3:
        raise make_refusal(f"{what}: found {size!r}, wanted an integer, or one to three of them")
    return tuple(size_of(number, f"{what}.{axis}") for number, axis in zip((*sizes, 1, 1), "xyz"))


def find(name, context=None):
    """A ufunc by name: "add", "module:name", or a short name that is unique. ArgumentError where
    there is none."""
    return lowlevel.guf_ufunc_find(context, name)


def names(context=None):
    """Names of all ufuncs, sorted: "add", "module:name"."""
    return ufunc_names(context)


def load(path, *, data_only=False, context=None):
    """Loads a module file that gufcc made: a Module. `data_only` runs no code of the file.
    FileError where it cannot be read, or is no module."""
    return load_module(path, data_only, context)


def create(name, nin=0, nout=0, *, signature=None, rules=None, doc=None, identity=None, flags=(),
           roles=None, core_dims=None, context=None):
    """Creates a ufunc without loops and registers its name. ArgumentError where that is taken.

    signature  of a generalized ufunc, which then gives nin and nout
    identity   None, 0, 1, -1, -inf or "reorderable"
    flags      of "commutative", "associative", "inplace_safe", "takes_none"
    roles      per operand "in", "out" or "inout"
    core_dims  ``f(sizes)``: sees the core sizes of every call, -1 where open; may return them
               filled in, and refuses the call by raising. The ufunc keeps it, as its loops
    """
    bits = 0
    for flag in flags:
        bits |= _FLAGS[flag]
    numbers = None if roles is None else tuple(_ROLES[role] for role in roles)
    return _gufunc.ufunc_create(context, name, nin, nout, signature, rules, doc,
                                _WORDS[identity], bits, numbers, core_dims)

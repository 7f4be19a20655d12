// SPDX-License-Identifier: Apache-2.0
//! Ufuncs that the program creates, with closures as loops on the cpu: the arguments of the loops,
//! and the functions through which C calls closures of the program.

use crate::array::count;
use crate::context::c_string;
use crate::status::check;
use crate::{Context, DType, Element, Error, FunctionFlags, Identity, Result, Role, Status, Ufunc};
use gufunc_sys as sys;
use std::any::Any;
use std::ffi::{c_char, c_void, CString};
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The description of a ufunc to create; [`Context::create`] makes one.
///
/// ```
/// use gufunc::Context;
/// let hypotenuse = Context::new()?.create("hypotenuse", 2, 1).build()?;
/// hypotenuse.add_elementwise(|a: f64, b: f64| (a * a + b * b).sqrt())?;
/// assert_eq!(hypotenuse.call((&[3.0, 5.0], &[4.0, 12.0]))?.to_vec::<f64>()?, [5.0, 13.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[must_use = "`build` creates the ufunc"]
pub struct Builder<'a> {
    context: &'a Context,
    name: &'a str,
    signature: Option<&'a str>,
    rules: Option<&'a str>,
    doc: Option<&'a str>,
    roles: &'a [Role],
    desc: sys::guf_ufunc_desc,
    hook: Option<Hook>,
}

type Hook = Box<dyn Fn(&mut CoreSizes<'_>) -> Result<()> + Send + Sync>;
type Loop = Box<dyn Fn(&LoopArgs<'_>) -> Result<()> + Send + Sync>;

impl Context {
    /// Begins to create a ufunc with `nin` inputs and `nout` outputs and without loops. With a
    /// [`Builder::signature`], `nin` and `nout` may be 0, because the signature determines them.
    pub fn create<'a>(&'a self, name: &'a str, nin: usize, nout: usize) -> Builder<'a> {
        let mut desc = sys::guf_ufunc_desc::new();
        desc.nin = i32::try_from(nin).unwrap_or(i32::MAX);
        desc.nout = i32::try_from(nout).unwrap_or(i32::MAX);
        Builder {
            context: self,
            name,
            signature: None,
            rules: None,
            doc: None,
            roles: &[],
            desc,
            hook: None,
        }
    }
}

impl<'a> Builder<'a> {
    /// Sets the signature of a generalized ufunc, in NumPy's grammar: `"(m,n),(n,p)->(m,p)"`.
    pub fn signature(mut self, signature: &'a str) -> Self {
        self.signature = Some(signature);
        self
    }

    /// Sets additional rules for the signature: `"n=value(1); p=m+1"`.
    pub fn rules(mut self, rules: &'a str) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Sets a one-line description.
    pub fn doc(mut self, doc: &'a str) -> Self {
        self.doc = Some(doc);
        self
    }

    /// Sets the role of each operand.
    pub fn roles(mut self, roles: &'a [Role]) -> Self {
        self.roles = roles;
        self
    }

    /// Sets the identity of reductions.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.desc.identity = identity as i32;
        self
    }

    /// Sets properties of the function.
    pub fn flags(mut self, flags: FunctionFlags) -> Self {
        self.desc.flags = flags.0;
        self
    }

    /// Sets a function that receives the core dimensions of every call. The function may set sizes
    /// that no input determines. If it returns an error or panics, the call fails and reports the
    /// error or panic. The function must not call the library.
    pub fn core_dims(
        mut self,
        hook: impl Fn(&mut CoreSizes<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Creates the ufunc and registers its name in the context.
    ///
    /// # Errors
    /// [`Status::SIGNATURE`], [`Status::EXISTS`], [`Status::ARG`], [`Status::NO_MEMORY`].
    pub fn build(self) -> Result<Ufunc> {
        let mut desc = self.desc;
        let text = |text: Option<&str>| text.map(c_string).transpose();
        let start = |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr());
        let name = c_string(self.name)?;
        let (signature, rules, doc) = (text(self.signature)?, text(self.rules)?, text(self.doc)?);
        (desc.name, desc.signature) = (name.as_ptr(), start(&signature));
        (desc.rules, desc.doc) = (start(&rules), start(&doc));
        if !self.roles.is_empty() {
            (desc.roles, desc.nroles) = (self.roles.as_ptr().cast(), count(self.roles));
        }
        let hook = self.hook.map_or(std::ptr::null_mut(), |hook| Box::into_raw(Box::new(hook)));
        if !hook.is_null() {
            desc.core_dims = Some(size_hook);
            desc.destroy = Some(destroy::<Hook>);
            desc.user = hook.cast();
        }
        let mut raw = std::ptr::null_mut();
        let context = self.context.as_raw();
        // SAFETY: texts and lists are valid for the call. The hook is valid until the library
        // destroys it.
        let made = check(|error| unsafe { sys::guf_ufunc_create(context, &desc, &mut raw, error) });
        if let Err(error) = made {
            if !hook.is_null() {
                // SAFETY: after a failure the library does not destroy the hook.
                drop(unsafe { Box::from_raw(hook) });
            }
            return Err(error);
        }
        // SAFETY: the function returned one reference.
        unsafe { Ufunc::from_raw(raw) }
    }
}

unsafe extern "C" fn size_hook(
    ndims: i32,
    sizes: *mut i64,
    user: *mut c_void,
    error: *mut sys::guf_error,
) -> sys::guf_status {
    // SAFETY: `user` is the box with which the ufunc was created, and `sizes` has `ndims` values.
    let (hook, sizes) = unsafe {
        let sizes = match ndims {
            0 => &mut [][..],
            _ => std::slice::from_raw_parts_mut(sizes, ndims as usize),
        };
        (&*user.cast::<Hook>(), sizes)
    };
    // SAFETY: `error` is the record of this call.
    unsafe { guarded(error, || hook(&mut CoreSizes(sizes))) }
}

/// A loop and the properties of its operands.
struct Registered {
    run: Loop,
    types: Vec<DType>,
    writable: Vec<bool>,
    /// Core dimensions of each operand, as indices into the sizes of the distinct core dimensions.
    core: Vec<Vec<usize>>,
    sizes: usize,
}

unsafe extern "C" fn run_loop(
    args: *mut *mut c_char,
    dims: *const i64,
    steps: *const i64,
    user: *mut c_void,
    error: *mut sys::guf_error,
) -> sys::guf_status {
    // SAFETY: `user` is the box with which the loop was added.
    let registered = unsafe { &*user.cast::<Registered>() };
    let operands = registered.types.len();
    let strides = operands + registered.core.iter().map(Vec::len).sum::<usize>();
    // SAFETY: each list has the length that the signature implies.
    let args = unsafe {
        LoopArgs {
            pointers: std::slice::from_raw_parts(args.cast(), operands),
            dims: std::slice::from_raw_parts(dims, 1 + registered.sizes),
            steps: std::slice::from_raw_parts(steps, strides),
            types: &registered.types,
            writable: &registered.writable,
            core: &registered.core,
        }
    };
    // SAFETY: `error` is the record of this run.
    unsafe { guarded(error, || (registered.run)(&args)) }
}

impl Ufunc {
    /// Adds a closure as a loop on the cpu for operands of exactly these dtypes, inputs first. The
    /// closure may run on any thread, and on several threads at the same time. If it returns an
    /// error, the call fails with the message, operand and code of this error. If it panics, the
    /// call fails with the panic's text and [`Status::LOOP`].
    ///
    /// ```
    /// use gufunc::{Context, DType};
    /// let average = Context::new()?.create("average", 0, 0).signature("(n)->()").build()?;
    /// average.add_loop(&[DType::F64, DType::F64], |args| {
    ///     for item in 0..args.items() {
    ///         let (row, mean) = (args.operand::<f64>(0, item)?, args.operand::<f64>(1, item)?);
    ///         let n = row.shape()[0];
    ///         mean.set(&[], (0..n).map(|i| row.get(&[i])).sum::<f64>() / n as f64);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(average.call(&[1.0, 2.0, 6.0])?.to_vec::<f64>()?, [3.0]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::DTYPE`], [`Status::EXISTS`] if a loop for these input dtypes exists,
    /// [`Status::ARG`].
    pub fn add_loop(
        &self,
        types: &[DType],
        run: impl Fn(&LoopArgs<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<()> {
        let info = self.info()?;
        let (mut core, sizes) = (info.core, info.core_dims.len());
        core.resize(types.len(), Vec::new());
        let mut writable: Vec<bool> = info.roles.iter().map(|&role| role != Role::In).collect();
        writable.iter_mut().skip(info.nin).for_each(|output| *output = true);
        writable.resize(types.len(), false);
        let registered =
            Registered { run: Box::new(run), types: types.to_vec(), writable, core, sizes };
        let user = Box::into_raw(Box::new(registered));
        let mut desc = sys::guf_loop_desc::new();
        desc.kind = sys::GUF_LOOP_ERROR;
        desc.flags = sys::GUF_LOOP_ANY_THREAD;
        (desc.types, desc.ntypes) = (types.as_ptr().cast(), count(types));
        desc.error = Some(run_loop);
        desc.destroy = Some(destroy::<Registered>);
        desc.user = user.cast();
        // SAFETY: the list is valid for the call. The closure is valid until the library destroys
        // it.
        let added = check(|error| unsafe { sys::guf_ufunc_add_loop(self.as_raw(), &desc, error) });
        if added.is_err() {
            // SAFETY: after a failure the library does not destroy the closure.
            drop(unsafe { Box::from_raw(user) });
        }
        added
    }

    /// Adds a C function as a loop on the cpu, with the signature of NumPy's inner loops.
    ///
    /// # Safety
    /// The function accesses only the memory that its arguments describe, and may run on any
    /// thread.
    ///
    /// # Errors
    /// As [`Ufunc::add_loop`].
    pub unsafe fn add_c_loop(
        &self,
        types: &[DType],
        run: unsafe extern "C" fn(*mut *mut c_char, *const i64, *const i64, *mut c_void),
        user: *mut c_void,
    ) -> Result<()> {
        let mut desc = sys::guf_loop_desc::new();
        desc.kind = sys::GUF_LOOP_NUMPY;
        desc.flags = sys::GUF_LOOP_ANY_THREAD;
        (desc.types, desc.ntypes) = (types.as_ptr().cast(), count(types));
        desc.numpy = Some(run);
        desc.user = user;
        // SAFETY: guaranteed by the caller; the list is valid for the call.
        check(|error| unsafe { sys::guf_ufunc_add_loop(self.as_raw(), &desc, error) })
    }

    /// Adds a closure that computes one number from one to four numbers, as a loop of an
    /// elementwise ufunc. The types of the closure's arguments and result determine the dtypes of
    /// the loop.
    ///
    /// # Errors
    /// As [`Ufunc::add_loop`].
    pub fn add_elementwise<F, A>(&self, function: F) -> Result<()>
    where
        F: Elementwise<A>,
    {
        if self.nout() != 1 || self.info()?.signature.contains('(') {
            let message =
                "only a ufunc without core dimensions and of one output accepts a function";
            return Err(Error::new(Status::SIGNATURE, message));
        }
        self.add_loop(&F::types(), move |args| {
            // SAFETY: the loop was added with these dtypes and has no core dimensions.
            unsafe { function.run(args) };
            Ok(())
        })
    }
}

/// A closure that computes one element from one to four elements. `A` is the tuple of the types of
/// the arguments and of the result. The closure can be run only as a loop
/// ([`Ufunc::add_elementwise`](crate::Ufunc::add_elementwise)):
///
/// ```compile_fail,E0133
/// use gufunc::{Elementwise, LoopArgs};
/// fn anywhere(args: &LoopArgs<'_>) {
///     Elementwise::<(f64, f64)>::run(&|x: f64| -x, args); // operands of any type
/// }
/// ```
pub trait Elementwise<A>: Send + Sync + 'static {
    /// Returns the dtypes of the operands, the result last.
    fn types() -> Vec<DType>;
    /// Calls the closure for each item and writes the results.
    ///
    /// # Safety
    /// The operands have these dtypes and no core dimensions.
    unsafe fn run(&self, args: &LoopArgs<'_>);
}

macro_rules! elementwise {
    ($($place:literal $name:ident)* => $last:literal) => {
        impl<Z, R: Element, $($name: Element),*> Elementwise<($($name,)* R)> for Z
        where
            Z: Fn($($name),*) -> R + Send + Sync + 'static,
        {
            fn types() -> Vec<DType> {
                vec![$($name::dtype(),)* R::dtype()]
            }

            unsafe fn run(&self, args: &LoopArgs<'_>) {
                for item in 0..args.items() {
                    // SAFETY: the caller guarantees the dtypes, and the item exists.
                    unsafe {
                        let result = self($(args.read::<$name>($place, item)),*);
                        args.write($last, item, result);
                    }
                }
            }
        }
    };
}

elementwise!(0 A => 1);
elementwise!(0 A 1 B => 2);
elementwise!(0 A 1 B 2 C => 3);
elementwise!(0 A 1 B 2 C 3 D => 4);

/// Sizes of a call's core dimensions, in order of first use in the signature. A size is -1 if no
/// input determines it.
pub struct CoreSizes<'a>(pub(crate) &'a mut [i64]);

impl std::ops::Deref for CoreSizes<'_> {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        self.0
    }
}

impl CoreSizes<'_> {
    /// Sets the size of a dimension that no input determines.
    ///
    /// # Errors
    /// [`Status::SHAPE`] if there is no such dimension, or if the dimension already has another
    /// size.
    pub fn set(&mut self, dimension: usize, size: i64) -> Result<()> {
        match self.0.get_mut(dimension) {
            Some(place) if *place == -1 || *place == size => {
                *place = size;
                Ok(())
            }
            Some(known) => {
                let message = format!("core dimension {dimension}: expected {known}, got {size}");
                Err(Error::new(Status::SHAPE, message))
            }
            None => Err(Error::new(Status::SHAPE, format!("no core dimension {dimension}"))),
        }
    }
}

/// The operands of one run of a loop. A run covers consecutive items of the call.
pub struct LoopArgs<'a> {
    pub(crate) pointers: &'a [*mut u8],
    pub(crate) dims: &'a [i64],
    pub(crate) steps: &'a [i64],
    pub(crate) types: &'a [DType],
    pub(crate) writable: &'a [bool],
    pub(crate) core: &'a [Vec<usize>],
}

impl<'a> LoopArgs<'a> {
    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.dims[0] as usize
    }

    /// Returns the sizes of the distinct core dimensions, in order of first use.
    pub fn core_sizes(&self) -> &[i64] {
        &self.dims[1..]
    }

    /// Returns the dtypes of the operands, inputs first.
    pub fn types(&self) -> &[DType] {
        self.types
    }

    /// Returns operand `operand` of item `item`, which is one element or, for an operand with core
    /// dimensions, an array of elements.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the elements of the operand are not of type `T`, [`Status::INDEX`] if
    /// there is no such operand or item.
    pub fn operand<T: Element>(&self, operand: usize, item: usize) -> Result<Items<'_, T>> {
        if operand >= self.types.len() || item >= self.items() {
            let message = format!("no operand {operand} of item {item}");
            return Err(Error::new(Status::INDEX, message));
        }
        if !T::reads(self.types[operand]) {
            let message = format!("operand {operand} has dtype {}", self.types[operand]);
            return Err(Error::new(Status::DTYPE, message).with_argument(operand));
        }
        let before: usize = self.core[..operand].iter().map(Vec::len).sum();
        let first = self.types.len() + before;
        let ndim = self.core[operand].len();
        let shape = self.core[operand].iter().map(|&place| self.dims[1 + place] as usize);
        let step = self.steps[operand].wrapping_mul(item as i64) as isize;
        Ok(Items {
            pointer: self.pointers[operand].wrapping_offset(step),
            shape: shape.collect(),
            strides: &self.steps[first..first + ndim],
            writable: self.writable[operand],
            _element: PhantomData,
        })
    }

    /// Returns an element of an operand without core dimensions.
    ///
    /// # Safety
    /// The operand must have the type `T`, and the item must exist.
    #[inline]
    pub(crate) unsafe fn read<T: Element>(&self, operand: usize, item: usize) -> T {
        let step = self.steps[operand] as isize * item as isize;
        // SAFETY: the pointer refers to the item's element; addresses may be unaligned.
        unsafe { T::load(self.pointers[operand].offset(step)) }
    }

    /// Sets an element of an operand without core dimensions.
    ///
    /// # Safety
    /// As for [`LoopArgs::read`].
    #[inline]
    pub(crate) unsafe fn write<T: Element>(&self, operand: usize, item: usize, value: T) {
        let step = self.steps[operand] as isize * item as isize;
        // SAFETY: the pointer refers to the item's element; addresses may be unaligned.
        unsafe { self.pointers[operand].offset(step).cast::<T>().write_unaligned(value) }
    }
}

/// One operand of one item, with any strides.
pub struct Items<'a, T: Element> {
    pointer: *mut u8,
    shape: Vec<usize>,
    strides: &'a [i64],
    writable: bool,
    _element: PhantomData<T>,
}

impl<T: Element> Items<'_, T> {
    /// Returns the extents of the core dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the address of an element.
    fn at(&self, index: &[usize]) -> *mut T {
        assert_eq!(index.len(), self.shape.len(), "one index per core dimension");
        let mut place = self.pointer;
        for ((&i, &extent), &stride) in index.iter().zip(&self.shape).zip(self.strides) {
            assert!(i < extent, "index {i} of {extent}");
            place = place.wrapping_offset((stride as isize).wrapping_mul(i as isize));
        }
        place.cast()
    }

    /// Returns an element.
    ///
    /// # Panics
    /// If the index is outside the shape. The call then fails.
    pub fn get(&self, index: &[usize]) -> T {
        // SAFETY: `at` checks the index; addresses may be unaligned.
        unsafe { T::load(self.at(index).cast()) }
    }

    /// Sets an element of an output or `inout` operand.
    ///
    /// # Panics
    /// If the index is outside the shape, or if the operand is an input. The call then fails.
    pub fn set(&self, index: &[usize], value: T) {
        assert!(self.writable, "an input is not written");
        // SAFETY: `at` checks the index; addresses may be unaligned.
        unsafe { self.at(index).write_unaligned(value) }
    }
}

/// Runs a closure and writes its error, or the text of its panic, to C's error record.
///
/// # Safety
/// `record` is NULL or an error record that C passed to be filled in.
pub(crate) unsafe fn guarded(
    record: *mut sys::guf_error,
    run: impl FnOnce() -> Result<()>,
) -> sys::guf_status {
    let answer = catch_unwind(AssertUnwindSafe(run));
    let Err(failure) = answer.unwrap_or_else(|panic| Err(of_panic(panic))) else {
        return sys::GUF_OK;
    };
    // C would treat a status that is not an error, such as `OK`, as success.
    let status = if failure.status().is_error() { failure.status() } else { Status::LOOP };
    // SAFETY: guaranteed by the caller.
    if let Some(record) = unsafe { record.as_mut() } {
        report(record, status, &failure);
    }
    status.0
}

fn report(record: &mut sys::guf_error, status: Status, failure: &Error) {
    let place = |number: Option<i64>| number.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1);
    record.status = status.0;
    record.argument = place(failure.argument().map(|n| n as i64));
    record.axis = place(failure.axis());
    record.native_code = failure.native_code();
    let text = failure.message();
    let capacity = record.message.len() - 1;
    // The text is cut at a character boundary.
    let end = (0..=capacity.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    let bytes = text.bytes().take(end.unwrap_or(0)).chain([0]);
    for (place, byte) in record.message.iter_mut().zip(bytes) {
        *place = byte as c_char;
    }
}

#[cold]
fn of_panic(panic: Box<dyn Any + Send>) -> Error {
    let text = match panic.downcast::<&'static str>() {
        Ok(text) => text.to_string(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(other) => {
                // Dropping the payload might panic again, where no panic is allowed.
                std::mem::forget(other);
                "a panic that has no text".to_string()
            }
        },
    };
    Error::new(Status::LOOP, text)
}

/// Runs a closure and ignores a panic. Used in callbacks that cannot report a failure to C.
pub(crate) fn quietly(run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        of_panic(panic);
    }
}

/// Frees the boxed closure of a callback. The library may call this function on any thread.
pub(crate) unsafe extern "C" fn destroy<T>(user: *mut c_void) {
    // SAFETY: `user` is the box that was passed to the library, which frees it once.
    let closure = unsafe { Box::from_raw(user.cast::<T>()) };
    quietly(|| drop(closure));
}

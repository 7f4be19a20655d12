// SPDX-License-Identifier: Apache-2.0
//! Operands of calls: arrays, borrowed memory and scalars, as inputs and outputs; lists of
//! operands; and the C representation of a call's operands.

use crate::{Array, DType, Device, DynArray, Element, Error, Result, Status, Tensor};
use gufunc_sys as sys;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

/// Makes an input of the given shape from a slice, whose elements are in C order.
///
/// # Errors
/// [`Status::SHAPE`] if the slice has a different number of elements.
///
/// ```
/// # use gufunc::{ufunc, view};
/// let rows = view(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
/// let sums = ufunc("add")?.call((rows, &[10.0, 20.0, 30.0]))?;
/// assert_eq!(sums.to_vec::<f64>()?, [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
pub fn view<'a, T: Element>(elements: &'a [T], shape: &[i64]) -> Result<Operand<'a>> {
    let tensor = Tensor::of_slice(elements, sys::GUF_TENSOR_READ_ONLY);
    Ok(tensor.with_shape(elements, shape)?.into())
}

/// Makes an output of the given shape from a slice.
///
/// # Errors
/// As [`view`].
pub fn view_mut<'a, T: Element>(elements: &'a mut [T], shape: &[i64]) -> Result<Output<'a>> {
    let tensor = Tensor::of_slice(elements, 0).with_shape(elements, shape)?;
    Ok(Output(tensor.into()))
}

/// Makes an operand from a slice that the call reads and writes in place, for ufuncs with `inout`
/// roles.
///
/// # Errors
/// As [`view`].
pub fn inout<'a, T: Element>(elements: &'a mut [T], shape: &[i64]) -> Result<Operand<'a>> {
    Ok(Tensor::of_slice(elements, 0).with_shape(elements, shape)?.into())
}

/// Makes an input and an output from the same slice, so that the call works in place.
///
/// ```
/// # use gufunc::{in_place, ufunc};
/// let mut x = [1.0, 4.0, 9.0];
/// let (input, output) = in_place(&mut x);
/// ufunc("sqrt")?.call_into(input, output)?;
/// assert_eq!(x, [1.0, 2.0, 3.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
pub fn in_place<T: Element>(elements: &mut [T]) -> (Operand<'_>, Output<'_>) {
    let (input, output) = (Tensor::of_slice(elements, 0), Tensor::of_slice(elements, 0));
    (input.into(), Output(output.into()))
}

enum Kind<'a> {
    None,
    Array(sys::guf_array, PhantomData<&'a DynArray>),
    Tensor(Tensor<'a>),
    /// A borrowed slice. Most calls use slices, so this variant omits the fields that only tensors
    /// need.
    Slice {
        address: u64,
        dtype: DType,
        flags: u32,
        length: i64,
    },
    Value {
        kind: i32,
        dtype: u32,
        value: [u64; 2],
    },
}

/// An input of a call, made from an array or a slice ([`From`]), or by [`view`], [`scalar`] or
/// [`weak`].
pub struct Operand<'a>(Kind<'a>);

/// An output of a call: an array, a mutable slice, or [`Output::allocate`].
pub struct Output<'a>(pub(crate) Operand<'a>);

impl<'a> Output<'a> {
    /// An output that the call allocates and returns.
    pub const fn allocate() -> Self {
        Output(Operand(Kind::None))
    }

    /// Reinterprets borrowed memory as elements of a different dtype; see [`Operand::with_dtype`].
    ///
    /// # Errors
    /// As [`Operand::with_dtype`].
    pub fn with_dtype(self, dtype: DType) -> Result<Self> {
        Ok(Output(self.0.with_dtype(dtype)?))
    }

    /// Marks the elements of borrowed memory as having a byte order other than the machine's.
    ///
    /// # Errors
    /// As [`Operand::swapped`].
    pub fn swapped(self) -> Result<Self> {
        Ok(Output(self.0.swapped()?))
    }
}

impl<'a> Operand<'a> {
    pub(crate) const NONE: Operand<'static> = Operand(Kind::None);

    /// Makes an operand from a slice. The slice's lifetime is not part of the operand's type, so
    /// the caller must ensure that the slice lives long enough.
    #[inline(always)]
    pub(crate) fn of_slice<T: Element>(elements: &[T], flags: u32) -> Self {
        let (address, length) = (elements.as_ptr() as u64, elements.len() as i64);
        Operand(Kind::Slice { address, dtype: T::dtype(), flags, length })
    }

    /// Makes a weak integer that does not fit into `i64`. `magnitude` is its absolute value,
    /// saturated at `u64::MAX`. `beyond` is true if the absolute value does not fit into `u64`.
    pub fn weak_huge(magnitude: u64, negative: bool, beyond: bool) -> Self {
        let value = [magnitude, u64::from(negative) + 2 * u64::from(beyond)];
        Operand(Kind::Value { kind: sys::GUF_OPERAND_WEAK_INT_HUGE, dtype: 0, value })
    }

    /// Makes a scalar of a dtype from the bytes of the element, of which there may be at most 16.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the dtype has a different item size.
    pub fn scalar_of(dtype: DType, bytes: &[u8]) -> Result<Self> {
        if bytes.len() > 16 || dtype.itemsize()? != bytes.len() {
            let message = format!("{} bytes are not an element of {dtype}", bytes.len());
            return Err(Error::new(Status::DTYPE, message));
        }
        let mut value = [0u8; 16];
        value[..bytes.len()].copy_from_slice(bytes);
        let half = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| value[at + i]));
        let value = [half(0), half(8)];
        Ok(Operand(Kind::Value { kind: sys::GUF_OPERAND_SCALAR, dtype: dtype.0, value }))
    }

    /// Reinterprets borrowed memory as elements of a different dtype of the same size, such as
    /// `i64` as a datetime type.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the sizes differ, or if the dtypes differ and one of them is `bool` or
    /// structured, because not all bits may be valid values; [`Status::ARG`] for arrays and
    /// scalars.
    ///
    /// ```
    /// # use gufunc::{ufunc, view, weak, DType};
    /// let days: DType = "datetime64[D]".parse()?;
    /// let mut next = [0i64; 2];
    /// let out = gufunc::view_mut(&mut next, &[2])?.with_dtype(days)?;
    /// ufunc("add")?.call_into((view(&[3i64, 4], &[2])?.with_dtype(days)?, weak(1)), out)?;
    /// assert_eq!(next, [4, 5]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    pub fn with_dtype(mut self, dtype: DType) -> Result<Self> {
        let (own, _) = self.memory()?;
        let (from, to) = (own.info()?, dtype.info()?);
        let closed = |kind: char| kind == 'b' || kind == 'V';
        if *own != dtype && (from.itemsize != to.itemsize || closed(from.kind) || closed(to.kind)) {
            let message = format!("{own} cannot be passed as {dtype}");
            return Err(Error::new(Status::DTYPE, message));
        }
        *own = dtype;
        Ok(self)
    }

    /// Marks the elements of borrowed memory as having a byte order other than the machine's.
    ///
    /// # Errors
    /// [`Status::ARG`] for arrays and scalars.
    pub fn swapped(mut self) -> Result<Self> {
        *self.memory()?.1 |= sys::GUF_TENSOR_SWAPPED;
        Ok(self)
    }

    /// Returns the dtype and the flags of borrowed memory.
    fn memory(&mut self) -> Result<(&mut DType, &mut u32)> {
        match &mut self.0 {
            Kind::Tensor(tensor) => Ok((&mut tensor.dtype, &mut tensor.flags)),
            Kind::Slice { dtype, flags, .. } => Ok((dtype, flags)),
            _ => Err(Error::new(Status::ARG, "not memory of the program")),
        }
    }

    /// Whether the operand is memory that is borrowed for the call only.
    #[inline(always)]
    pub(crate) fn is_borrowed(&self) -> bool {
        match &self.0 {
            Kind::Slice { .. } => true,
            Kind::Tensor(tensor) => tensor.borrowed,
            _ => false,
        }
    }

    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.0, Kind::None)
    }

    /// Returns the array of an operand that is an array, without retaining another reference.
    pub(crate) fn as_array(&self) -> Option<std::mem::ManuallyDrop<DynArray>> {
        match self.0 {
            Kind::Array(raw, _) => {
                // SAFETY: the handle is live, and `ManuallyDrop` leaves its reference in place.
                let array = unsafe { DynArray::from_raw(raw) };
                Some(std::mem::ManuallyDrop::new(array))
            }
            _ => None,
        }
    }

    /// Returns the address of the elements; 0 for scalars.
    pub(crate) fn address(&self) -> Result<u64> {
        match &self.0 {
            Kind::Array(..) => self.as_array().map_or(Ok(0), |array| Ok(array.raw_info()?.address)),
            Kind::Tensor(tensor) => Ok(tensor.address),
            Kind::Slice { address, .. } => Ok(*address),
            _ => Ok(0),
        }
    }

    /// Returns the kind, dtype and bytes of a scalar.
    pub(crate) fn value(&self) -> (i32, u32, [u64; 2]) {
        match self.0 {
            Kind::Value { kind, dtype, value } => (kind, dtype, value),
            _ => (sys::GUF_OPERAND_NONE, 0, [0; 2]),
        }
    }

    /// Whether the operand must not be written.
    pub(crate) fn is_read_only(&self) -> bool {
        match &self.0 {
            Kind::Array(..) => self
                .as_array()
                .and_then(|array| array.raw_info().ok())
                .is_some_and(|info| info.flags & sys::GUF_ARRAY_READ_ONLY != 0),
            Kind::Tensor(tensor) => tensor.flags & sys::GUF_TENSOR_READ_ONLY != 0,
            Kind::Slice { flags, .. } => flags & sys::GUF_TENSOR_READ_ONLY != 0,
            _ => false,
        }
    }

    pub(crate) fn tensor(&self) -> Option<sys::guf_tensor> {
        match &self.0 {
            Kind::Tensor(tensor) => Some(tensor.to_c()),
            Kind::Slice { address, dtype, flags, length } => {
                Some(slice_to_c(*address, *dtype, *flags, length))
            }
            _ => None,
        }
    }

    /// Writes to `place` the fields that C reads for this kind of operand, because writing all
    /// fields would be slower. Writes the operand's tensor, if it has one, to `buffer`.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        place: &mut MaybeUninit<sys::guf_operand>,
        buffer: &mut MaybeUninit<sys::guf_tensor>,
    ) {
        let (mut kind, mut array, mut tensor) =
            (sys::GUF_OPERAND_NONE, std::ptr::null_mut(), std::ptr::null());
        let place = place.as_mut_ptr();
        match &self.0 {
            Kind::None => {}
            Kind::Array(raw, _) => (kind, array) = (sys::GUF_OPERAND_ARRAY, *raw),
            Kind::Tensor(made) => {
                (kind, tensor) = (sys::GUF_OPERAND_TENSOR, buffer.write(made.to_c()));
            }
            Kind::Slice { address, dtype, flags, length } => {
                let made = slice_to_c(*address, *dtype, *flags, length);
                (kind, tensor) = (sys::GUF_OPERAND_TENSOR, buffer.write(made));
            }
            Kind::Value { kind: own, dtype, value } => {
                kind = *own;
                // SAFETY: `place` is valid for writes.
                unsafe {
                    (*place).dtype = *dtype;
                    (*place).value = *value;
                }
            }
        }
        // SAFETY: `place` is valid for writes.
        unsafe {
            (*place).kind = kind;
            (*place).flags = 0;
            (*place).reserved = 0;
            (*place).array = array;
            (*place).tensor = tensor;
        }
    }
}

/// Describes a slice as a C tensor. The tensor refers to `length`, which must not move.
#[inline(always)]
fn slice_to_c(address: u64, dtype: DType, flags: u32, length: &i64) -> sys::guf_tensor {
    sys::guf_tensor {
        struct_size: size_of::<sys::guf_tensor>() as u32,
        dtype: dtype.0,
        ndim: 1,
        flags,
        address,
        shape: length,
        strides: std::ptr::null(),
        device: std::ptr::null_mut(),
    }
}

/// Makes a scalar operand with exactly the dtype of `T`. It broadcasts with the other operands.
pub fn scalar<T: Element>(value: T) -> Operand<'static> {
    let bytes = crate::dtype::bytes_of(std::slice::from_ref(&value));
    // If the element has more than 16 bytes, the library rejects the operand, which has no dtype.
    Operand::scalar_of(T::dtype(), bytes).unwrap_or(Operand(Kind::Value {
        kind: sys::GUF_OPERAND_SCALAR,
        dtype: 0,
        value: [0; 2],
    }))
}

/// Makes a number that adopts the dtype of the other operands, like a number of Python: `weak(2)`,
/// `weak(0.5)`, `weak([re, im])`.
pub fn weak(value: impl Weak) -> Operand<'static> {
    let (kind, value) = value.parts();
    Operand(Kind::Value { kind, dtype: 0, value })
}

/// Argument types of [`weak`]: integers of at most 64 bits, `f32`, `f64`, and `[f64; 2]` for
/// complex numbers.
pub trait Weak: sealed::Weak {}

mod sealed {
    pub trait Weak {
        fn parts(self) -> (i32, [u64; 2]);
    }
}

macro_rules! weak_kinds {
    ($($($type:ty)*, |$value:ident| $parts:expr;)*) => {$($(
        impl Weak for $type {}
        impl sealed::Weak for $type {
            fn parts(self) -> (i32, [u64; 2]) {
                let $value = self;
                $parts
            }
        }
    )*)*};
}

weak_kinds! {
    i8 i16 i32 i64 isize u8 u16 u32, |v| (sys::GUF_OPERAND_WEAK_INT, [v as i64 as u64, 0]);
    u64 usize, |v| match i64::try_from(v) {
        Ok(small) => small.parts(),
        Err(_) => (sys::GUF_OPERAND_WEAK_INT_HUGE, [v as u64, 0]),
    };
    f32, |v| f64::from(v).parts();
    f64, |v| (sys::GUF_OPERAND_WEAK_FLOAT, [v.to_bits(), 0]);
    [f64; 2], |v| (sys::GUF_OPERAND_WEAK_COMPLEX, [v[0].to_bits(), v[1].to_bits()]);
}

impl<'a> From<Tensor<'a>> for Operand<'a> {
    #[inline(always)]
    fn from(tensor: Tensor<'a>) -> Self {
        Operand(Kind::Tensor(tensor))
    }
}

impl<'a> From<Tensor<'a>> for Output<'a> {
    fn from(tensor: Tensor<'a>) -> Self {
        Output(tensor.into())
    }
}

impl<'a> From<&'a DynArray> for Operand<'a> {
    #[inline(always)]
    fn from(array: &'a DynArray) -> Self {
        Operand(Kind::Array(array.as_raw(), PhantomData))
    }
}

impl<'a, T: Element> From<&'a Array<T>> for Operand<'a> {
    #[inline(always)]
    fn from(array: &'a Array<T>) -> Self {
        Operand(Kind::Array(array.as_raw(), PhantomData))
    }
}

impl<'a, T: Element> From<&'a [T]> for Operand<'a> {
    #[inline(always)]
    fn from(elements: &'a [T]) -> Self {
        Operand::of_slice(elements, sys::GUF_TENSOR_READ_ONLY)
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Operand<'a> {
    #[inline(always)]
    fn from(elements: &'a [T; N]) -> Self {
        elements.as_slice().into()
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Operand<'a> {
    #[inline(always)]
    fn from(elements: &'a Vec<T>) -> Self {
        elements.as_slice().into()
    }
}

impl<'a> From<&'a DynArray> for Output<'a> {
    #[inline(always)]
    fn from(array: &'a DynArray) -> Self {
        Output(array.into())
    }
}

impl<'a> From<&'a mut DynArray> for Output<'a> {
    #[inline(always)]
    fn from(array: &'a mut DynArray) -> Self {
        Output(Operand::from(&*array))
    }
}

impl<'a, T: Element> From<&'a Array<T>> for Output<'a> {
    #[inline(always)]
    fn from(array: &'a Array<T>) -> Self {
        Output(array.into())
    }
}

impl<'a, T: Element> From<&'a mut Array<T>> for Output<'a> {
    #[inline(always)]
    fn from(array: &'a mut Array<T>) -> Self {
        Output(Operand::from(&*array))
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Output<'a> {
    #[inline(always)]
    fn from(elements: &'a mut [T]) -> Self {
        Output(Operand::of_slice(elements, 0))
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for Output<'a> {
    #[inline(always)]
    fn from(elements: &'a mut [T; N]) -> Self {
        elements.as_mut_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for Output<'a> {
    #[inline(always)]
    fn from(elements: &'a mut Vec<T>) -> Self {
        elements.as_mut_slice().into()
    }
}

/// The inputs of a call: a single input, a tuple of up to eight, or a list of [`Operand`]s.
pub trait Inputs<'a> {
    /// Converts to a list.
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]>;

    /// Converts to an owned list.
    #[doc(hidden)]
    fn into_list(self) -> Vec<Operand<'a>>;
}

/// The outputs of a call: a single output, a tuple of up to four, `()`, or a list of [`Output`]s.
pub trait Outputs<'a> {
    /// Converts to a list.
    fn into_outputs(self) -> impl AsRef<[Output<'a>]>;
}

impl<'a, T: Into<Operand<'a>>> Inputs<'a> for T {
    #[inline(always)]
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]> {
        [self.into()]
    }

    fn into_list(self) -> Vec<Operand<'a>> {
        vec![self.into()]
    }
}

impl<'a, T: Into<Output<'a>>> Outputs<'a> for T {
    #[inline(always)]
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        [self.into()]
    }
}

impl<'a> Outputs<'a> for () {
    #[inline(always)]
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        []
    }
}

macro_rules! inputs {
    ($($name:ident)*) => {
        impl<'a, $($name: Into<Operand<'a>>),*> Inputs<'a> for ($($name,)*) {
            #[inline(always)]
            #[allow(non_snake_case)]
            fn into_inputs(self) -> impl AsRef<[Operand<'a>]> {
                let ($($name,)*) = self;
                [$($name.into()),*]
            }

            #[allow(non_snake_case)]
            fn into_list(self) -> Vec<Operand<'a>> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    };
}

macro_rules! outputs {
    ($($name:ident)*) => {
        impl<'a, $($name: Into<Output<'a>>),*> Outputs<'a> for ($($name,)*) {
            #[inline(always)]
            #[allow(non_snake_case)]
            fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
                let ($($name,)*) = self;
                [$($name.into()),*]
            }
        }
    };
}

inputs!(A);
inputs!(A B);
inputs!(A B C);
inputs!(A B C D);
inputs!(A B C D E);
inputs!(A B C D E F);
inputs!(A B C D E F G);
inputs!(A B C D E F G H);
outputs!(A);
outputs!(A B);
outputs!(A B C);
outputs!(A B C D);

impl<'a> Inputs<'a> for Vec<Operand<'a>> {
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]> {
        self
    }

    fn into_list(self) -> Vec<Operand<'a>> {
        self
    }
}

impl<'a> Outputs<'a> for Vec<Output<'a>> {
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        self
    }
}

impl<'a, const N: usize> Inputs<'a> for [Operand<'a>; N] {
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]> {
        self
    }

    fn into_list(self) -> Vec<Operand<'a>> {
        self.into()
    }
}

impl<'a, const N: usize> Outputs<'a> for [Output<'a>; N] {
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        self
    }
}

/// Maximum number of entries: the operands of a ufunc, a mask and an initial value.
const CAPACITY: usize = sys::GUF_MAX_OPERANDS as usize + 2;

pub(crate) struct Frame {
    operands: [MaybeUninit<sys::guf_operand>; CAPACITY],
    tensors: [MaybeUninit<sys::guf_tensor>; CAPACITY],
    used: usize,
    first_output: usize,
    borrows: bool,
}

#[cold]
fn too_many() -> Error {
    Error::new(Status::ARG, "too many operands")
}

impl Frame {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Frame {
            operands: [const { MaybeUninit::uninit() }; CAPACITY],
            tensors: [const { MaybeUninit::uninit() }; CAPACITY],
            used: 0,
            first_output: 0,
            borrows: false,
        }
    }

    /// Adds an operand after the previous ones and returns its address.
    #[inline(always)]
    pub(crate) fn place(&mut self, operand: &Operand<'_>) -> Result<*mut sys::guf_operand> {
        if self.used == CAPACITY {
            return Err(too_many());
        }
        operand.write(&mut self.operands[self.used], &mut self.tensors[self.used]);
        self.used += 1;
        self.borrows |= operand.is_borrowed();
        // SAFETY: the index is in the list. The pointer is derived from the whole list, because C
        // also accesses the operands that follow.
        Ok(unsafe { self.operands.as_mut_ptr().add(self.used - 1).cast() })
    }

    /// Adds a list of operands and returns the address of the first.
    #[inline(always)]
    pub(crate) fn place_all<'a, 'b: 'a>(
        &mut self,
        operands: impl Iterator<Item = &'a Operand<'b>>,
    ) -> Result<*mut sys::guf_operand> {
        let first = self.used;
        for operand in operands {
            self.place(operand)?;
        }
        // SAFETY: the index is in the list or at its end.
        Ok(unsafe { self.operands.as_mut_ptr().add(first).cast() })
    }

    /// Adds the inputs and outputs of a call. The frame must not move until the call is done.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        args: &mut sys::guf_call_args,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
    ) -> Result<()> {
        args.ninputs = inputs.len() as i32;
        args.inputs = self.place_all(inputs.iter())?;
        args.noutputs = outputs.len() as i32;
        args.outputs = self.outputs(outputs)?;
        Ok(())
    }

    /// Adds outputs and records their position for [`Frame::allocated`].
    #[inline(always)]
    pub(crate) fn outputs(&mut self, outputs: &[Output<'_>]) -> Result<*mut sys::guf_operand> {
        self.first_output = self.used;
        self.place_all(outputs.iter().map(|output| &output.0))
    }

    /// Whether an operand borrows memory of the program for the call.
    pub(crate) fn borrows(&self) -> bool {
        self.borrows
    }

    /// Waits for the default stream of the device of each operand.
    pub(crate) fn wait_for_devices(&self) -> Result<()> {
        for operand in &self.operands[..self.used] {
            let operand = operand.as_ptr();
            // SAFETY: `place` wrote these fields, and the tensor of an operand is in the frame.
            let device = unsafe {
                match (*operand).kind {
                    sys::GUF_OPERAND_TENSOR => (*(*operand).tensor).device,
                    sys::GUF_OPERAND_ARRAY if !(*operand).array.is_null() => {
                        let array = ManuallyDrop::new(DynArray::from_raw((*operand).array));
                        array.raw_info()?.device
                    }
                    _ => continue,
                }
            };
            if !device.is_null() {
                Device::new(device).synchronize(None)?;
            }
        }
        Ok(())
    }

    /// Returns the outputs that a call allocated, each at its position.
    pub(crate) fn allocated(&self, outputs: &[Output<'_>]) -> Vec<Option<DynArray>> {
        let find = |(i, output): (usize, &Output<'_>)| {
            if !output.0.is_none() {
                return None;
            }
            let operand = self.operands[self.first_output + i].as_ptr();
            // SAFETY: `outputs` wrote these fields.
            let (kind, array) = unsafe { ((*operand).kind, (*operand).array) };
            let made = kind == sys::GUF_OPERAND_ARRAY && !array.is_null();
            // SAFETY: the call returned one reference.
            made.then(|| unsafe { DynArray::from_raw(array) })
        };
        outputs.iter().enumerate().map(find).collect()
    }
}

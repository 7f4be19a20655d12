// SPDX-License-Identifier: Apache-2.0
//! Ufuncs: their descriptions, and calls without keywords.

use crate::call::Call;
use crate::handle::counted;
use crate::operand::Frame;
use crate::status::{check, text_of};
use crate::{DType, DynArray, Error, Inputs, Module, Outputs, Result, Status};
use gufunc_sys as sys;
use std::fmt;

counted! {
    /// The reference-counted handle of a ufunc.
    Handle, guf_ufunc, guf_ufunc_retain, guf_ufunc_release
}

/// A universal function, elementwise or generalized, found by [`ufunc`](crate::ufunc).
///
/// ```
/// use gufunc::{ufunc, weak};
/// let add = ufunc("add")?;
/// let x = [1.0f32, 2.0, 3.0];
/// let mut sum = [0f32; 3];
/// add.call_into((&x, weak(0.5)), &mut sum)?; // copies neither slice
/// assert_eq!(sum, [1.5, 2.5, 3.5]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone)]
pub struct Ufunc {
    handle: Handle,
    nin: u32,
    nout: u32,
}

/// Description of a ufunc.
#[derive(Clone, Debug)]
pub struct UfuncInfo {
    /// Name, with the prefix `module:` for a ufunc of a module.
    pub name: String,
    /// Signature; `""` for an elementwise ufunc. A signature of more than 1023 characters is
    /// truncated.
    pub signature: String,
    /// Additional rules for the signature.
    pub rules: String,
    /// One-line description.
    pub doc: String,
    /// Number of inputs.
    pub nin: usize,
    /// Number of outputs.
    pub nout: usize,
    /// Identity of reductions.
    pub identity: Identity,
    /// Properties of the function.
    pub flags: FunctionFlags,
    /// Number of loops, for [`Ufunc::loop_types`].
    pub nloops: u32,
    /// Roles of all operands.
    pub roles: Vec<Role>,
    /// Number of results of [`Ufunc::reduce`] for a reduction with a user-defined accumulator; 0
    /// for other ufuncs.
    pub nresults: usize,
    /// Name of the ufunc that combines two accumulators; `""` if there is none.
    pub merge: String,
    /// Name of the ufunc that computes the results from an accumulator; `""` if there is none.
    pub finish: String,
    /// Distinct core dimensions, in order of first use in the signature.
    pub core_dims: Vec<CoreDim>,
    /// Core dimensions of each operand, as indices into `core_dims`.
    pub core: Vec<Vec<usize>>,
}

/// A core dimension of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoreDim {
    /// `n?`: operands may lack the dimension.
    pub optional: bool,
    /// `n|1`: an operand may have extent 1.
    pub broadcastable: bool,
    /// Fixed size, if the signature has one.
    pub size: Option<usize>,
}

/// The use of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Role {
    /// The operand is read.
    In = sys::GUF_ROLE_IN,
    /// The operand is written.
    Out = sys::GUF_ROLE_OUT,
    /// The operand is read and written in place.
    Inout = sys::GUF_ROLE_INOUT,
}

/// The identity of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Identity {
    /// No identity; the order of elements matters.
    #[default]
    None = sys::GUF_IDENTITY_NONE,
    /// No identity; axes may be reduced in any order.
    Reorderable = sys::GUF_IDENTITY_REORDERABLE,
    /// 0.
    Zero = sys::GUF_IDENTITY_ZERO,
    /// 1.
    One = sys::GUF_IDENTITY_ONE,
    /// -1, all bits set.
    MinusOne = sys::GUF_IDENTITY_MINUS_ONE,
    /// Minus infinity.
    MinusInf = sys::GUF_IDENTITY_MINUS_INF,
}

/// A set of properties of a function, combined with `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FunctionFlags(pub u32);

impl FunctionFlags {
    /// A generalized function whose output may be the view of an input.
    pub const INPLACE_SAFE: Self = Self(sys::GUF_FUNCTION_INPLACE_SAFE);
    /// The operands may be swapped.
    pub const COMMUTATIVE: Self = Self(sys::GUF_FUNCTION_COMMUTATIVE);
    /// Operations may be regrouped.
    pub const ASSOCIATIVE: Self = Self(sys::GUF_FUNCTION_ASSOCIATIVE);
    /// Compiled with `fp=fast` or `fp=vendor`; results may differ between backends.
    pub const FAST: Self = Self(sys::GUF_FUNCTION_FAST);
    /// A tiny result may have been rounded, so it raises
    /// [`FpFlags::UNDERFLOW`](crate::FpFlags::UNDERFLOW).
    pub const UNDERFLOWS: Self = Self(sys::GUF_FUNCTION_UNDERFLOWS);
    /// The last input is a divisor.
    pub const DIVIDES: Self = Self(sys::GUF_FUNCTION_DIVIDES);
    /// A user-defined accumulator that is also defined for no elements.
    pub const ACCEPTS_EMPTY: Self = Self(sys::GUF_FUNCTION_ACCEPTS_EMPTY);
    /// Kernels overwrite a copy of the first input. Only functions of modules have this property.
    pub const OVERWRITES: Self = Self(sys::GUF_FUNCTION_OVERWRITES);
    /// Results of `f64` and `c128` that `reduce` allocates have the precision of the elements.
    pub const KEEPS_PRECISION: Self = Self(sys::GUF_FUNCTION_KEEPS_PRECISION);

    /// Whether all properties of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for FunctionFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

fn core_dims_of(info: &sys::guf_ufunc_info) -> Vec<CoreDim> {
    let dims = info.core_flags.iter().zip(&info.core_sizes).take(info.ncore as usize);
    dims.map(|(&flags, &size)| CoreDim {
        optional: flags & sys::GUF_CORE_DIM_OPTIONAL != 0,
        broadcastable: flags & sys::GUF_CORE_DIM_BROADCASTABLE != 0,
        size: usize::try_from(size).ok(),
    })
    .collect()
}

fn core_of(info: &sys::guf_ufunc_info, noperands: usize) -> Vec<Vec<usize>> {
    let mut dims = info.core_dims.iter().map(|&dim| dim as usize);
    let counts = info.core_ndim.iter().take(noperands);
    counts.map(|&count| dims.by_ref().take(count as usize).collect()).collect()
}

impl Ufunc {
    /// Takes ownership of one reference of a C handle.
    ///
    /// # Safety
    /// The handle is a live ufunc, and the caller owns the reference.
    pub unsafe fn from_raw(raw: sys::guf_ufunc) -> Result<Self> {
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { Handle::from_raw(raw) };
        let mut info = sys::guf_ufunc_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_ufunc_get_info(raw, &mut info, error) })?;
        Ok(Ufunc { handle, nin: info.nin as u32, nout: info.nout as u32 })
    }

    /// Returns the C handle, which this value continues to own.
    #[inline]
    pub fn as_raw(&self) -> sys::guf_ufunc {
        self.handle.as_raw()
    }

    /// Returns the C handle and its reference, which the caller must release.
    pub fn into_raw(self) -> sys::guf_ufunc {
        self.handle.into_raw()
    }

    /// Returns the number of inputs.
    pub fn nin(&self) -> usize {
        self.nin as usize
    }

    /// Returns the number of outputs.
    pub fn nout(&self) -> usize {
        self.nout as usize
    }

    /// Returns a description of the ufunc.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn info(&self) -> Result<UfuncInfo> {
        let mut info = sys::guf_ufunc_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_ufunc_get_info(self.as_raw(), &mut info, error) })?;
        let noperands = (info.nin + info.nout) as usize;
        Ok(UfuncInfo {
            name: text_of(&info.name),
            signature: text_of(&info.signature),
            rules: text_of(&info.rules),
            doc: text_of(&info.doc),
            nin: info.nin as usize,
            nout: info.nout as usize,
            identity: identity_of(info.identity),
            flags: FunctionFlags(info.flags),
            nloops: info.nloops,
            roles: info.roles.iter().take(noperands).map(|&role| role_of(role)).collect(),
            nresults: info.nresults as usize,
            merge: text_of(&info.merge),
            finish: text_of(&info.finish),
            core_dims: core_dims_of(&info),
            core: core_of(&info, noperands),
        })
    }

    /// Returns the dtypes of loop `index`, inputs first. Loops are numbered in the order in which a
    /// call tries them.
    ///
    /// # Errors
    /// [`Status::INDEX`].
    pub fn loop_types(&self, index: u32) -> Result<Vec<DType>> {
        let mut types = vec![0; (self.nin + self.nout) as usize];
        let (count, place) = (types.len() as i32, types.as_mut_ptr());
        // SAFETY: the buffer holds the number of dtypes that is passed.
        check(|error| unsafe {
            sys::guf_ufunc_loop_types(self.as_raw(), index, count, place, error)
        })?;
        Ok(types.into_iter().map(DType).collect())
    }

    /// Adds a module's kernel as a loop of this ufunc: the loop of the module's `function` that has
    /// exactly these dtypes.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`], [`Status::SIGNATURE`] if the signatures differ, [`Status::EXISTS`].
    pub fn add_module_loop(&self, module: &Module, function: &str, types: &[DType]) -> Result<()> {
        let function = crate::context::c_string(function)?;
        let (count, types) = (crate::array::count(types), types.as_ptr().cast());
        // SAFETY: the text is NUL-terminated, the list has the length that is passed, and a `DType`
        // is represented as its number.
        check(|error| unsafe {
            let (ufunc, module) = (self.as_raw(), module.as_raw());
            sys::guf_ufunc_add_module_loop(ufunc, module, function.as_ptr(), count, types, error)
        })
    }

    /// Makes this ufunc a reduction with a user-defined accumulator, for [`Ufunc::reduce`]. The
    /// ufunc itself computes an accumulator from elements, `merge` combines two accumulators into
    /// one, and `finish` computes the results from an accumulator.
    ///
    /// # Errors
    /// [`Status::SIGNATURE`] if the signatures of the ufuncs do not match, [`Status::EXISTS`] if
    /// the ufunc is already a reduction.
    pub fn set_reduction(&self, merge: &Ufunc, finish: Option<&Ufunc>) -> Result<()> {
        let mut desc = sys::guf_reduction_desc::new();
        desc.merge = merge.as_raw();
        desc.finish = finish.map_or(std::ptr::null_mut(), Ufunc::as_raw);
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_ufunc_set_reduction(self.as_raw(), &desc, error) })
    }

    /// Applies the ufunc and allocates its single output on the device of the operands.
    ///
    /// On the cpu the call is complete on return. On a GPU it is complete on return if an operand
    /// is in host memory; otherwise it is queued.
    ///
    /// # Errors
    /// [`Status::NO_LOOP`], [`Status::CASTING`], [`Status::SHAPE`] and the other errors of
    /// `guf_call`; [`Status::ARG`] if the ufunc does not have exactly one output.
    pub fn call<'a>(&self, inputs: impl Inputs<'a>) -> Result<DynArray> {
        self.with().call(inputs)
    }

    /// Applies the ufunc and allocates all outputs.
    ///
    /// # Errors
    /// As [`Ufunc::call`].
    pub fn call_all<'a>(&self, inputs: impl Inputs<'a>) -> Result<Vec<DynArray>> {
        self.with().call_all(inputs)
    }

    /// Applies the ufunc and writes existing outputs: arrays or slices with any strides and any
    /// dtype to which the casting level `same_kind` allows a cast.
    ///
    /// # Errors
    /// As [`Ufunc::call`]; [`Status::READ_ONLY`], [`Status::OVERLAP`].
    #[inline(always)]
    pub fn call_into<'a>(&self, inputs: impl Inputs<'a>, outputs: impl Outputs<'a>) -> Result<()> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        let (inputs, outputs) = (inputs.as_ref(), outputs.as_ref());
        if outputs.is_empty() || outputs.iter().any(|output| output.0.is_none()) {
            return self.with().call_into_lists(inputs, outputs).map(|_| ());
        }
        let (mut frame, mut args) = (Frame::new(), sys::guf_call_args::new());
        frame.fill(&mut args, inputs, outputs)?;
        // SAFETY: the operands are in the frame and borrowed until the end of the call.
        check(|error| unsafe { sys::guf_call(self.as_raw(), &mut args, error) })
    }

    /// Begins a call with keywords: `add.with().where_(&mask).casting(Casting::Unsafe).call((&a,
    /// &b))`.
    pub fn with(&self) -> Call<'_> {
        Call::new(self)
    }
}

fn identity_of(number: i32) -> Identity {
    match number {
        sys::GUF_IDENTITY_REORDERABLE => Identity::Reorderable,
        sys::GUF_IDENTITY_ZERO => Identity::Zero,
        sys::GUF_IDENTITY_ONE => Identity::One,
        sys::GUF_IDENTITY_MINUS_ONE => Identity::MinusOne,
        sys::GUF_IDENTITY_MINUS_INF => Identity::MinusInf,
        _ => Identity::None,
    }
}

fn role_of(number: i32) -> Role {
    match number {
        sys::GUF_ROLE_OUT => Role::Out,
        sys::GUF_ROLE_INOUT => Role::Inout,
        _ => Role::In,
    }
}

impl fmt::Debug for Ufunc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            Ok(info) => write!(f, "Ufunc({}{})", info.name, info.signature),
            Err(error) => write!(f, "Ufunc({error})"),
        }
    }
}

/// Returns the error for a ufunc that does not have exactly one output.
pub(crate) fn one_output(nout: usize) -> Error {
    let message =
        format!("outputs of the ufunc: expected 1, got {nout}; call_all returns them all");
    Error::new(Status::ARG, message)
}

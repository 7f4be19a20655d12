// SPDX-License-Identifier: Apache-2.0
//! Ufuncs: what they are, and calls without keywords.

use crate::call::Call;
use crate::frame::Frame;
use crate::handle::counted;
use crate::status::{check, text_of};
use crate::{DType, DynArray, Error, Inputs, Module, Outputs, Result, Status};
use gufunc_sys as sys;
use std::fmt;

counted! {
    /// The counted handle of a ufunc.
    Handle, guf_ufunc, guf_ufunc_retain, guf_ufunc_release
}

/// A universal function, elementwise or generalized. [`ufunc`](crate::ufunc) finds one.
///
/// ```
/// use gufunc::{ufunc, weak};
/// let add = ufunc("add")?;
/// let x = [1.0f32, 2.0, 3.0];
/// let mut sum = [0f32; 3];
/// add.call_into((&x, weak(0.5)), &mut sum)?; // no copy of either slice
/// assert_eq!(sum, [1.5, 2.5, 3.5]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone)]
pub struct Ufunc {
    handle: Handle,
    nin: u32,
    nout: u32,
}

/// What a ufunc is.
#[derive(Clone, Debug)]
pub struct UfuncInfo {
    /// With the module's name and `:` for a module's.
    pub name: String,
    /// `""` for an elementwise ufunc; cut when longer than 1023 characters.
    pub signature: String,
    /// Rules beside the signature.
    pub rules: String,
    /// One line.
    pub doc: String,
    /// Inputs.
    pub nin: usize,
    /// Outputs.
    pub nout: usize,
    /// Of a reduction.
    pub identity: Identity,
    /// What is known of the function.
    pub flags: FunctionFlags,
    /// Loops, for [`Ufunc::loop_types`].
    pub nloops: u32,
    /// Of all operands.
    pub roles: Vec<Role>,
    /// Results of [`Ufunc::reduce`] for a reduction with a state; 0 for all other ufuncs.
    pub nresults: usize,
    /// Its part that merges two states; `""` where there is none.
    pub merge: String,
    /// Its part that makes results of a state; `""` where there is none.
    pub finish: String,
}

/// What an operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Role {
    /// Read.
    In = sys::GUF_ROLE_IN,
    /// Written.
    Out = sys::GUF_ROLE_OUT,
    /// Read and written in place.
    Inout = sys::GUF_ROLE_INOUT,
}

/// The identity of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Identity {
    /// None, and the order matters.
    #[default]
    None = sys::GUF_IDENTITY_NONE,
    /// None, and axes may be taken in any order.
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

/// What is known of a function, as bits that are joined with `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FunctionFlags(pub u32);

impl FunctionFlags {
    /// A generalized function that may write the view it reads.
    pub const INPLACE_SAFE: Self = Self(sys::GUF_FUNCTION_INPLACE_SAFE);
    /// Operands may be exchanged.
    pub const COMMUTATIVE: Self = Self(sys::GUF_FUNCTION_COMMUTATIVE);
    /// Brackets do not matter.
    pub const ASSOCIATIVE: Self = Self(sys::GUF_FUNCTION_ASSOCIATIVE);
    /// Compiled with contraction.
    pub const FAST: Self = Self(sys::GUF_FUNCTION_FAST);
    /// A tiny result is one that was rounded.
    pub const UNDERFLOWS: Self = Self(sys::GUF_FUNCTION_UNDERFLOWS);
    /// The last input is a divisor.
    pub const DIVIDES: Self = Self(sys::GUF_FUNCTION_DIVIDES);
    /// The leaf of a reduction, also of no element.
    pub const TAKES_NONE: Self = Self(sys::GUF_FUNCTION_TAKES_NONE);

    /// Whether all of `other` are set.
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

impl Ufunc {
    /// Takes a C handle over, with one reference.
    ///
    /// # Safety
    /// The handle is a live ufunc's, and the reference is the caller's to give.
    pub unsafe fn from_raw(raw: sys::guf_ufunc) -> Result<Self> {
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { Handle::from_raw(raw) };
        let mut info = sys::guf_ufunc_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_ufunc_get_info(raw, &mut info, error) })?;
        Ok(Ufunc { handle, nin: info.nin as u32, nout: info.nout as u32 })
    }

    /// The C handle, which stays this value's.
    #[inline]
    pub fn as_raw(&self) -> sys::guf_ufunc {
        self.handle.as_raw()
    }

    /// The C handle with its reference, which the caller then has to release.
    pub fn into_raw(self) -> sys::guf_ufunc {
        self.handle.into_raw()
    }

    /// How many inputs it has.
    pub fn nin(&self) -> usize {
        self.nin as usize
    }

    /// How many outputs it has.
    pub fn nout(&self) -> usize {
        self.nout as usize
    }

    /// What the ufunc is.
    ///
    /// # Errors
    /// What the library says.
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
        })
    }

    /// The types of loop `index`, inputs first, in the order loops are tried.
    ///
    /// # Errors
    /// [`Status::INDEX`].
    pub fn loop_types(&self, index: u32) -> Result<Vec<DType>> {
        let mut types = vec![0; (self.nin + self.nout) as usize];
        let (count, place) = (types.len() as i32, types.as_mut_ptr());
        // SAFETY: room for as many types as are said.
        check(|error| unsafe {
            sys::guf_ufunc_loop_types(self.as_raw(), index, count, place, error)
        })?;
        Ok(types.into_iter().map(DType).collect())
    }

    /// Adds a module's kernel as a loop: that of `function` with exactly these types.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`], [`Status::SIGNATURE`] where signatures differ, [`Status::EXISTS`].
    pub fn add_module_loop(&self, module: &Module, function: &str, types: &[DType]) -> Result<()> {
        let function = crate::context::c_string(function)?;
        let (count, types) = (crate::array::count(types), types.as_ptr().cast());
        // SAFETY: a terminated text and as many types as are said; a DType is its number.
        check(|error| unsafe {
            let (ufunc, module) = (self.as_raw(), module.as_raw());
            sys::guf_ufunc_add_module_loop(ufunc, module, function.as_ptr(), count, types, error)
        })
    }

    /// Makes it a reduction with a state, of which it is the leaf: [`Ufunc::reduce`] then takes it.
    /// `merge` makes one of two states, `finish` results of a state.
    ///
    /// # Errors
    /// [`Status::SIGNATURE`] where they do not fit together, [`Status::EXISTS`] for a second time.
    pub fn set_reduction(&self, merge: &Ufunc, finish: Option<&Ufunc>) -> Result<()> {
        let mut desc = sys::guf_reduction_desc::new();
        desc.merge = merge.as_raw();
        desc.finish = finish.map_or(std::ptr::null_mut(), Ufunc::as_raw);
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_ufunc_set_reduction(self.as_raw(), &desc, error) })
    }

    /// Applies the ufunc; its one output is allocated where the operands lie.
    ///
    /// Complete on return where an operand is host memory; on a GPU it is queued otherwise.
    ///
    /// # Errors
    /// [`Status::NO_LOOP`], [`Status::CASTING`], [`Status::SHAPE`] and the rest of `guf_call`'s;
    /// [`Status::ARG`] where it has not exactly one output.
    pub fn call<'a>(&self, inputs: impl Inputs<'a>) -> Result<DynArray> {
        self.with().call(inputs)
    }

    /// Applies the ufunc; all outputs are allocated.
    ///
    /// # Errors
    /// As [`Ufunc::call`].
    pub fn call_all<'a>(&self, inputs: impl Inputs<'a>) -> Result<Vec<DynArray>> {
        self.with().call_all(inputs)
    }

    /// Applies the ufunc and writes given outputs: arrays or slices of any strides and, as far as
    /// `same_kind` allows casts, of any dtype.
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
        // SAFETY: arguments whose operands are in the frame, and lent until the end of the call.
        check(|error| unsafe { sys::guf_call(self.as_raw(), &mut args, error) })
    }

    /// A call with keywords: `add.with().where_(&mask).casting(Casting::Unsafe).call((&a, &b))`.
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

/// The message for a ufunc that has another number of outputs than was asked for.
pub(crate) fn one_output(nout: usize) -> Error {
    let message = format!("the ufunc has {nout} outputs, not one: call_all gives them all");
    Error::new(Status::ARG, message)
}

// SPDX-License-Identifier: Apache-2.0
//! Element types and casting, and Rust types as elements of arrays.

use crate::context::c_string;
use crate::status::{check, static_text, text_of};
use crate::{Error, Result, Status};
use gufunc_sys as sys;
use std::fmt;
use std::str::FromStr;

/// The type of an array's elements. Two values are the same dtype if they are equal.
///
/// ```
/// use gufunc::{Casting, DType};
/// assert_eq!("<f4".parse::<DType>()?, DType::F32);
/// assert_eq!(DType::I32.promote(DType::F32)?, DType::F64);
/// assert!(!DType::F64.can_cast(DType::F32, Casting::Safe)?);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DType(pub(crate) u32);

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $value:ident;)*) => {
        impl DType { $($(#[$doc])* pub const $name: DType = DType(sys::$value);)* }
    };
}

dtypes! {
    /// No dtype is specified. In the signature of a call, it allows any dtype.
    UNSPECIFIED = GUF_DTYPE_UNSPECIFIED;
    /// `bool`.
    BOOL = GUF_BOOL;
    /// `i8`.
    I8 = GUF_I8;
    /// `i16`.
    I16 = GUF_I16;
    /// `i32`.
    I32 = GUF_I32;
    /// `i64`.
    I64 = GUF_I64;
    /// `u8`.
    U8 = GUF_U8;
    /// `u16`.
    U16 = GUF_U16;
    /// `u32`.
    U32 = GUF_U32;
    /// `u64`.
    U64 = GUF_U64;
    /// IEEE half precision: [`F16`](crate::F16), or the type of the crate `half`.
    F16 = GUF_F16;
    /// bfloat16: [`BF16`](crate::BF16), or the type of the crate `half`.
    BF16 = GUF_BF16;
    /// `f32`.
    F32 = GUF_F32;
    /// `f64`.
    F64 = GUF_F64;
    /// Two `f32`: `[f32; 2]`, or the type of the crate `num-complex`.
    C64 = GUF_C64;
    /// Two `f64`: `[f64; 2]`, or the type of the crate `num-complex`.
    C128 = GUF_C128;
    /// datetime64 without a unit.
    DATETIME64 = GUF_DATETIME64;
    /// timedelta64 without a unit.
    TIMEDELTA64 = GUF_TIMEDELTA64;
}

/// The smallest `i64`: "not a time" in datetime64 and timedelta64.
pub const NAT: i64 = sys::GUF_NAT;

/// The casting level of a call: the set of conversions that it may make. The default is `SameKind`,
/// as in NumPy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Casting {
    /// No casts.
    No = sys::GUF_CASTING_NO,
    /// Changes of the byte order only.
    Equiv = sys::GUF_CASTING_EQUIV,
    /// Casts that preserve every value.
    Safe = sys::GUF_CASTING_SAFE,
    /// Safe casts and casts within a kind.
    #[default]
    SameKind = sys::GUF_CASTING_SAME_KIND,
    /// All casts.
    Unsafe = sys::GUF_CASTING_UNSAFE,
}

/// The unit of a datetime64 or timedelta64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum TimeUnit {
    /// No unit of its own: the value has the unit of the other operand.
    Generic = sys::GUF_UNIT_GENERIC,
    Year = sys::GUF_UNIT_YEAR,
    Month = sys::GUF_UNIT_MONTH,
    /// Weeks begin on Thursday, because 1970-01-01 was a Thursday.
    Week = sys::GUF_UNIT_WEEK,
    Day = sys::GUF_UNIT_DAY,
    Hour = sys::GUF_UNIT_HOUR,
    Minute = sys::GUF_UNIT_MINUTE,
    Second = sys::GUF_UNIT_SECOND,
    Millisecond = sys::GUF_UNIT_MILLISECOND,
    Microsecond = sys::GUF_UNIT_MICROSECOND,
    Nanosecond = sys::GUF_UNIT_NANOSECOND,
    Picosecond = sys::GUF_UNIT_PICOSECOND,
    Femtosecond = sys::GUF_UNIT_FEMTOSECOND,
    Attosecond = sys::GUF_UNIT_ATTOSECOND,
}

const UNITS: [TimeUnit; 14] = [
    TimeUnit::Generic,
    TimeUnit::Year,
    TimeUnit::Month,
    TimeUnit::Week,
    TimeUnit::Day,
    TimeUnit::Hour,
    TimeUnit::Minute,
    TimeUnit::Second,
    TimeUnit::Millisecond,
    TimeUnit::Microsecond,
    TimeUnit::Nanosecond,
    TimeUnit::Picosecond,
    TimeUnit::Femtosecond,
    TimeUnit::Attosecond,
];

/// Description of a dtype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DTypeInfo {
    /// The dtype itself.
    pub dtype: DType,
    /// Size of an element in bytes.
    pub itemsize: usize,
    /// Alignment in bytes.
    pub alignment: usize,
    /// NumPy's kind: `b i u f E c m M V`.
    pub kind: char,
    /// The character of the dtype in type strings.
    pub letter: char,
    /// `"float32"`, `"datetime64[25s]"`.
    pub name: String,
    /// `"f4"`, `"bf16"`.
    pub short_name: String,
}

impl DType {
    /// Returns the C value.
    pub const fn as_raw(self) -> u32 {
        self.0
    }

    /// Makes a dtype from a C value. The library checks the value when the dtype is used.
    pub const fn from_raw(raw: u32) -> Self {
        DType(raw)
    }

    /// Returns the name, such as `"float32"`, or `""` for an invalid dtype.
    pub fn name(self) -> &'static str {
        // SAFETY: the function accepts any number.
        static_text(unsafe { sys::guf_dtype_name(self.0) })
    }

    /// Returns size, alignment, kind and names.
    ///
    /// # Errors
    /// [`Status::DTYPE`].
    pub fn info(self) -> Result<DTypeInfo> {
        let mut info = sys::guf_dtype_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_dtype_get_info(self.0, &mut info, error) })?;
        let letter = |number: i32| char::from(number as u8);
        Ok(DTypeInfo {
            dtype: self,
            itemsize: info.itemsize as usize,
            alignment: info.alignment as usize,
            kind: letter(info.kind),
            letter: letter(info.letter),
            name: text_of(&info.name),
            short_name: text_of(&info.short_name),
        })
    }

    /// Returns the size of an element in bytes.
    ///
    /// # Errors
    /// [`Status::DTYPE`].
    pub fn itemsize(self) -> Result<usize> {
        Ok(self.info()?.itemsize)
    }

    /// Whether a cast is allowed, like NumPy's `can_cast`.
    ///
    /// # Errors
    /// [`Status::DTYPE`].
    pub fn can_cast(self, to: DType, casting: Casting) -> Result<bool> {
        let mut possible = 0;
        // SAFETY: the result pointer is valid for the call.
        check(|error| unsafe {
            sys::guf_dtype_can_cast(self.0, to.0, casting as i32, &mut possible, error)
        })?;
        Ok(possible != 0)
    }

    /// Returns the smallest dtype to which both dtypes can be cast safely, like NumPy's
    /// `promote_types`.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if there is no common dtype, [`Status::OVERFLOW`] if the common unit
    /// cannot be represented.
    pub fn promote(self, other: DType) -> Result<DType> {
        let mut promoted = 0;
        // SAFETY: the result pointer is valid for the call.
        check(|error| unsafe { sys::guf_dtype_promote(self.0, other.0, &mut promoted, error) })?;
        Ok(DType(promoted))
    }

    /// Returns this datetime type with a unit and a multiple: `Second` and 25 make `[25s]`.
    ///
    /// # Errors
    /// [`Status::DTYPE`] for other dtypes, [`Status::ARG`] for a multiple of 0 or above 65535.
    pub fn with_unit(self, unit: TimeUnit, multiple: u32) -> Result<DType> {
        let mut made = 0;
        // SAFETY: the result pointer is valid for the call.
        check(|error| unsafe {
            sys::guf_dtype_make_time(self.0, unit as i32, multiple, &mut made, error)
        })?;
        Ok(DType(made))
    }

    /// Returns the unit of a datetime64 or timedelta64, and its multiple.
    ///
    /// # Errors
    /// [`Status::DTYPE`] for other dtypes.
    pub fn unit(self) -> Result<(TimeUnit, u32)> {
        let (mut unit, mut multiple) = (0, 0);
        // SAFETY: both result pointers are valid for the call.
        check(|error| unsafe { sys::guf_dtype_get_unit(self.0, &mut unit, &mut multiple, error) })?;
        let known = UNITS.get(unit as usize).copied();
        let unknown = || Error::new(Status::UNSUPPORTED, format!("unit {unit} is not known"));
        Ok((known.ok_or_else(unknown)?, multiple))
    }

    /// Whether the dtype is datetime64 or timedelta64, with any unit.
    pub const fn is_time(self) -> bool {
        matches!(self.0 & 0xff, 0x80 | 0x81)
    }

    /// Registers a structured dtype. Only loops of the program can interpret its elements.
    /// Registering the same name with the same layout again returns the same dtype.
    ///
    /// # Errors
    /// [`Status::ARG`], [`Status::EXISTS`] if the name is registered with a different layout,
    /// [`Status::NO_MEMORY`].
    pub fn register(name: &str, itemsize: usize, alignment: usize) -> Result<DType> {
        let name = c_string(name)?;
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut made = 0;
        // SAFETY: the text is NUL-terminated, and the result pointer is valid.
        check(|error| unsafe {
            let (size, alignment) = (small(itemsize), small(alignment));
            sys::guf_dtype_register(name.as_ptr(), size, alignment, &mut made, error)
        })?;
        Ok(DType(made))
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Parses NumPy's spellings (`"float32"`, `"f4"`, `"<f4"`, `"f"`, `"datetime64[ns]"`) and names
    /// of structured dtypes.
    fn from_str(spelling: &str) -> Result<DType> {
        let spelling = c_string(spelling)?;
        let mut parsed = 0;
        // SAFETY: the text is NUL-terminated, and the result pointer is valid.
        check(|error| unsafe { sys::guf_dtype_parse(spelling.as_ptr(), &mut parsed, error) })?;
        Ok(DType(parsed))
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            "" => write!(f, "DType({:#x})", self.0),
            name => write!(f, "DType({name})"),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type whose values are elements of arrays.
///
/// # Safety
/// A value has exactly the representation of an element of `dtype()`, so both have the same size.
/// The type has no padding, because all of its bytes are read. Every bit pattern that
/// [`Element::valid`] accepts is a valid value. A struct of the program may implement this trait:
///
/// ```
/// use gufunc::{DType, Element};
/// use std::sync::OnceLock;
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { mass: f64, charge: i64 }
///
/// // SAFETY: two numbers of eight bytes, any bits.
/// unsafe impl Element for Particle {
///     fn dtype() -> DType {
///         static DTYPE: OnceLock<DType> = OnceLock::new();
///         *DTYPE.get_or_init(|| DType::register("particle", 16, 8).unwrap_or(DType::UNSPECIFIED))
///     }
/// }
/// assert_eq!(Particle::dtype().info()?.itemsize, 16);
/// # Ok::<(), gufunc::Error>(())
/// ```
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// Returns the dtype of the elements.
    fn dtype() -> DType;

    /// Whether elements of `dtype` can be read as values of this type. `i64` also reads elements of
    /// datetime types.
    fn reads(dtype: DType) -> bool {
        dtype == Self::dtype()
    }

    /// Whether all elements in these bytes are valid values. Only `bool` has invalid bit patterns.
    fn valid(_bytes: &[u8]) -> bool {
        true
    }

    /// Reads an element at an address of any alignment.
    ///
    /// # Safety
    /// There is an element of `dtype()` at the address.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { at.cast::<Self>().read_unaligned() }
    }
}

macro_rules! numbers {
    ($($type:ty => $dtype:ident,)*) => {$(
        // SAFETY: the C type has the same representation.
        unsafe impl Element for $type {
            #[inline(always)]
            fn dtype() -> DType {
                DType::$dtype
            }
        }
    )*};
}

numbers! {
    i8 => I8, i16 => I16, i32 => I32,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64,
    F16 => F16, BF16 => BF16,
    [f32; 2] => C64, [f64; 2] => C128,
}

// SAFETY: the C type has the same representation, also for datetime types.
unsafe impl Element for i64 {
    #[inline(always)]
    fn dtype() -> DType {
        DType::I64
    }

    fn reads(dtype: DType) -> bool {
        dtype == DType::I64 || dtype.is_time()
    }
}

// SAFETY: one byte, and `valid` checks that it is 0 or 1.
unsafe impl Element for bool {
    #[inline(always)]
    fn dtype() -> DType {
        DType::BOOL
    }

    fn valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte <= 1)
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: guaranteed by the caller. Uninitialized memory of the program may contain bytes
        // other than 0 and 1.
        unsafe { at.read() != 0 }
    }
}

/// The bits of a half-precision number. With the feature `half`, the type of that crate is an
/// element too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16, which is the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BF16(pub u16);

#[cfg(feature = "half")]
numbers! { half::f16 => F16, half::bf16 => BF16, }

#[cfg(feature = "num-complex")]
numbers! { num_complex::Complex<f32> => C64, num_complex::Complex<f64> => C128, }

/// Returns the bytes of elements.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, as [`Element`] requires.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

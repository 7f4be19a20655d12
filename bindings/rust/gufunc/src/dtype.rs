// SPDX-License-Identifier: Apache-2.0
//! Element types and casting.

use crate::context::c_string;
use crate::status::{check, static_text, text_of};
use crate::{Error, Result, Status};
use gufunc_sys as sys;
use std::fmt;
use std::str::FromStr;

/// The type of an array's elements. Equal values are equal types.
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
    /// Nothing is said: in signatures "any".
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
    /// IEEE half precision: [`F16`](crate::F16), or half's type.
    F16 = GUF_F16;
    /// bfloat16: [`BF16`](crate::BF16), or half's type.
    BF16 = GUF_BF16;
    /// `f32`.
    F32 = GUF_F32;
    /// `f64`.
    F64 = GUF_F64;
    /// Two `f32`: `[f32; 2]`, or num-complex's type.
    C64 = GUF_C64;
    /// Two `f64`: `[f64; 2]`, or num-complex's type.
    C128 = GUF_C128;
    /// A time without a unit.
    DATETIME64 = GUF_DATETIME64;
    /// A difference of times without a unit.
    TIMEDELTA64 = GUF_TIMEDELTA64;
}

/// The least `i64`: "not a time" in datetime64 and timedelta64.
pub const NAT: i64 = sys::GUF_NAT;

/// Which casts a call may make. The default is `SameKind`, as NumPy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Casting {
    /// None at all.
    No = sys::GUF_CASTING_NO,
    /// Byte order only.
    Equiv = sys::GUF_CASTING_EQUIV,
    /// Casts that keep every value.
    Safe = sys::GUF_CASTING_SAFE,
    /// Safe ones, and those within a kind.
    #[default]
    SameKind = sys::GUF_CASTING_SAME_KIND,
    /// All of them.
    Unsafe = sys::GUF_CASTING_UNSAFE,
}

/// What a step of a datetime64 or timedelta64 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum TimeUnit {
    /// None: takes that of the other operand.
    Generic = sys::GUF_UNIT_GENERIC,
    Year = sys::GUF_UNIT_YEAR,
    Month = sys::GUF_UNIT_MONTH,
    /// Begins on Thursday, as 1970-01-01.
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

/// What a dtype is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DTypeInfo {
    /// The dtype itself.
    pub dtype: DType,
    /// Bytes of an element.
    pub itemsize: usize,
    /// Bytes.
    pub alignment: usize,
    /// NumPy's kind: `b i u f E c m M V`.
    pub kind: char,
    /// The character of type strings.
    pub letter: char,
    /// `"float32"`, `"datetime64[25s]"`.
    pub name: String,
    /// `"f4"`, `"bf16"`.
    pub short_name: String,
}

impl DType {
    /// The C value.
    pub const fn as_raw(self) -> u32 {
        self.0
    }

    /// Of a C value, which the library looks at when it is used.
    pub const fn from_raw(raw: u32) -> Self {
        DType(raw)
    }

    /// `"float32"`; `""` for a value that is no dtype.
    pub fn name(self) -> &'static str {
        // SAFETY: the function accepts any number.
        static_text(unsafe { sys::guf_dtype_name(self.0) })
    }

    /// Size, alignment, kind and names.
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

    /// Bytes of an element.
    ///
    /// # Errors
    /// [`Status::DTYPE`].
    pub fn itemsize(self) -> Result<usize> {
        Ok(self.info()?.itemsize)
    }

    /// NumPy's `can_cast`.
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

    /// NumPy's `promote_types`.
    ///
    /// # Errors
    /// [`Status::DTYPE`] where there is no common type, [`Status::OVERFLOW`] of units.
    pub fn promote(self, other: DType) -> Result<DType> {
        let mut promoted = 0;
        // SAFETY: the result pointer is valid for the call.
        check(|error| unsafe { sys::guf_dtype_promote(self.0, other.0, &mut promoted, error) })?;
        Ok(DType(promoted))
    }

    /// This datetime64 or timedelta64 with a unit: `Second` and 25 is `[25s]`.
    ///
    /// # Errors
    /// [`Status::DTYPE`] for other types, [`Status::ARG`] for a multiple of 0 or above 65535.
    pub fn with_unit(self, unit: TimeUnit, multiple: u32) -> Result<DType> {
        let mut made = 0;
        // SAFETY: the result pointer is valid for the call.
        check(|error| unsafe {
            sys::guf_dtype_make_time(self.0, unit as i32, multiple, &mut made, error)
        })?;
        Ok(DType(made))
    }

    /// The unit of a datetime64 or timedelta64, and its multiple.
    ///
    /// # Errors
    /// [`Status::DTYPE`] for other types.
    pub fn unit(self) -> Result<(TimeUnit, u32)> {
        let (mut unit, mut multiple) = (0, 0);
        // SAFETY: places for the answers.
        check(|error| unsafe { sys::guf_dtype_get_unit(self.0, &mut unit, &mut multiple, error) })?;
        let known = UNITS.get(unit as usize).copied();
        let unknown = || Error::new(Status::UNSUPPORTED, format!("unit {unit} is not known"));
        Ok((known.ok_or_else(unknown)?, multiple))
    }

    /// Whether it is a datetime64 or timedelta64.
    pub const fn is_time(self) -> bool {
        matches!(self.0 & 0xff, 0x80 | 0x81)
    }

    /// Makes a record known: elements that only loops of the program look into. The same name with
    /// the same layout gives the same dtype.
    ///
    /// # Errors
    /// [`Status::ARG`], [`Status::EXISTS`] for another layout, [`Status::NO_MEMORY`].
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

    /// Reads NumPy's spellings: `"float32"`, `"f4"`, `"<f4"`, `"f"`, `"datetime64[ns]"`, and names
    /// of records.
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

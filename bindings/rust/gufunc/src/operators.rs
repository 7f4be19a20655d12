// SPDX-License-Identifier: Apache-2.0
//! Operators between arrays. The operators return a `Result`, because shapes and dtypes may be
//! incompatible.

use crate::{scalar, ufunc, Array, DynArray, Element, Operand, Result, Ufunc};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};
use std::sync::OnceLock;

fn apply(found: &OnceLock<Ufunc>, name: &str, operands: &[Operand<'_>]) -> Result<DynArray> {
    let known = match found.get() {
        Some(known) => known,
        None => {
            let known = ufunc(name)?;
            found.get_or_init(|| known)
        }
    };
    known.with().call_lists(operands)
}

/// Implements operators whose left operand is a number and whose right operand is an array of the
/// number's type.
macro_rules! numbers {
    ($trait:ident $method:ident $name:literal, $made:ty, $typed:ident; $($number:ty)*) => {$(
        impl $trait<&Array<$number>> for $number {
            type Output = Result<$made>;

            fn $method(self, other: &Array<$number>) -> Result<$made> {
                static FOUND: OnceLock<Ufunc> = OnceLock::new();
                numbers!($typed apply(&FOUND, $name, &[scalar(self), other.into()]))
            }
        }
    )*};
    (typed $made:expr) => { $made?.typed() };
    (untyped $made:expr) => { $made };
}

macro_rules! binary {
    ($($trait:ident $method:ident $name:literal $typed:ident;)*) => {$(
        impl $trait<&DynArray> for &DynArray {
            type Output = Result<DynArray>;

            fn $method(self, other: &DynArray) -> Result<DynArray> {
                static FOUND: OnceLock<Ufunc> = OnceLock::new();
                apply(&FOUND, $name, &[self.into(), other.into()])
            }
        }

        binary!($typed $trait $method $name);
    )*};
    (typed $trait:ident $method:ident $name:literal) => {
        impl<T: Element> $trait<&Array<T>> for &Array<T> {
            type Output = Result<Array<T>>;

            fn $method(self, other: &Array<T>) -> Result<Array<T>> {
                $trait::$method(&**self, &**other)?.typed()
            }
        }

        impl<T: Element> $trait<T> for &Array<T> {
            type Output = Result<Array<T>>;

            fn $method(self, other: T) -> Result<Array<T>> {
                static FOUND: OnceLock<Ufunc> = OnceLock::new();
                apply(&FOUND, $name, &[self.into(), scalar(other)])?.typed()
            }
        }

        numbers!($trait $method $name, Array<Self>, typed;
            i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    };
    (other $trait:ident $method:ident $name:literal) => {
        impl<T: Element> $trait<&Array<T>> for &Array<T> {
            /// Not an `Array<T>`, because the quotient of integers is a float.
            type Output = Result<DynArray>;

            fn $method(self, other: &Array<T>) -> Result<DynArray> {
                $trait::$method(&**self, &**other)
            }
        }

        impl<T: Element> $trait<T> for &Array<T> {
            type Output = Result<DynArray>;

            fn $method(self, other: T) -> Result<DynArray> {
                static FOUND: OnceLock<Ufunc> = OnceLock::new();
                apply(&FOUND, $name, &[self.into(), scalar(other)])
            }
        }

        numbers!($trait $method $name, DynArray, untyped;
            i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    };
}

binary! {
    Add add "add" typed;
    Sub sub "subtract" typed;
    Mul mul "multiply" typed;
    Div div "divide" other;
    Rem rem "remainder" typed;
    BitAnd bitand "bitwise_and" typed;
    BitOr bitor "bitwise_or" typed;
    BitXor bitxor "bitwise_xor" typed;
    Shl shl "left_shift" typed;
    Shr shr "right_shift" typed;
}

macro_rules! unary {
    ($($trait:ident $method:ident $name:literal;)*) => {$(
        impl $trait for &DynArray {
            type Output = Result<DynArray>;

            fn $method(self) -> Result<DynArray> {
                static FOUND: OnceLock<Ufunc> = OnceLock::new();
                apply(&FOUND, $name, &[self.into()])
            }
        }

        impl<T: Element> $trait for &Array<T> {
            type Output = Result<Array<T>>;

            fn $method(self) -> Result<Array<T>> {
                $trait::$method(&**self)?.typed()
            }
        }
    )*};
}

unary! {
    Neg neg "negative";
    Not not "invert";
}

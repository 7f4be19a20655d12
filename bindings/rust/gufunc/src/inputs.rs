// SPDX-License-Identifier: Apache-2.0
//! Lists of operands: one, tuples, arrays of them.

use crate::{Array, DynArray, Element, Operand, Output, Tensor};

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Operand<'a> {
    #[inline]
    fn from(elements: &'a [T; N]) -> Self {
        elements.as_slice().into()
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Operand<'a> {
    #[inline]
    fn from(elements: &'a Vec<T>) -> Self {
        elements.as_slice().into()
    }
}

impl<'a> From<&'a DynArray> for Output<'a> {
    #[inline]
    fn from(array: &'a DynArray) -> Self {
        Output(array.into())
    }
}

impl<'a> From<&'a mut DynArray> for Output<'a> {
    #[inline]
    fn from(array: &'a mut DynArray) -> Self {
        Output(Operand::from(&*array))
    }
}

impl<'a, T: Element> From<&'a Array<T>> for Output<'a> {
    #[inline]
    fn from(array: &'a Array<T>) -> Self {
        Output(array.into())
    }
}

impl<'a, T: Element> From<&'a mut Array<T>> for Output<'a> {
    #[inline]
    fn from(array: &'a mut Array<T>) -> Self {
        Output(Operand::from(&*array))
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Output<'a> {
    #[inline]
    fn from(elements: &'a mut [T]) -> Self {
        Output(Tensor::of_slice(elements, 0).into())
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for Output<'a> {
    #[inline]
    fn from(elements: &'a mut [T; N]) -> Self {
        elements.as_mut_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for Output<'a> {
    #[inline]
    fn from(elements: &'a mut Vec<T>) -> Self {
        elements.as_mut_slice().into()
    }
}

/// The inputs of a call: one of them, a tuple of up to eight, or a list of [`Operand`]s.
pub trait Inputs<'a> {
    /// As a list.
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]>;
}

/// The outputs of a call: one of them, a tuple of up to four, `()`, or a list of [`Output`]s.
pub trait Outputs<'a> {
    /// As a list.
    fn into_outputs(self) -> impl AsRef<[Output<'a>]>;
}

impl<'a, T: Into<Operand<'a>>> Inputs<'a> for T {
    #[inline]
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]> {
        [self.into()]
    }
}

impl<'a, T: Into<Output<'a>>> Outputs<'a> for T {
    #[inline]
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        [self.into()]
    }
}

impl<'a> Outputs<'a> for () {
    #[inline]
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        []
    }
}

macro_rules! tuples {
    ($trait:ident, $list:ident, $item:ident: $($name:ident)*) => {
        impl<'a, $($name: Into<$item<'a>>),*> $trait<'a> for ($($name,)*) {
            #[inline]
            #[allow(non_snake_case)]
            fn $list(self) -> impl AsRef<[$item<'a>]> {
                let ($($name,)*) = self;
                [$($name.into()),*]
            }
        }
    };
}

tuples!(Inputs, into_inputs, Operand: A);
tuples!(Inputs, into_inputs, Operand: A B);
tuples!(Inputs, into_inputs, Operand: A B C);
tuples!(Inputs, into_inputs, Operand: A B C D);
tuples!(Inputs, into_inputs, Operand: A B C D E);
tuples!(Inputs, into_inputs, Operand: A B C D E F);
tuples!(Inputs, into_inputs, Operand: A B C D E F G);
tuples!(Inputs, into_inputs, Operand: A B C D E F G H);
tuples!(Outputs, into_outputs, Output: A);
tuples!(Outputs, into_outputs, Output: A B);
tuples!(Outputs, into_outputs, Output: A B C);
tuples!(Outputs, into_outputs, Output: A B C D);

impl<'a> Inputs<'a> for Vec<Operand<'a>> {
    fn into_inputs(self) -> impl AsRef<[Operand<'a>]> {
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
}

impl<'a, const N: usize> Outputs<'a> for [Output<'a>; N] {
    fn into_outputs(self) -> impl AsRef<[Output<'a>]> {
        self
    }
}

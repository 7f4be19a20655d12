// SPDX-License-Identifier: Apache-2.0
//! Conversions of single operands, tuples and arrays to lists of operands.

use crate::{Array, DynArray, Element, Operand, Output};

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

// SPDX-License-Identifier: Apache-2.0
//! Closures from numbers to a number as loops.

use crate::{DType, Element, LoopArgs};

/// A closure from elements to an element. `A` is the list of its types. It runs as a loop
/// ([`Ufunc::add_elementwise`](crate::Ufunc::add_elementwise)), and nowhere else:
///
/// ```compile_fail,E0133
/// use gufunc::{Elementwise, LoopArgs};
/// fn anywhere(args: &LoopArgs<'_>) {
///     Elementwise::<(f64, f64)>::run(&|x: f64| -x, args); // of whatever types
/// }
/// ```
pub trait Elementwise<A>: Send + Sync + 'static {
    /// The types of the operands, the result last.
    fn types() -> Vec<DType>;
    /// Goes through all items.
    ///
    /// # Safety
    /// The operands are of these types, and have no core dimensions.
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
                    // SAFETY: operands of these types, says the caller, and an item that there is.
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

// SPDX-License-Identifier: Apache-2.0
//! Closures that compute one element from one to four elements, as loops of elementwise ufuncs.

use crate::{DType, Element, LoopArgs};

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

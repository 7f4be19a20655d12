// SPDX-License-Identifier: Apache-2.0
//! Counted handles: each Rust value is one reference.

/// Declares a type over a counted handle, with `Clone`, `Drop`, `Send`, `Sync` and the way out.
macro_rules! counted {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $retain:ident, $release:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name {
            raw: gufunc_sys::$raw,
        }

        // SAFETY: handles are values that the library looks up; any thread may use and release
        // them.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// The C handle, which stays this value's.
            #[inline]
            pub fn as_raw(&self) -> gufunc_sys::$raw {
                self.raw
            }

            /// The C handle with its reference, which the caller then has to release.
            pub fn into_raw(self) -> gufunc_sys::$raw {
                std::mem::ManuallyDrop::new(self).raw
            }

            /// Takes a C handle over, with one reference.
            ///
            /// # Safety
            /// The handle is live and of this kind, and the reference is the caller's to give.
            #[inline]
            pub unsafe fn from_raw(raw: gufunc_sys::$raw) -> Self {
                Self { raw }
            }
        }

        impl Clone for $name {
            /// Another reference to the same object.
            fn clone(&self) -> Self {
                // SAFETY: takes any handle. Of a live one it cannot fail; of none, the default
                // context's, it does nothing, also where no library was found.
                unsafe { gufunc_sys::$retain(self.raw, std::ptr::null_mut()) };
                Self { raw: self.raw }
            }
        }

        impl Drop for $name {
            /// Never blocks; the object is freed by a later call.
            #[inline]
            fn drop(&mut self) {
                // SAFETY: this value's own reference.
                unsafe { gufunc_sys::$release(self.raw, std::ptr::null_mut()) };
            }
        }
    };
}

/// `Debug` of handles that say no more: the type and the number.
macro_rules! shown {
    ($($name:ident)*) => {$(
        impl std::fmt::Debug for crate::$name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({:p})", stringify!($name), self.as_raw())
            }
        }
    )*};
}

shown! { Event Graph Kernel Plan Stream }

pub(crate) use counted;

// SPDX-License-Identifier: Apache-2.0
//! Reference-counted handles: each Rust value is one reference.

/// Declares a type for a counted handle, with `Clone`, `Drop`, `Send`, `Sync` and conversions from
/// and to the C handle.
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
        // SAFETY: as for `Send`.
        unsafe impl Sync for $name {}

        impl $name {
            /// Returns the C handle, which this value continues to own.
            #[inline]
            pub fn as_raw(&self) -> gufunc_sys::$raw {
                self.raw
            }

            /// Returns the C handle and its reference, which the caller must release.
            pub fn into_raw(self) -> gufunc_sys::$raw {
                std::mem::ManuallyDrop::new(self).raw
            }

            /// Takes ownership of one reference of a C handle.
            ///
            /// # Safety
            /// The handle is live and of this kind, and the caller owns the reference.
            #[inline]
            pub unsafe fn from_raw(raw: gufunc_sys::$raw) -> Self {
                Self { raw }
            }
        }

        impl Clone for $name {
            /// Returns another reference to the same object.
            fn clone(&self) -> Self {
                // SAFETY: the function accepts any handle. For a live handle it cannot fail. For
                // NULL, which is the default context, the function does nothing, even if no library
                // was found.
                unsafe { gufunc_sys::$retain(self.raw, std::ptr::null_mut()) };
                Self { raw: self.raw }
            }
        }

        impl Drop for $name {
            /// Releases the reference and never blocks. A later call of the library frees the
            /// object.
            #[inline]
            fn drop(&mut self) {
                // SAFETY: this value owns the reference.
                unsafe { gufunc_sys::$release(self.raw, std::ptr::null_mut()) };
            }
        }
    };
}

/// Implements `Debug` for handles that have no description. It prints the type and the handle's
/// number.
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

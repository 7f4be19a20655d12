// SPDX-License-Identifier: Apache-2.0
//! Status codes and errors, and texts whose length the library reports.

use gufunc_sys as sys;
use std::ffi::{c_char, CStr};
use std::fmt;
use std::mem::MaybeUninit;

/// The result of a function of the library: a number of `guf_status_code`.
///
/// `code / 100` is the class of an error. The class of a code never changes, so a code that this
/// version does not know still identifies the kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Status(pub i32);

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:ident;)*) => {
        impl Status {
            $($(#[$doc])* pub const $name: Status = Status(sys::$code);)*
        }
    };
}

statuses! {
    /// Success.
    OK = GUF_OK;
    /// Result of a query: the work is still running.
    NOT_READY = GUF_NOT_READY;
    /// Result of a wait: the time limit expired, and the work continues.
    TIMEOUT = GUF_TIMEOUT;
    /// An argument that the function does not accept.
    ARG = GUF_E_ARG;
    /// A handle whose object was freed, or a handle of a different kind.
    HANDLE = GUF_E_HANDLE;
    /// The size of a structure is not the size that the library expects.
    STRUCT = GUF_E_STRUCT;
    /// The caller's memory is too small.
    BUFFER_TOO_SMALL = GUF_E_BUFFER_TOO_SMALL;
    /// The name or loop is already registered.
    EXISTS = GUF_E_EXISTS;
    /// No such name, device index, module or kernel.
    NOT_FOUND = GUF_E_NOT_FOUND;
    /// The operands of a launch do not match the operands of the plan.
    PLAN_MISMATCH = GUF_E_PLAN_MISMATCH;
    /// Operands are on devices that the call cannot mix.
    DEVICE_MISMATCH = GUF_E_DEVICE_MISMATCH;
    /// An unknown or unsuitable dtype.
    DTYPE = GUF_E_DTYPE;
    /// No loop of the ufunc accepts these dtypes.
    NO_LOOP = GUF_E_NO_LOOP;
    /// The casting level forbids a required cast.
    CASTING = GUF_E_CASTING;
    /// Shapes are incompatible, or a size overflows.
    SHAPE = GUF_E_SHAPE;
    /// A malformed signature, type string or dimension rule.
    SIGNATURE = GUF_E_SIGNATURE;
    /// An output cannot be written.
    READ_ONLY = GUF_E_READ_ONLY;
    /// An output overlaps itself.
    OVERLAP = GUF_E_OVERLAP;
    /// A value outside its domain.
    VALUE = GUF_E_VALUE;
    /// An index outside the array.
    INDEX = GUF_E_INDEX;
    /// An axis outside the array, or repeated.
    AXIS = GUF_E_AXIS;
    /// A weak integer does not fit.
    OVERFLOW = GUF_E_OVERFLOW;
    /// A floating-point flag was raised.
    FLOATING_POINT = GUF_E_FLOATING_POINT;
    /// Valid, but not supported by this version or device.
    UNSUPPORTED = GUF_E_UNSUPPORTED;
    /// No compiled kernel for this loop on this device.
    NO_IMAGE = GUF_E_NO_IMAGE;
    /// The call would allocate or wait while a stream is being captured.
    CAPTURE = GUF_E_CAPTURE;
    /// No plugin with that name was found.
    NO_BACKEND = GUF_E_NO_BACKEND;
    /// The vendor's driver library is missing or a stub.
    NO_DRIVER = GUF_E_NO_DRIVER;
    /// The vendor's driver is older than the plugin requires.
    DRIVER_OLD = GUF_E_DRIVER_OLD;
    /// The driver works but reports no usable device.
    NO_DEVICE = GUF_E_NO_DEVICE;
    /// A plugin or module has a different ABI.
    ABI = GUF_E_ABI;
    /// A file whose owner or mode is not trusted.
    UNTRUSTED = GUF_E_UNTRUSTED;
    /// A host allocation failed.
    NO_MEMORY = GUF_E_NO_MEMORY;
    /// A device allocation failed.
    DEVICE_MEMORY = GUF_E_DEVICE_MEMORY;
    /// A file cannot be opened or read.
    IO = GUF_E_IO;
    /// A file is damaged, or does not have the format that its header claims.
    BAD_FILE = GUF_E_BAD_FILE;
    /// The backend rejected or failed a launch.
    LAUNCH = GUF_E_LAUNCH;
    /// A loop of the program returned an error, or panicked.
    LOOP = GUF_E_LOOP;
    /// Cancelled by the caller.
    CANCELLED = GUF_E_CANCELLED;
    /// A stream or device of the parent process is used in a child.
    FORKED = GUF_E_FORKED;
    /// The library was shut down.
    SHUTDOWN = GUF_E_SHUTDOWN;
    /// The device failed permanently in this process.
    DEVICE_LOST = GUF_E_DEVICE_LOST;
    /// A broken invariant of the library.
    INTERNAL = GUF_E_INTERNAL;
}

impl Status {
    /// Returns the name of the code, such as `"GUF_E_SHAPE"`.
    pub fn name(self) -> &'static str {
        // SAFETY: the function accepts any number.
        static_text(unsafe { sys::guf_status_name(self.0) })
    }

    /// Returns the meaning of the code in one line.
    pub fn text(self) -> &'static str {
        // SAFETY: the function accepts any number.
        static_text(unsafe { sys::guf_status_text(self.0) })
    }

    /// Returns the class of an error: 1 the caller, 2 types, 3 values, 4 index, 5 axis, 6 overflow,
    /// 7 floating point, 8 not implemented, 9 availability, 10 memory, 11 files, 12 and 13 run
    /// time.
    pub fn class(self) -> i32 {
        self.0 / 100
    }

    /// Whether the status is an error, not the result of a query or wait.
    pub fn is_error(self) -> bool {
        self.0 >= sys::GUF_E_ARG
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

pub(crate) fn static_text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the library's texts are ASCII and never freed.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

struct Details {
    status: Status,
    argument: Option<usize>,
    axis: Option<i64>,
    native_code: i32,
    message: String,
}

/// A failure of the library: its status, the operand or axis at fault, and a message of one
/// sentence.
///
/// ```
/// # use gufunc::{ufunc, Status};
/// let error = ufunc("add")?.call((&[1.0, 2.0], &[1.0, 2.0, 3.0])).unwrap_err();
/// assert_eq!(error.status(), Status::SHAPE);
/// assert!(error.message().contains("could not be broadcast together"));
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<Details>);

/// The result of fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Clone for Details {
    fn clone(&self) -> Self {
        Details { message: self.message.clone(), ..*self }
    }
}

impl Error {
    /// Makes an error that a host loop or a core_dims hook of the program may return.
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        let message = message.into();
        Error(Box::new(Details { status, argument: None, axis: None, native_code: 0, message }))
    }

    /// Sets the operand at fault, counted from 0.
    pub fn with_argument(mut self, argument: usize) -> Self {
        self.0.argument = Some(argument);
        self
    }

    /// Sets the axis at fault.
    pub fn with_axis(mut self, axis: i64) -> Self {
        self.0.axis = Some(axis);
        self
    }

    /// Sets the error code of the operating system or vendor.
    pub fn with_native_code(mut self, code: i32) -> Self {
        self.0.native_code = code;
        self
    }

    /// Returns the status of the call.
    pub fn status(&self) -> Status {
        self.0.status
    }

    /// Returns the message: one sentence, and NumPy's text where NumPy has one.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the operand or parameter at fault, counted from 0.
    pub fn argument(&self) -> Option<usize> {
        self.0.argument
    }

    /// Returns the axis at fault. It may be negative if the call passed an axis that the array does
    /// not have.
    pub fn axis(&self) -> Option<i64> {
        self.0.axis
    }

    /// Returns the error code of the operating system or vendor, or 0 if there is none.
    pub fn native_code(&self) -> i32 {
        self.0.native_code
    }

    #[cold]
    fn of_record(status: sys::guf_status, record: &sys::guf_error) -> Self {
        let place = |number: i32| usize::try_from(number).ok();
        let mut message = text_of(&record.message);
        if message.is_empty() {
            message = Status(status).text().to_string();
        }
        Error(Box::new(Details {
            status: Status(status),
            argument: place(record.argument),
            axis: Some(i64::from(record.axis)).filter(|&axis| axis != -1),
            native_code: record.native_code,
            message,
        }))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("status", &self.0.status).field("message", &self.0.message);
        if let Some(argument) = self.0.argument {
            shown.field("argument", &argument);
        }
        if let Some(axis) = self.0.axis {
            shown.field("axis", &axis);
        }
        if self.0.native_code != 0 {
            shown.field("native_code", &self.0.native_code);
        }
        shown.finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

/// Returns the text in an array of C characters, up to its NUL.
pub(crate) fn text_of(characters: &[c_char]) -> String {
    let bytes: Vec<u8> = characters.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Makes a call with an error record on the stack. Any status except success is an error.
#[inline(always)]
pub(crate) fn check(call: impl FnOnce(*mut sys::guf_error) -> sys::guf_status) -> Result<()> {
    match run(call)? {
        Status::OK => Ok(()),
        other => Err(Error::new(other, other.text())),
    }
}

/// Makes a query or wait, whose results `NOT_READY` and `TIMEOUT` are not errors.
#[inline(always)]
pub(crate) fn run(call: impl FnOnce(*mut sys::guf_error) -> sys::guf_status) -> Result<Status> {
    let mut record = MaybeUninit::<sys::guf_error>::uninit();
    let place = record.as_mut_ptr();
    // Sets only two fields, because setting all fields would be slower. The library reads
    // `struct_size`, and `status` shows whether the library wrote the record.
    // SAFETY: the fields belong to the record.
    unsafe {
        (*place).struct_size = size_of::<sys::guf_error>() as u32;
        (*place).status = sys::GUF_OK;
    }
    let status = call(place);
    if status == sys::GUF_OK {
        return Ok(Status::OK);
    }
    failed(status, &mut record)
}

#[cold]
#[inline(never)]
fn failed(status: i32, record: &mut MaybeUninit<sys::guf_error>) -> Result<Status> {
    if !Status(status).is_error() {
        return Ok(Status(status));
    }
    // SAFETY: `run` set this field before the call.
    if unsafe { (*record.as_ptr()).status } != status {
        return Err(Error::new(Status(status), Status(status).text()));
    }
    // SAFETY: the record has the returned status, so the library filled it in, including the text
    // up to the NUL. The code below sets the bytes after the text to zero.
    unsafe {
        let place = record.as_mut_ptr();
        let text = (&raw mut (*place).message).cast::<c_char>();
        let length = CStr::from_ptr(text).to_bytes().len();
        let capacity = (*place).message.len();
        std::ptr::write_bytes(text.add(length), 0, capacity - length);
        (*place).reserved = 0;
        Err(Error::of_record(status, record.assume_init_ref()))
    }
}

/// Calls `write` until the buffer is large enough.
pub(crate) fn written(
    write: impl Fn(*mut c_char, *mut u64, *mut sys::guf_error) -> sys::guf_status,
) -> Result<String> {
    let mut text: Vec<c_char> = vec![0; 1024];
    loop {
        let mut length = text.len() as u64;
        match check(|error| write(text.as_mut_ptr(), &mut length, error)) {
            Ok(()) => break,
            // The text may have grown since the length was reported, so the buffer at least
            // doubles.
            Err(error) if error.status() == Status::BUFFER_TOO_SMALL => {
                text.resize((length as usize).max(text.len() * 2), 0);
            }
            Err(error) => return Err(error),
        }
    }
    // SAFETY: the library terminated the text with a NUL, and the rest of the vector is zero.
    Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}

// SPDX-License-Identifier: Apache-2.0
//! Scopes, which borrow memory of the program for the work of a stream instead of for a single
//! call.

use crate::dtype::bytes_of;
use crate::{
    Array, Device, DynArray, Element, Error, Event, Order, Result, Status, Stream, Tensor,
};
use std::cell::{OnceCell, RefCell};
use std::marker::PhantomData;

/// A scope in which copies from and to memory of the program are queued; made by [`Stream::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'scope Stream,
    /// Destinations of queued copies. Their elements are checked when the copies are complete.
    arriving: RefCell<Vec<Arriving>>,
    /// An event after the copies that were queued so far.
    mark: OnceCell<Event>,
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

struct Arriving {
    memory: *mut u8,
    nbytes: usize,
    valid: fn(&[u8]) -> bool,
}

/// Waits for the copies if the closure of a scope panics, so that the borrow of the memory can end.
struct EndBorrow<'a, 'scope, 'env>(&'a Scope<'scope, 'env>);

impl Drop for EndBorrow<'_, '_, '_> {
    fn drop(&mut self) {
        let _ = self.0.wait();
        self.0.arrived();
    }
}

impl Stream {
    /// Runs `work`, which queues copies of slices through the scope, then waits for the stream. The
    /// slices are borrowed until the wait ends. This function reports a failure of the queued work.
    ///
    /// ```
    /// # use gufunc::{device, ufunc, Stream};
    /// let (cpu, sqrt) = (device("cpu")?, ufunc("sqrt")?);
    /// let (x, mut y) = (vec![4.0f64; 1000], vec![0.0f64; 1000]);
    /// Stream::new(cpu)?.scope(|scope| {
    ///     for (x, y) in x.chunks(300).zip(y.chunks_mut(300)) {
    ///         let x = scope.to_device(cpu, x, &[x.len() as i64])?;
    ///         let root = sqrt.with().stream(scope.stream()).call(&x)?;
    ///         scope.copy_to_host(&root, y)?;
    ///     }
    ///     Ok(())
    /// })?;
    /// assert!(y.iter().all(|&y| y == 2.0));
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of `work`, else the first failure of the stream's work.
    pub fn scope<'env, R>(
        &self,
        work: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        let scope = Scope {
            stream: self,
            arriving: RefCell::new(Vec::new()),
            mark: OnceCell::new(),
            _scope: PhantomData,
            _env: PhantomData,
        };
        let loan = EndBorrow(&scope);
        let done = work(&scope);
        std::mem::forget(loan);
        let waited = scope.wait();
        let whole = scope.arrived();
        let (done, ()) = (done?, waited?);
        match whole {
            true => Ok(done),
            false => Err(Error::new(Status::VALUE, "an array contained invalid bools")),
        }
    }
}

impl Arriving {
    /// Whether the memory contains valid values. If it does not, the memory is zeroed.
    fn arrived(&self) -> bool {
        // SAFETY: the memory is borrowed for the scope, whose work is complete.
        unsafe {
            let valid = (self.valid)(std::slice::from_raw_parts(self.memory, self.nbytes));
            if !valid {
                std::ptr::write_bytes(self.memory, 0, self.nbytes);
            }
            valid
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Returns the stream, for calls.
    pub fn stream(&self) -> &'scope Stream {
        self.stream
    }

    /// Waits for the copies. If the stream is being captured now, this function cannot wait for the
    /// stream. The copies were queued before the capture and still run, so the function then waits
    /// for the event after the copies.
    fn wait(&self) -> Result<()> {
        let waited = self.stream.synchronize();
        let captured = matches!(&waited, Err(error) if error.status() == Status::CAPTURE);
        if let (true, Some(mark)) = (captured, self.mark.get()) {
            mark.wait(None)?;
        }
        waited
    }

    /// Whether all destinations contain valid values.
    fn arrived(&self) -> bool {
        self.arriving.take().iter().filter(|one| !one.arrived()).count() == 0
    }

    /// Queues a copy and records the event after the copy. During a capture the query of the stream
    /// fails, which keeps borrowed memory out of graphs.
    fn queue<R>(&self, copy: impl FnOnce() -> Result<R>) -> Result<R> {
        self.stream.query()?;
        let mark = match self.mark.get() {
            Some(mark) => mark,
            None => {
                let mark = Event::new(self.stream.device()?)?;
                self.mark.get_or_init(|| mark)
            }
        };
        let copied = copy();
        if let Err(error) = mark.record(self.stream) {
            self.stream.synchronize()?;
            return Err(error);
        }
        copied
    }

    /// Queues a copy of a slice into a new array on `device`, in C order.
    ///
    /// # Errors
    /// [`Status::SHAPE`] if the slice has a different number of elements; [`Status::CAPTURE`] while
    /// the stream is being captured; and the errors of [`DynArray::to_device`].
    pub fn to_device<T: Element>(
        &self,
        device: Device,
        elements: &'env [T],
        shape: &[i64],
    ) -> Result<Array<T>> {
        let tensor = Tensor::of_slice(elements, gufunc_sys::GUF_TENSOR_READ_ONLY);
        let tensor = tensor.with_shape(elements, shape)?;
        // SAFETY: the array is only read, and the slice is borrowed until the scope has waited.
        let wrapped = unsafe { DynArray::wrap(tensor, || ())? };
        self.queue(|| wrapped.to_device(device, Some(self.stream)))?.typed()
    }

    /// Queues a copy of all elements of an array into a slice, in C order.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the elements of the array are not of type `T`, [`Status::SHAPE`] if the
    /// lengths differ, [`Status::CAPTURE`] while the stream is being captured.
    pub fn copy_to_host<T: Element>(
        &self,
        array: &DynArray,
        destination: &'env mut [T],
    ) -> Result<()> {
        array.expect::<T>(destination.len())?;
        let nbytes = bytes_of(destination).len();
        let memory = destination.as_mut_ptr().cast::<u8>();
        self.arriving.borrow_mut().push(Arriving { memory, nbytes, valid: T::valid });
        // SAFETY: the slice is borrowed until the scope has waited.
        self.queue(|| unsafe {
            array.queue_copy_to_host(memory, nbytes, Order::C, Some(self.stream))
        })
    }
}

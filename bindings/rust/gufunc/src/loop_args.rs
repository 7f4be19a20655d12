// SPDX-License-Identifier: Apache-2.0
//! The arguments of a host loop, which is a loop that the program provides.

use crate::{DType, Element, Error, Result, Status};
use std::marker::PhantomData;

/// Sizes of a call's core dimensions, in order of first use in the signature. A size is -1 if no
/// input determines it.
pub struct CoreSizes<'a>(pub(crate) &'a mut [i64]);

impl std::ops::Deref for CoreSizes<'_> {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        self.0
    }
}

impl CoreSizes<'_> {
    /// Sets the size of a dimension that no input determines.
    ///
    /// # Errors
    /// [`Status::SHAPE`] if there is no such dimension, or if the dimension already has another
    /// size.
    pub fn set(&mut self, dimension: usize, size: i64) -> Result<()> {
        match self.0.get_mut(dimension) {
            Some(place) if *place == -1 || *place == size => {
                *place = size;
                Ok(())
            }
            Some(known) => {
                let message = format!("core dimension {dimension}: expected {known}, got {size}");
                Err(Error::new(Status::SHAPE, message))
            }
            None => Err(Error::new(Status::SHAPE, format!("no core dimension {dimension}"))),
        }
    }
}

/// The operands of one run of a loop. A run covers consecutive items of the call.
pub struct LoopArgs<'a> {
    pub(crate) pointers: &'a [*mut u8],
    pub(crate) dims: &'a [i64],
    pub(crate) steps: &'a [i64],
    pub(crate) types: &'a [DType],
    pub(crate) writable: &'a [bool],
    pub(crate) core: &'a [Vec<usize>],
}

impl<'a> LoopArgs<'a> {
    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.dims[0] as usize
    }

    /// Returns the sizes of the distinct core dimensions, in order of first use.
    pub fn core_sizes(&self) -> &[i64] {
        &self.dims[1..]
    }

    /// Returns the dtypes of the operands, inputs first.
    pub fn types(&self) -> &[DType] {
        self.types
    }

    /// Returns operand `operand` of item `item`, which is one element or, for an operand with core
    /// dimensions, an array of elements.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the operand has another dtype than `T`, [`Status::INDEX`] if there is
    /// no such operand or item.
    pub fn operand<T: Element>(&self, operand: usize, item: usize) -> Result<Items<'_, T>> {
        if operand >= self.types.len() || item >= self.items() {
            let message = format!("no operand {operand} of item {item}");
            return Err(Error::new(Status::INDEX, message));
        }
        if !T::reads(self.types[operand]) {
            let message = format!("operand {operand} has dtype {}", self.types[operand]);
            return Err(Error::new(Status::DTYPE, message).with_argument(operand));
        }
        let before: usize = self.core[..operand].iter().map(Vec::len).sum();
        let first = self.types.len() + before;
        let ndim = self.core[operand].len();
        let shape = self.core[operand].iter().map(|&place| self.dims[1 + place] as usize);
        let step = self.steps[operand].wrapping_mul(item as i64) as isize;
        Ok(Items {
            pointer: self.pointers[operand].wrapping_offset(step),
            shape: shape.collect(),
            strides: &self.steps[first..first + ndim],
            writable: self.writable[operand],
            _element: PhantomData,
        })
    }

    /// Returns an element of an operand without core dimensions.
    ///
    /// # Safety
    /// The operand must have the type `T`, and the item must exist.
    #[inline]
    pub(crate) unsafe fn read<T: Element>(&self, operand: usize, item: usize) -> T {
        let step = self.steps[operand] as isize * item as isize;
        // SAFETY: the pointer refers to the item's element; addresses may be unaligned.
        unsafe { T::load(self.pointers[operand].offset(step)) }
    }

    /// Sets an element of an operand without core dimensions.
    ///
    /// # Safety
    /// As for [`LoopArgs::read`].
    #[inline]
    pub(crate) unsafe fn write<T: Element>(&self, operand: usize, item: usize, value: T) {
        let step = self.steps[operand] as isize * item as isize;
        // SAFETY: the pointer refers to the item's element; addresses may be unaligned.
        unsafe { self.pointers[operand].offset(step).cast::<T>().write_unaligned(value) }
    }
}

/// One operand of one item, with any strides.
pub struct Items<'a, T: Element> {
    pointer: *mut u8,
    shape: Vec<usize>,
    strides: &'a [i64],
    writable: bool,
    _element: PhantomData<T>,
}

impl<T: Element> Items<'_, T> {
    /// Returns the extents of the core dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the address of an element.
    fn at(&self, index: &[usize]) -> *mut T {
        assert_eq!(index.len(), self.shape.len(), "one index per core dimension");
        let mut place = self.pointer;
        for ((&i, &extent), &stride) in index.iter().zip(&self.shape).zip(self.strides) {
            assert!(i < extent, "index {i} of {extent}");
            place = place.wrapping_offset((stride as isize).wrapping_mul(i as isize));
        }
        place.cast()
    }

    /// Returns an element.
    ///
    /// # Panics
    /// If the index is outside the shape. The call then fails.
    pub fn get(&self, index: &[usize]) -> T {
        // SAFETY: `at` checks the index; addresses may be unaligned.
        unsafe { T::load(self.at(index).cast()) }
    }

    /// Sets an element of an output or `inout` operand.
    ///
    /// # Panics
    /// If the index is outside the shape, or if the operand is an input. The call then fails.
    pub fn set(&self, index: &[usize], value: T) {
        assert!(self.writable, "an input is not written");
        // SAFETY: `at` checks the index; addresses may be unaligned.
        unsafe { self.at(index).write_unaligned(value) }
    }
}

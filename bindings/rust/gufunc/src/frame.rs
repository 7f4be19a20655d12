// SPDX-License-Identifier: Apache-2.0
//! The C representation of a call's operands, on the stack of the caller.

use crate::{Device, DynArray, Error, Operand, Output, Result, Status};
use gufunc_sys as sys;
use std::mem::{ManuallyDrop, MaybeUninit};

/// Maximum number of entries: the operands of a ufunc, a mask and an initial value.
const CAPACITY: usize = sys::GUF_MAX_OPERANDS as usize + 2;

pub(crate) struct Frame {
    operands: [MaybeUninit<sys::guf_operand>; CAPACITY],
    tensors: [MaybeUninit<sys::guf_tensor>; CAPACITY],
    used: usize,
    first_output: usize,
    borrows: bool,
}

#[cold]
fn too_many() -> Error {
    Error::new(Status::ARG, "too many operands")
}

impl Frame {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Frame {
            operands: [const { MaybeUninit::uninit() }; CAPACITY],
            tensors: [const { MaybeUninit::uninit() }; CAPACITY],
            used: 0,
            first_output: 0,
            borrows: false,
        }
    }

    /// Adds an operand after the previous ones and returns its address.
    #[inline(always)]
    pub(crate) fn place(&mut self, operand: &Operand<'_>) -> Result<*mut sys::guf_operand> {
        if self.used == CAPACITY {
            return Err(too_many());
        }
        operand.write(&mut self.operands[self.used], &mut self.tensors[self.used]);
        self.used += 1;
        self.borrows |= operand.is_borrowed();
        // SAFETY: the index is in the list. The pointer is derived from the whole list, because C
        // also accesses the operands that follow.
        Ok(unsafe { self.operands.as_mut_ptr().add(self.used - 1).cast() })
    }

    /// Adds a list of operands and returns the address of the first.
    #[inline(always)]
    pub(crate) fn place_all<'a, 'b: 'a>(
        &mut self,
        operands: impl Iterator<Item = &'a Operand<'b>>,
    ) -> Result<*mut sys::guf_operand> {
        let first = self.used;
        for operand in operands {
            self.place(operand)?;
        }
        // SAFETY: the index is in the list or at its end.
        Ok(unsafe { self.operands.as_mut_ptr().add(first).cast() })
    }

    /// Adds the inputs and outputs of a call. The frame must not move until the call is done.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        args: &mut sys::guf_call_args,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
    ) -> Result<()> {
        args.ninputs = inputs.len() as i32;
        args.inputs = self.place_all(inputs.iter())?;
        args.noutputs = outputs.len() as i32;
        args.outputs = self.outputs(outputs)?;
        Ok(())
    }

    /// Adds outputs and records their position for [`Frame::allocated`].
    #[inline(always)]
    pub(crate) fn outputs(&mut self, outputs: &[Output<'_>]) -> Result<*mut sys::guf_operand> {
        self.first_output = self.used;
        self.place_all(outputs.iter().map(|output| &output.0))
    }

    /// Whether an operand borrows memory of the program for the call.
    pub(crate) fn borrows(&self) -> bool {
        self.borrows
    }

    /// Waits for the default stream of the device of each operand.
    pub(crate) fn wait_for_devices(&self) -> Result<()> {
        for operand in &self.operands[..self.used] {
            let operand = operand.as_ptr();
            // SAFETY: `place` wrote these fields, and the tensor of an operand is in the frame.
            let device = unsafe {
                match (*operand).kind {
                    sys::GUF_OPERAND_TENSOR => (*(*operand).tensor).device,
                    sys::GUF_OPERAND_ARRAY if !(*operand).array.is_null() => {
                        let array = ManuallyDrop::new(DynArray::from_raw((*operand).array));
                        array.raw_info()?.device
                    }
                    _ => continue,
                }
            };
            if !device.is_null() {
                Device::new(device).synchronize(None)?;
            }
        }
        Ok(())
    }

    /// Returns the outputs that a call allocated, each at its position.
    pub(crate) fn allocated(&self, outputs: &[Output<'_>]) -> Vec<Option<DynArray>> {
        let find = |(i, output): (usize, &Output<'_>)| {
            if !output.0.is_none() {
                return None;
            }
            let operand = self.operands[self.first_output + i].as_ptr();
            // SAFETY: `outputs` wrote these fields.
            let (kind, array) = unsafe { ((*operand).kind, (*operand).array) };
            let made = kind == sys::GUF_OPERAND_ARRAY && !array.is_null();
            // SAFETY: the call returned one reference.
            made.then(|| unsafe { DynArray::from_raw(array) })
        };
        outputs.iter().enumerate().map(find).collect()
    }
}

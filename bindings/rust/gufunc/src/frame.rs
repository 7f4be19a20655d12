// SPDX-License-Identifier: Apache-2.0
//! C's view of a call's operands, in the caller's frame.

use crate::{Device, DynArray, Error, Operand, Output, Result, Status};
use gufunc_sys as sys;
use std::mem::{ManuallyDrop, MaybeUninit};

/// A ufunc's operands, a mask and an initial value.
const ROOM: usize = sys::GUF_MAX_OPERANDS as usize + 2;

pub(crate) struct Frame {
    operands: [MaybeUninit<sys::guf_operand>; ROOM],
    tensors: [MaybeUninit<sys::guf_tensor>; ROOM],
    used: usize,
    first_output: usize,
    lends: bool,
}

#[cold]
fn too_many() -> Error {
    Error::new(Status::ARG, "more operands than any function has")
}

impl Frame {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Frame {
            operands: [const { MaybeUninit::uninit() }; ROOM],
            tensors: [const { MaybeUninit::uninit() }; ROOM],
            used: 0,
            first_output: 0,
            lends: false,
        }
    }

    /// Adds an operand; its place, behind those before it.
    #[inline(always)]
    pub(crate) fn place(&mut self, operand: &Operand<'_>) -> Result<*mut sys::guf_operand> {
        if self.used == ROOM {
            return Err(too_many());
        }
        operand.write(&mut self.operands[self.used], &mut self.tensors[self.used]);
        self.used += 1;
        self.lends |= operand.lent();
        // SAFETY: inside the list. Made of the whole list's address, since C walks on from it.
        Ok(unsafe { self.operands.as_mut_ptr().add(self.used - 1).cast() })
    }

    /// Adds a list of operands; where the first lies.
    #[inline(always)]
    pub(crate) fn place_all<'a, 'b: 'a>(
        &mut self,
        operands: impl Iterator<Item = &'a Operand<'b>>,
    ) -> Result<*mut sys::guf_operand> {
        let first = self.used;
        for operand in operands {
            self.place(operand)?;
        }
        // SAFETY: inside the list, or its end.
        Ok(unsafe { self.operands.as_mut_ptr().add(first).cast() })
    }

    /// Inputs and outputs of a call. The frame must not move until the call is done.
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

    /// Adds outputs, which [`Frame::allocated`] finds again.
    #[inline(always)]
    pub(crate) fn outputs(&mut self, outputs: &[Output<'_>]) -> Result<*mut sys::guf_operand> {
        self.first_output = self.used;
        self.place_all(outputs.iter().map(|output| &output.0))
    }

    /// Whether Rust lends an operand for the call only.
    pub(crate) fn lends(&self) -> bool {
        self.lends
    }

    /// Waits for what the operands' devices were given without a stream.
    pub(crate) fn wait_for_devices(&self) -> Result<()> {
        for operand in &self.operands[..self.used] {
            let operand = operand.as_ptr();
            // SAFETY: fields that `place` wrote; a tensor lies in the frame.
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

    /// The outputs that a call allocated, each at its place.
    pub(crate) fn allocated(&self, outputs: &[Output<'_>]) -> Vec<Option<DynArray>> {
        let find = |(i, output): (usize, &Output<'_>)| {
            if !output.0.is_none() {
                return None;
            }
            let operand = self.operands[self.first_output + i].as_ptr();
            // SAFETY: fields that `outputs` wrote.
            let (kind, array) = unsafe { ((*operand).kind, (*operand).array) };
            let made = kind == sys::GUF_OPERAND_ARRAY && !array.is_null();
            // SAFETY: the call gave one reference.
            made.then(|| unsafe { DynArray::from_raw(array) })
        };
        outputs.iter().enumerate().map(find).collect()
    }
}

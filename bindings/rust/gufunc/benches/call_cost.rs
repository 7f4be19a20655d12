// SPDX-License-Identifier: Apache-2.0
//! Measures how much longer a call on one element takes than the same call from C: `cargo bench`.
//! The calls from C and from Rust alternate in one run, and the fastest of many rounds counts.
//! "made" is a C call with arguments that were prepared before. "written" is a C call that also
//! writes its operands and arguments, as calls of programs do. With `--bar=NANOSECONDS` the
//! benchmark fails if a call takes longer than "written" by more than this time.

use gufunc::{sys, ufunc, Array, DynArray, Ufunc};
use std::time::Instant;

const CALLS: u32 = 2_000;
const ROUNDS: usize = 400;

fn nanoseconds(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// A C call with prepared arguments.
struct Prepared {
    ufunc: sys::guf_ufunc,
    operands: [sys::guf_operand; 3],
    args: sys::guf_call_args,
    error: sys::guf_error,
}

impl Prepared {
    fn new(ufunc: &Ufunc, operands: [sys::guf_operand; 3]) -> Box<Self> {
        let (args, error) = (sys::guf_call_args::new(), sys::guf_error::new());
        let mut made = Box::new(Prepared { ufunc: ufunc.as_raw(), operands, args, error });
        (made.args.ninputs, made.args.noutputs) = (2, 1);
        made.args.inputs = made.operands.as_ptr();
        made.args.outputs = &raw mut made.operands[2];
        made
    }

    #[inline(never)]
    fn call(&mut self) {
        // SAFETY: the operands are in the box, and main keeps the memory alive.
        let status = unsafe { sys::guf_call(self.ufunc, &mut self.args, &mut self.error) };
        assert_eq!(status, sys::GUF_OK);
    }
}

fn array_operand(array: &DynArray) -> sys::guf_operand {
    let mut made = sys::guf_operand::new();
    (made.kind, made.array) = (sys::GUF_OPERAND_ARRAY, array.as_raw());
    made
}

fn tensor_operand(tensor: &sys::guf_tensor) -> sys::guf_operand {
    let mut made = sys::guf_operand::new();
    (made.kind, made.tensor) = (sys::GUF_OPERAND_TENSOR, tensor);
    made
}

/// Prints a line with the times of both C calls and of the Rust call, and the differences. Returns
/// the differences of the Rust call from "made" and from "written".
fn compare(
    name: &str,
    mut made: impl FnMut(),
    mut written: impl FnMut(),
    mut rust: impl FnMut(),
) -> [f64; 2] {
    let mut least = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        least[0] = least[0].min(nanoseconds(&mut made));
        least[1] = least[1].min(nanoseconds(&mut written));
        least[2] = least[2].min(nanoseconds(&mut rust));
    }
    let [made, written, rust] = least;
    let (over_made, over_written) = (rust - made, rust - written);
    println!(
        "{name}: C made {made:.1} ns, written {written:.1} ns; Rust {rust:.1} ns: over made \
         {over_made:.1}, over written {over_written:.1}"
    );
    [over_made, over_written]
}

/// Makes a C call whose operands and arguments are written for this call only.
fn write_and_call(ufunc: &Ufunc, operands: [sys::guf_operand; 3]) {
    let (mut operands, mut args) = (operands, sys::guf_call_args::new());
    (args.ninputs, args.noutputs, args.inputs) = (2, 1, operands.as_ptr());
    args.outputs = &raw mut operands[2];
    // SAFETY: the operands are in this frame, and the error record may be NULL.
    let status = unsafe { sys::guf_call(ufunc.as_raw(), &mut args, std::ptr::null_mut()) };
    assert_eq!(status, sys::GUF_OK);
}

fn slice_tensor(address: *const f64, shape: &[i64; 1]) -> sys::guf_tensor {
    let mut tensor = sys::guf_tensor::new();
    (tensor.dtype, tensor.ndim) = (sys::GUF_F64, 1);
    (tensor.address, tensor.shape) = (address as u64, shape.as_ptr());
    tensor
}

// The functions below are not inlined, so that the compiler cannot reuse the arguments that another
// of these functions wrote.
#[inline(never)]
fn write_arrays(add: &Ufunc, arrays: [&DynArray; 3]) {
    write_and_call(add, arrays.map(array_operand));
}

#[inline(never)]
fn call_arrays(add: &Ufunc, [x, y, z]: [&Array<f64>; 3]) {
    add.call_into((x, y), z).unwrap();
}

#[inline(never)]
fn write_slices(add: &Ufunc, addresses: [*const f64; 3], shape: &[i64; 1]) {
    let tensors = addresses.map(|address| slice_tensor(address, shape));
    write_and_call(add, std::array::from_fn(|i| tensor_operand(&tensors[i])));
}

#[inline(never)]
fn call_slices(add: &Ufunc, x: &[f64], y: &[f64], out: &mut [f64]) {
    add.call_into((x, y), out).unwrap();
}

fn main() -> gufunc::Result<()> {
    let add = ufunc("add")?;
    let array = |value: f64| Array::from_vec(vec![value], &[1]);
    let (x, y, z) = (array(1.0)?, array(2.0)?, array(0.0)?);
    let mut c = Prepared::new(&add, [&x, &y, &z].map(|array| array_operand(array)));
    let [_, arrays] = compare(
        "arrays",
        || c.call(),
        || write_arrays(&add, [&x, &y, &z]),
        || call_arrays(&add, [&x, &y, &z]),
    );

    let (a, b, mut out) = ([1.0f64], [2.0f64], [0.0f64]);
    let shape = [1i64];
    let addresses = [a.as_ptr(), b.as_ptr(), out.as_mut_ptr().cast_const()];
    let tensors = addresses.map(|address| slice_tensor(address, &shape));
    let mut c = Prepared::new(&add, std::array::from_fn(|i| tensor_operand(&tensors[i])));
    let [_, slices] = compare(
        "slices",
        || c.call(),
        || write_slices(&add, addresses, &shape),
        || call_slices(&add, &a, &b, &mut out),
    );
    let worst = arrays.max(slices);
    let bar = std::env::args().find_map(|word| word.strip_prefix("--bar=")?.parse().ok());
    if worst > bar.unwrap_or(f64::MAX) {
        println!("{worst:.1} ns over the C call");
        std::process::exit(1);
    }
    Ok(())
}

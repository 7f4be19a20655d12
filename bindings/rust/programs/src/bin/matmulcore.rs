// SPDX-License-Identifier: Apache-2.0
//! Multiplies stacks of matrices that broadcast, and matrices with swapped axes.

use gufunc::{ufunc, view, view_mut};
use gufunc_programs::run;

fn main() -> std::process::ExitCode {
    run(|folders| {
        let _module = folders.load("matmulcore")?;
        let matmulcore = ufunc("matmulcore")?;
        let a = folders.read::<f32>("matmulcore_a")?;
        let b = folders.read::<f32>("matmulcore_b")?;
        let (stack, right) = (view(&a.data, &a.shape)?, view(&b.data, &b.shape)?);
        let c = matmulcore.with().device(folders.device).call((stack, right))?;
        folders.write_array::<f32>("matmulcore_c", &c)?;

        // The swapped axes make b a (5, 4) matrix and a[0] a (4, 3) matrix. The axes of the result
        // are not swapped.
        let size = (a.shape[1] * a.shape[2]) as usize;
        let (rows, columns) = (b.shape[1], a.shape[1]);
        let mut product = vec![0f32; (rows * columns) as usize];
        matmulcore.with().axes(&[&[1, 0], &[1, 0], &[0, 1]]).device(folders.device).call_into(
            (view(&b.data, &b.shape)?, view(&a.data[..size], &a.shape[1..])?),
            view_mut(&mut product, &[rows, columns])?,
        )?;
        folders.write("matmulcore_transposed", &product, &[rows, columns])
    })
}

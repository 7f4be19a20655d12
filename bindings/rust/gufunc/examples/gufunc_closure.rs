// SPDX-License-Identifier: Apache-2.0
//! Creates a generalized ufunc whose loop is a closure. The ufunc computes the moving means of
//! rows.

use gufunc::{view, Context, DType};

fn main() -> gufunc::Result<()> {
    let moving_mean =
        Context::default().create("moving_mean", 0, 0).signature("(n),()->(n)").build()?;
    moving_mean.add_loop(&[DType::F64, DType::I64, DType::F64], |args| {
        for item in 0..args.items() {
            let row = args.operand::<f64>(0, item)?;
            let width = args.operand::<i64>(1, item)?.get(&[]) as usize;
            let mean = args.operand::<f64>(2, item)?;
            let mut sum = 0.0;
            for i in 0..row.shape()[0] {
                sum += row.get(&[i]);
                if i >= width {
                    sum -= row.get(&[i - width]);
                }
                mean.set(&[i], sum / (i + 1).min(width) as f64);
            }
        }
        Ok(())
    })?;

    // The two rows have windows of different widths.
    let rows = view(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[2, 3])?;
    println!("{}", moving_mean.call((rows, &[1i64, 2]))?);

    // This call computes the means along the columns. It selects the axes, and nothing is copied.
    let rows = view(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[2, 3])?;
    let means = moving_mean.with().axes(&[&[0], &[], &[0]]).call((rows, &[2i64]))?;
    println!("{means}");
    Ok(())
}

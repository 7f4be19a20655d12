// SPDX-License-Identifier: Apache-2.0
//! Computes sqrt(b**2 - 4*a*c) with a module, on arrays, with numbers, and with a mask.

use gufunc::{ufunc, weak};
use gufunc_programs::{run, Npy};

fn main() -> std::process::ExitCode {
    run(|folders| {
        let _module = folders.load("discriminant")?;
        let discriminant = ufunc("discriminant")?;
        let [a, b, c] = ["a", "b", "c"].map(|name| format!("discriminant_{name}"));
        let (a, b, c): (Npy<f32>, Npy<f32>, Npy<f32>) =
            (folders.read(&a)?, folders.read(&b)?, folders.read(&c)?);
        let mask: Npy<bool> = folders.read("discriminant_mask")?;
        let on_device = || discriminant.with().device(folders.device);

        let mut x = vec![0f32; a.data.len()];
        on_device().call_into((&a.data, &b.data, &c.data), &mut x)?;
        folders.write("discriminant_x", &x, &a.shape)?;

        on_device().call_into((&a.data, weak(10.1), weak(1)), &mut x)?;
        folders.write("discriminant_numbers", &x, &a.shape)?;

        x.fill(7.0);
        on_device().where_(&mask.data).call_into((&a.data, &b.data, &c.data), &mut x)?;
        folders.write("discriminant_masked", &x, &a.shape)
    })
}

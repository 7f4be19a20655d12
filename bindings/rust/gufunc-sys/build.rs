// SPDX-License-Identifier: Apache-2.0
//! Passes the location of libgufunc to cargo: `GUFUNC_LIB_DIR`, else the folder that pkg-config
//! reports, else the linker's default folders. In the last case this script prints a warning with
//! pkg-config's error, and the next build runs pkg-config again. With the feature `load` and on
//! docs.rs, the library is not linked.

use std::env;
use std::process::Command;

/// Reports the folder to cargo, which passes it to dependent crates in `DEP_GUFUNC_LIB_DIR`.
fn link_from(folder: &str) {
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:lib_dir={folder}");
}

/// Links the libraries that pkg-config reports. If it reports none, returns the reason.
fn query_pkg_config() -> Result<(), String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let arguments = ["--print-errors", "--libs", "gufunc >= 0.1"];
    let answer = match Command::new(&program).args(arguments).output() {
        Ok(answer) => answer,
        Err(error) => return Err(format!("{}: {error}", program.to_string_lossy())),
    };
    if !answer.status.success() {
        return Err(String::from_utf8_lossy(&answer.stderr).into_owned());
    }
    let words = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut named = false;
    for word in words.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            link_from(folder);
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
            named = true;
        }
    }
    if named {
        return Ok(());
    }
    Err(format!("it names no library: {words}"))
}

fn main() {
    for variable in
        ["GUFUNC_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "DOCS_RS"]
    {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    if env::var_os("CARGO_FEATURE_LOAD").is_some() || env::var_os("DOCS_RS").is_some() {
        return;
    }
    if let Some(folder) = env::var_os("GUFUNC_LIB_DIR") {
        let Some(folder) = folder.to_str() else {
            println!("cargo:warning=GUFUNC_LIB_DIR is not UTF-8 and is ignored");
            return println!("cargo:rustc-link-lib=dylib=gufunc");
        };
        link_from(folder);
        return println!("cargo:rustc-link-lib=dylib=gufunc");
    }
    if let Err(reason) = query_pkg_config() {
        println!("cargo:rustc-link-lib=dylib=gufunc");
        for line in reason.lines().filter(|line| !line.is_empty()) {
            println!("cargo:warning=pkg-config: {line}");
        }
        println!("cargo:warning=GUFUNC_LIB_DIR can name the folder of libgufunc.so");
        // A file that never exists reruns this script at every build, so that a library that is
        // installed later is found.
        println!("cargo:rerun-if-changed=no-such-file");
    }
}

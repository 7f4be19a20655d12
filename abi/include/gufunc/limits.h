/* SPDX-License-Identifier: Apache-2.0
 * Limits of the whole library. */
#ifndef GUFUNC_LIMITS_H
#define GUFUNC_LIMITS_H

enum guf_limit {
  GUF_MAX_NDIM = 64,              /* dimensions of an array */
  GUF_MAX_OPERANDS = 32,          /* inputs plus outputs of a ufunc */
  GUF_MAX_LOOP_NDIM = 8,          /* loop dimensions of a launch, after coalescing */
  GUF_MAX_CORE_NAMES = 16,        /* distinct core dimensions of a signature */
  GUF_MAX_CORE_STRIDES = 64,      /* core dimensions of all operands in total */
  GUF_MAX_SIGNATURE = 4096,       /* characters of a signature */
  GUF_MAX_KERNEL_PARAMETERS = 32, /* parameters of a raw kernel */
  GUF_MAX_KERNEL_BYTES = 2048,    /* bytes of a raw kernel's arguments */
  GUF_MAX_NAME = 63               /* characters of the name of a ufunc, module, dimension or
                                     backend */
};

#endif /* GUFUNC_LIMITS_H */

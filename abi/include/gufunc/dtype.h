/* SPDX-License-Identifier: Apache-2.0
 * Element types, casting levels, and the tables of NumPy 2 as functions. */
#ifndef GUFUNC_DTYPE_H
#define GUFUNC_DTYPE_H

#include "status.h"

GUF_BEGIN_DECLS

/** Element type: DLPack's DLDataType packed as `code | bits << 8 | lanes << 16`. 0 is
 * "unspecified". Byte order is a flag of the operand, never of the dtype. */
typedef uint32_t guf_dtype;

enum guf_dtype_code {
  GUF_DTYPE_UNSPECIFIED = 0,
  GUF_BOOL = 0x00010806,
  GUF_I8 = 0x00010800,
  GUF_I16 = 0x00011000,
  GUF_I32 = 0x00012000,
  GUF_I64 = 0x00014000,
  GUF_U8 = 0x00010801,
  GUF_U16 = 0x00011001,
  GUF_U32 = 0x00012001,
  GUF_U64 = 0x00014001,
  GUF_F16 = 0x00011002,
  GUF_BF16 = 0x00011004,
  GUF_F32 = 0x00012002,
  GUF_F64 = 0x00014002,
  GUF_C64 = 0x00014005, /* two f32 */
  GUF_C128 = 0x00018005 /* two f64 */
};

/** Which casts a call may make. The default is same_kind, as NumPy's. */
enum guf_casting {
  GUF_CASTING_DEFAULT = 0, /* same_kind */
  GUF_CASTING_NO = 1,      /* none at all */
  GUF_CASTING_EQUIV = 2,   /* byte order only */
  GUF_CASTING_SAFE = 3,    /* casts that keep every value */
  GUF_CASTING_SAME_KIND = 4,
  GUF_CASTING_UNSAFE = 5
};

enum guf_dtype_kind {
  GUF_KIND_BOOL = 'b',
  GUF_KIND_INT = 'i',
  GUF_KIND_UINT = 'u',
  GUF_KIND_FLOAT = 'f',
  GUF_KIND_BFLOAT = 'E',
  GUF_KIND_COMPLEX = 'c'
};

typedef struct guf_dtype_info {
  uint32_t struct_size;
  guf_dtype dtype;
  uint32_t itemsize;  /* bytes */
  uint32_t alignment; /* bytes */
  int32_t kind;       /* guf_dtype_kind */
  int32_t letter;     /* one character, as type strings spell it: ? b B h H i I q Q e E f d F D */
  char name[32];      /* "float32" */
  char short_name[8]; /* "f4"; "bf16" */
} guf_dtype_info;

/** Reads a dtype's spelling: NumPy's names ("float32"), characters ("f", "l" and "q" are int64),
 * short forms ("f4", "<f4", "|u1"), and "bfloat16", "bf16", "E". A '>' prefix is refused: byte
 * order is an operand flag.
 * Errors  GUF_E_ARG    <= spelling or out_dtype is NULL
 *         GUF_E_DTYPE  <= not a spelling of a dtype; the message lists the valid ones
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_parse(const char *spelling, guf_dtype *out_dtype, guf_error *error);

/** Name of a dtype ("float32"), or NULL for a value that is no dtype.
 * Ownership  static text, never freed.   [mt] [no-block] [no-alloc] */
GUF_API const char *guf_dtype_name(guf_dtype dtype);

/** Size, alignment, kind and names of a dtype.
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_STRUCT <= out_info->struct_size is below the first version's size
 *         GUF_E_DTYPE  <= not a dtype
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_get_info(guf_dtype dtype, guf_dtype_info *out_info, guf_error *error);

/** Whether NumPy's `can_cast(from, to, casting)` holds; bf16 stands beside f16 (each casts to the
 * other by same_kind, both to f32 safely).
 * Errors  GUF_E_ARG   <= out_possible is NULL, or casting is not a guf_casting
 *         GUF_E_DTYPE <= from or to is not a dtype
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_can_cast(guf_dtype from, guf_dtype to, int32_t casting,
                                      int32_t *out_possible, guf_error *error);

/** NumPy's `promote_types(a, b)`; f16 with bf16 gives f32.
 * Errors  GUF_E_ARG   <= out_dtype is NULL
 *         GUF_E_DTYPE <= a or b is not a dtype
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_promote(guf_dtype a, guf_dtype b, guf_dtype *out_dtype,
                                     guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DTYPE_H */

/* SPDX-License-Identifier: Apache-2.0
 * Element types, casting levels, and NumPy 2's rules for casts and promotion. */
#ifndef GUFUNC_DTYPE_H
#define GUFUNC_DTYPE_H

#include "status.h"

GUF_BEGIN_DECLS

/** Element type: DLPack's DLDataType packed as `code | bits << 8 | lanes << 16`. 0 means
 * "unspecified". Byte order is a flag of the operand, never part of the dtype. Two dtypes are equal
 * if and only if their values are equal.
 * Codes from 0x80 on are defined by this library:
 *   0x80, 0x81  datetime64, timedelta64: `code | unit << 8 | multiple << 16`, elements of 8 bytes
 *   0x82        a structured dtype (guf_dtype_register): `code | itemsize << 8 | number << 20` */
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
  GUF_C64 = 0x00014005,  /* two f32 */
  GUF_C128 = 0x00018005, /* two f64 */
  /* Datetime types without a unit. In the dtypes of a loop they match every unit.
   * guf_dtype_make_time returns a datetime type with a unit. */
  GUF_DATETIME64 = 0x00010080,
  GUF_TIMEDELTA64 = 0x00010081
};

/** Units of datetime64 and timedelta64. Weeks begin on Thursday, because 1970-01-01 was one. */
enum guf_time_unit {
  GUF_UNIT_GENERIC = 0, /* no unit: adopts the unit of the other operand */
  GUF_UNIT_YEAR = 1,
  GUF_UNIT_MONTH = 2,
  GUF_UNIT_WEEK = 3,
  GUF_UNIT_DAY = 4,
  GUF_UNIT_HOUR = 5,
  GUF_UNIT_MINUTE = 6,
  GUF_UNIT_SECOND = 7,
  GUF_UNIT_MILLISECOND = 8,
  GUF_UNIT_MICROSECOND = 9,
  GUF_UNIT_NANOSECOND = 10,
  GUF_UNIT_PICOSECOND = 11,
  GUF_UNIT_FEMTOSECOND = 12,
  GUF_UNIT_ATTOSECOND = 13
};

enum guf_dtype_limit {
  GUF_MAX_UNIT_MULTIPLE = 65535,
  GUF_MAX_STRUCTURED_DTYPES = 4096,  /* structured dtypes per process */
  GUF_MAX_STRUCTURED_ITEMSIZE = 4095 /* bytes */
};

/** Not a Time: the smallest int64, in datetime64 and timedelta64. */
#define GUF_NAT INT64_MIN

/** The casts that a call may perform. The default is same_kind, as in NumPy. */
enum guf_casting {
  GUF_CASTING_DEFAULT = 0, /* same_kind */
  GUF_CASTING_NO = 1,      /* no casts */
  GUF_CASTING_EQUIV = 2,   /* only changes of byte order */
  GUF_CASTING_SAFE = 3,    /* only casts that preserve every value */
  GUF_CASTING_SAME_KIND = 4,
  GUF_CASTING_UNSAFE = 5
};

enum guf_dtype_kind {
  GUF_KIND_BOOL = 'b',
  GUF_KIND_INT = 'i',
  GUF_KIND_UINT = 'u',
  GUF_KIND_FLOAT = 'f',
  GUF_KIND_BFLOAT = 'E',
  GUF_KIND_COMPLEX = 'c',
  GUF_KIND_TIMEDELTA = 'm',
  GUF_KIND_DATETIME = 'M',
  GUF_KIND_STRUCTURED = 'V'
};

typedef struct guf_dtype_info {
  uint32_t struct_size;
  guf_dtype dtype;
  uint32_t itemsize;  /* bytes */
  uint32_t alignment; /* bytes */
  int32_t kind;       /* guf_dtype_kind */
  int32_t letter;     /* the character of type strings: ? b B h H i I q Q e E f d F D m M V */
  char name[32];      /* "float32", "datetime64[25s]" */
  char short_name[8]; /* "f4", "bf16"; "M8" and "m8" for every unit; "V12" */
} guf_dtype_info;

/** Parses the name of a dtype. The function accepts NumPy's names ("float32"), its characters ("f";
 * "l" and "q" are int64), its short forms ("f4", "<f4", "|u1"), "bfloat16", "bf16" and "E",
 * datetime types with or without a unit ("datetime64[ns]", "M8[25s]", "<m8[ms]", "m8"), and names
 * of registered structured dtypes. The prefix '>' is refused because byte order is a flag of the
 * operand.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG   <= spelling or out_dtype is NULL
 *         GUF_E_DTYPE <= spelling is not the name of a dtype; the message lists the valid names or
 *                        units */
GUF_API guf_status guf_dtype_parse(const char *spelling, guf_dtype *out_dtype, guf_error *error);

/** Returns the name of a dtype ("float32"), or NULL if the value is not a dtype.
 * Ownership  static text, never freed. The name of a datetime type with a multiple other than 1 is
 *            created at its first use. If no memory is available for this name, the function
 *            returns the name without the unit.
 * [mt] [no-block] */
GUF_API const char *guf_dtype_name(guf_dtype dtype);

/** Returns size, alignment, kind and names of a dtype.
 * [mt] [no-block]  May allocate the name of a datetime type, as guf_dtype_name does.
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version
 *         GUF_E_DTYPE  <= dtype is not a dtype */
GUF_API guf_status guf_dtype_get_info(guf_dtype dtype, guf_dtype_info *out_info, guf_error *error);

/** Sets *out_possible to 1 if NumPy's `can_cast(from, to, casting)` holds, else to 0. bf16 has the
 * same rank as f16: a cast between bf16 and f16 needs same_kind; the cast of either to f32 is safe.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG   <= out_possible is NULL, or casting is not a guf_casting
 *         GUF_E_DTYPE <= from or to is not a dtype */
GUF_API guf_status guf_dtype_can_cast(guf_dtype from, guf_dtype to, int32_t casting,
                                      int32_t *out_possible, guf_error *error);

/** Returns NumPy's `promote_types(a, b)`. f16 and bf16 promote to f32. Two datetime types promote
 * to the coarsest unit of which both units are multiples. A structured dtype promotes only with
 * itself.
 * [mt] [no-block]
 * Errors  GUF_E_ARG      <= out_dtype is NULL
 *         GUF_E_DTYPE    <= a or b is not a dtype, or they have no common dtype; the message names
 *                           both
 *         GUF_E_OVERFLOW <= the common divisor of the units overflows, or its multiple exceeds
 *                           GUF_MAX_UNIT_MULTIPLE */
GUF_API guf_status guf_dtype_promote(guf_dtype a, guf_dtype b, guf_dtype *out_dtype,
                                     guf_error *error);

/** Returns datetime64 or timedelta64 with a unit: GUF_UNIT_SECOND with multiple 25 is "[25s]".
 * `time` selects datetime64 or timedelta64; its own unit is ignored. The generic unit requires the
 * multiple 1.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG   <= out_dtype is NULL; unit is not a guf_time_unit; multiple is 0, exceeds
 *                        GUF_MAX_UNIT_MULTIPLE, or is not 1 for the generic unit
 *         GUF_E_DTYPE <= time is neither a datetime64 nor a timedelta64 */
GUF_API guf_status guf_dtype_make_time(guf_dtype time, int32_t unit, uint32_t multiple,
                                       guf_dtype *out_dtype, guf_error *error);

/** Returns the unit (guf_time_unit) and the multiple of a datetime64 or timedelta64.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG   <= out_unit or out_multiple is NULL
 *         GUF_E_DTYPE <= time is neither a datetime64 nor a timedelta64 */
GUF_API guf_status guf_dtype_get_unit(guf_dtype time, int32_t *out_unit, uint32_t *out_multiple,
                                      guf_error *error);

/** Registers a structured dtype for the process: an opaque element type whose bytes only the
 * program's own loops interpret. Arrays of a structured dtype can be allocated, wrapped, viewed and
 * copied. A loop accepts such an array only if the loop has exactly this dtype; there are no casts
 * and no swapped byte order. Registering a name again with the same size and alignment returns the
 * same dtype. A registration cannot be removed. `itemsize` and `alignment` are in bytes.
 * [mt] [no-block]
 * Errors  GUF_E_ARG       <= name or out_dtype is NULL; name does not match
 *                            [A-Za-z_][A-Za-z0-9_.]*, has more than 31 characters, or is the name
 *                            of another dtype; itemsize is 0, exceeds
 *                            GUF_MAX_STRUCTURED_ITEMSIZE, or is not a multiple of alignment;
 *                            alignment is not a power of two or exceeds 64
 *         GUF_E_EXISTS    <= the name is registered with a different size or alignment, which
 *                            the message contains
 *         GUF_E_NO_MEMORY <= a host allocation failed, or GUF_MAX_STRUCTURED_DTYPES names are
 *                            registered */
GUF_API guf_status guf_dtype_register(const char *name, uint32_t itemsize, uint32_t alignment,
                                      guf_dtype *out_dtype, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DTYPE_H */

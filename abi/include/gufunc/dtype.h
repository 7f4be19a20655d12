/* SPDX-License-Identifier: Apache-2.0
 * Element types, casting levels, and the tables of NumPy 2 as functions. */
#ifndef GUFUNC_DTYPE_H
#define GUFUNC_DTYPE_H

#include "status.h"

GUF_BEGIN_DECLS

/** Element type: DLPack's DLDataType packed as `code | bits << 8 | lanes << 16`. 0 is
 * "unspecified". Byte order is a flag of the operand, never of the dtype.
 * Codes from 0x80 on are the library's own; equal values are equal types there too.
 *   0x80, 0x81  datetime64, timedelta64: `code | unit << 8 | multiple << 16`, elements of 8 bytes
 *   0x82        a record: `code | itemsize << 8 | number << 20`, see guf_dtype_register */
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
  /* Without a unit; in a loop's types: any unit. guf_dtype_make_time gives one with a unit. */
  GUF_DATETIME64 = 0x00010080,
  GUF_TIMEDELTA64 = 0x00010081
};

/** What a step of a datetime64 or timedelta64 is. Weeks begin on Thursday, as 1970-01-01. */
enum guf_time_unit {
  GUF_UNIT_GENERIC = 0, /* none: takes that of the other operand */
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
  GUF_MAX_RECORDS = 4096,        /* names of one process */
  GUF_MAX_RECORD_ITEMSIZE = 4095 /* bytes */
};

/** Not a time: the least int64, in datetime64 and timedelta64. */
#define GUF_NAT INT64_MIN

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
  GUF_KIND_COMPLEX = 'c',
  GUF_KIND_TIMEDELTA = 'm',
  GUF_KIND_DATETIME = 'M',
  GUF_KIND_RECORD = 'V'
};

typedef struct guf_dtype_info {
  uint32_t struct_size;
  guf_dtype dtype;
  uint32_t itemsize;  /* bytes */
  uint32_t alignment; /* bytes */
  int32_t kind;       /* guf_dtype_kind */
  int32_t letter; /* one character, as type strings spell it: ? b B h H i I q Q e E f d F D M m V */
  char name[32];  /* "float32", "datetime64[25s]" */
  char short_name[8]; /* "f4"; "bf16"; "M8" and "m8" whatever the unit; "V12" */
} guf_dtype_info;

/** Reads a dtype's spelling: NumPy's names ("float32"), characters ("f", "l" and "q" are int64),
 * short forms ("f4", "<f4", "|u1"), "bfloat16", "bf16", "E", times with and without a unit
 * ("datetime64[ns]", "M8[25s]", "<m8[ms]", "m8"), and names of records. A '>' prefix is refused:
 * byte order is an operand flag.
 * Errors  GUF_E_ARG    <= spelling or out_dtype is NULL
 *         GUF_E_DTYPE  <= not a spelling of a dtype; the message lists the valid ones, or the units
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_parse(const char *spelling, guf_dtype *out_dtype, guf_error *error);

/** Name of a dtype ("float32"), or NULL for a value that is no dtype.
 * Ownership  static text, never freed. A time whose multiple is not 1 has its name made when it is
 *            first asked for; should memory be out then, it is the name without the unit.
 * [mt] [no-block] */
GUF_API const char *guf_dtype_name(guf_dtype dtype);

/** Size, alignment, kind and names of a dtype.
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_STRUCT <= out_info->struct_size is below the first version's size
 *         GUF_E_DTYPE  <= not a dtype
 * [mt] [no-block]  A time's name is made as guf_dtype_name's. */
GUF_API guf_status guf_dtype_get_info(guf_dtype dtype, guf_dtype_info *out_info, guf_error *error);

/** Whether NumPy's `can_cast(from, to, casting)` holds; bf16 stands beside f16 (each casts to the
 * other by same_kind, both to f32 safely).
 * Errors  GUF_E_ARG   <= out_possible is NULL, or casting is not a guf_casting
 *         GUF_E_DTYPE <= from or to is not a dtype
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_can_cast(guf_dtype from, guf_dtype to, int32_t casting,
                                      int32_t *out_possible, guf_error *error);

/** NumPy's `promote_types(a, b)`; f16 with bf16 gives f32. Times get the coarsest unit that both
 * are multiples of; a record has no common type with another type.
 * Errors  GUF_E_ARG      <= out_dtype is NULL
 *         GUF_E_DTYPE    <= a or b is not a dtype, or they have no common type; the message names
 *                           both
 *         GUF_E_OVERFLOW <= the units' common divisor overflows, or its multiple is above
 *                           GUF_MAX_UNIT_MULTIPLE
 * [mt] [no-block] */
GUF_API guf_status guf_dtype_promote(guf_dtype a, guf_dtype b, guf_dtype *out_dtype,
                                     guf_error *error);

/** datetime64 or timedelta64 of a unit: GUF_UNIT_SECOND and 25 is "[25s]". The generic unit has no
 * multiple.
 * Errors  GUF_E_ARG   <= out_dtype is NULL; unit is no guf_time_unit; multiple is 0, above
 *                        GUF_MAX_UNIT_MULTIPLE, or not 1 with the generic unit
 *         GUF_E_DTYPE <= time is neither a datetime64 nor a timedelta64; its own unit is ignored
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_make_time(guf_dtype time, int32_t unit, uint32_t multiple,
                                       guf_dtype *out_dtype, guf_error *error);

/** Unit and multiple of a datetime64 or timedelta64.
 * Errors  GUF_E_ARG   <= out_unit or out_multiple is NULL
 *         GUF_E_DTYPE <= time is neither a datetime64 nor a timedelta64
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_dtype_get_unit(guf_dtype time, int32_t *out_unit, uint32_t *out_multiple,
                                      guf_error *error);

/** Makes a record known to the process: elements that only loops of the program look into. Arrays
 * of it are allocated, wrapped, viewed, copied and given to loops of exactly this type; there are
 * no casts, and no swapped byte order. The same name with the same layout gives the same dtype; it
 * is never taken back.
 * Errors  GUF_E_ARG       <= name or out_dtype is NULL; name is not [A-Za-z_][A-Za-z0-9_.]* of at
 *                            most 31 characters, or spells another type; itemsize is 0, above
 *                            GUF_MAX_RECORD_ITEMSIZE, or no multiple of alignment; alignment is
 *                            no power of two or above 64
 *         GUF_E_EXISTS    <= the name has another layout; the message says which
 *         GUF_E_NO_MEMORY <= memory, or GUF_MAX_RECORDS names are taken
 * [mt] [no-block] */
GUF_API guf_status guf_dtype_register(const char *name, uint32_t itemsize, uint32_t alignment,
                                      guf_dtype *out_dtype, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DTYPE_H */

/* SPDX-License-Identifier: Apache-2.0
 * Loops of the standard operations: one string literal per operation, with "in->out" strings of
 * dtype letters separated by spaces, in the order in which they are tried. Loops and order
 * are as in NumPy 2, with bfloat16 (E) after float16. Kernels are compiled from these lines, and
 * the core resolves calls with the same lines, so that kernels and core cannot differ. Letters: ?
 * bool; b h i q int8..int64; B H I Q uint8..uint64; e float16; E bfloat16; f d float32/64; F D
 * complex; M m datetime64 and timedelta64 of any unit, which core/resolve determines. */
#ifndef GUFUNC_OPS_LOOPS_H
#define GUFUNC_OPS_LOOPS_H

/* Building blocks. "?\?" prevents a C compiler from reading a trigraph. */
#define GUF_LOOPS_INTEGER_1 "b->b B->B h->h H->H i->i I->I q->q Q->Q"
#define GUF_LOOPS_INTEGER_2 "bb->b BB->B hh->h HH->H ii->i II->I qq->q QQ->Q"
#define GUF_LOOPS_FLOAT_1 "e->e E->E f->f d->d"
#define GUF_LOOPS_FLOAT_2 "ee->e EE->E ff->f dd->d"
#define GUF_LOOPS_COMPLEX_1 "F->F D->D"
#define GUF_LOOPS_COMPLEX_2 "FF->F DD->D"
#define GUF_LOOPS_INTEGER_TEST_2 "bb->? BB->? hh->? HH->? ii->? II->? qq->? QQ->?"
#define GUF_LOOPS_INEXACT_TEST_2 "ee->? EE->? ff->? dd->? FF->? DD->?"
#define GUF_LOOPS_TIME_2 "MM->M mm->m"

/* Families of loops. qQ and Qq compare integers of different signedness exactly. */
#define GUF_LOOPS_ARITHMETIC_1 GUF_LOOPS_INTEGER_1 " " GUF_LOOPS_FLOAT_1 " " GUF_LOOPS_COMPLEX_1
#define GUF_LOOPS_ARITHMETIC_2 GUF_LOOPS_INTEGER_2 " " GUF_LOOPS_FLOAT_2 " " GUF_LOOPS_COMPLEX_2
#define GUF_LOOPS_ALL_2 "?\?->? " GUF_LOOPS_ARITHMETIC_2
#define GUF_LOOPS_COMPARISON \
  "?\?->? " GUF_LOOPS_INTEGER_TEST_2 " qQ->? Qq->? " GUF_LOOPS_INEXACT_TEST_2 " MM->? mm->?"
#define GUF_LOOPS_LOGICAL_2 "?\?->? " GUF_LOOPS_INTEGER_TEST_2 " " GUF_LOOPS_INEXACT_TEST_2
#define GUF_LOOPS_BITWISE_2 "?\?->? " GUF_LOOPS_INTEGER_2
#define GUF_LOOPS_MATH_1 GUF_LOOPS_FLOAT_1 " " GUF_LOOPS_COMPLEX_1
#define GUF_LOOPS_ROUNDING "?->? " GUF_LOOPS_INTEGER_1 " " GUF_LOOPS_FLOAT_1
#define GUF_LOOPS_NUMBER_TEST_1 \
  "?->? b->? B->? h->? H->? i->? I->? q->? Q->? e->? E->? f->? d->? F->? D->?"

#define GUF_LOOPS_add GUF_LOOPS_ALL_2 " Mm->M mm->m mM->M"
#define GUF_LOOPS_subtract GUF_LOOPS_ARITHMETIC_2 " Mm->M mm->m MM->m"
#define GUF_LOOPS_multiply GUF_LOOPS_ALL_2 " mq->m qm->m md->m dm->m"
#define GUF_LOOPS_divide GUF_LOOPS_FLOAT_2 " " GUF_LOOPS_COMPLEX_2 " mq->m md->m mm->d"
#define GUF_LOOPS_floor_divide GUF_LOOPS_INTEGER_2 " " GUF_LOOPS_FLOAT_2 " mq->m md->m mm->q"
#define GUF_LOOPS_remainder GUF_LOOPS_INTEGER_2 " " GUF_LOOPS_FLOAT_2 " mm->m"
#define GUF_LOOPS_power GUF_LOOPS_ARITHMETIC_2

#define GUF_LOOPS_negative GUF_LOOPS_ARITHMETIC_1 " m->m"
#define GUF_LOOPS_absolute "?->? " GUF_LOOPS_INTEGER_1 " " GUF_LOOPS_FLOAT_1 " F->f D->d m->m"
#define GUF_LOOPS_square GUF_LOOPS_ARITHMETIC_1
#define GUF_LOOPS_reciprocal GUF_LOOPS_ARITHMETIC_1
#define GUF_LOOPS_sign GUF_LOOPS_ARITHMETIC_1 " m->m"
#define GUF_LOOPS_isnat "M->? m->?"

#define GUF_LOOPS_sqrt GUF_LOOPS_MATH_1
#define GUF_LOOPS_exp GUF_LOOPS_MATH_1
#define GUF_LOOPS_log GUF_LOOPS_MATH_1
#define GUF_LOOPS_sin GUF_LOOPS_MATH_1
#define GUF_LOOPS_cos GUF_LOOPS_MATH_1

#define GUF_LOOPS_maximum GUF_LOOPS_ALL_2 " " GUF_LOOPS_TIME_2
#define GUF_LOOPS_minimum GUF_LOOPS_ALL_2 " " GUF_LOOPS_TIME_2
#define GUF_LOOPS_fmax GUF_LOOPS_ALL_2 " " GUF_LOOPS_TIME_2
#define GUF_LOOPS_fmin GUF_LOOPS_ALL_2 " " GUF_LOOPS_TIME_2

#define GUF_LOOPS_equal GUF_LOOPS_COMPARISON
#define GUF_LOOPS_not_equal GUF_LOOPS_COMPARISON
#define GUF_LOOPS_less GUF_LOOPS_COMPARISON
#define GUF_LOOPS_less_equal GUF_LOOPS_COMPARISON
#define GUF_LOOPS_greater GUF_LOOPS_COMPARISON
#define GUF_LOOPS_greater_equal GUF_LOOPS_COMPARISON

#define GUF_LOOPS_logical_and GUF_LOOPS_LOGICAL_2
#define GUF_LOOPS_logical_or GUF_LOOPS_LOGICAL_2
#define GUF_LOOPS_logical_xor GUF_LOOPS_LOGICAL_2
#define GUF_LOOPS_logical_not GUF_LOOPS_NUMBER_TEST_1

#define GUF_LOOPS_bitwise_and GUF_LOOPS_BITWISE_2
#define GUF_LOOPS_bitwise_or GUF_LOOPS_BITWISE_2
#define GUF_LOOPS_bitwise_xor GUF_LOOPS_BITWISE_2
#define GUF_LOOPS_invert "?->? " GUF_LOOPS_INTEGER_1
#define GUF_LOOPS_left_shift GUF_LOOPS_INTEGER_2
#define GUF_LOOPS_right_shift GUF_LOOPS_INTEGER_2

#define GUF_LOOPS_floor GUF_LOOPS_ROUNDING
#define GUF_LOOPS_ceil GUF_LOOPS_ROUNDING
#define GUF_LOOPS_trunc GUF_LOOPS_ROUNDING
#define GUF_LOOPS_rint GUF_LOOPS_MATH_1

#define GUF_LOOPS_isnan GUF_LOOPS_NUMBER_TEST_1 " M->? m->?"
#define GUF_LOOPS_isinf GUF_LOOPS_NUMBER_TEST_1 " M->? m->?"
#define GUF_LOOPS_isfinite GUF_LOOPS_NUMBER_TEST_1 " M->? m->?"
#define GUF_LOOPS_signbit "e->? E->? f->? d->?"

#define GUF_LOOPS_positive GUF_LOOPS_ARITHMETIC_1 " m->m"
#define GUF_LOOPS_fabs GUF_LOOPS_FLOAT_1
#define GUF_LOOPS_conjugate GUF_LOOPS_ARITHMETIC_1
#define GUF_LOOPS_copysign GUF_LOOPS_FLOAT_2

#define GUF_LOOPS_fmod GUF_LOOPS_INTEGER_2 " " GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_gcd GUF_LOOPS_INTEGER_2
#define GUF_LOOPS_lcm GUF_LOOPS_INTEGER_2
#define GUF_LOOPS_bitwise_count "b->B B->B h->B H->B i->B I->B q->B Q->B"
#define GUF_LOOPS_ldexp "ei->e Ei->E fi->f eq->e Eq->E fq->f di->d dq->d"

#define GUF_LOOPS_degrees GUF_LOOPS_FLOAT_1
#define GUF_LOOPS_rad2deg GUF_LOOPS_FLOAT_1
#define GUF_LOOPS_radians GUF_LOOPS_FLOAT_1
#define GUF_LOOPS_deg2rad GUF_LOOPS_FLOAT_1

#define GUF_LOOPS_exp2 GUF_LOOPS_MATH_1
#define GUF_LOOPS_expm1 GUF_LOOPS_MATH_1
#define GUF_LOOPS_log1p GUF_LOOPS_MATH_1
#define GUF_LOOPS_log2 GUF_LOOPS_MATH_1
#define GUF_LOOPS_log10 GUF_LOOPS_MATH_1
#define GUF_LOOPS_tan GUF_LOOPS_MATH_1
#define GUF_LOOPS_sinh GUF_LOOPS_MATH_1
#define GUF_LOOPS_cosh GUF_LOOPS_MATH_1
#define GUF_LOOPS_tanh GUF_LOOPS_MATH_1
#define GUF_LOOPS_arcsin GUF_LOOPS_MATH_1
#define GUF_LOOPS_arccos GUF_LOOPS_MATH_1
#define GUF_LOOPS_arctan GUF_LOOPS_MATH_1
#define GUF_LOOPS_arcsinh GUF_LOOPS_MATH_1
#define GUF_LOOPS_arccosh GUF_LOOPS_MATH_1
#define GUF_LOOPS_arctanh GUF_LOOPS_MATH_1
#define GUF_LOOPS_cbrt GUF_LOOPS_FLOAT_1
#define GUF_LOOPS_arctan2 GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_hypot GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_float_power "dd->d DD->D"
#define GUF_LOOPS_logaddexp GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_logaddexp2 GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_heaviside GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_nextafter GUF_LOOPS_FLOAT_2
#define GUF_LOOPS_spacing GUF_LOOPS_FLOAT_1

#define GUF_LOOPS_divmod \
  "bb->bb BB->BB hh->hh HH->HH ii->ii II->II qq->qq QQ->QQ ee->ee EE->EE ff->ff dd->dd mm->qm"
#define GUF_LOOPS_modf "e->ee E->EE f->ff d->dd"
#define GUF_LOOPS_frexp "e->ei E->Ei f->fi d->di"

#define GUF_LOOPS_matmul GUF_LOOPS_ALL_2
#define GUF_LOOPS_vecdot GUF_LOOPS_ALL_2
#define GUF_LOOPS_matvec GUF_LOOPS_ALL_2
#define GUF_LOOPS_vecmat GUF_LOOPS_ALL_2

/* Reductions with a user-defined accumulator: the block function, merge and finish. */
#define GUF_LOOPS_argmax                                                                        \
  "?q->?q bq->bq Bq->Bq hq->hq Hq->Hq iq->iq Iq->Iq qq->qq Qq->Qq eq->eq Eq->Eq fq->fq dq->dq " \
  "Fq->Fq Dq->Dq Mq->Mq mq->mq"
#define GUF_LOOPS_argmax_merge                                                                 \
  "?q?q->?q bqbq->bq BqBq->Bq hqhq->hq HqHq->Hq iqiq->iq IqIq->Iq qqqq->qq QqQq->Qq eqeq->eq " \
  "EqEq->Eq fqfq->fq dqdq->dq FqFq->Fq DqDq->Dq MqMq->Mq mqmq->mq"
#define GUF_LOOPS_extreme_index                                                                \
  "?q->q bq->q Bq->q hq->q Hq->q iq->q Iq->q qq->q Qq->q eq->q Eq->q fq->q dq->q Fq->q Dq->q " \
  "Mq->q mq->q"
#define GUF_LOOPS_argmin GUF_LOOPS_argmax
#define GUF_LOOPS_argmin_merge GUF_LOOPS_argmax_merge
#define GUF_LOOPS_ptp                                                                          \
  "b->bb B->BB h->hh H->HH i->ii I->II q->qq Q->QQ e->ee E->EE f->ff d->dd F->FF D->DD M->MM " \
  "m->mm"
#define GUF_LOOPS_ptp_merge                                                                    \
  "bbbb->bb BBBB->BB hhhh->hh HHHH->HH iiii->ii IIII->II qqqq->qq QQQQ->QQ eeee->ee EEEE->EE " \
  "ffff->ff dddd->dd FFFF->FF DDDD->DD MMMM->MM mmmm->mm"
#define GUF_LOOPS_ptp_finish GUF_LOOPS_ARITHMETIC_2 " MM->m mm->m"

/* Reductions with accumulators of double precision. The loops of f64 are first, so that integers
 * are cast to f64. */
#define GUF_LOOPS_mean "d?->qd e?->qd E?->qd f?->qd F?->qD D?->qD m?->qm"
#define GUF_LOOPS_nanmean GUF_LOOPS_mean
#define GUF_LOOPS_mean_merge "qdqd->qd qDqD->qD qmqm->qm"
#define GUF_LOOPS_mean_finish "qd->d qD->D qm->m"
#define GUF_LOOPS_var "d?->qDd e?->qDd E?->qDd f?->qDd F?->DDD D?->DDD"
#define GUF_LOOPS_std GUF_LOOPS_var
#define GUF_LOOPS_nanvar GUF_LOOPS_var
#define GUF_LOOPS_nanstd GUF_LOOPS_var
#define GUF_LOOPS_var_merge "qDdqDd->qDd DDDDDD->DDD"
#define GUF_LOOPS_var_finish "qDdd->d DDDd->d"
#define GUF_LOOPS_std_finish GUF_LOOPS_var_finish
#define GUF_LOOPS_nanvar_finish GUF_LOOPS_var_finish
#define GUF_LOOPS_nanstd_finish GUF_LOOPS_var_finish
#define GUF_LOOPS_nansum "?\?->q Q?->Q q?->q d?->d e?->d E?->d f?->d F?->D D?->D m?->m"
#define GUF_LOOPS_count_nonzero \
  "?->q b->q B->q h->q H->q i->q I->q q->q Q->q e->q E->q f->q d->q F->q D->q M->q m->q"

#define GUF_LOOPS_ALL_3                                                             \
  "?\?\?->? bbb->b BBB->B hhh->h HHH->H iii->i III->I qqq->q QQQ->Q eee->e EEE->E " \
  "fff->f ddd->d FFF->F DDD->D"
#define GUF_LOOPS_clip GUF_LOOPS_ALL_3 " mmm->m MMM->M"
#define GUF_LOOPS_select                                              \
  "?\?\?->? ?bb->b ?BB->B ?hh->h ?HH->H ?ii->i ?II->I ?qq->q ?QQ->Q " \
  "?ee->e ?EE->E ?ff->f ?dd->d ?FF->F ?DD->D ?MM->M ?mm->m"
#define GUF_LOOPS_cross GUF_LOOPS_ARITHMETIC_2
#define GUF_LOOPS_diff "?->? " GUF_LOOPS_ARITHMETIC_1 " m->m M->m"
#define GUF_LOOPS_convolve GUF_LOOPS_ALL_2
#define GUF_LOOPS_arange GUF_LOOPS_ARITHMETIC_2 " mm->m Mm->M"
#define GUF_LOOPS_sort "?->? " GUF_LOOPS_ARITHMETIC_1 " m->m M->M"
#define GUF_LOOPS_argsort \
  "?->q b->q B->q h->q H->q i->q I->q q->q Q->q e->q E->q f->q d->q F->q D->q m->q M->q"
#define GUF_LOOPS_searchsorted                                                                  \
  "?\?->q bb->q BB->q hh->q HH->q ii->q II->q qq->q QQ->q ee->q EE->q ff->q dd->q FF->q DD->q " \
  "mm->q MM->q"
#define GUF_LOOPS_searchsorted_right GUF_LOOPS_searchsorted
#define GUF_LOOPS_partition                                                                    \
  "?q->? bq->b Bq->B hq->h Hq->H iq->i Iq->I qq->q Qq->Q eq->e Eq->E fq->f dq->d Fq->F Dq->D " \
  "mq->m Mq->M"

/* Functions whose integer inputs are cast to f64, as by the functions of NumPy and SciPy with these
 * names: the loop of f64 is the first. */
#define GUF_LOOPS_FLOAT_FROM_F64_1 "d->d e->e E->E f->f"
#define GUF_LOOPS_median GUF_LOOPS_FLOAT_FROM_F64_1
#define GUF_LOOPS_norm GUF_LOOPS_FLOAT_FROM_F64_1 " F->f D->d"
#define GUF_LOOPS_softmax GUF_LOOPS_FLOAT_FROM_F64_1
#define GUF_LOOPS_log_softmax GUF_LOOPS_FLOAT_FROM_F64_1
#define GUF_LOOPS_logsumexp GUF_LOOPS_FLOAT_FROM_F64_1
#define GUF_LOOPS_quantile "dd->d ed->e Ed->E fd->f"
#define GUF_LOOPS_percentile GUF_LOOPS_quantile
#define GUF_LOOPS_interp "ddd->d fff->f ddD->D ffF->F"
#define GUF_LOOPS_linspace "dd->d ee->e EE->E ff->f FF->F DD->D"
#define GUF_LOOPS_det "d->d f->f D->D F->F"
#define GUF_LOOPS_slogdet "d->dd f->ff D->Dd F->Ff"
#define GUF_LOOPS_inv "d->d f->f D->D F->F"
#define GUF_LOOPS_solve "dd->d ff->f DD->D FF->F"
#define GUF_LOOPS_solve1 GUF_LOOPS_solve
#define GUF_LOOPS_cholesky GUF_LOOPS_inv
#define GUF_LOOPS_cholesky_upper GUF_LOOPS_inv
#define GUF_LOOPS_qr "d->dd f->ff D->DD F->FF"
#define GUF_LOOPS_eigh "d->dd f->ff D->dD F->fF"
#define GUF_LOOPS_eigvalsh "d->d f->f D->d F->f"

#endif /* GUFUNC_OPS_LOOPS_H */

// SPDX-License-Identifier: Apache-2.0
// clip, a function of NumPy with three inputs, which the standard library does not have. The oracle
// and the corpus use it.
#include <gufunc/kernel.hpp>

// Comparisons with NaN are false, so if an argument is NaN, the result is NaN.
template <class T>
GUF_DEVICE T clip(T x, T low, T high) {
  const T raised = x != x || x > low ? x : low;
  return raised != raised || raised < high ? raised : high;
}
GUF_UFUNC(clip,
          "???->? bbb->b BBB->B hhh->h HHH->H iii->i III->I qqq->q QQQ->Q eee->e fff->f "
          "ddd->d");

template <class T>
GUF_DEVICE T clip_time(T x, T low, T high) {
  const bool lost = x.value == guf::nat || low.value == guf::nat || high.value == guf::nat;
  const guf::i64 raised = x.value > low.value ? x.value : low.value;
  return T{lost ? guf::nat : raised < high.value ? raised : high.value};
}
GUF_UFUNC(clip_time, "mmm->m MMM->M", "name=clip");

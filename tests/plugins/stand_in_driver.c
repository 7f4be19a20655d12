/* SPDX-License-Identifier: Apache-2.0
 * A library with the file name of a driver. One of the bad plugins links to this library. */
int stand_in_driver(void);
int stand_in_driver(void) {
  return 0;
}

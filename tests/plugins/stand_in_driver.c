/* SPDX-License-Identifier: Apache-2.0
 * A library with a driver's name, for the plugin that is linked with one. */
int stand_in_driver(void);
int stand_in_driver(void) {
  return 0;
}

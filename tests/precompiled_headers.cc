// SPDX-License-Identifier: Apache-2.0
// A program without tests. It owns the precompiled headers that all other test programs use.

// SPDX-License-Identifier: Apache-2.0
// A program without tests, to which the precompiled headers of all others belong.

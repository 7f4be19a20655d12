# SPDX-License-Identifier: Apache-2.0
# What lands where in an installation.

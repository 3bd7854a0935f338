# SPDX-License-Identifier: BSD-3-Clause
"""What the measuring scripts share."""

// SPDX-License-Identifier: Apache-2.0
/** The rig that breaks relays, databases and brokers, for the fault tests of this module. */
@NullMarked
package io.postrider.faults;

import org.jspecify.annotations.NullMarked;

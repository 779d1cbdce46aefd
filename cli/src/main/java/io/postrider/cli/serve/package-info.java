// SPDX-License-Identifier: Apache-2.0
/** The relay server: relays, housekeeping, alerts, dashboards and pages for machines, as one file describes them. */
@NullMarked
package io.postrider.cli.serve;

import org.jspecify.annotations.NullMarked;

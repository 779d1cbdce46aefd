// SPDX-License-Identifier: Apache-2.0
/** The file that describes a relay server: read strictly, with all that is wrong told at once. */
@NullMarked
package io.postrider.cli.config;

import org.jspecify.annotations.NullMarked;

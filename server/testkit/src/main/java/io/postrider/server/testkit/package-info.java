// SPDX-License-Identifier: Apache-2.0
/** What the dashboard's tests share, here and where an application has mounted it. */
@NullMarked
package io.postrider.server.testkit;

import org.jspecify.annotations.NullMarked;

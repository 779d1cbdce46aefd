// SPDX-License-Identifier: Apache-2.0
/**
 * What every feed, every publisher and every place of Postrider's tables must keep, as JUnit classes to be extended. They
 * need JUnit, AssertJ and Awaitility on the classpath.
 */
@NullMarked
package io.postrider.testkit.contract;

import org.jspecify.annotations.NullMarked;

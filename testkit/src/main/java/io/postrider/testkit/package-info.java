// SPDX-License-Identifier: Apache-2.0
/**
 * Real servers, child processes, a misbehaving network, fakes and the ledger checker, for tests of applications that
 * use Postrider and for Postrider's own. Only the types whose name starts with {@code Kafka} need Kafka's classes.
 */
@NullMarked
package io.postrider.testkit;

import org.jspecify.annotations.NullMarked;

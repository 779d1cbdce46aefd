// SPDX-License-Identifier: Apache-2.0
/** What a Spring Boot application gets without asking, and its settings: {@code postrider.*}. */
@NullMarked
package io.postrider.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;

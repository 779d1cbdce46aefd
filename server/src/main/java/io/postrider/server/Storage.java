// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.table.TableNames;
import javax.sql.DataSource;

/** Where the tables are. */
record Storage(DataSource dataSource, TableNames tables) {}

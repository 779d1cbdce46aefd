// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/**
 * What one pass did.
 *
 * @param published delivered and settled
 * @param retrying failed, to be tried again later
 * @param dead failed for good
 * @param foundNothingMore whether it stopped because nothing was left that it could take
 */
public record DrainResult(long published, long retrying, long dead, boolean foundNothingMore) {}

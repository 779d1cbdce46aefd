// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

/** Where a row stands in its partition. */
record Place(long page, int row) {

    /** As PostgreSQL prints it. */
    static Place of(String ctid) {
        int comma = ctid.indexOf(',');
        return new Place(
                Long.parseLong(ctid.substring(1, comma)),
                Integer.parseInt(ctid.substring(comma + 1, ctid.length() - 1)));
    }

    @Override
    public String toString() {
        return "(" + page + "," + row + ")";
    }
}

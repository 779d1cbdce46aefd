// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.net.InetAddress;
import java.util.HexFormat;
import java.util.List;

/** Whether an address belongs to the internet, and not to this machine, its network or no one. */
final class PublicAddress {
    /** What the JDK has no question for: networks as their first bits. */
    private static final List<Network> OTHERS = List.of(
            new Network("00", 8), // this network
            new Network("6440", 10), // shared by the customers of a provider
            new Network("c00000", 24), // assignments of protocols
            new Network("c0000200", 24), // documentation
            new Network("c6120000", 15), // benchmarks
            new Network("c6336400", 24), // documentation
            new Network("cb007100", 24), // documentation
            new Network("f0", 4)); // reserved, and broadcast

    /** Of version 6 only what is given out as global unicast, 2000::/3, without what leads elsewhere. */
    private static final Network GLOBAL = new Network("20", 3);

    private static final List<Network> NOT_GLOBAL = List.of(
            new Network("20010000", 23), // protocols, among them Teredo, which hides an address of version 4
            new Network("20010db8", 32), // documentation
            new Network("2002", 16), // 6to4, which hides one too
            new Network("3fff", 20)); // documentation

    private PublicAddress() {}

    /** All addresses that begin with these bits. */
    private record Network(String hex, int bits) {
        boolean has(byte[] address) {
            byte[] start = HexFormat.of().parseHex(hex);
            for (int bit = 0; bit < bits; bit++) {
                int mask = 0x80 >> (bit % 8);
                int wanted = bit / 8 < start.length ? start[bit / 8] & mask : 0;
                if ((address[bit / 8] & mask) != wanted) {
                    return false;
                }
            }
            return true;
        }
    }

    static boolean is(InetAddress address) {
        if (address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress()) {
            return false;
        }
        byte[] bytes = address.getAddress();
        return bytes.length == 4
                ? OTHERS.stream().noneMatch(each -> each.has(bytes))
                : GLOBAL.has(bytes) && NOT_GLOBAL.stream().noneMatch(each -> each.has(bytes));
    }
}

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// IANA's registries of special-purpose addresses (RFC 6890 and its updates).
const closedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // This is the host agent of a cloud, which has an address in a public range.
  '168.63.129.16/32',
].map((range) => ipaddr.IPv4.parseCIDR(range))

const globalUnicastV6 = ipaddr.IPv6.parseCIDR('2000::/3')

// Only 2000::/3 is permitted, which excludes ::, ::1, IPv4-mapped and IPv4-compatible addresses, NAT64 (64:ff9b::/96
// and 64:ff9b:1::/48), ULA, link-local, site-local and multicast addresses. These are the exceptions within it.
const closedV6 = [
  // Protocol assignments: Teredo, benchmarking, ORCHID.
  '2001::/23',
  // Documentation.
  '2001:db8::/32',
  '3fff::/20',
  // 6to4 carries an IPv4 address.
  '2002::/16',
  '2620:4f:8000::/48',
].map((range) => ipaddr.IPv6.parseCIDR(range))

/**
 * Returns whether an IP address in text form is on the public internet; false for anything that is not an address.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4: {
      const parsed = ipaddr.IPv4.parse(address)
      return !closedV4.some((range) => parsed.match(range))
    }
    case 6: {
      if (address.includes('%')) return false
      const parsed = ipaddr.IPv6.parse(address)
      return parsed.match(globalUnicastV6) && !closedV6.some((range) => parsed.match(range))
    }
    default:
      return false
  }
}

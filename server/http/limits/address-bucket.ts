import ipaddr from 'ipaddr.js'
import type { RateWindow } from './rate-limit.ts'

/** Many visitors may share one address. The agent limits what one of them may write (ipRateLimits). */
export const VISITS: RateWindow = { limit: 600, windowMs: 10_000 }

/**
 * Returns the bucket of an address. All addresses of a subscriber are one bucket, so an IPv6 address counts by its
 * first half.
 */
export function addressBucket(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address.kind() === 'ipv4'
    ? address.toString()
    : `${(address as ipaddr.IPv6).parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
}

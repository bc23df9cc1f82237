import ipaddr from 'ipaddr.js'
import type { RateWindow } from './rate-limit.ts'

/** Many visitors may share one address; what one may write is the agent's to say (ipRateLimits). */
export const VISITS: RateWindow = { limit: 600, windowMs: 10_000 }

/** What one subscriber has is counted as one: of an IPv6 address the first half, which is what a line is given. */
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

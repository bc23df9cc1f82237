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
  return networkOf(ip, 64) ?? ipaddr.process(ip).toString()
}

/**
 * Returns the bucket of the whole site of an IPv6 address: some subscribers have 65,536 of the networks that
 * addressBucket tells apart. Returns null for other addresses.
 */
export const siteBucket = (ip: string): string | null => (ipaddr.isValid(ip) ? networkOf(ip, 48) : null)

function networkOf(ip: string, bits: 48 | 64): string | null {
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return null
  const parts = address.parts.slice(0, bits / 16)
  return `${parts.map((part) => part.toString(16)).join(':')}::/${bits}`
}

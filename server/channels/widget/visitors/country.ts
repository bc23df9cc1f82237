import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { countryCodes } from '../../../agents/settings/country-codes.ts'
import type { Config } from '../../../config.ts'

type Trust = Pick<Config, 'countryHeader' | 'trustedProxies'>

/** Returns the country of the client as named by the proxy; null when there is no trusted proxy that names it. */
export type CountryOf = (request: FastifyRequest) => string | null

export function countryReader({ countryHeader, trustedProxies }: Trust): CountryOf {
  if (countryHeader === null) return () => null
  const ranges = trustedProxies.map(rangeOf)
  const isTrusted = (text: string | undefined): boolean => {
    if (!text || !ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
  }
  return ({ socket, headers }) => {
    const said = headers[countryHeader]?.toString().toUpperCase() ?? ''
    return countryCodes.includes(said) && isTrusted(socket.remoteAddress) ? said : null
  }
}

/** A single address is treated as a range of one. */
const rangeOf = (text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
  ipaddr.parseCIDR(
    ipaddr.isValidCIDR(text) ? text : `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`,
  )

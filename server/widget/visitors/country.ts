import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { countryCodes } from '../../agents/settings/country-codes.ts'
import type { Config } from '../../config.ts'

type Trust = Pick<Config, 'countryHeader' | 'trustedProxies'>

/** Where the sender of a request is, as the proxy in front says; null: nobody who can be believed says so. */
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

/** A single address is a range of one. */
const rangeOf = (text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
  ipaddr.parseCIDR(
    ipaddr.isValidCIDR(text) ? text : `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`,
  )

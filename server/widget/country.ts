import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { countryCodes } from '../agents/country-codes.ts'
import type { Config } from '../config.ts'

type Trust = Pick<Config, 'countryHeader' | 'trustedProxies'>

/** Where a visitor is, as the proxy in front of the service says; null: nobody who can be believed says so. */
export function countryOf(request: FastifyRequest, { countryHeader, trustedProxies }: Trust): string | null {
  if (countryHeader === null || !isTrusted(request.socket.remoteAddress, trustedProxies)) return null
  const said = request.headers[countryHeader]?.toString().toUpperCase() ?? ''
  return countryCodes.includes(said) ? said : null
}

function isTrusted(address: string | undefined, proxies: readonly string[]): boolean {
  if (!address || !ipaddr.isValid(address)) return false
  const peer = ipaddr.process(address)
  return proxies.some((proxy) => {
    const [range, bits] = ipaddr.isValidCIDR(proxy)
      ? ipaddr.parseCIDR(proxy)
      : ([ipaddr.parse(proxy), undefined] as const)
    return (
      range.kind() === peer.kind() && peer.match(range as never, bits ?? (peer.kind() === 'ipv4' ? 32 : 128))
    )
  })
}

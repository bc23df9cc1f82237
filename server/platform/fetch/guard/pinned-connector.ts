import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { FetchFailure } from '../failures/fetch-failure.ts'
import { isPrivateHostAllowed, type PrivateHosts } from './private-hosts.ts'
import { isPublicAddress } from './public-address.ts'

/** Resolves a host name to all of its addresses; rejects or returns none when the name is unknown. */
export type ResolveHost = (hostname: string) => Promise<{ address: string; family: number }[]>

const blockedSentence =
  'This address cannot be fetched: its host is not on the public internet. An operator can allow a host of the ' +
  'internal network by listing it in ALLOWED_PRIVATE_HOSTS.'

export const resolveWithSystem: ResolveHost = (hostname) => lookup(hostname, { all: true, order: 'verbatim' })

/**
 * Connects like undici, except that the name is resolved here, once, every address is checked, and the socket can
 * only reach the checked addresses. A later change of the DNS records has no effect on it.
 */
export function createPinnedConnector(
  privateHosts: PrivateHosts,
  resolve: ResolveHost,
  connectTimeoutMs: number,
): buildConnector.connector {
  return (options, callback) => {
    addressesOf(options, privateHosts, resolve).then(
      (addresses) => {
        const [first] = addresses
        const lookup: LookupFunction = (_hostname, wanted, done) =>
          wanted.all || !first ? done(null, addresses) : done(null, first.address, first.family)
        // The type of the options lacks those that are passed on to the socket.
        const forSocket: object = { lookup }
        const connect = buildConnector({
          allowH2: false,
          timeout: connectTimeoutMs,
          autoSelectFamily: true,
          ...forSocket,
        })
        connect(options, callback)
      },
      (error: Error) => callback(error, null),
    )
  }
}

async function addressesOf(
  options: buildConnector.Options,
  privateHosts: PrivateHosts,
  resolve: ResolveHost,
): Promise<{ address: string; family: number }[]> {
  const literal = options.hostname.replace(/^\[|\]$/g, '')
  const host = isIP(literal) === 6 ? `[${literal}]` : literal
  const url = new URL(`${options.protocol}//${host}${options.port ? `:${options.port}` : ''}/`)
  const addresses = isIP(literal)
    ? [{ address: literal, family: isIP(literal) }]
    : await resolveName(literal, resolve)
  if (!isPrivateHostAllowed(privateHosts, url) && !addresses.every(({ address }) => isPublicAddress(address)))
    throw new FetchFailure('blocked_address', blockedSentence)
  return addresses
}

async function resolveName(hostname: string, resolve: ResolveHost) {
  const sentence = `The host name ${hostname} could not be found. Check the spelling.`
  const addresses = await resolve(hostname).catch((error: unknown) => {
    throw new FetchFailure('dns_failed', sentence, error)
  })
  if (addresses.length === 0) throw new FetchFailure('dns_failed', sentence)
  return addresses
}

import { isIP } from 'node:net'
import { getCACertificates } from 'node:tls'
import type { MailServer } from '../db/tables/channels.ts'
import { type ResolveHost, resolveWithSystem } from '../fetch/guard/pinned-connector.ts'
import { isPrivateHostAllowed, parsePrivateHosts } from '../fetch/guard/private-hosts.ts'
import { isPublicAddress } from '../fetch/guard/public-address.ts'
import { isRefusedLogin, MailFailure } from './mail-failure.ts'

/** `authority`: certificates (PEM) that are trusted in addition to the public ones. */
export type Login = MailServer & {
  password: string | null
  authority?: string | null
  /** In place of the password (XOAUTH2). */
  accessToken?: string | null
  /** Asks the provider for another token in place of one that the server has refused. Throws MailFailure. */
  renewToken?: () => Promise<unknown>
}

/** The options of a connection that trusts a login's own authority as well. */
export const trusting = ({ authority }: Pick<Login, 'authority'>): { tls?: { ca: string[] } } =>
  authority ? { tls: { ca: [...getCACertificates('default'), authority] } } : {}

/**
 * Resolves the address of a mail server once and checks it as the guarded fetcher does. The connection must use this
 * address and not the name. Throws MailFailure.
 */
export async function reachHost(
  host: string,
  port: number,
  allowedPrivateHosts: readonly string[],
  resolve: ResolveHost = resolveWithSystem,
): Promise<string> {
  const literal = host.replace(/^\[|\]$/g, '')
  const url = URL.parse(`http://${isIP(literal) === 6 ? `[${literal}]` : literal}:${port}/`)
  if (!url) throw new MailFailure(`${host} is no name of a host.`)
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(name) ? [{ address: name, family: isIP(name) }] : await resolve(name).catch(() => [])
  // Many hosts have an IPv6 address that this machine cannot reach.
  const first = addresses.toSorted((a, b) => a.family - b.family)[0]
  if (!first) throw new MailFailure(`The host name ${host} could not be found. Check the spelling.`)
  const isAllowed = isPrivateHostAllowed(parsePrivateHosts(allowedPrivateHosts), url)
  if (!isAllowed && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new MailFailure(
      `${host} is not on the public internet. An operator can allow it by listing it in ALLOWED_PRIVATE_HOSTS.`,
    )
  }
  return first.address
}

/**
 * Returns the error of a login. A token that was refused before its end is renewed, so that the provider says whether the
 * permission still holds.
 */
export async function loginError(error: unknown, { host, accessToken, renewToken }: Login): Promise<unknown> {
  if (!accessToken || !renewToken || !isRefusedLogin(error)) return error
  try {
    await renewToken()
  } catch (refused) {
    return refused
  }
  return new MailFailure(
    `${host} refused the token of the provider, which was renewed. If this stays, connect the mailbox with the provider again.`,
    { cause: error },
  )
}

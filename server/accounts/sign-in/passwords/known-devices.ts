import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../../context.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import { cameSecurely } from '../sessions/same-site.ts'

/** The time for which a device stays known, in seconds. Browsers keep no cookie for longer than 400 days. */
const LIFETIME_SECONDS = 400 * 24 * 3600
const COOKIE = /(?:^|;\s*)(?:__Secure-)?(parley\.device\.[\w-]{43})=([\w.-]{1,200})/g
/** Limits the signatures that are checked for one request; hardly more people share a browser. */
const MAX_COOKIES = 20

type Deps = Pick<Context, 'config' | 'sessions'>
type Exchange = { request: FastifyRequest; reply: FastifyReply }

/**
 * Returns the id of the browser if this login, or without `email` any login, has signed in there before; otherwise
 * null. It is proved by one signed cookie for each login.
 */
export async function knownDevice(
  { sessions }: Deps,
  { headers }: FastifyRequest,
  email?: string,
): Promise<string | null> {
  const cookies = [...(headers.cookie ?? '').matchAll(COOKIE)].slice(0, MAX_COOKIES)
  if (cookies.length === 0) return null
  const secret = await sessions.secret()
  const wanted = email === undefined ? null : nameFor(secret, email)
  for (const [, name = '', value = ''] of cookies) {
    if (wanted !== null && name !== wanted) continue
    const [id = '', ends = '', signature = ''] = value.split('.')
    if (Number(ends) * 1000 > Date.now() && isEqual(signature, sign(secret, `${name}=${id}.${ends}`)))
      return id
  }
  return null
}

/** Makes the browser known for the login, or keeps it known. */
export async function rememberDevice(
  { sessions, config }: Deps,
  { request, reply }: Exchange,
  email: string,
): Promise<void> {
  const id =
    (await knownDevice({ sessions, config }, request, email)) ?? randomBytes(18).toString('base64url')
  const secret = await sessions.secret()
  const ends = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS
  const name = nameFor(secret, email)
  const value = `${id}.${ends}.${sign(secret, `${name}=${id}.${ends}`)}`
  const isSecure = cameSecurely(request, config)
  const attributes = `Max-Age=${LIFETIME_SECONDS}; Path=${basePathOf(config) || '/'}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${isSecure ? '__Secure-' : ''}${name}=${value}; ${attributes}`)
}

/** Returns the name of the cookie, which reveals neither the address nor whether it has a login. */
const nameFor = (secret: string, email: string): string =>
  `parley.device.${sign(secret, `device of ${email.trim().toLowerCase()}`)}`

const sign = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(`known device: ${text}`).digest('base64url')

function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { recordAudit } from '../../audit/audit.ts'
import { cameSecurely } from '../sessions/same-site.ts'
import { ADDRESS_HEADER, type Auth } from './open-auth.ts'

export type Exchange = { request: FastifyRequest; reply: FastifyReply }
type Deps = Pick<Context, 'db' | 'config' | 'sessions'>

/** The cookie's name without the `__Secure-` prefix that it has over HTTPS. */
const SESSION_COOKIE = 'parley.session_token='
const EVERY_SESSION_COOKIE = /(?:__Secure-)?parley\.session_token=[^;]*;?\s*/g

/** Returns the headers of a request that are passed to the sign-in library; `asStranger` leaves out its session. */
export function headersFor({ headers, ip }: FastifyRequest, { asStranger = false } = {}): Headers {
  const cookie = headers.cookie ?? ''
  return new Headers({
    cookie: asStranger ? cookie.replace(EVERY_SESSION_COOKIE, '') : cookie,
    'user-agent': (headers['user-agent'] ?? '').slice(0, 500),
    [ADDRESS_HEADER]: ip,
  })
}

/**
 * Calls the sign-in library, copies the cookies it sets to the reply, and returns the JSON of its response. Throws
 * AUTH_SIGN_IN_FAILED, or RATE_LIMIT_TOO_MANY_REQUESTS, unless the library reports success. `accept` may throw to
 * refuse what the library has permitted; then no cookie is set.
 */
export async function askAuth<T>(
  { sessions, config }: Deps,
  { request, reply }: Exchange,
  ask: (auth: Auth) => Promise<Response>,
  accept: (answer: T) => Promise<void> = async () => {},
): Promise<T> {
  const response = await ask(await sessions.open(cameSecurely(request, config)))
  // The library may have replaced the caller's session, so no cached one may be used.
  sessions.forget()
  const answer = response.ok ? ((await response.json()) as T) : null
  if (answer !== null) await accept(answer)
  passCookies(reply, response)
  if (answer !== null) return answer
  if (response.status === 429)
    throw new ApiError('RATE_LIMIT_TOO_MANY_REQUESTS', { headers: { 'retry-after': '900' } })
  if (response.status >= 500) throw new Error(`The sign-in library responded with ${response.status}.`)
  throw new ApiError('AUTH_SIGN_IN_FAILED')
}

export function passCookies(reply: FastifyReply, response: Response): void {
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}

/** Returns whether one of these cookies starts a session; a cookie that ends one does not count. */
export const beginsSession = (cookies: string[]): boolean =>
  cookies.some((cookie) => cookie.includes(SESSION_COOKIE) && !/max-age=0|session_token=;/i.test(cookie))

/**
 * Records in the audit log that somebody signed in or was refused. For an address without a login, the entry has
 * neither an account nor a member.
 */
export async function noteSignIn(
  db: Db,
  action: 'session.create' | 'session.refuse',
  { ip }: FastifyRequest,
  who: { loginId: string } | { email: string } | null,
): Promise<void> {
  const member =
    who &&
    (await db
      .selectFrom('logins')
      .innerJoin('members', 'members.id', 'logins.member_id')
      .select(['members.id', 'members.account_id'])
      .where(
        'loginId' in who ? 'logins.id' : 'logins.email',
        '=',
        'loginId' in who ? who.loginId : who.email.trim().toLowerCase(),
      )
      .executeTakeFirst())
  await recordAudit(db, {
    accountId: member?.account_id ?? null,
    actor: action === 'session.create' && member ? `member:${member.id}` : 'nobody',
    action,
    target: member?.id ?? null,
    detail: { address: ip },
  })
}

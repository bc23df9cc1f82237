import type { FastifyRequest } from 'fastify'
import type { Db } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Caller } from '../../../platform/http/route.ts'
import { scopesOf } from '../../keys/roles.ts'
import { dropExpiredLinks } from '../../links/links.ts'
import { type Auth, type AuthNeeds, authOpener } from '../provider/open-auth.ts'
import { cameSecurely, refuseCrossSite } from './same-site.ts'

/** A session that was ended must stop working within a second in every process. */
const FRESH_MS = 800
const MAX_SESSIONS = 10_000
const COOKIE = /(?:^|;\s*)((?:__Secure-)?parley\.session_token)=([^;]{1,500})/

type Sessions = {
  /** Returns whether the request has a session cookie, valid or not. */
  hasCookie(request: FastifyRequest): boolean
  /**
   * Returns the member whose session it is. `beforeStranger` may refuse a cookie that is not known to be good before
   * the database is asked about it. Throws AUTH_SESSION_ENDED and AUTH_CROSS_SITE_REQUEST.
   */
  callerOf(request: FastifyRequest, beforeStranger?: () => Promise<void>): Promise<Caller>
  /** Drops all cached sessions. */
  forget(): void
  /** Opens the sign-in library for requests over HTTPS or plain HTTP. */
  open(isSecure: boolean): Promise<Auth>
  /** The same, with the provider of the configuration. */
  openProvider(isSecure: boolean): Promise<Auth>
  /** Returns the secret that signs cookies. */
  secret(): Promise<string>
}

/** Identifies members by their session cookies and caches each result for less than a second. */
export function createSessions(needs: AuthNeeds): Sessions {
  const opener = authOpener(needs)
  const open = (isSecure: boolean): Promise<Auth> => opener.open({ isSecure, withProvider: false })
  const known = new Map<string, { caller: Promise<Caller | null>; loadedAt: number }>()
  const good = new Set<string>()

  const load = async (cookie: string, isSecure: boolean): Promise<Caller | null> => {
    const auth = await open(isSecure)
    const found = await auth.api.getSession({ headers: new Headers({ cookie }) })
    return found && memberOfSession(needs.db, found)
  }

  return {
    open,
    openProvider: (isSecure) => opener.open({ isSecure, withProvider: true }),
    secret: opener.secret,
    hasCookie: ({ headers: { cookie } }) => cookie !== undefined && COOKIE.test(cookie),
    async callerOf(request, beforeStranger) {
      const cookie =
        COOKIE.exec(request.headers.cookie ?? '')
          ?.slice(1, 3)
          .join('=') ?? ''
      if (request.method !== 'GET') refuseCrossSite(request, needs.config)
      if (!good.has(cookie)) await beforeStranger?.()
      const now = performance.now()
      let entry = known.get(cookie)
      if (!entry || now - entry.loadedAt >= FRESH_MS) {
        if (known.size >= MAX_SESSIONS) known.clear()
        entry = { caller: load(cookie, cameSecurely(request, needs.config)), loadedAt: now }
        entry.caller.catch(() => known.delete(cookie))
        known.set(cookie, entry)
      }
      const caller = await entry.caller
      if (!caller) throw new ApiError('AUTH_SESSION_ENDED')
      if (good.size >= MAX_SESSIONS) good.clear()
      good.add(cookie)
      return caller
    },
    forget: () => known.clear(),
  }
}

type FoundSession = NonNullable<Awaited<ReturnType<Auth['api']['getSession']>>>

async function memberOfSession(db: Db, { session, user }: FoundSession): Promise<Caller | null> {
  const row = await db
    .selectFrom('logins')
    .innerJoin('members', 'members.id', 'logins.member_id')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .select([
      'members.id',
      'members.name',
      'members.email',
      'members.role',
      'members.agent_ids',
      'logins.two_factor_enabled',
      'accounts.id as account_id',
      'accounts.name as account_name',
      'accounts.plan',
    ])
    .where('logins.id', '=', user.id)
    .executeTakeFirst()
  if (!row) return null
  const { id, name, email, role } = row
  return {
    account: { id: row.account_id, name: row.account_name, plan: row.plan },
    actor: `member:${id}`,
    scopes: scopesOf(role),
    key: null,
    member: {
      id,
      name,
      email,
      role,
      agentIds: row.agent_ids,
      loginId: user.id,
      sessionId: session.id,
      hasSecondFactor: row.two_factor_enabled,
    },
  }
}

/** Returns the sessions of the login that have not expired, newest first. */
export const sessionsOf = (db: Db, loginId: string) =>
  db
    .selectFrom('login_sessions')
    .select(['id', 'ip_address', 'user_agent', 'created_at', 'expires_at'])
    .where('login_id', '=', loginId)
    .where('expires_at', '>', new Date())
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** Ends a session of the login. Returns false when the login has none with this id. */
export async function endSession(db: Db, loginId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('login_sessions')
    .where('login_id', '=', loginId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Ends all sessions of the login except `kept`. */
export async function endSessions(db: Db, loginId: string, kept: string | null = null): Promise<void> {
  let query = db.deleteFrom('login_sessions').where('login_id', '=', loginId)
  if (kept) query = query.where('id', '<>', kept)
  await query.execute()
}

/** Deletes expired sessions and challenges, and links that expired 30 days ago. It runs as a recurring job. */
export async function dropOldSessions(db: Db): Promise<void> {
  const now = new Date()
  await db.deleteFrom('login_sessions').where('expires_at', '<', now).execute()
  await db.deleteFrom('login_challenges').where('expires_at', '<', now).execute()
  await dropExpiredLinks(db, new Date(now.getTime() - 30 * 24 * 3_600_000))
}

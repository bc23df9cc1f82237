import type { Context } from '../../context.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { freeKey, takeKey } from '../../platform/http/idempotency/idempotency.ts'
import { addressBucket, VISITS } from '../../platform/http/limits/rate-limit.ts'
import type { Caller, SignedIn } from '../../platform/http/route.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { countRequest } from '../../platform/http/server/gate.ts'
import { basePathOf } from '../../platform/http/server/own-origin.ts'
import { recordAudit } from '../audit/audit.ts'
import * as contract from './contract.ts'
import { countEntry, countOwnChange, countPassword } from './passwords/attempts.ts'
import { rememberDevice } from './passwords/known-devices.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords/password-limits.ts'
import { linkRoutes } from './passwords/routes.ts'
import { claimCode } from './passwords/used-codes.ts'
import { askAuth, type Exchange, headersFor, noteSignIn } from './provider/ask-auth.ts'
import { PROVIDER, SIGN_IN_PAGE } from './provider/contract.ts'
import { cameSecurely, refuseCrossSite } from './sessions/same-site.ts'
import { endSession, endSessions, sessionsOf } from './sessions/sessions.ts'

const success = { success: true as const }

export const signInRoutes = (
  ctx: Pick<Context, 'config' | 'db' | 'jobs' | 'limiter' | 'maintenance' | 'sessions'>,
): Route[] => [
  ...enterRoutes(ctx),
  providerRoute(ctx),
  ...linkRoutes(ctx),
  ...sessionRoutes(ctx),
  ...credentialRoutes(ctx),
]

type Entering = Pick<Context, 'config' | 'db' | 'limiter' | 'maintenance' | 'sessions'>

const enterRoutes = (ctx: Entering): Route[] => [
  route(contract.readSignIn, async ({ request, reply }) => {
    await ctx.maintenance.refuse()
    await countRequest(reply, ctx.limiter, `sign-in page ${addressBucket(request.ip)}`, VISITS)
    const { oidc, smtp, publicUrl } = ctx.config
    const login = await ctx.db.selectFrom('logins').select('id').limit(1).executeTakeFirst()
    return {
      needsSetUp: login === undefined,
      provider: oidc && { name: oidc.name },
      mailsResets: smtp !== null && publicUrl !== null,
      passwordLength: { minimum: MIN_PASSWORD_LENGTH, maximum: MAX_PASSWORD_LENGTH },
    }
  }),

  route(contract.signIn, async ({ body, request, reply }) => {
    const { device } = await enter(ctx, { request, reply }, body.email)
    const giveBack = await countPassword(ctx.db, request, body.email, device)
    const headers = headersFor(request, { asStranger: true })
    const answer = await askAuth<{ twoFactorRedirect?: boolean; user?: { id: string } }>(
      ctx,
      { request, reply },
      (auth) => auth.api.signInEmail({ body, headers, asResponse: true }),
    ).catch(async (error: unknown) => {
      // A failure of ours says nothing about the password.
      if (!(error instanceof ApiError && error.code === 'AUTH_SIGN_IN_FAILED')) await giveBack()
      else await noteSignIn(ctx.db, 'session.refuse', request, { email: body.email })
      throw error
    })
    await giveBack()
    if (answer.twoFactorRedirect || !answer.user) return { secondFactor: true }
    await rememberDevice(ctx, { request, reply }, body.email)
    await noteSignIn(ctx.db, 'session.create', request, { loginId: answer.user.id })
    return { secondFactor: false }
  }),

  route(contract.signInSecondFactor, async ({ body: { code }, request, reply }) => {
    await enter(ctx, { request, reply })
    const asked = { body: { code }, headers: headersFor(request, { asStranger: true }) }
    const isTimed = /^\d{6}$/.test(code)
    const answer = await askAuth<{ token: string; user: { id: string; email: string } }>(
      ctx,
      { request, reply },
      (auth) =>
        isTimed
          ? auth.api.verifyTOTP({ ...asked, asResponse: true })
          : auth.api.verifyBackupCode({ ...asked, asResponse: true }),
      async ({ token, user }) => {
        if (!isTimed || (await claimCode(ctx.db, user.id, code))) return
        await ctx.db.deleteFrom('login_sessions').where('token', '=', token).execute()
        throw new ApiError('AUTH_SIGN_IN_FAILED', {
          message: 'This code was used before. Sign in again with the next one.',
        })
      },
    ).catch(async (error: unknown) => {
      await noteSignIn(ctx.db, 'session.refuse', request, null)
      throw error
    })
    await rememberDevice(ctx, { request, reply }, answer.user.email)
    await noteSignIn(ctx.db, 'session.create', request, { loginId: answer.user.id })
    return success
  }),
]

const providerRoute = (ctx: Entering): Route =>
  route(contract.signInProvider, async ({ request, reply }) => {
    await enter(ctx, { request, reply })
    if (!ctx.config.oidc)
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The provider does not exist.' })
    const base = basePathOf(ctx.config)
    const body = {
      provider: PROVIDER,
      callbackURL: `${base}/`,
      errorCallbackURL: `${base}${SIGN_IN_PAGE}`,
      disableRedirect: true,
    }
    const auth = await ctx.sessions.openProvider(cameSecurely(request, ctx.config))
    const { url } = await askAuth<{ url: string }>(ctx, { request, reply }, () =>
      auth.api.signInSocial({ body, headers: headersFor(request), asResponse: true }),
    )
    return { url }
  })

/** Checks every attempt to sign in: refuses it during maintenance or from a page of another site, and counts it. */
async function enter(
  ctx: Entering,
  { request, reply }: Exchange,
  email?: string,
): Promise<{ device: string | null }> {
  await ctx.maintenance.refuse()
  refuseCrossSite(request, ctx.config)
  return countEntry(ctx, { request, reply }, email)
}

const sessionRoutes = (ctx: Pick<Context, 'config' | 'db' | 'sessions'>): Route[] => [
  route(contract.signOut, { idempotencyMode: 'response' }, async ({ caller, request, reply }) => {
    await askAuth(ctx, { request, reply }, (auth) =>
      auth.api.signOut({ headers: headersFor(request), asResponse: true }),
    )
    await note(ctx, caller, 'session.end', memberOf(caller).sessionId)
    return success
  }),

  route(contract.listSessions, async ({ caller }) => {
    const { loginId, sessionId } = memberOf(caller)
    return (await sessionsOf(ctx.db, loginId)).map((row) => ({
      id: row.id,
      isCurrent: row.id === sessionId,
      address: row.ip_address,
      userAgent: row.user_agent,
      createdAt: row.created_at.toISOString(),
      expiresAt: row.expires_at.toISOString(),
    }))
  }),

  route(contract.endOneSession, async ({ caller, params: { sessionId } }) => {
    if (!(await endSession(ctx.db, memberOf(caller).loginId, sessionId)))
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The session does not exist.' })
    ctx.sessions.forget()
    await note(ctx, caller, 'session.end', sessionId)
    return success
  }),

  route(contract.endOtherSessions, async ({ caller }) => {
    const { loginId, sessionId } = memberOf(caller)
    await endSessions(ctx.db, loginId, sessionId)
    ctx.sessions.forget()
    await note(ctx, caller, 'session.end', null)
    return success
  }),
]

const credentialRoutes = (ctx: Pick<Context, 'config' | 'db' | 'limiter' | 'sessions'>): Route[] => [
  route(
    contract.changePassword,
    { idempotencyMode: 'response' },
    async ({ caller, body, request, reply }) => {
      await countOwnChange(ctx, reply, memberOf(caller).loginId)
      await askAuth(ctx, { request, reply }, (auth) =>
        auth.api.changePassword({
          body: { ...body, revokeOtherSessions: true },
          headers: headersFor(request),
          asResponse: true,
        }),
      )
      await note(ctx, caller, 'password.change', memberOf(caller).id)
      return success
    },
  ),

  route(contract.beginSecondFactor, { idempotencyMode: 'manual' }, async (call) => {
    const { caller, body, request, reply, idempotency } = call
    await countOwnChange(ctx, reply, memberOf(caller).loginId)
    if (memberOf(caller).hasSecondFactor)
      throw new ApiError('RESOURCE_DUPLICATE', {
        message: 'A second factor is already set up. Remove it first.',
      })
    // A repetition never gets the secret, which is shown once, so its response is known in advance. The key is taken
    // first, so that an equal request at the same time does not replace the secret that this one returns.
    const repeated = { status: 200, text: JSON.stringify({ uri: null, backupCodes: null }) }
    if (idempotency) await takeKey(ctx.db, idempotency, repeated)
    try {
      const { totpURI, backupCodes } = await askAuth<{ totpURI: string; backupCodes: string[] }>(
        ctx,
        { request, reply },
        (auth) => auth.api.enableTwoFactor({ body, headers: headersFor(request), asResponse: true }),
      )
      return { uri: totpURI, backupCodes }
    } catch (error) {
      if (idempotency) await freeKey(ctx.db, idempotency)
      throw error
    }
  }),

  route(
    contract.confirmSecondFactor,
    { idempotencyMode: 'response' },
    async ({ caller, body, request, reply }) => {
      await countOwnChange(ctx, reply, memberOf(caller).loginId)
      await askAuth(ctx, { request, reply }, (auth) =>
        auth.api.verifyTOTP({ body, headers: headersFor(request), asResponse: true }),
      )
      await claimCode(ctx.db, memberOf(caller).loginId, body.code)
      await note(ctx, caller, 'second-factor.enable', memberOf(caller).id)
      return success
    },
  ),

  route(contract.removeSecondFactor, async ({ caller, body, request, reply }) => {
    await countOwnChange(ctx, reply, memberOf(caller).loginId)
    await askAuth(ctx, { request, reply }, (auth) =>
      auth.api.disableTwoFactor({ body, headers: headersFor(request), asResponse: true }),
    )
    await note(ctx, caller, 'second-factor.remove', memberOf(caller).id)
    return success
  }),
]

/**
 * Returns the signed-in member. The gate has already refused callers without one, since these endpoints are
 * `onlySessions`.
 */
function memberOf({ member }: Caller): SignedIn {
  if (!member) throw new TypeError('Only sessions come here.')
  return member
}

async function note(
  { db }: Pick<Context, 'db'>,
  { account, actor }: Caller,
  action: string,
  target: string | null,
): Promise<void> {
  await recordAudit(db, { accountId: account.id, actor, action, target })
}

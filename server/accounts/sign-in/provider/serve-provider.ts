import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { countEntry } from '../passwords/attempts.ts'
import { rememberDevice } from '../passwords/known-devices.ts'
import { cameSecurely } from '../sessions/same-site.ts'
import { beginsSession, headersFor, noteSignIn, passCookies } from './ask-auth.ts'
import { returnFromProvider, SIGN_IN_PAGE } from './contract.ts'

/** The library checks the parameters and redirects the browser onwards. */
export const providerRoutes = (ctx: Pick<Context, 'config' | 'db' | 'limiter' | 'sessions'>): RawRoute[] => [
  rawRoute(returnFromProvider, async ({ request, reply }) => {
    const { oidc, publicUrl } = ctx.config
    if (!oidc || !publicUrl) throw new ApiError('ROUTE_NOT_FOUND')
    await countEntry(ctx, { request, reply })
    const auth = await ctx.sessions.openProvider(cameSecurely(request, ctx.config))
    const url = new URL(`${publicUrl}${request.url}`)
    const response = await auth.handler(
      new Request(url, { headers: headersFor(request, { asStranger: true }) }),
    )
    passCookies(reply, response)
    const cookies = response.headers.getSetCookie()
    const cookie = cookies.map((text) => text.split(';')[0]).join('; ')
    const found = beginsSession(cookies)
      ? await auth.api.getSession({ headers: new Headers({ cookie }) })
      : null
    if (found) {
      await rememberDevice(ctx, { request, reply }, found.user.email)
      await noteSignIn(ctx.db, 'session.create', request, { loginId: found.user.id })
    } else await noteSignIn(ctx.db, 'session.refuse', request, null)
    const base = basePathOf(ctx.config)
    const instead = found ? `${base}/` : `${base}${SIGN_IN_PAGE}?error=failed`
    return reply
      .code(302)
      .header('location', response.headers.get('location') ?? instead)
      .send()
  }),
]

import type { FastifyRequest } from 'fastify'
import type { Config } from '../../../config.ts'
import type { Context } from '../../../context.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'
import { operatorsClient, PRESETS } from '../connection/providers.ts'
import { refuseAuthority, refusePlainUrl } from '../connection/refuse-unsafe.ts'
import { beginMailSignIn, finishMailSignIn, readMailProviders } from './contract.ts'
import { beginSignIn, finishSignIn } from './sign-in.ts'

/** The page of the workspace to which providers send the browser back. */
const RETURN_PAGE = '/mailbox-sign-in'

const redirectUrlOf = ({ publicUrl }: Pick<Config, 'publicUrl'>, request: FastifyRequest): string =>
  `${publicUrl ?? `${request.protocol}://${request.host}`}${RETURN_PAGE}`

export const mailSignInRoutes = (
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'jobs' | 'secrets'>,
): Route[] => [
  route(readMailProviders, async ({ request }) => ({
    redirectUrl: redirectUrlOf(ctx.config, request),
    providers: (['google', 'microsoft'] as const).map((id) => ({
      id,
      name: PRESETS[id].name,
      hasClient: operatorsClient(ctx.config, id) !== null,
    })),
  })),
  route(
    beginMailSignIn,
    {
      idempotencyMode: 'response',
      check: ({ body: { connection } }) => {
        const { authorizationUrl, tokenUrl, revocationUrl } = connection.oauth ?? {}
        refuseAuthority(connection.authority)
        for (const [name, url] of Object.entries({ authorizationUrl, tokenUrl, revocationUrl }))
          refusePlainUrl(`connection.oauth.${name}`, url, ctx.config.allowedPrivateHosts)
      },
    },
    async ({ ref, caller, body, request }) =>
      beginSignIn(ctx, { ref, caller, redirectUrl: redirectUrlOf(ctx.config, request) }, body),
  ),
  route(finishMailSignIn, async ({ ref, caller, body }) => {
    try {
      await finishSignIn(ctx, { ref, caller }, body)
      return { ok: true, error: null }
    } catch (error) {
      if (!(error instanceof MailFailure)) throw error
      return { ok: false, error: error.message }
    }
  }),
]

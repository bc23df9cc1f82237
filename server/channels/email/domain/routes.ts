import { Resolver } from 'node:dns/promises'
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { domainOf } from '../../../platform/mail/mail-address.ts'
import { rowOf } from '../connection/connection.ts'
import { checkDomain } from './check-domain.ts'
import { checkMailDomain } from './contract.ts'

const TIMEOUT_MS = 3_000

export const domainRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(checkMailDomain, async ({ ref, query }) => {
    const row = await rowOf(ctx.db, ref)
    if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'No mailbox is connected to this agent.' })
    const domain = domainOf(row.address)
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
    const findings = await checkDomain(resolver, domain, {
      host: row.smtp.host,
      selector: query.selector ?? null,
    })
    return { domain, findings }
  }),
]

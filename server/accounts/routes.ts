import type { Context } from '../context.ts'
import { readDateRange } from '../platform/http/input/dates.ts'
import { byCreation, type PageRequest, readPage } from '../platform/http/pagination.ts'
import { type Route, route, SENT } from '../platform/http/route.ts'
import { auditEntries } from './audit/audit-log.ts'
import * as contract from './contract.ts'
import { keyRoutes } from './keys/routes.ts'
import { creditState } from './plans/credits.ts'
import { planOf } from './plans/plans.ts'
import { readUsage } from './plans/read-usage.ts'
import { usageRange } from './plans/usage.ts'
import { usageCsv } from './plans/usage-csv.ts'

export const accountRoutes = (ctx: Pick<Context, 'db'>): Route[] => [...keyRoutes(ctx), ...meRoutes(ctx)]

const meRoutes = ({ db }: Pick<Context, 'db'>): Route[] => [
  route(contract.getMe, async ({ caller: { account, key, member, scopes } }) => {
    const credits = await creditState(db, account.id, account.plan)
    return {
      account: { id: account.id, name: account.name },
      plan: account.plan,
      key: key && { id: key.id, name: key.name, scopes, expiresAt: key.expiresAt?.toISOString() ?? null },
      ...(member && {
        member: {
          id: member.id,
          name: member.name,
          email: member.email,
          role: member.role,
          scopes: scopes ?? [],
          agentIds: member.agentIds,
          hasSecondFactor: member.hasSecondFactor,
        },
      }),
      trainingBytes: planOf(account.plan).trainingBytes,
      credits: { limit: credits.limit, used: credits.used, resetsAt: credits.resetsAt.toISOString() },
    }
  }),

  route(contract.listAuditLog, async ({ caller: { account }, query }) => {
    const { actor, action, startDate, endDate } = query
    const filter = { actor, action, ...readDateRange(query) }
    const read = (page: PageRequest) => auditEntries(db, account.id, filter, page)
    const list = ['audit-log', account.id, actor, action, startDate, endDate] as const
    return readPage(query, list, read, byCreation, (row) => ({
      id: row.id,
      at: row.created_at.toISOString(),
      actor: row.actor,
      actorName: row.actor_name,
      action: row.action,
      target: row.target,
      detail: row.detail,
    }))
  }),

  route(contract.readUsage, async ({ caller: { account, member }, query, reply }) => {
    const used = await readUsage(db, account.id, usageRange(query), member?.agentIds ?? null)
    if (query.format === 'json') return used
    reply.type('text/csv; charset=utf-8').send(usageCsv(used))
    return SENT
  }),
]

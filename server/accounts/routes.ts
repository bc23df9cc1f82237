import type { Context } from '../context.ts'
import { type Route, route } from '../http/route.ts'
import { getMe } from './contract.ts'
import { creditState } from './credits.ts'

export const accountRoutes = ({ db }: Context): Route[] => [
  route(getMe, async ({ caller: { account, key, member, scopes } }) => {
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
      credits: { limit: credits.limit, used: credits.used, resetsAt: credits.resetsAt.toISOString() },
    }
  }),
]

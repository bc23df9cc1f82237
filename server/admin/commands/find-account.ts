import type { Selectable } from 'kysely'
import { isPlanName, type PlanName, planNames } from '../../accounts/plans/plans.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentsTable } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { asAccountId } from '../../platform/db/tables/columns.ts'
import { CommandFailure, type Input, usageFailure } from '../command.ts'

type FoundAccount = { id: AccountId; name: string; plan: string }

/** Returns the account with an id given by the operator. Throws a sentence when there is none. */
export async function findAccount(db: Db, id: string): Promise<FoundAccount> {
  const row = isId(id)
    ? await db
        .selectFrom('accounts')
        .select(['id', 'name', 'plan'])
        .where('id', '=', asAccountId(id))
        .executeTakeFirst()
    : undefined
  if (!row) throw new CommandFailure(`There is no account ${id}.`)
  return row
}

/** Returns the account of --account, which may be omitted if there is only one. */
export async function accountOf(db: Db, { values: { account } }: Input): Promise<FoundAccount> {
  if (account !== undefined) return findAccount(db, account.trim())
  const rows = await db.selectFrom('accounts').select(['id', 'name', 'plan']).limit(2).execute()
  if (rows.length === 1 && rows[0]) return rows[0]
  throw usageFailure(
    rows.length === 0
      ? 'There is no account yet: "account create" creates one.'
      : '--account is required, since there are several; "account list" lists them.',
  )
}

type Agent = Pick<Selectable<AgentsTable>, 'id' | 'account_id' | 'retention_days' | 'knowledge_version'>

/** Returns the agent with an id given by the operator. Throws a sentence when there is none. */
export async function findAgent(db: Db, id: string): Promise<Agent> {
  const agent = await db
    .selectFrom('agents')
    .select(['id', 'account_id', 'retention_days', 'knowledge_version'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!agent) throw new CommandFailure(`There is no agent ${id}.`)
  return agent
}

export function planName(text: string): PlanName {
  if (isPlanName(text)) return text
  throw usageFailure(`There is no plan "${text}"; the plans are ${planNames.join(', ')}.`)
}

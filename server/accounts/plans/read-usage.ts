import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { readUsage as contract } from '../contract.ts'
import type { Range } from './credits.ts'
import { embeddingsByDay } from './embedding-usage.ts'
import { modelsByDay } from './model-usage.ts'
import { creditsByDay } from './usage.ts'

/** Returns what an account used. `only` restricts it to those agents. */
export async function readUsage(
  db: Db,
  accountId: AccountId,
  range: Range,
  only: string[] | null,
): Promise<Static<(typeof contract)['success']['schema']>> {
  const rows = await creditsByDay(db, accountId, range, only)
  const sum = (of: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((total, row) => total + of(row), 0)
  return {
    days: rows.map(({ agent_id, name, ...rest }) => ({ ...rest, agentId: agent_id, agentName: name })),
    total: { replies: sum(({ replies }) => replies), credits: sum(({ credits }) => credits) },
    embeddings: await embeddingsByDay(db, accountId, range, only),
    models: await modelsByDay(db, accountId, range, only),
  }
}

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { PictureKind } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { requireAgent } from '../records/find-agent.ts'

/** Stores the result of squarePicture as the agent's picture, in place of an earlier one. Throws AGENT_NOT_FOUND. */
export async function storePicture(
  db: Db,
  { accountId, agentId }: AgentRef,
  kind: PictureKind,
  png: Uint8Array,
): Promise<void> {
  await requireAgent(db, { accountId, agentId })
  const tag = createHash('sha256').update(png).digest('base64url').slice(0, 22)
  await db
    .insertInto('agent_pictures')
    .values({ agent_id: agentId, kind, account_id: accountId, bytes: png, tag })
    .onConflict((conflict) => conflict.columns(['agent_id', 'kind']).doUpdateSet({ bytes: png, tag }))
    .execute()
}

/** Removes the agent's picture, if it has one. Throws AGENT_NOT_FOUND. */
export async function deletePicture(db: Db, ref: AgentRef, kind: PictureKind): Promise<void> {
  await requireAgent(db, ref)
  await db.deleteFrom('agent_pictures').where(ofAgent(ref)).where('kind', '=', kind).execute()
}

/** Returns a picture without a check of the account, because pictures are shown on public pages. */
export function findPicture(db: Db, agentId: string, kind: PictureKind) {
  return (
    db
      .selectFrom('agent_pictures')
      // The rows of a deleted agent are deleted some time after it.
      .innerJoin('agents', 'agents.id', 'agent_pictures.agent_id')
      .select(['bytes', 'tag'])
      .where('agent_id', '=', agentId)
      .where('kind', '=', kind)
      .executeTakeFirst()
  )
}

export async function copyPictures(trx: Trx, accountId: AccountId, from: string, to: string): Promise<void> {
  await sql`
    insert into agent_pictures (agent_id, kind, account_id, bytes, tag)
    select ${to}, kind, account_id, bytes, tag from agent_pictures
    where account_id = ${accountId} and agent_id = ${from}`.execute(trx)
}

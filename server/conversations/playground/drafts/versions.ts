import { isDeepStrictEqual } from 'node:util'
import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { AgentSnapshot, AgentVersionsTable } from '../../../platform/db/tables/agents.ts'
import { newestFirst, type PageRequest } from '../../../platform/http/pagination.ts'
import { requireRow } from '../../../platform/http/require-row.ts'
import { withNames } from './drafts.ts'
import type { AgentVersion, ListedVersion } from './schema.ts'
import { changesBetween, type Now, rolledBack, versionOf } from './snapshot.ts'

type Row = Selectable<AgentVersionsTable> & { actor_name: string | null }

const versionsOf = (db: Db, ref: AgentRef) =>
  db
    .selectFrom('agent_versions')
    .where(ofAgent(ref))
    .selectAll()
    .select(
      sql<string | null>`coalesce(
        (select name from members where account_id = ${ref.accountId} and 'member:' || id = actor),
        (select name from api_keys where account_id = ${ref.accountId} and 'key:' || id = actor))`.as(
        'actor_name',
      ),
    )

/** Returns up to `limit` + 1 versions, newest first, and the total number. */
export const versionRows = (db: Db, ref: AgentRef, page: PageRequest) =>
  newestFirst(versionsOf(db, ref), page)

/** Returns the version. Throws RESOURCE_NOT_FOUND. */
export const requireVersion = (db: Db, ref: AgentRef, id: string): Promise<Row> =>
  requireRow(versionsOf(db, ref), id)

export const presentListed = (row: Row, live: AgentSnapshot): Static<typeof ListedVersion> => ({
  id: row.id,
  kind: row.kind,
  changed: row.changed,
  actor: row.actor,
  actorName: row.actor_name,
  isLive: isDeepStrictEqual(row.snapshot, live),
  createdAt: row.created_at.toISOString(),
})

export async function presentVersion(
  db: Db,
  ref: AgentRef,
  row: Row,
  now: Now,
  models: string[],
): Promise<Static<typeof AgentVersion>> {
  const { snapshot } = row
  const there = new Set(
    [...now.live.actions, ...now.live.procedures].map(({ id }) => id).concat(now.live.sources, now.leftOut),
  )
  const target = rolledBack(now, snapshot, models)
  const missing = [...snapshot.actions, ...snapshot.procedures].filter(({ id }) => !there.has(id))
  return {
    ...presentListed(row, now.live),
    version: versionOf(now, target),
    changes: await withNames(db, ref, changesBetween(now.live, target)),
    missing: missing.map(({ name }) => name),
    missingSources: snapshot.sources.filter((id) => !there.has(id)).length,
  }
}

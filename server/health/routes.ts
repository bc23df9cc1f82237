import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { DatabaseAway } from '../db/connections/unavailable.ts'
import type { Db } from '../db/database.ts'
import { hasPgvector } from '../db/upkeep/pgvector.ts'
import { ApiError } from '../http/errors.ts'
import { type Route, route } from '../http/route.ts'
import { getHealth } from './contract.ts'

/** Monitors ask often, and what is looked at changes slowly. */
const LOOK_AGAIN_MS = 60_000

export const healthRoutes = (ctx: Pick<Context, 'availability' | 'space' | 'db' | 'models'>): Route[] => {
  const { availability, space, db, models } = ctx
  let looked: { at: number; index: IndexHealth } | null = null
  const indexHealth = async (): Promise<IndexHealth> => {
    if (looked === null || performance.now() - looked.at > LOOK_AGAIN_MS)
      looked = { at: performance.now(), index: await lookAtIndex(db, models.embedder !== null) }
    return looked.index
  }
  return [
    route(getHealth, async () => {
      const absence = availability.absence()
      if (absence) {
        const { message } = new DatabaseAway(absence)
        throw new ApiError('SERVICE_OVERLOADED', { message })
      }
      return {
        status: 'ok' as const,
        timestamp: Math.floor(Date.now() / 1000),
        ...(space.isFull() ? { storage: 'full' as const } : {}),
        ...(await indexHealth()),
      }
    }),
  ]
}

type IndexHealth = { search?: 'words'; indexBytesPerRow?: number }

/** Returns what monitors are told of the index. The numbers of rows are those of the last vacuum. */
async function lookAtIndex(db: Db, hasEmbedder: boolean): Promise<IndexHealth> {
  const { rows } = await sql<{ bytes: number; count: number }>`
    select sum(pg_total_relation_size(oid))::bigint as bytes, sum(greatest(reltuples, 0))::bigint as count
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname ~ '^(chunk_words|vectors_\\d+)_\\d+$'`.execute(db)
  const { bytes = 0, count = 0 } = rows[0] ?? {}
  return {
    ...(hasEmbedder && !(await hasPgvector(db)) ? { search: 'words' as const } : {}),
    ...(count > 0 ? { indexBytesPerRow: Math.round(bytes / count) } : {}),
  }
}

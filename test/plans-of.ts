import assert from 'node:assert/strict'
import { CompiledQuery, type KyselyPlugin } from 'kysely'
import type { Db } from '../server/platform/db/database.ts'

/** Returns the database with a plugin that records all its queries in `queries`. */
export function recordQueries(db: Db): { db: Db; queries: CompiledQuery[] } {
  const queries: CompiledQuery[] = []
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      queries.push(db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { db: db.withPlugin(recorder), queries }
}

/** Runs `work` and returns the query plans of all its queries. */
export async function plansOf(db: Db, work: (db: Db) => Promise<unknown>): Promise<string[]> {
  const recorded = recordQueries(db)
  await work(recorded.db)
  assert.ok(recorded.queries.length > 0)
  return Promise.all(
    recorded.queries.map(async ({ sql, parameters }) => {
      const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>(
        CompiledQuery.raw(`explain ${sql}`, [...parameters]),
      )
      return `${sql}\n${rows.map((row) => row['QUERY PLAN']).join('\n')}`
    }),
  )
}

import { sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { json } from '../db/statements/json.ts'
import { transact } from '../db/statements/transact.ts'
import { sealedBy } from './seal.ts'
import { placeOfHeader, placeOfRow, sealedColumns } from './sealed-columns.ts'
import type { Secrets } from './secrets.ts'

export type Rewritten = { rewritten: number; unreadable: number }

const AT_ONCE = 50

/**
 * Re-encrypts everything that is not encrypted with `keyId` in the current format. An interrupted run continues when
 * it is called again; rows that no key can decrypt stay as they are. The application may write meanwhile.
 */
export async function rewriteSecrets(db: Db, secrets: Secrets, keyId: string): Promise<Rewritten> {
  const counts: Rewritten = { rewritten: 0, unreadable: 0 }
  for (const { table, key, columns } of sealedColumns) {
    const isOld = sql.join(
      columns.map(
        (column) =>
          sql`(${sql.ref(column)} is not null and not starts_with(${sql.ref(column)}, ${sealedBy(keyId)}))`,
      ),
      sql` or `,
    )
    const id = sql`concat_ws('/', ${sql.join(key.map((column) => sql`${sql.ref(column)}::text`))})`
    await eachOld(db, counts, {
      find: (after) => sql<{ id: string }>`
        select ${id} as id from ${sql.table(table)} where (${isOld}) and ${id} > ${after} order by 1 limit ${AT_ONCE}`,
      async rewrite(trx, row) {
        const { rows } = await sql<Record<string, string | null>>`
          select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(table)}
          where ${id} = ${row} for update`.execute(trx)
        for (const column of columns) {
          const text = rows[0]?.[column]
          if (!text) continue
          const place = placeOfRow(table, row, column)
          const sealed = await secrets.encrypt(trx, await secrets.decrypt(text, place, trx), place)
          await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sealed} where ${id} = ${row}`.execute(
            trx,
          )
        }
      },
    })
  }
  await eachOld(db, counts, {
    find: (after) => sql<{ id: string }>`
      select id::text as id from actions where http is not null and id::text > ${after} and exists (
        select from jsonb_each_text(http -> 'headers') where not starts_with(value, ${sealedBy(keyId)}))
      order by 1 limit ${AT_ONCE}`,
    async rewrite(trx, row) {
      const action = await trx
        .selectFrom('actions')
        .select('http')
        .where('id', '=', row)
        .forUpdate()
        .executeTakeFirst()
      if (!action?.http) return
      const headers: Record<string, string> = {}
      for (const [name, text] of Object.entries(action.http.headers)) {
        const place = placeOfHeader(row, name)
        headers[name] = await secrets.encrypt(trx, await secrets.decrypt(text, place, trx), place)
      }
      const http = json({ ...action.http, headers })
      await trx.updateTable('actions').set({ http }).where('id', '=', row).execute()
    },
  })
  return counts
}

type Work = {
  find(after: string): ReturnType<typeof sql<{ id: string }>>
  rewrite(trx: Trx, row: string): Promise<void>
}

/** Each row has its own transaction, so that nobody waits long for it. */
async function eachOld(db: Db, counts: Rewritten, { find, rewrite }: Work): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await find(after).execute(db)
    for (const { id } of rows) {
      try {
        await transact(db, (trx) => rewrite(trx, id))
        counts.rewritten++
      } catch (error) {
        if (!isUnreadable(error)) throw error
        counts.unreadable++
      }
      after = id
    }
    if (rows.length < AT_ONCE) return
  }
}

/** AES reports this for a text that was changed or that was encrypted with another key. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && /belongs to another key|unable to authenticate/i.test(error.message)

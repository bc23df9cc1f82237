import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import type { SourceRow } from '../sources/queries.ts'

/**
 * A source version is not parsed again after its parser process has died twice, or the whole service three times. A
 * death of the service weighs less, because it can have many other causes.
 */
const CHILD_DIED = 3
const SERVICE_DIED = 2
const TOO_MANY = 6
/** A process whose heartbeat is older than this counts as dead, even if no other process has declared it so. */
const SILENT_SECONDS = 10

export const PARSER_CRASHED =
  'This document has repeatedly crashed the reader, so it is not tried again. Save it in another format or in smaller parts, and add those.'

type ParseAttempt = {
  /** Marks the source before a parser gets its content. Returns false when it must not be read any more. */
  begin(): Promise<boolean>
  /** Counts the death of the child process. Returns false when the source must not be read any more. */
  recordCrash(): Promise<boolean>
  /** Removes the mark, because this process has survived the reading. */
  end(): Promise<void>
}

/**
 * Creates the mark of a source that is being read. An existing mark counts as a death if its process is gone. If
 * that process is alive, this reading is not marked.
 */
export function createParseAttempt(
  db: Db,
  process: ServiceProcess,
  { id, account_id, content_version }: SourceRow,
): ParseAttempt {
  let isMarked = false
  let hasDied = false
  const version = () =>
    db.updateTable('sources').where(ownRow(account_id, id)).where('reading_version', '=', content_version)
  return {
    async begin() {
      const { rows } = await sql<{ strikes: number }>`
        update sources set reading_version = ${content_version}, reading_process = ${process.id},
          reading_epoch = ${process.epoch},
          reading_strikes = case
            when reading_version is distinct from ${content_version} then 0
            when reading_process is null then reading_strikes
            else reading_strikes + ${SERVICE_DIED} end
        where account_id = ${account_id} and id = ${id} and (
          reading_process is null or reading_version is distinct from ${content_version}
          or not exists (select from processes where processes.id = reading_process and epoch = reading_epoch and alive
            and (processes.id = ${process.id} or beat_at > now() - ${SILENT_SECONDS} * interval '1 second')))
        returning reading_strikes as strikes`.execute(db)
      isMarked = rows.length > 0
      if ((rows[0]?.strikes ?? 0) < TOO_MANY) return true
      hasDied = true
      return false
    },
    async recordCrash() {
      hasDied = true
      const counted = await version()
        .set((eb) => ({ reading_strikes: eb('reading_strikes', '+', CHILD_DIED) }))
        .returning('reading_strikes')
        .executeTakeFirst()
      return counted !== undefined && counted.reading_strikes < TOO_MANY
    },
    async end() {
      if (!isMarked) return
      await version()
        .set({ reading_process: null, ...(hasDied ? {} : { reading_strikes: 0 }) })
        .where('reading_process', '=', process.id)
        .execute()
    },
  }
}

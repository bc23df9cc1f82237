import { sql } from 'kysely'
import { onBehalfOf } from '../../db/connections/lanes.ts'
import type { Db } from '../../db/database.ts'
import { statement, type Values } from '../../db/statements/statement.ts'
import type { AccountId } from '../../db/tables/columns.ts'

/** How long a title waits for others, in milliseconds. */
const EVERY_MS = 50
/** The most titles that one statement stores, because it blocks the embedded database. */
const TITLES_AT_ONCE = 32

type Title = { accountId: AccountId; conversationId: string; title: string }

/** Stores the titles of all conversations together, because nobody waits for them. */
export type TitleWriter = {
  add(title: Title): void
  /** Resolves when every title that was added has been stored or could not be. */
  close(): Promise<void>
}

/** Losing a title in a power failure does no harm, so the commit does not wait for the disk. */
const relaxed = sql`relaxed as materialized (select set_config('synchronous_commit', 'off', true))`

const storeTitle = statement(
  (p: Values<Title>) => sql<unknown>`
  with ${relaxed}
  update conversations set title = ${p.title} from relaxed
  where account_id = ${p.accountId}::uuid and id = ${p.conversationId}::uuid`,
)

/**
 * Conversations that others have locked are left out: the statement would otherwise hold the locks of some while it
 * waits for another.
 */
export const storeTitles = statement(
  (p: Values<{ accountIds: string[]; ids: string[]; titles: string[] }>) => sql<{ id: string }>`
  with ${relaxed}, free as materialized (
    select conversations.id, conversations.account_id, added.title
    from relaxed, unnest(${p.accountIds}::uuid[], ${p.ids}::uuid[], ${p.titles}::text[]) as added (account_id, id, title)
    cross join lateral (
      select id, account_id from conversations
      where conversations.account_id = added.account_id and conversations.id = added.id
        and conversations.account_id = any(${p.accountIds}::uuid[])
      for no key update skip locked
    ) as conversations
    -- This is always true. With it, the planner expects one row, and so reads no whole table, however small it is.
    where added.title = concat(added.title)
  )
  update conversations set title = free.title from free
  where conversations.account_id = free.account_id and conversations.id = free.id
  returning conversations.id`,
)

/** Stores several titles in one statement. Returns the ids of the conversations that have theirs. */
async function storeFree(db: Db, added: Title[]): Promise<Set<string>> {
  const { rows } = await storeTitles(db, {
    accountIds: added.map(({ accountId }) => accountId),
    ids: added.map(({ conversationId }) => conversationId),
    titles: added.map(({ title }) => title),
  })
  return new Set(rows.map(({ id }) => id))
}

const none = (): Set<string> => new Set()

type Needs = { db: Db; onError: (error: unknown) => void }

export function createTitleWriter({ db, onError }: Needs): TitleWriter {
  let waiting: Title[] = []
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let closed = false

  const write = async (titles: Title[]): Promise<void> => {
    const stored = titles.length > 1 ? await storeFree(db, titles).catch(none) : none()
    const left = titles.filter(({ conversationId }) => !stored.has(conversationId))
    const outcomes = await Promise.allSettled(left.map((title) => storeTitle(db, title)))
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) onError(failed.reason)
  }
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const titles = waiting
    waiting = []
    for (let i = 0; i < titles.length; i += TITLES_AT_ONCE) {
      const some = titles.slice(i, i + TITLES_AT_ONCE)
      writing = writing.then(() => onBehalfOf('', () => write(some)))
    }
  }
  return {
    add(title) {
      if (closed) return
      waiting.push(title)
      timer ??= setTimeout(flush, EVERY_MS)
    },
    close() {
      closed = true
      flush()
      return writing
    },
  }
}

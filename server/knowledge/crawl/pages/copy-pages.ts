import { sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'

const PAGES_AT_ONCE = 200

type Copy = { id: string; agentId: string }

/** Copies the pages of a website to the source that is a copy of it, with all of their chunks. */
export async function copyPages(trx: Trx, accountId: AccountId, sourceId: string, copy: Copy): Promise<void> {
  for (let last = 0; ; ) {
    const pages = await trx
      .selectFrom('pages')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('source_id', '=', sourceId)
      .where('number', '>', last)
      .orderBy('number')
      .limit(PAGES_AT_ONCE)
      .execute()
    if (pages.length === 0) return
    const copies = pages.map((page) => ({
      ...page,
      id: newId(),
      agent_id: copy.agentId,
      source_id: copy.id,
      links: json(page.links),
      gaps: json(page.gaps),
      sketch: page.sketch && json(page.sketch),
      // The process that reads the original does not read the copy.
      holder: null,
      held_until: null,
    }))
    await trx.insertInto('pages').values(copies).execute()
    const [first, final] = [pages[0]!.number, pages.at(-1)!.number]
    await sql`
      insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, page, text, questions,
        vector_key, page_id, retired_in, url, title, anchor)
      select gen_random_uuid(), chunks.account_id, ${copy.agentId}, ${copy.id}, version, ordinal, heading_path, page,
        text, questions, vector_key, mine.id, retired_in, chunks.url, chunks.title, anchor
      from chunks
      join pages as theirs on theirs.id = chunks.page_id
      join pages as mine on mine.account_id = theirs.account_id and mine.source_id = ${copy.id}
        and mine.number = theirs.number
      where theirs.account_id = ${accountId} and theirs.source_id = ${sourceId}
        and theirs.number between ${first} and ${final}`.execute(trx)
    last = final
  }
}

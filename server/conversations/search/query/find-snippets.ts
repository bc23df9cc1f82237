import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Stemmers } from '../index/stemmers.ts'
import { tokensOfOne } from '../index/text-tokens.ts'
import type { Term } from './parse-query.ts'
import { bestStretch, type Highlights, highlight, hitsIn } from './snippet.ts'

export type Snippet = { speaker: 'user' | 'assistant' | 'human_agent'; highlights: Highlights }

type SpokenMessage = { conversation_id: string; seq: number; speaker: Snippet['speaker']; text: string }

/** The number of messages of one conversation that are read at a time, and of hits that are read at all. */
const PAGE = 100

/**
 * Returns the best passage of each conversation's current messages; null if only its title matches. Conversations that
 * no longer contain every term are left out, since their row may be slightly outdated.
 */
export async function findSnippets(
  db: Db,
  accountId: AccountId,
  hits: readonly { id: string; title: string | null }[],
  terms: readonly Term[],
  stem: Stemmers,
): Promise<Map<string, Snippet | null>> {
  const searches = new Map<string, Search>()
  for (const { id, title } of hits) searches.set(id, await startSearch(title, terms, stem))
  for (let fromSeq = 0, open = [...searches.keys()]; open.length > 0; ) {
    const said = await messagesFrom(db, accountId, open, fromSeq)
    for (const id of open) {
      const search = searches.get(id) as Search
      const own = said.filter(({ conversation_id }) => conversation_id === id)
      await look(search, own, terms, stem)
      search.isOver = own.length < PAGE || search.found.size === terms.length
    }
    fromSeq += PAGE
    open = open.filter((id) => !searches.get(id)?.isOver)
  }
  return new Map(
    [...searches].flatMap(([id, { found, best }]) =>
      found.size === terms.length ? [[id, best?.snippet ?? null]] : [],
    ),
  )
}

type Search = {
  /** The terms found so far, in the title or a message. */
  found: Set<number>
  best: { terms: number; snippet: Snippet } | null
  isOver: boolean
}

async function startSearch(title: string | null, terms: readonly Term[], stem: Stemmers): Promise<Search> {
  const hits = await hitsIn(terms, await tokensOfOne(title ?? '', stem))
  return { found: new Set(hits.map(({ term }) => term)), best: null, isOver: false }
}

async function look(
  search: Search,
  said: SpokenMessage[],
  terms: readonly Term[],
  stem: Stemmers,
): Promise<void> {
  for (const { text, speaker } of said) {
    const hits = await hitsIn(terms, await tokensOfOne(text, stem))
    if (hits.length === 0) continue
    for (const { term } of hits) search.found.add(term)
    const stretch = bestStretch(hits)
    if (stretch.terms <= (search.best?.terms ?? 0)) continue
    search.best = { terms: stretch.terms, snippet: { speaker, highlights: highlight(text, hits, stretch) } }
  }
}

/** Returns texts of the next messages of each conversation; the parts of a message are separate texts. */
async function messagesFrom(
  db: Db,
  accountId: AccountId,
  ids: string[],
  offset: number,
): Promise<SpokenMessage[]> {
  const { rows } = await sql<SpokenMessage>`
    select m.conversation_id, m.seq, m.speaker, m.text
    from unnest(${ids}::uuid[]) as wanted (id)
    cross join lateral (
      select conversation_id, seq, case when role = 'user' then 'user'
          when metadata -> 'author' ->> 'type' = 'human_agent' then 'human_agent' else 'assistant' end as speaker,
        (select string_agg(part.value ->> 'text', E'\n\n' order by part.ordinality)
          from jsonb_array_elements(parts) with ordinality as part where part.value ->> 'type' = 'text') as text
      from messages where account_id = ${accountId} and conversation_id = wanted.id
      order by seq limit ${PAGE} offset ${offset}
    ) as m`.execute(db)
  return rows.map((row) => ({ ...row, text: row.text ?? '' }))
}

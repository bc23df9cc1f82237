import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import { foldText } from '../../../platform/text/words/words.ts'
import type { Passage } from '../search-result.ts'

/** What tells questions apart: words, and signs that are said, such as those of money and the plus of C++. */
const SAID = /[\p{L}\p{M}\p{N}\p{Sc}\p{Sm}#%&]+/gu
const keyOf = (question: string): string => (foldText(question).match(SAID) ?? []).join(' ')

/** Returns what questions are compared by, whatever their case and punctuation. */
export const fixedKeys = (questions: readonly string[]): string[] =>
  [...new Set(questions.map(keyOf))].filter((key) => key !== '')

/**
 * Returns the answer that the owner has fixed for a question with exactly these words, as the passage to quote; null if
 * there is none. Of several, it is the one that was changed last.
 */
export async function fixedAnswer(
  db: Db,
  { accountId, agentId }: AgentRef,
  question: string,
): Promise<Passage | null> {
  const key = keyOf(question)
  if (key === '') return null
  const row = await db
    .selectFrom('sources')
    .select(['id', 'name', 'content', 'updated_at'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('fixed_keys', 'is not', null)
    .where('status', '<>', 'toBeDeleted')
    .where(sql<boolean>`${key} = any(fixed_keys)`)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  return {
    chunkId: row.id,
    sourceId: row.id,
    sourceName: row.name,
    url: null,
    headingPath: [],
    page: null,
    text: row.content.answer ?? '',
    questions: row.content.questions ?? [],
    updatedAt: row.updated_at,
    isFirst: true,
    score: 1,
  }
}

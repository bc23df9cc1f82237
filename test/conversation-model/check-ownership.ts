import assert from 'node:assert/strict'
import type { Db } from '../../server/platform/db/database.ts'
import type { MessagePart } from '../../server/platform/db/tables/conversations.ts'
import type { Owned, Talk } from './owners.ts'
import { textIn } from './state.ts'

export type Silence = {
  /** The ids of the model's messages when the current takeover was committed, or null if there is none. */
  since: string[] | null
  /** Whether a person ever took the conversation over. */
  ever: boolean
}

/** Checks what must be stored when all are done and the generations of dead processes are closed. */
export async function checkRecords(db: Db, talk: Talk, silence: Silence): Promise<void> {
  const messages = await db
    .selectFrom('messages')
    .select(['id', 'role', 'parts', 'seq'])
    .where('conversation_id', '=', talk.conversationId)
    .orderBy('seq')
    .execute()
  const generations = await db
    .selectFrom('generations')
    .selectAll()
    .where('conversation_id', '=', talk.conversationId)
    .execute()
  assert.equal(generations.length, talk.owned.length)
  const textOf = (id: string): string | null => {
    const found = messages.filter((message) => message.id === id)
    assert.ok(found.length <= 1, 'a message is stored twice')
    return found[0] ? textIn(found[0].parts as MessagePart[]) : null
  }
  for (const owned of talk.owned) {
    const row = generations.find(({ id }) => id === owned.ids.id)
    assert.ok(row, 'a generation is gone')
    assert.notEqual(row.status, 'running', 'a generation never ends')
    checkEnding(owned, row, textOf(owned.ids.messageId), silence)
    const isCut = talk.owned.some(({ isRetry, endings, logged }) => isRetry && (endings.length > 0 || logged))
    if (owned.question && !isCut) assert.equal(textOf(owned.ids.userMessageId), owned.question)
  }
  if (silence.since) assert.deepEqual(await talk.spoken(), silence.since, 'the model spoke after a takeover')
}

function checkEnding(
  { logged, whole, endings, isRetry }: Owned,
  row: { message_state: string; status: string; usage_credits: number },
  text: string | null,
  silence: Silence,
): void {
  assert.ok(new Set(endings).size <= 1, `one end was told as ${endings}`)
  const [ending] = endings
  if (row.message_state === 'none') {
    assert.equal(text, null)
    assert.ok(ending !== 'stored', 'an answer that was told to be stored is lost')
    // A retry that breaks off keeps the previous answer.
    assert.ok(logged === '' || silence.ever || isRetry, `"${logged}" was logged and nothing is stored`)
    return
  }
  assert.equal(row.usage_credits, 1)
  if (row.message_state === 'cut') return
  assert.ok(text?.startsWith(logged), `"${logged}" was logged and "${text}" is stored`)
  if (ending === 'stored') assert.equal(text, whole)
  else assert.equal(text, logged, 'somebody wrote to what was closed')
}

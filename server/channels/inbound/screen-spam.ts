import { sql } from 'kysely'
import { hasCredits } from '../../accounts/plans/credits.ts'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { ConversationRow } from '../../conversations/records/queries.ts'
import { pauseIfOngoing } from '../../conversations/records/set-status.ts'
import type { Db } from '../../db/database.ts'
import { json } from '../../db/statements/json.ts'
import { transact } from '../../db/statements/transact.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { Analyst, MessagePart } from '../../db/tables/conversations.ts'
import { recordEvent } from '../../helpdesk/tickets/record-event.ts'
import { judgeByModel, judgeByWords } from './judge-spam.ts'

type Needs = Pick<Context, 'db' | 'log' | 'models' | 'notifier'>
type SpamSettings = { enabled: boolean; prompt: string }
/** As in the metadata of a customer's message. */
type Verdict = { found: boolean; by: Analyst }

/** Of a conversation: spam shows at its beginning, and each look may cost a call of a model. */
const FIRST_MESSAGES = 3

/**
 * Looks for spam in what a customer newly wrote, among the first messages of a conversation that no person has written
 * in, where the agent has that switched on. Spam pauses the conversation, as by hand (contract, section 4,
 * "Conversation status"). True when it did: nobody answers then.
 */
export async function screenSpam(
  ctx: Needs,
  agent: Pick<AgentRow, 'id' | 'model' | 'credit_limit' | 'spam_settings'>,
  conversation: ConversationRow,
): Promise<boolean> {
  const settings = agent.spam_settings as SpamSettings | null
  if (!settings?.enabled) return false
  const messages = await newMessages(ctx.db, conversation)
  if (messages.length === 0) return false
  const verdict = await judge(
    ctx,
    conversation.account_id,
    agent,
    settings.prompt,
    messages.map(textOf).join('\n'),
  )
  if (verdict === null) return false
  const ids = messages.map(({ id }) => id)
  if (!verdict.found) {
    await markMessages(ctx.db, conversation, ids, verdict)
    return false
  }
  ctx.log.info({ conversation: conversation.id, by: verdict.by }, 'a conversation is paused as spam')
  await pause(ctx, conversation, ids, verdict)
  return true
}

type NewMessage = { id: string; parts: MessagePart[] }

/** Not yet looked at and not answered. Of a conversation that was spam before, and that somebody resumed: none. */
async function newMessages(db: Db, { id, account_id, answered_seq }: ConversationRow): Promise<NewMessage[]> {
  const person = await db
    .selectFrom('messages')
    .select('id')
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .where(sql<boolean>`metadata ? 'author'`)
    .limit(1)
    .executeTakeFirst()
  if (person) return []
  const first = await db
    .selectFrom('messages')
    .select(['id', 'parts', 'metadata', 'seq'])
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .where('role', '=', 'user')
    .orderBy('seq')
    .limit(FIRST_MESSAGES)
    .execute()
  const verdictOf = ({ metadata }: (typeof first)[number]) => metadata?.spam as Verdict | undefined
  if (first.some((message) => verdictOf(message)?.found)) return []
  return first.filter((message) => message.seq > answered_seq && verdictOf(message) === undefined)
}

/**
 * null: the model failed, or said something else than it was asked for. An agent that has no credits left does not ask
 * a model: strangers could have it asked for nothing.
 */
async function judge(
  { db, log, models }: Needs,
  accountId: AccountId,
  { id, model: modelId, credit_limit: creditLimit }: Pick<AgentRow, 'id' | 'model' | 'credit_limit'>,
  rule: string,
  text: string,
): Promise<Verdict | null> {
  const model = models.resolve(modelId) ?? models.resolve('auto')
  const isAsked =
    model && model.entry.provider !== 'builtin' && (await hasCredits(db, accountId, { id, creditLimit }))
  if (!isAsked) return { found: judgeByWords(rule, text), by: 'heuristic' }
  try {
    const found = await judgeByModel(models, accountId, model, rule, text)
    if (found === null) log.debug({ model: model.entry.id }, 'the model did not judge a message')
    return found === null ? null : { found, by: 'model' }
  } catch (error) {
    log.debug({ err: error }, 'the model did not judge a message')
    return null
  }
}

/** Only an ongoing conversation: a person may have taken it over, or ended it, while it was judged. */
async function pause(
  ctx: Needs,
  { id, account_id, agent_id }: ConversationRow,
  messageIds: string[],
  verdict: Verdict,
): Promise<void> {
  await transact(ctx.db, async (trx) => {
    if (!(await pauseIfOngoing(trx, { id, account_id }))) return
    await markMessages(trx, { account_id }, messageIds, verdict)
    await recordEvent(
      ctx,
      trx,
      { accountId: account_id, agentId: agent_id },
      { type: 'conversation', data: { conversationId: id } },
    )
  })
}

async function markMessages(
  db: Db,
  { account_id }: Pick<ConversationRow, 'account_id'>,
  ids: string[],
  verdict: Verdict,
): Promise<void> {
  await sql`
    update messages set metadata = coalesce(metadata, '{}') || ${json({ spam: verdict })}::jsonb
    where account_id = ${account_id} and id = any(${ids}::uuid[])`.execute(db)
}

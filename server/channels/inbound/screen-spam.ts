import { sql } from 'kysely'
import { hasCredits } from '../../accounts/plans/credits.ts'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { extendMetadata } from '../../conversations/records/change-message.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { ConversationRow } from '../../conversations/records/queries.ts'
import { pauseIfOngoing } from '../../conversations/records/set-status.ts'
import { publishDeskEvent } from '../../inbox/tickets/publish-desk-event.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Analyst, MessagePart } from '../../platform/db/tables/conversations.ts'
import { judgeByModel, judgeByWords } from './judge-spam.ts'

type Deps = Pick<Context, 'db' | 'log' | 'models' | 'notifier'>
type SpamSettings = { enabled: boolean; prompt: string }
/** What the metadata of a customer's message holds as `spam`. */
type Verdict = { found: boolean; by: Analyst }

/** Spam shows at the beginning of a conversation, and each check may cost a model call. */
const FIRST_MESSAGES = 3

/**
 * Checks a customer's new messages for spam if the agent has that switched on. It checks only the first messages of a
 * conversation, and only until a person has written in it. Spam pauses the conversation. Returns true when it did, and
 * nobody answers then.
 */
export async function screenSpam(
  ctx: Deps,
  agent: Pick<AgentRow, 'id' | 'model' | 'credit_limit' | 'spam_settings' | 'guardrails'>,
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
    await extendMetadata(ctx.db, conversation.account_id, ids, { spam: verdict })
    return false
  }
  ctx.log.info({ conversation: conversation.id, by: verdict.by }, 'a conversation was paused as spam')
  await pause(ctx, conversation, ids, verdict)
  return true
}

type NewMessage = { id: string; parts: MessagePart[] }

/**
 * Returns the messages that are neither checked nor answered, or none when the conversation was spam before and somebody
 * resumed it.
 */
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
 * Returns null when the model failed or gave another kind of answer. An agent without credits does not call a model,
 * because strangers could cause calls that nobody pays for.
 */
async function judge(
  { db, log, models }: Deps,
  accountId: AccountId,
  {
    id,
    model: modelId,
    credit_limit: creditLimit,
    guardrails,
  }: Pick<AgentRow, 'id' | 'model' | 'credit_limit' | 'guardrails'>,
  rule: string,
  text: string,
): Promise<Verdict | null> {
  const model = models.resolve(modelId) ?? models.resolve('auto')
  const isAsked =
    model &&
    model.entry.provider !== 'builtin' &&
    (await hasCredits(db, accountId, { id, creditLimit, budget: guardrails?.budget }))
  if (!isAsked) return { found: judgeByWords(rule, text), by: 'heuristic' }
  try {
    const found = await judgeByModel(models, { accountId, agentId: id }, model, rule, text)
    if (found === null) log.debug({ model: model.entry.id }, 'the model did not classify a message')
    return found === null ? null : { found, by: 'model' }
  } catch (error) {
    log.debug({ err: error }, 'the model did not classify a message')
    return null
  }
}

/** Pauses the conversation unless a person has taken it over or ended it meanwhile. */
async function pause(
  ctx: Deps,
  { id, account_id, agent_id }: ConversationRow,
  messageIds: string[],
  verdict: Verdict,
): Promise<void> {
  await transact(ctx.db, async (trx) => {
    if (!(await pauseIfOngoing(trx, { id, account_id }))) return
    await extendMetadata(trx, account_id, messageIds, { spam: verdict })
    await publishDeskEvent(
      ctx,
      trx,
      { accountId: account_id, agentId: agent_id },
      { type: 'conversation', data: { conversationId: id } },
    )
  })
}

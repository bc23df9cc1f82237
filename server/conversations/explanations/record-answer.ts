import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import type { Static } from 'typebox'
import { countModelUse } from '../../accounts/plans/model-usage.ts'
import {
  dollarsOf,
  type ModelUse,
  modelUseOf,
  NO_TOKENS,
  type Purpose,
  type Tokens,
  tokensOf,
} from '../../ai/calls/call-use.ts'
import type { ModelEntry } from '../../ai/catalogue/catalogue.ts'
import { ModelFailure } from '../../ai/failures/model-failure.ts'
import { describePassage, givenText } from '../../knowledge/search/answering/given-passages.ts'
import type { Retrieved } from '../../knowledge/search/answering/retrieve.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, type ConversationRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import { estimateTokens } from '../../platform/text/languages/language.ts'
import { withoutPaymentNumbers } from '../../platform/text/safety/payment-numbers.ts'
import type { MadeOf } from '../playground/schema.ts'
import { tokenRatio } from '../prompt/build-prompt.ts'
import { metadataOf } from '../records/present.ts'
import type { TranscriptMessage } from '../records/queries.ts'

type Run = Static<typeof MadeOf>
type Step = Run['steps'][number]

/** What an answer is made of. `keepsPrompt` says whether the texts that the model read are part of it. */
export type AnswerRecord = { run: Run; keepsPrompt: 'always' | 'for-days' | 'never' }

type Parts = AsyncIterable<LanguageModelV4StreamPart[]>

/** Records what an answer is made of. */
export type Trial = {
  noteFound(found: Retrieved): void
  /** Yields the parts of a step, and notes them. */
  watch(model: ModelEntry, options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>, parts: Parts): Parts
  /** See MessageMetadata; null if it is not known. */
  tokenRatio: number | null
  /** The steps so far. */
  steps: readonly Step[]
  /** What the steps so far count for. */
  uses: readonly ModelUse[]
  /** Returns the record so far; null before the first step. */
  made(): AnswerRecord | null
}

/**
 * Watches an answer. `keepsPrompt` says whether the texts that the model reads are kept, too: those of customers only
 * for the days that the agent's owner has set.
 */
export function recordAnswer(
  settings: Pick<Run, 'channel' | 'temp' | 'version'>,
  keepsPrompt: AnswerRecord['keepsPrompt'],
): Trial {
  const startedAt = performance.now()
  const since = (from: number): number => Math.round(performance.now() - from)
  let searchMs = 0
  let found: Retrieved | undefined
  let credits = 0
  const steps: Step[] = []
  const uses: ModelUse[] = []
  return {
    steps,
    tokenRatio: null,
    uses,
    noteFound(now) {
      found = now
      searchMs = since(startedAt)
    },
    async *watch(model, options, parts) {
      const { prompt, tools = [] } = options
      const askedAt = performance.now()
      const step: Step = {
        model: model.id,
        prompt: keepsPrompt === 'never' ? [] : prompt.map(shownMessage).map(redacted),
        tools: tools.map(({ name }) => name),
        ...NO_TOKENS,
        dollars: null,
        firstMs: null,
        ms: 0,
      }
      let said = ''
      let isCut = true
      try {
        for await (const batch of parts) {
          for (const part of batch) {
            note(step, part, () => since(askedAt))
            if (part.type === 'finish') isCut = false
            if ('delta' in part) said += part.delta
          }
          yield batch
        }
      } catch (error) {
        isCut &&= error instanceof ModelFailure && error.kind === 'aborted'
        throw error
      } finally {
        step.ms = since(askedAt)
        step.dollars = dollarsOf(step, model.prices)
        this.tokenRatio = tokenRatio(options, step.inputTokens)
        if (step.reasoning !== undefined) step.reasoning = withoutPaymentNumbers(step.reasoning)
        credits = model.credits
        steps.push(step)
        // Whoever stops an answer leaves the provider no time to say what it cost.
        const counted = isCut ? { ...step, ...estimated(prompt, said) } : step
        uses.push(modelUseOf(model, counted))
      }
    },
    made() {
      if (steps.length === 0) return null
      const run: Run = {
        ...settings,
        credits,
        searchMs,
        confidence: found?.confidence ?? 0,
        searchedFor: found?.about ?? null,
        vectorProblem: found?.vectorProblem ?? null,
        embedding: found?.embeddingUse ?? null,
        passages: (found?.passages ?? []).map((passage, at) => ({
          number: at + 1,
          ...describePassage(passage),
          text: givenText(passage),
          isOffered: found?.isFound ?? false,
        })),
        steps: [...steps],
      }
      return { run: keepsPrompt === 'never' ? withoutTexts(run) : run, keepsPrompt }
    },
  }
}

const withoutTexts = (run: Run): Run => ({
  ...run,
  passages: run.passages.map((passage) => ({ ...passage, text: '' })),
  steps: run.steps.map(({ reasoning: _, ...step }) => ({ ...step, prompt: [] })),
})

/**
 * Returns the record without its texts if the owner has ended the keeping of prompts meanwhile, or customers have taken
 * back what the model read.
 */
export async function asFarAsKept(
  trx: Trx,
  { accountId, agentId, conversationId }: ConversationRef,
  record: AnswerRecord,
  read: readonly TranscriptMessage[],
): Promise<AnswerRecord> {
  if (record.keepsPrompt !== 'for-days') return record
  const agent = await trx
    .selectFrom('agents')
    .select('prompt_days')
    .where(ownRow(accountId, agentId))
    .executeTakeFirst()
  const isKept =
    typeof agent?.prompt_days === 'number' && !(await areTakenBack(trx, accountId, conversationId, read))
  return isKept ? record : { run: withoutTexts(record.run), keepsPrompt: 'never' }
}

/** Returns the statement that stores a record. With `isContinuation` it is added to the record of the same message. */
export function storingRecord(
  { accountId, agentId, conversationId }: ConversationRef,
  messageId: string,
  { run, keepsPrompt }: AnswerRecord,
  isContinuation: boolean,
): RawBuilder<unknown> {
  const before = sql`earlier.made_of`
  const earlier = keepsPrompt === 'never' ? withoutPrompt(before) : before
  const made = isContinuation
    ? sql`excluded.made_of || (select jsonb_build_object('steps', kept -> 'steps' || (excluded.made_of -> 'steps'),
        'credits', (kept -> 'credits')::float8 + (excluded.made_of -> 'credits')::float8) from (select ${earlier} as kept) as of)`
    : sql`excluded.made_of`
  return sql`
    insert into playground_runs as earlier (message_id, account_id, agent_id, conversation_id, made_of, has_prompt)
    values (${messageId}::uuid, ${accountId}::uuid, ${agentId}, ${conversationId}::uuid, ${json(storableJson(run))},
      ${keepsPrompt === 'for-days'}::boolean)
    on conflict (message_id) do update set made_of = ${made}, has_prompt = excluded.has_prompt`
}

/** Counts the calls of language models. Answers do not wait for it, nor depend on it. */
export async function countUses(
  { db, log }: { db: Db; log: Logger },
  ref: AgentRef,
  purpose: Purpose,
  uses: readonly ModelUse[],
): Promise<void> {
  try {
    for (const use of uses) if (use.model !== 'builtin') await countModelUse(db, ref, purpose, use)
  } catch (error) {
    log.warn({ err: error }, 'the use of a model was not counted')
  }
}

const MAX_REASONING = 20_000

function note(step: Step, part: LanguageModelV4StreamPart, now: () => number): void {
  if (part.type === 'reasoning-delta') {
    step.reasoning = `${step.reasoning ?? ''}${part.delta}`.slice(0, MAX_REASONING).toWellFormed()
  }
  if (part.type === 'text-delta' || part.type === 'tool-input-start' || part.type === 'tool-call') {
    step.firstMs ??= now()
  }
  if (part.type !== 'finish') return
  Object.assign(step, tokensOf(part.usage))
}

/** Also what an answer that was stopped cost is known well enough for a budget. */
const estimated = (
  prompt: LanguageModelV4Prompt,
  said: string,
): Pick<Tokens, 'inputTokens' | 'outputTokens'> => ({
  inputTokens: estimateTokens(prompt.map((message) => shownMessage(message).text).join('\n')),
  outputTokens: estimateTokens(said),
})

const redacted = ({ role, text }: Step['prompt'][number]): Step['prompt'][number] => ({
  role,
  text: withoutPaymentNumbers(text),
})

/** Returns a message of the prompt as text; calls and their results appear as JSON. */
function shownMessage({ role, content }: LanguageModelV4Prompt[number]): Step['prompt'][number] {
  const text =
    typeof content === 'string'
      ? content
      : content
          .map((part) => {
            if (part.type === 'text' || part.type === 'reasoning') return part.text
            if (part.type === 'tool-call') return `${part.toolName}(${JSON.stringify(part.input)})`
            if (part.type === 'tool-result') return `${part.toolName} → ${JSON.stringify(part.output)}`
            return `[${part.type}]`
          })
          .join('\n')
  return { role, text }
}

/** What an answer is made of without the texts that its model read. */
const withoutPrompt = (made: RawBuilder<unknown>): RawBuilder<unknown> => sql`${made} || jsonb_build_object(
  'steps', (select coalesce(jsonb_agg((step - 'reasoning') || '{"prompt": []}'), '[]')
    from jsonb_array_elements(${made} -> 'steps') as step),
  'passages', (select coalesce(jsonb_agg(passage || '{"text": ""}'), '[]')
    from jsonb_array_elements(${made} -> 'passages') as passage))`

const WITHOUT_PROMPT = withoutPrompt(sql`made_of`)

/**
 * Deletes the prompts and the reasoning of a message's conversation, because its author has taken words of it back. What
 * a provider wants back with calls that still wait for their application stays until they are answered.
 */
export async function dropPromptsWith(trx: Db, accountId: AccountId, messageId: string): Promise<void> {
  await sql`
    update playground_runs set has_prompt = false, made_of = ${WITHOUT_PROMPT}
    where account_id = ${accountId} and has_prompt and conversation_id =
      (select conversation_id from messages where account_id = ${accountId} and id = ${messageId}::uuid)`.execute(
    trx,
  )
  await sql`
    update messages set metadata = case when exists (
        select from tool_calls as calls where calls.account_id = ${accountId} and status = 'pending'
          and calls.conversation_id = messages.conversation_id and calls.message_id = messages.id)
      then metadata - 'reasoning' else metadata - 'reasoning' - 'replay' end
    where account_id = ${accountId} and coalesce(metadata -> 'reasoning', metadata -> 'replay') is not null
      and conversation_id =
      (select conversation_id from messages where account_id = ${accountId} and id = ${messageId}::uuid)`.execute(
    trx,
  )
}

/** The most answers whose prompts are deleted in one sweep; the next one continues. */
const BATCH = 500

/** Deletes the prompts of all agents whose days have passed. What else is known of the answers stays. */
export async function dropOldPrompts(db: Db): Promise<void> {
  await sql`
    update playground_runs set has_prompt = false, made_of = ${WITHOUT_PROMPT}
    where message_id in (
      select runs.message_id from playground_runs as runs join agents on agents.id = runs.agent_id
      where runs.has_prompt
        and (agents.prompt_days is null or runs.created_at < now() - agents.prompt_days * interval '1 day')
      limit ${BATCH} for update of runs skip locked)`.execute(db)
}

/**
 * Returns whether the author of a message has edited or deleted it since it was read. Whoever does so later waits for the
 * end of the transaction, and then finds what it has stored.
 */
export async function areTakenBack(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  read: readonly TranscriptMessage[],
): Promise<boolean> {
  await trx
    .selectFrom('conversations')
    .select('id')
    .where(ownRow(accountId, conversationId))
    .forNoKeyUpdate()
    .execute()
  const versions = new Map(read.map((said) => [said.id, metadataOf(said).editedAt]))
  const changed = await trx
    .selectFrom('messages')
    .select(['id', 'metadata'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where(sql<boolean>`coalesce(metadata ->> 'editedAt', metadata ->> 'deletedAt') is not null`)
    .execute()
  return changed.some((row) => {
    const { editedAt, deletedAt } = metadataOf(row)
    return versions.has(row.id) && (deletedAt !== undefined || editedAt !== versions.get(row.id))
  })
}

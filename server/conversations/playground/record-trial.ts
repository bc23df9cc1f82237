import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Static } from 'typebox'
import { countModelUse } from '../../accounts/plans/model-usage.ts'
import type { Prices } from '../../ai/catalogue/known-models.ts'
import type { Context } from '../../context.ts'
import { givenText } from '../../knowledge/search/answering/given-passages.ts'
import type { Retrieved } from '../../knowledge/search/answering/retrieve.ts'
import { describePassage } from '../../knowledge/search/knowledge.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef, ConversationRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import { withoutPaymentNumbers } from '../../platform/text/safety/payment-numbers.ts'
import { areTakenBack } from '../explanations/words-taken-back.ts'
import type { TranscriptMessage } from '../records/queries.ts'
import type { Trial } from '../turn/turn.ts'
import type { MadeOf } from './schema.ts'

type Run = Static<typeof MadeOf>
type Step = Run['steps'][number]
type Settings = Pick<Run, 'channel' | 'temp'>

/**
 * Watches an answer, and stores what it is made of after each step. `keepsPrompt` says whether the texts that the model
 * reads are stored, too: those of customers only for the days that the agent's owner has set.
 */
export function recordAnswer(
  { db, log }: Pick<Context, 'db' | 'log'>,
  { accountId, agentId }: AgentRef,
  settings: Settings,
  keepsPrompt: 'always' | 'for-days' | 'never',
): Trial {
  const startedAt = performance.now()
  const since = (from: number): number => Math.round(performance.now() - from)
  let searchMs = 0
  let read: readonly TranscriptMessage[] = []
  /** Once texts may not be stored any more, those of this run never are. */
  let keepsTexts = keepsPrompt !== 'never'
  let found: Retrieved | undefined
  /** The stored record of the answer if this run continues it; undefined until it has been read. */
  let earlier: Pick<Run, 'credits' | 'steps'> | undefined
  const steps: Step[] = []
  return {
    noteFound(now, transcript) {
      found = now
      read = transcript
      searchMs = since(startedAt)
    },
    async *watch(model, { prompt, tools = [] }, { messageId, conversationId, kind }, parts) {
      const askedAt = performance.now()
      const step: Step = {
        model: model.id,
        prompt: keepsTexts ? prompt.map(shownMessage).map(redacted) : [],
        tools: tools.map(({ name }) => name),
        inputTokens: null,
        cachedTokens: null,
        outputTokens: null,
        reasoningTokens: null,
        dollars: null,
        firstMs: null,
        ms: 0,
      }
      try {
        for await (const batch of parts) {
          for (const part of batch) note(step, part, () => since(askedAt))
          yield batch
        }
      } finally {
        step.ms = since(askedAt)
        step.dollars = dollarsOf(step, model.prices)
        if (step.reasoning !== undefined) step.reasoning = withoutPaymentNumbers(step.reasoning)
        steps.push(step)
        const madeOf: Omit<Run, 'credits' | 'steps'> = {
          ...settings,
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
        }
        if (keepsPrompt !== 'always')
          await countModelUse(db, { accountId, agentId }, model.id, usedBy(step)).catch((error: unknown) =>
            log.warn({ err: error }, 'the use of a model was not counted'),
          )
        const ref = { accountId, agentId, conversationId }
        // The conversation may have been deleted meanwhile, and the answer does not depend on its record.
        const store = async (trx: Db): Promise<void> => {
          earlier ??= kind === 'continuation' ? await storedRun(trx, ref, messageId) : NOTHING_EARLIER
          const credits = earlier.credits + model.credits
          const run = { ...madeOf, credits, steps: [...earlier.steps, ...steps] }
          await storeRun(trx, ref, messageId, keepsTexts ? run : withoutTexts(run), {
            hasPrompt: keepsTexts && keepsPrompt === 'for-days',
          })
        }
        const storing =
          keepsTexts && keepsPrompt === 'for-days'
            ? transact(db, async (trx) => {
                keepsTexts = await mayKeepTexts(trx, ref, read)
                await store(trx)
              })
            : store(db)
        await storing.catch((error: unknown) =>
          log.warn({ err: error }, 'what an answer is made of was not recorded'),
        )
      }
    },
  }
}

/** The owner may have ended the keeping of prompts, and customers may have taken back what the model read. */
async function mayKeepTexts(
  trx: Trx,
  { accountId, agentId, conversationId }: ConversationRef,
  read: readonly TranscriptMessage[],
): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('prompt_days')
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .executeTakeFirst()
  return typeof agent?.prompt_days === 'number' && !(await areTakenBack(trx, accountId, conversationId, read))
}

const withoutTexts = (run: Run): Run => ({
  ...run,
  passages: run.passages.map((passage) => ({ ...passage, text: '' })),
  steps: run.steps.map(({ reasoning: _, ...step }) => ({ ...step, prompt: [] })),
})

async function storeRun(
  trx: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  messageId: string,
  run: Run,
  { hasPrompt }: { hasPrompt: boolean },
): Promise<void> {
  const made = { made_of: json(storableJson(run)), has_prompt: hasPrompt }
  await trx
    .insertInto('playground_runs')
    .values({
      message_id: messageId,
      account_id: accountId,
      agent_id: agentId,
      conversation_id: conversationId,
      ...made,
    })
    .onConflict((conflict) => conflict.column('message_id').doUpdateSet(made))
    .execute()
}

const NOTHING_EARLIER: Pick<Run, 'credits' | 'steps'> = { credits: 0, steps: [] }

async function storedRun(
  db: Db,
  { accountId, agentId }: AgentRef,
  messageId: string,
): Promise<Pick<Run, 'credits' | 'steps'>> {
  const row = await db
    .selectFrom('playground_runs')
    .select('made_of')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
  return (row?.made_of as Run | undefined) ?? NOTHING_EARLIER
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
  const { inputTokens, outputTokens } = part.usage
  step.inputTokens = inputTokens.total ?? null
  step.cachedTokens = inputTokens.cacheRead ?? null
  step.outputTokens = outputTokens.total ?? null
  step.reasoningTokens = outputTokens.reasoning ?? null
}

const usedBy = ({ inputTokens, cachedTokens, outputTokens, reasoningTokens, dollars = null }: Step) => ({
  calls: 1,
  inputTokens: inputTokens ?? 0,
  cachedTokens: cachedTokens ?? 0,
  outputTokens: outputTokens ?? 0,
  reasoningTokens: reasoningTokens ?? 0,
  dollars,
})

const MILLION = 1_000_000

/** Returns what a step cost by the prices of the catalogue; null if they or the tokens are not known. */
function dollarsOf({ inputTokens, cachedTokens, outputTokens }: Step, prices: Prices | null): number | null {
  if (!prices || inputTokens === null || outputTokens === null) return null
  const cached = cachedTokens ?? 0
  const { input, output, cached: ofCached = input } = prices
  return ((inputTokens - cached) * input + cached * ofCached + outputTokens * output) / MILLION
}

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

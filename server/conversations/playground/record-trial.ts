import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Static } from 'typebox'
import { countModelUse } from '../../accounts/plans/model-usage.ts'
import type { Prices } from '../../ai/catalogue/known-models.ts'
import type { Context } from '../../context.ts'
import { givenText } from '../../knowledge/search/answering/given-passages.ts'
import type { Retrieved } from '../../knowledge/search/answering/retrieve.ts'
import { describePassage } from '../../knowledge/search/knowledge.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import { withoutPaymentNumbers } from '../../platform/text/safety/payment-numbers.ts'
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
  let found: Retrieved | undefined
  /** The stored record of the answer if this run continues it; undefined until it has been read. */
  let earlier: Pick<Run, 'credits' | 'steps'> | undefined
  const steps: Step[] = []
  return {
    noteFound(now) {
      found = now
      searchMs = since(startedAt)
    },
    async *watch(model, { prompt, tools = [] }, { messageId, conversationId, kind }, parts) {
      const askedAt = performance.now()
      const step: Step = {
        model: model.id,
        prompt: keepsPrompt === 'never' ? [] : prompt.map(shownMessage).map(redacted),
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
        if (keepsPrompt === 'never') delete step.reasoning
        steps.push(step)
        earlier ??=
          kind === 'continuation' ? await storedRun(db, { accountId, agentId }, messageId) : NOTHING_EARLIER
        const madeOf: Run = {
          ...settings,
          credits: earlier.credits + model.credits,
          searchMs,
          confidence: found?.confidence ?? 0,
          searchedFor: found?.about ?? null,
          vectorProblem: found?.vectorProblem ?? null,
          embedding: found?.embeddingUse ?? null,
          passages: (found?.passages ?? []).map((passage, at) => ({
            number: at + 1,
            ...describePassage(passage),
            text: keepsPrompt === 'never' ? '' : givenText(passage),
            isOffered: found?.isFound ?? false,
          })),
          steps: [...earlier.steps, ...steps],
        }
        if (keepsPrompt !== 'always')
          await countModelUse(db, { accountId, agentId }, model.id, usedBy(step)).catch((error: unknown) =>
            log.warn({ err: error }, 'the use of a model was not counted'),
          )
        // The conversation may have been deleted meanwhile, and the answer does not depend on its record.
        await db
          .insertInto('playground_runs')
          .values({
            message_id: messageId,
            account_id: accountId,
            agent_id: agentId,
            conversation_id: conversationId,
            made_of: json(storableJson(madeOf)),
            has_prompt: keepsPrompt === 'for-days',
          })
          .onConflict((conflict) =>
            conflict.column('message_id').doUpdateSet({ made_of: json(storableJson(madeOf)) }),
          )
          .execute()
          .catch((error: unknown) => log.warn({ err: error }, 'what an answer is made of was not recorded'))
      }
    },
  }
}

const NOTHING_EARLIER: Pick<Run, 'credits' | 'steps'> = { credits: 0, steps: [] }

async function storedRun(
  db: Context['db'],
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

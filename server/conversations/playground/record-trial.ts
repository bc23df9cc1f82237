import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { givenText } from '../../knowledge/search/answering/given-passages.ts'
import type { Retrieved } from '../../knowledge/search/answering/retrieve.ts'
import { describePassage } from '../../knowledge/search/knowledge.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import type { Trial } from '../turn/turn.ts'
import type { MadeOf } from './schema.ts'

type Run = Static<typeof MadeOf>
type Step = Run['steps'][number]
type Settings = Pick<Run, 'channel' | 'temp'>

/** Watches a run of the playground, and stores what its answer is made of after each step. */
export function recordTrial(
  { db, log }: Pick<Context, 'db' | 'log'>,
  { accountId, agentId }: AgentRef,
  settings: Settings,
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
    async *watch(model, { prompt, tools = [] }, { messageId, conversationId }, parts) {
      const askedAt = performance.now()
      const step: Step = {
        model: model.id,
        prompt: prompt.map(shownMessage),
        tools: tools.map(({ name }) => name),
        inputTokens: null,
        outputTokens: null,
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
        steps.push(step)
        earlier ??= await storedRun(db, { accountId, agentId }, messageId)
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
            text: givenText(passage),
            isOffered: found?.isFound ?? false,
          })),
          steps: [...earlier.steps, ...steps],
        }
        // The conversation may have been deleted meanwhile, and the answer does not depend on its record.
        await db
          .insertInto('playground_runs')
          .values({
            message_id: messageId,
            account_id: accountId,
            agent_id: agentId,
            conversation_id: conversationId,
            made_of: json(storableJson(madeOf)),
          })
          .onConflict((conflict) =>
            conflict.column('message_id').doUpdateSet({ made_of: json(storableJson(madeOf)) }),
          )
          .execute()
          .catch((error: unknown) => log.warn({ err: error }, 'a run of the playground was not recorded'))
      }
    },
  }
}

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
  return (row?.made_of as Run | undefined) ?? { credits: 0, steps: [] }
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
  step.inputTokens = part.usage.inputTokens.total ?? null
  step.outputTokens = part.usage.outputTokens.total ?? null
}

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

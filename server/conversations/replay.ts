import type { Context } from '../context.ts'
import type { AccountId, MessagePart } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import type { FinishReason } from './events.ts'
import { type Answer, createLiveGeneration, type FrameSource } from './live-generation.ts'
import { resultsOf } from './parts.ts'
import type { MessageMetadata } from './present.ts'
import { begin } from './speak-step.ts'
import { notOngoing } from './status.ts'

type Needs = Pick<Context, 'db' | 'generations' | 'followers' | 'models'>

/** The events of a generation that was started before: as they come, or made from what is stored. */
export async function replayStream(
  ctx: Needs,
  accountId: AccountId,
  generationId: string,
): Promise<FrameSource> {
  const live = ctx.generations.get(generationId)
  if (live) {
    await live.started
    return live
  }
  const row = await readGeneration(ctx, accountId, generationId)
  if (row.status === 'running') return ctx.followers.follow(generationId)
  return framesOf(await storedAnswer(ctx, row), row)
}

/** Its whole answer, waiting for the end. Throws what the first request was answered with. */
export async function replayAnswer(ctx: Needs, accountId: AccountId, generationId: string): Promise<Answer> {
  const live = ctx.generations.get(generationId)
  if (live) return live.answer
  const row = await readGeneration(ctx, accountId, generationId)
  if (row.status !== 'running') return storedAnswer(ctx, row)
  const source = ctx.followers.follow(generationId)
  await new Promise<void>((resolve) => {
    const stop = source.watch(() => {
      if (!source.ended) return
      stop()
      resolve()
    })
  })
  return storedAnswer(ctx, await readGeneration(ctx, accountId, generationId))
}

type GenerationRow = Awaited<ReturnType<typeof readGeneration>>

async function readGeneration({ db }: Needs, accountId: AccountId, id: string) {
  const row = await db
    .selectFrom('generations')
    .innerJoin('conversations', 'conversations.id', 'generations.conversation_id')
    .leftJoin('messages', 'messages.id', 'generations.message_id')
    .selectAll('generations')
    .select(['conversations.user_id', 'conversations.status as conversation_status'])
    .select(['messages.parts as message_parts', 'messages.metadata as message_metadata'])
    .where('generations.account_id', '=', accountId)
    .where('generations.id', '=', id)
    .executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist any more.' })
  return row
}

async function storedAnswer({ models }: Needs, row: GenerationRow): Promise<Answer> {
  const isSilenced = row.message_state === 'none' && row.stop_reason === 'takeover'
  if (isSilenced) throw notOngoing(row.conversation_status === 'ended' ? 'ended' : 'taken_over')
  if (row.status === 'failed' && row.usage_credits === 0) {
    const provider = models.resolve(row.model)?.entry.provider ?? row.model
    throw new ApiError('CHAT_PROVIDER_ERROR', { details: { provider } })
  }
  const { score, sources } = (row.message_metadata ?? {}) as MessageMetadata
  // What a retry has replaced is kept for who asks with the key of the first request.
  const said = row.message_parts ?? (row.message_state === 'cut' ? row.parts : [])
  const parts = said.slice(row.parts_from, row.parts_from + row.parts_count)
  return {
    id: row.message_id,
    role: 'assistant',
    parts,
    metadata: {
      userMessageId: row.user_message_id,
      conversationId: row.conversation_id,
      userId: row.user_id,
      finishReason: (row.finish_reason ?? 'stop') as FinishReason,
      usage: { credits: row.usage_credits },
      ...(score === undefined ? {} : { score }),
      ...(sources?.length ? { sources } : {}),
    },
  }
}

/** A stored answer as a stream: the same events, its texts in one piece. */
function framesOf({ id: messageId, parts, metadata }: Answer, row: GenerationRow): FrameSource {
  const { finishReason, sources, score: _score, ...shared } = metadata
  const live = createLiveGeneration({
    id: row.id,
    messageId,
    conversationId: row.conversation_id,
    userMessageId: row.user_message_id,
    userId: row.user_id,
    credits: row.usage_credits,
    kind: row.kind,
    firstEvent: row.first_event,
  })
  begin(live)
  const ranHere = resultsOf(parts)
  for (const [index, part] of parts.entries()) speak(part, `text-${index + 1}`)
  if (sources) live.emit({ type: 'data-sources', data: { sources } })
  live.emit({ type: 'finish-step' })
  live.emit({ type: 'finish', finishReason, messageMetadata: { messageId, ...shared } })
  live.end({ id: messageId, role: 'assistant', parts, metadata })
  return live

  function speak(part: MessagePart, id: string): void {
    if (part.type === 'text') {
      live.emit({ type: 'text-start', id })
      live.emit({ type: 'text-delta', id, delta: part.text })
      live.emit({ type: 'text-end', id })
      return
    }
    const { toolCallId, toolName } = part
    const mark = ranHere.has(toolCallId) ? { providerExecuted: true as const } : {}
    if (part.type === 'tool-call') {
      live.emit({ type: 'tool-input-start', toolCallId, toolName, ...mark })
      live.emit({ type: 'tool-input-available', toolCallId, toolName, input: part.input ?? {}, ...mark })
    } else live.emit({ type: 'tool-output-available', toolCallId, output: part.output ?? null, ...mark })
  }
}

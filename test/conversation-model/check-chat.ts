import assert from 'node:assert/strict'
import type { Op } from './requests.ts'
import { ownParts, runningIn, type State, type StoredGeneration, textIn } from './state.ts'
import { codeOf, isChat, isOk, isRefused, type Step } from './step.ts'

/** A request without a message starts a reply when the answer to the last message failed. */
const KINDS: Record<string, StoredGeneration['kind'][]> = {
  send: ['reply'],
  continue: ['continuation', 'reply'],
  retry: ['retry'],
}

/**
 * Checks the requests for answers: each rejected one had a reason, and each accepted one started exactly one
 * generation.
 */
export function checkChats(step: Step): void {
  const chats = step.ops.filter(isChat)
  const matched = new Map<string, Op>()
  for (const op of chats) {
    if (op.answer.is === 'died') continue
    if (!isOk(op)) {
      checkRefusal(op, step)
      continue
    }
    assert.ok(
      step.statuses.has('ongoing'),
      `${op.command.do} was accepted in a conversation that is not ongoing`,
    )
    assert.equal(step.ranThrough, null, `${op.command.do} was accepted while another answer ran`)
    const generation = generationOf(op, step)
    if (!generation) continue
    assert.ok(!matched.has(generation.id), 'one generation for two requests')
    matched.set(generation.id, op)
    checkAccepted(op, generation, step)
  }
  const unclear = chats.filter((op) => !isRefused(op) && ![...matched.values()].includes(op))
  assert.ok(
    step.begun.length <= matched.size + unclear.length,
    `${step.begun.length} generations began for ${matched.size} accepted and ${unclear.length} unclear requests`,
  )
}

function checkRefusal(op: Op, step: Step): void {
  const { before, after, statuses, couldRun, commands } = step
  const { command, answer, about } = op
  const running = runningIn(before)
  const isAlone = commands.length === 1
  const isStored = after.messages.some(({ role, parts }) => role === 'user' && textIn(parts) === about)
  switch (codeOf(op)) {
    case 'CHAT_CONVERSATION_NOT_ONGOING': {
      const { status } = answer.is === 'json' ? answer.body.error.details : {}
      assert.ok(status !== 'ongoing' && statuses.has(status), `${status} was never a status`)
      if (!statuses.has('ongoing')) assert.equal(isStored, false, 'a refused message is stored')
      return
    }
    case 'CHAT_CONVERSATION_BUSY':
      assert.ok(couldRun, 'busy, and nothing runs')
      assert.ok(!(isAlone && running?.orphaned), 'busy for a process that is gone')
      assert.equal(isStored, false, 'a refused message is stored')
      return
    case 'CHAT_NOTHING_TO_CONTINUE':
      assert.equal(command.do, 'continue')
      if (isAlone && !running) assert.ok(!isContinuable(before), 'there was something to continue')
      return
    case 'CHAT_RETRY_MESSAGE_NOT_FOUND': {
      assert.equal(command.do, 'retry')
      const isThere = ({ messages }: State) =>
        messages.some(({ id, role }) => id === about && role === 'assistant')
      assert.ok(!isThere(before) || !isThere(after), 'the message to retry is there')
      return
    }
    case 'CHAT_PROVIDER_ERROR': {
      const failed = after.generations.some(
        ({ id, status, usage_credits }) =>
          status === 'failed' &&
          usage_credits === 0 &&
          !before.generations.some((one) => one.id === id && one.status === 'failed'),
      )
      assert.ok(failed, 'a provider error, and no generation failed')
      if (command.do === 'send' && isAlone) assert.ok(isStored, 'the message of a failed answer is lost')
      return
    }
    default:
      assert.fail(`${command.do} was answered with ${JSON.stringify(answer)}`)
  }
}

/** Whether the newest message can be continued and none of its calls waits any more. */
function isContinuable({ messages, calls }: State): boolean {
  const newest = messages.at(-1)
  return (
    newest?.role === 'assistant' &&
    newest.metadata?.finishReason === 'tool-calls' &&
    !calls.some(({ status, waits, expired }) => status === 'pending' && waits && !expired)
  )
}

function generationOf({ command, answer }: Op, { begun }: Step): StoredGeneration | null {
  const kinds = KINDS[command.do] ?? []
  if (answer.is === 'stream') {
    const [first] = answer.events
    if (!first) return null
    const found = begun.find(({ first_event }) => first_event === first.id - 1)
    assert.ok(found && kinds.includes(found.kind), 'the stream belongs to another generation')
    return found
  }
  if (answer.is !== 'json') return null
  const { id, metadata } = answer.body.data
  const found = begun.findLast(
    (one) =>
      kinds.includes(one.kind) && one.message_id === id && one.user_message_id === metadata.userMessageId,
  )
  assert.ok(found, 'an answer without a generation')
  return found
}

function checkAccepted({ command, answer, about, life }: Op, generation: StoredGeneration, step: Step): void {
  const { before, after } = step
  if (command.do === 'send') {
    const asked = after.messages.find(({ id }) => id === generation.user_message_id)
    if (asked) assert.equal(textIn(asked.parts), about)
    else assert.ok(isCutLater(generation, after), 'an acknowledged message is lost')
  }
  if (command.do === 'continue' && step.commands.length === 1 && !runningIn(before)) {
    const isUnanswered = before.messages.at(-1)?.role === 'user'
    assert.equal(generation.kind, isUnanswered ? 'reply' : 'continuation')
    assert.ok(isUnanswered || isContinuable(before), 'it went on from nothing, or while calls waited')
  }
  if (command.do === 'retry') {
    const target = before.messages.find(({ id }) => id === about)
    if (target) assert.equal(generation.cut_from, target.seq)
  }
  if (answer.is === 'stream') {
    const last = answer.events.at(-1)?.event
    if (answer.end === 'done') assert.equal(last?.type, 'finish')
    else
      assert.ok(
        answer.end === 'left' || life.killed,
        `the stream was ${answer.end}, and its process is alive`,
      )
    return
  }
  if (answer.is !== 'json') return
  const { parts, metadata } = answer.body.data
  assert.notEqual(generation.status, 'running', 'an answer that is not stored yet')
  const own = ownParts(after, generation)
  if (own) assert.deepEqual(parts, own)
  if (generation.finish_reason !== null) assert.equal(metadata.finishReason, generation.finish_reason)
  assert.equal(metadata.usage.credits, generation.usage_credits)
}

/** Whether the messages of a generation were cut off by a later retry whose answer is stored. */
const isCutLater = ({ first_event }: StoredGeneration, { generations }: State): boolean =>
  generations.some(
    (one) => one.kind === 'retry' && one.first_event > first_event && one.message_state !== 'none',
  )

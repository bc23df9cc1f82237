import assert from 'node:assert/strict'
import { checkChats } from './check-chat.ts'
import type { Op } from './requests.ts'
import { runningIn } from './state.ts'
import { codeOf, isOk, moveOf, type Step } from './step.ts'
import type { Talk } from './talk.ts'

/** Checks that the contract allows every response in the batch. */
export function checkAnswers(talk: Talk, step: Step): void {
  for (const op of step.ops) {
    const { answer, life, command } = op
    if (answer.is === 'died')
      assert.ok(life.killed, `${command.do} died, and its process is alive: ${answer.why}`)
    else if (moveOf(op)) checkMove(op, step)
    else if (command.do === 'stop') checkStop(talk, op, step)
    else if (command.do === 'reload') checkReload(talk, op, step)
  }
  checkChats(step)
  checkResults(step)
  assert.ok(step.statuses.has(step.after.status), `the status became ${step.after.status}`)
}

function checkMove(op: Op, { before, after, statuses, ops }: Step): void {
  const [from, to] = moveOf(op)!
  const { command } = op
  const isPossible = from.some((status) => statuses.has(status))
  if (isOk(op)) {
    assert.ok(isPossible, `${command.do} was accepted although the conversation was ${[...statuses]}`)
    if (ops.length === 1) assert.equal(after.status, to)
    return
  }
  const expected = command.do === 'handback' ? 'CONVERSATION_NOT_TAKEN_OVER' : 'CHAT_CONVERSATION_NOT_ONGOING'
  assert.equal(codeOf(op), expected)
  if (command.do === 'takeover') assert.ok(statuses.has('taken_over'))
  else
    assert.ok(
      [...statuses].some((status) => !from.includes(status)),
      `${command.do} was refused without a reason`,
    )
  if (ops.length === 1) assert.equal(after.status, before.status)
}

function checkStop(
  { runners }: Talk,
  { answer }: Op,
  { before, after, ranThrough, couldRun, commands }: Step,
): void {
  assert.ok(answer.is === 'json' && answer.status === 200, `stop: ${JSON.stringify(answer)}`)
  const { stopped } = answer.body.data
  const running = runningIn(before)
  const isOrphan = running !== undefined && (running.orphaned || runners.get(running.first_event)?.killed)
  if (stopped) assert.ok(couldRun, 'stopped what did not run')
  else assert.ok(!ranThrough, 'not stopped, and it runs')
  if (commands.length === 1 && !isOrphan) assert.equal(runningIn(after), undefined, 'it runs after its stop')
}

function checkReload({ runners }: Talk, { answer, path, about, life }: Op, step: Step): void {
  const { before, after, statuses, ranThrough, commands } = step
  if (answer.is === 'json') {
    if (path.endsWith('/stream')) {
      assert.equal(answer.status, 204)
      const isAlive = ranThrough && !ranThrough.orphaned && !runners.get(ranThrough.first_event)?.killed
      assert.ok(!isAlive, 'nothing to follow, and an answer runs')
      return
    }
    assert.equal(answer.status, 200)
    const messages = path.includes('/messages') ? answer.body.data : answer.body.data.messages
    if (!path.includes('/messages')) assert.ok(statuses.has(answer.body.data.status))
    if (commands.length > 1 || runningIn(before)) return
    const stored = after.messages.slice(-messages.length)
    assert.deepEqual(
      messages.map(({ id, role, parts }: (typeof stored)[number]) => ({ id, role, parts })),
      stored.map(({ id, role, parts }) => ({ id, role, parts })),
    )
    assert.equal(answer.body.pagination.total, after.messages.length)
    return
  }
  if (answer.is !== 'stream') return
  const { events, end } = answer
  const [first] = events
  if (!first) return
  const generation = after.generations.findLast(({ first_event }) => first_event < first.id)!
  const seen = Number(about) > generation.first_event ? Number(about) : generation.first_event
  assert.equal(first.id, seen + 1, `events after ${seen} were asked for`)
  if (end === 'done') assert.equal(events.at(-1)?.event.type, 'finish')
  if (end === 'died') assert.ok(life.killed)
  if (end === 'cut') assert.notEqual(generation.status, 'running', 'cut off while it ran')
}

/** The commands that do not affect a waiting call. */
const HARMLESS = ['tool-result', 'reload', 'stop', 'pause', 'resume', 'takeover', 'handback']

function checkResults({ ops, before, after, commands }: Step): void {
  const results = ops.filter(({ command }) => command.do === 'tool-result')
  for (const about of new Set(results.map((op) => op.about))) {
    const same = results.filter((op) => op.about === about)
    const taken = same.filter(isOk).length
    const died = same.filter(({ answer }) => answer.is === 'died').length
    for (const op of same)
      if (!isOk(op) && op.answer.is !== 'died') assert.equal(codeOf(op), 'RESOURCE_TOOL_CALL_NOT_FOUND')
    assert.ok(taken <= 1, `${taken} results of one call were taken`)
    const call = before.calls.find(({ id }) => id === about)
    const isWaiting = call?.status === 'pending' && call.waits && !call.expired
    const isUndisturbed = commands.every((command) => HARMLESS.includes(command.do)) && !runningIn(before)
    if (isWaiting && isUndisturbed && died === 0)
      assert.equal(taken, 1, 'no result of a waiting call was taken')
    if (call && !isWaiting) assert.equal(taken, 0, 'a result of a call that does not wait was taken')
    if (taken === 1) assert.equal(after.calls.find(({ id }) => id === about)?.status, 'success')
  }
}

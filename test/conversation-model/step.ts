import type { Command } from './commands.ts'
import type { Op } from './requests.ts'
import { runningIn, type State, type StoredGeneration } from './state.ts'

/** A completed batch, with the snapshots before and after it. */
export type Step = {
  before: State
  commands: Command[]
  ops: Op[]
  after: State
  /** The statuses that the conversation may have had during the batch. */
  statuses: Set<State['status']>
  begun: StoredGeneration[]
  /** The generation that was running during the whole batch, if any. */
  ranThrough: StoredGeneration | null
  /** Whether a generation may have been running at some time. */
  couldRun: boolean
}

export const isOk = ({ answer }: Op): boolean =>
  answer.is === 'stream' || (answer.is === 'json' && (answer.status === 200 || answer.status === 204))

export const codeOf = ({ answer }: Op): string | null => (answer.is === 'json' ? answer.code : null)

export const isChat = ({ command }: Op): boolean => ['send', 'continue', 'retry'].includes(command.do)

/** The error codes of requests for an answer that have no effect. */
const REFUSALS = ['CHAT_CONVERSATION_BUSY', 'CHAT_NOTHING_TO_CONTINUE', 'CHAT_RETRY_MESSAGE_NOT_FOUND']

export const isRefused = (op: Op): boolean => REFUSALS.includes(codeOf(op) ?? '')

export function stepOf(before: State, commands: Command[], ops: Op[], after: State): Step {
  const running = runningIn(before)
  return {
    before,
    commands,
    ops,
    after,
    statuses: possibleStatuses(before.status, ops),
    begun: after.generations.filter(({ id }) => !before.generations.some((one) => one.id === id)),
    ranThrough: running && runningIn(after)?.id === running.id ? running : null,
    couldRun: running !== undefined || ops.some((op) => isChat(op) && !isRefused(op)),
  }
}

/** The status transitions of the contract. */
const MOVES: Record<string, [from: State['status'][], to: State['status']]> = {
  pause: [['ongoing', 'paused'], 'paused'],
  resume: [['ongoing', 'paused'], 'ongoing'],
  takeover: [['ongoing', 'paused', 'taken_over'], 'taken_over'],
  handback: [['taken_over'], 'ongoing'],
}

export const moveOf = ({ command }: Op) => MOVES[command.do] ?? null

function possibleStatuses(first: State['status'], ops: Op[]): Set<State['status']> {
  const moves = ops
    .filter((op) => isOk(op) || op.answer.is === 'died')
    .flatMap((op) => {
      const move = moveOf(op)
      return move ? [move] : []
    })
  const found = new Set([first])
  for (let size = 0; size < found.size; ) {
    size = found.size
    for (const [from, to] of moves) if (from.some((status) => found.has(status))) found.add(to)
  }
  return found
}

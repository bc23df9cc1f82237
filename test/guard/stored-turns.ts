import { type Attempt, isFinal, type Turn } from '../faults/talkers.ts'
import type { GuardedWorld } from './guarded-world.ts'

type Stored = { id: string; role: 'user' | 'assistant'; conversationId: string; text: string }

/** Reads all conversations of the agent through the API, each with its messages from the oldest. */
export async function readStored(world: GuardedWorld): Promise<Stored[][]> {
  const path = `/api/v2/agents/${world.agentId}/conversations`
  const conversations = await pages<{ id: string }>(world, path)
  const found: Stored[][] = []
  for (const { id } of conversations) {
    const messages = await pages<{
      id: string
      role: Stored['role']
      parts: { type: string; text?: string }[]
    }>(world, `${path}/${id}/messages`)
    found.push(
      messages.map((message) => ({
        id: message.id,
        role: message.role,
        conversationId: id,
        text: message.parts.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
      })),
    )
  }
  return found
}

async function pages<Item>(world: GuardedWorld, path: string): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''
    const { status, body, text } = await world.request('GET', `${path}?limit=100${after}`)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
    // Pages of messages go back from the newest one.
    items.unshift(...body.data)
    cursor = body.pagination.cursor
  } while (cursor)
  return items
}

/** What became of people's messages. The first three must stay zero. */
export type Counted = {
  acknowledged: number
  lost: number
  doubled: number
  /** Keys with an attempt that named another conversation, message or answer than is stored. */
  renamed: number
  seenWithoutReply: number
  secondReplies: number
  secondCallsAcknowledged: number
  secondCallsOthers: number
  conflicts: number
  /** Responses with a 5xx that the contract does not allow here. */
  failures: string[]
  lostWords: number[]
  stories: string[]
}

const wordsIn = (text: string): number => text.split(' ').filter((word) => word !== '').length

/** Compares what people were told with what is stored and with what the model was asked. */
export function countTurns(world: GuardedWorld, turns: Turn[], stored: Stored[][]): Counted {
  const counted: Counted = {
    acknowledged: 0,
    lost: 0,
    doubled: 0,
    renamed: 0,
    seenWithoutReply: 0,
    secondReplies: 0,
    secondCallsAcknowledged: 0,
    secondCallsOthers: 0,
    conflicts: 0,
    failures: [],
    lostWords: [],
    stories: [],
  }
  const places = new Map<string, { message: Stored; answers: Stored[] }[]>()
  for (const messages of stored)
    for (const [i, message] of messages.entries()) {
      if (message.role !== 'user') continue
      const next = messages.findIndex(({ role }, at) => at > i && role === 'user')
      const answers = messages.slice(i + 1, next < 0 ? undefined : next)
      places.set(message.text, [...(places.get(message.text) ?? []), { message, answers }])
    }
  for (const turn of turns) countTurn(turn)
  return counted

  function countTurn(turn: Turn): void {
    const { question, attempts } = turn
    const tell = (what: string): void => void counted.stories.push(`${what}: ${storyWithIds(turn)}`)
    const told = attempts.filter(({ userMessageId }) => userMessageId !== null)
    const [place, ...others] = places.get(question) ?? []
    if (told.length > 0) counted.acknowledged++
    if (told.length > 0 && !place) {
      counted.lost++
      tell('lost')
    }
    if (others.length > 0) {
      counted.doubled++
      tell('doubled')
    }
    const answers = place?.answers ?? []
    const isNamed = (one: Attempt): boolean =>
      place?.message.conversationId === one.conversationId &&
      place.message.id === one.userMessageId &&
      answers.some(({ id, text }) => id === one.messageId && (!isFinal(one) || one.text === text))
    if (place && !told.every(isNamed)) {
      counted.renamed++
      tell('named another')
    }
    if (answers.length > 1) {
      counted.secondReplies++
      tell('answered twice')
    }
    const seen = attempts.filter(({ text }) => text !== '')
    if (seen.length > 0 && answers.length === 0 && !attempts.some(isFinal)) {
      counted.seenWithoutReply++
      tell('seen without reply')
    }
    for (const call of world.models.spoken(question).slice(1)) {
      const known = attempts.some(({ acknowledgedAt }) => (acknowledgedAt ?? Infinity) < call.at)
      if (known) counted.secondCallsAcknowledged++
      else counted.secondCallsOthers++
    }
    for (const { status, code, text } of attempts) {
      if (status === 409) counted.conflicts++
      if (status !== null && status >= 500 && status !== 503) counted.failures.push(`${status} ${code}`)
      const kept = answers.at(-1)?.text ?? ''
      if (text !== '' && kept !== '' && !kept.startsWith(text))
        counted.lostWords.push(wordsIn(text) - wordsIn(commonStart(text, kept)))
    }
  }
}

function commonStart(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return one.slice(0, length)
}

const storyWithIds = ({ key, question, attempts }: Turn): string =>
  `${key} "${question}": ${attempts
    .filter(({ status }) => status !== null)
    .map(({ place, begun, ended, status, code, conversationId, userMessageId, messageId, ...rest }) => {
      const ids = userMessageId ? ` ${[conversationId, userMessageId, messageId].map(short).join(' ')}` : ''
      const said = `${wordsIn(rest.text)} words ${rest.finishReason ?? 'broken'}`
      return `[${place}] ${Math.round(begun)}…${Math.round(ended)} ${status} ${code ?? said}${ids}`
    })
    .join('; ')}`

const short = (id: string | null): string => id?.slice(-6) ?? '-'

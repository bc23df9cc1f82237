import { type Client, clientOf } from '../start.ts'
import { createEventLog, type EventLog } from './event-log.ts'
import type { Life } from './processes.ts'
import { readState, type State } from './state.ts'
import type { World } from './world.ts'

/** A conversation that a plan works on, and what the test knows about it. */
export type Talk = {
  world: World
  accountId: string
  agentId: string
  conversationId: string
  members: string[]
  log: EventLog
  /** The last known state. */
  state: State
  /** The texts of the questions so far. */
  asked: Set<string>
  /** The accepted outputs, by call. */
  outputs: Map<string, unknown>
  /** The generations that were running when a takeover was acknowledged. */
  silenced: Set<string>
  /** What the model had said when a takeover was acknowledged. It is reset when the conversation is handed back. */
  frozen: string | null
  handBacks: { begun: number; open: number }
  /** The process that runs each generation, by the number after which the generation's event ids start. */
  runners: Map<number, Life>
  journal: string[]
  /** Returns a client of the process that currently runs at a place. */
  at(place: number): Promise<{ client: Client; life: Life }>
  note(line: string): void
}

const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }

/** Creates an account with an agent, two client actions and a conversation with one exchange. */
export async function openTalk(world: World): Promise<Talk> {
  const { accountId, key, members } = await world.inside.newAccount()
  const begun = Date.now()
  const at = async (place: number) => {
    const life = await world.places[place % world.places.length]!.life()
    return { life, client: clientOf(life.url, key) }
  }
  const { client } = await at(0)
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  for (const name of ['show_order', 'open_page']) {
    const action = { name, type: 'client', description: 'For orders', inputs }
    await client.request('POST', `/agents/${agentId}/actions`, action)
  }
  const message = `first of ${accountId}`
  const { body } = await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })
  const { conversationId } = body.data.metadata
  const journal: string[] = []
  return {
    world,
    accountId,
    agentId,
    conversationId,
    members,
    log: createEventLog(),
    state: await readState(world.inside, conversationId),
    asked: new Set([message]),
    outputs: new Map(),
    silenced: new Set(),
    frozen: null,
    handBacks: { begun: 0, open: 0 },
    runners: new Map(),
    journal,
    at,
    note: (line) => void journal.push(`${String(Date.now() - begun).padStart(6)} ms  ${line}`),
  }
}

/** Returns everything that the model has said, in words and calls. */
export const spokenIn = ({ messages }: State): string =>
  JSON.stringify(
    messages
      .filter(({ role }) => role === 'assistant')
      .map(({ id, parts }) => [id, parts.filter(({ type }) => type !== 'tool-result')]),
  )

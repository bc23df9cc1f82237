import type { Chat, Command } from './commands.ts'
import { type Listened, listen } from './event-log.ts'
import type { Life } from './processes.ts'
import type { Talk } from './talk.ts'

export type Answered =
  // biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
  | { is: 'json'; status: number; code: string | null; body: any }
  | ({ is: 'stream' } & Listened)
  /** The connection broke before there was a response. */
  | { is: 'died'; why: string }

/** A request that has ended. */
export type Op = {
  command: Command
  life: Life
  /** The path, relative to the agent. */
  path: string
  /** The text that was sent, the message to retry, the call, or the last event that a reader had received. */
  about: string
  answer: Answered
}

const PATIENCE_MS = 20_000

type Sent = {
  body?: object
  about?: string
  headers?: Record<string, string>
  limits?: { events: number | null; ms: number }
}

/** Sends one request about the conversation to the command's process. `path` is relative to the conversation. */
export async function request(
  talk: Talk,
  command: Command,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<Op> {
  return exchange(talk, command, method, `/conversations/${talk.conversationId}${path}`, sent)
}

export const post = (
  talk: Talk,
  command: Command,
  path: string,
  body: object = {},
  about = '',
): Promise<Op> => request(talk, command, 'POST', path, { body, about })

/** Sends a request for an answer. `path` is relative to the agent. */
export function chat(
  talk: Talk,
  command: Command & Chat,
  path: string,
  body: object,
  about: string,
): Promise<Op> {
  const { stream, leaveAfter } = command
  return exchange(talk, command, 'POST', path, {
    body: { ...body, stream, includeServerActions: true },
    about,
    limits: { events: leaveAfter, ms: PATIENCE_MS },
  })
}

async function exchange(talk: Talk, command: Command, method: string, path: string, sent: Sent): Promise<Op> {
  const { body, about = '', headers = {}, limits } = sent
  const { client, life } = await talk.at(command.on)
  const name = `[${command.on % talk.world.places.length}] ${command.do} ${method} ${path.split('/').at(-1)} ${about}`
  talk.note(`${name} …`)
  const answer = await answerOf()
  talk.note(`${name} → ${said(answer)}`)
  return { command, life, path, about, answer }

  async function answerOf(): Promise<Answered> {
    try {
      // The whole response is compared with what is stored, so it includes server-side actions.
      const all = method === 'GET' ? `${path.includes('?') ? '&' : '?'}includeServerActions=true` : ''
      const response = await client.raw(method, `/agents/${talk.agentId}${path}${all}`, {
        headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(PATIENCE_MS + 5_000),
      })
      if (limits && response.headers.get('content-type') === 'text/event-stream') {
        // A generation runs in the process that started it; readers may be connected to any process.
        const onFirst = (id: number): void => {
          if (method === 'POST') talk.runners.set(id - 1, life)
        }
        return { is: 'stream', ...(await listen(response, talk.log, { ...limits, onFirst })) }
      }
      const text = await response.text()
      const parsed = text === '' ? null : JSON.parse(text)
      return { is: 'json', status: response.status, code: parsed?.error?.code ?? null, body: parsed }
    } catch (error) {
      if (error instanceof TypeError) return { is: 'died', why: String(error.cause ?? error) }
      throw error
    }
  }
}

function said(answer: Answered): string {
  if (answer.is === 'died') return `died: ${answer.why}`
  if (answer.is === 'json')
    return `${answer.status} ${answer.code ?? JSON.stringify(answer.body?.data ?? null).slice(0, 160)}`
  const { events, end } = answer
  const ids = events.length === 0 ? 'nothing' : `${events[0]?.id}…${events.at(-1)?.id}`
  return `stream of ${ids}, ${end}; last ${events.at(-1)?.event.type ?? '-'}`
}

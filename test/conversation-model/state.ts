import type { MessagePart } from '../../server/platform/db/tables/conversations.ts'
import type { Inside } from './inside.ts'

type StoredMessage = {
  id: string
  seq: number
  role: 'user' | 'assistant'
  parts: MessagePart[]
  metadata: { finishReason?: string } | null
}

export type StoredGeneration = {
  id: string
  kind: 'reply' | 'continuation' | 'retry'
  status: 'running' | 'finished' | 'failed' | 'interrupted'
  first_event: number
  message_id: string
  user_message_id: string
  message_state: 'none' | 'stored' | 'cut'
  finish_reason: string | null
  usage_credits: number
  stop_reason: 'stop' | 'takeover' | null
  parts_from: number
  parts_count: number
  cut_from: number | null
  cut_to: number | null
  owner: string | null
  /** The heartbeat of the generation's process at the time of the snapshot. */
  beat: number | null
  /** Whether the generation's process has ended or was declared dead. */
  orphaned: boolean
}

type StoredCall = {
  id: string
  message_id: string
  status: 'pending' | 'success' | 'error' | 'ignored'
  output: unknown
  /** Whether the call waits for its application, rather than running in the service. */
  waits: boolean
  expired: boolean
}

/** A snapshot of a conversation in the database. */
export type State = {
  status: 'ongoing' | 'paused' | 'taken_over' | 'ended'
  taken_over_by: string | null
  last_seq: number
  /** The messages, in order. */
  messages: StoredMessage[]
  generations: StoredGeneration[]
  calls: StoredCall[]
}

export async function readState({ query }: Inside, conversationId: string): Promise<State> {
  // A single statement reads a consistent snapshot.
  const [row] = await query<State>(
    `select status, taken_over_by, last_seq,
      (select coalesce(jsonb_agg(to_jsonb(one) order by seq), '[]') from
        (select id, seq, role, parts, metadata from messages where conversation_id = $1) as one) as messages,
      (select coalesce(jsonb_agg(to_jsonb(one) order by first_event), '[]') from
        (select id, kind, status, first_event, message_id, user_message_id, message_state, finish_reason, usage_credits, stop_reason,
          parts_from, parts_count, cut_from, cut_to, owner,
          (select beat from processes where id = owner) as beat,
          not exists (select from processes where id = owner and processes.epoch = generations.epoch) as orphaned
          from generations where conversation_id = $1) as one) as generations,
      (select coalesce(jsonb_agg(to_jsonb(one) order by id), '[]') from
        (select id, message_id, status, output, expires_at is not null as waits, coalesce(expires_at <= now(), false) as expired
          from tool_calls where conversation_id = $1) as one) as calls
      from conversations where id = $1`,
    [conversationId],
  )
  if (!row) throw new Error('the conversation is gone')
  return row
}

export const runningIn = ({ generations }: State): StoredGeneration | undefined =>
  generations.find(({ status }) => status === 'running')

export const textIn = (parts: MessagePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Returns the parts of the message that the generation itself added. */
export function ownParts({ messages }: State, generation: StoredGeneration): MessagePart[] | null {
  const { message_id, parts_from, parts_count, message_state } = generation
  const message = messages.find(({ id }) => id === message_id)
  return message && message_state === 'stored'
    ? message.parts.slice(parts_from, parts_from + parts_count)
    : null
}

import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import type { ModelRequest, Reply } from '../fakes/reply.ts'
import { plainScript, type Script } from './commands.ts'

export type WireMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: { id: string; function: { name: string } }[]
  tool_call_id?: string
}

/** One request to the model and its scripted reply, whose words start with `r<number>w`. */
export type Spoken = {
  number: number
  at: number
  question: string
  messages: WireMessage[]
  script: Script
}

export type ScriptedModel = {
  url: string
  /** Returns the requests about a question, by its text. */
  spoken(question: string): Spoken[]
  /** Sets the reply to the next request about this question. Requests without a script get a plain answer. */
  expect(question: string, script: Script): void
  close(): Promise<void>
}

export const wordsOf = (number: number, { words }: Script): string[] =>
  Array.from({ length: words }, (_, i) => `r${number}w${i} `)

const VERDICT = JSON.stringify({ sentiment: 'neutral', topics: [], newTopic: null })

/** Starts a model whose answers are all distinct, and that records its requests. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const server: ModelServer = await startModelServer()
  const scripts = new Map<string, Script[]>()
  const spoken = new Map<string, Spoken[]>()
  let count = 0
  server.otherwise(({ body }: ModelRequest): Reply => {
    // The fake server records every request; these are not needed.
    server.requests.length = 0
    const messages = body.messages as WireMessage[]
    // What is known at the moment stands before the question, which is one line.
    const newest = messages.findLast(({ role }) => role === 'user')
    const question = newest?.content?.split('\n').at(-1) ?? ''
    if (newest) newest.content = question
    const asked = JSON.stringify(messages)
    if (asked.includes('Write a title')) return { tokens: ['Title'] }
    if (asked.includes('Classify one finished conversation')) return { tokens: [VERDICT] }
    const script = scripts.get(question)?.shift() ?? plainScript
    const number = ++count
    const at = performance.now()
    spoken.set(question, [...(spoken.get(question) ?? []), { number, at, question, messages, script }])
    return replyOf(number, script)
  })
  return {
    url: server.url,
    spoken: (question) => spoken.get(question) ?? [],
    expect: (question, script) => {
      scripts.set(question, [...(scripts.get(question) ?? []), script])
    },
    close: server.close,
  }
}

function replyOf(number: number, script: Script): Reply {
  const { pace: delayMs, fault, faultAfter, wrongCall } = script
  const tokens = wordsOf(number, script)
  if (fault === 'refuse') return { status: 400 }
  if (fault === 'unavailable') return { status: 500 }
  if (fault === 'drop') return { tokens, delayMs, dropAfter: Math.min(faultAfter, tokens.length - 1) }
  if (fault === 'stall') return { tokens, delayMs, stallAfter: Math.min(faultAfter + 1, tokens.length - 1) }
  const calls = wrongCall
    ? [{ id: 'call', name: 'no_such_action', input: {} }]
    : Array.from({ length: script.calls }, (_, i) => ({
        id: `call${i}`,
        name: i === 0 ? 'show_order' : 'open_page',
        input: { order: `r${number}` },
      }))
  const withoutFinish = fault === 'unfinished'
  return { tokens, delayMs, withoutFinish, ...(calls.length > 0 ? { toolCalls: calls } : {}) }
}

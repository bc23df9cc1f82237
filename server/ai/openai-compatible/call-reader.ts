import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { ModelFailure } from '../failures/model-failure.ts'
import { PROVIDER_OPTIONS } from './request-body.ts'

export type CallDelta = {
  index?: number | null
  id?: string | null
  function?: { name?: string | null; arguments?: unknown } | null
  /** Gemini's signature of the call, which must be sent back with it. */
  extra_content?: unknown
}

type Call = {
  /** The id that the server sent, which may not be unique. */
  serverId: string
  id: string
  name: string
  input: string
  extra: unknown
  isStarted: boolean
}

const MAX_CALLS = 128

/**
 * Assembles tool calls that arrive in pieces. According to the documentation, each piece names its call by `index`, and
 * the first piece has the id and the name. In practice, servers omit the index, repeat ids or names, or give every call
 * the index 0.
 */
export class CallReader {
  readonly #add: (part: LanguageModelV4StreamPart) => void
  readonly #calls: Call[] = []
  #byIndex: Map<number, Call> | null = null

  constructor(add: (part: LanguageModelV4StreamPart) => void) {
    this.#add = add
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0
  }

  read(delta: CallDelta): void {
    const name = delta.function?.name ?? ''
    const input = inputOf(delta.function?.arguments)
    const known = this.#known(delta, name)
    const call = known && !isAnother(known, delta, name, input) ? known : this.#open(delta, name)
    if (call === known && name !== '' && !call.isStarted && call.name !== name) {
      // The name arrives in pieces, or each piece repeats it with more characters.
      call.name = name.startsWith(call.name) ? name : call.name + name
    }
    if (delta.extra_content) call.extra = delta.extra_content
    if (input === '') return
    this.#start(call)
    call.input += input
    this.#add({ type: 'tool-input-delta', id: call.id, delta: input })
  }

  /** Whether there were any calls. */
  end(): boolean {
    for (const call of this.#calls) {
      this.#start(call)
      const { id, name, input, extra } = call
      this.#add({ type: 'tool-input-end', id })
      this.#add({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: input || '{}',
        ...(extra ? { providerMetadata: { [PROVIDER_OPTIONS]: { extra_content: extra as never } } } : {}),
      })
    }
    return this.#calls.length > 0
  }

  #known({ index, id }: CallDelta, name: string): Call | undefined {
    if (typeof index === 'number') return this.#byIndex?.get(index)
    const last = this.#calls.at(-1)
    if (id) return this.#calls.findLast(({ serverId }) => serverId === id) ?? (name === '' ? last : undefined)
    return name === '' ? last : undefined
  }

  #open({ index, id }: CallDelta, name: string): Call {
    if (name === '') throw new ModelFailure('invalid_response', new Error('a tool call without a name'))
    if (this.#calls.length === MAX_CALLS) {
      throw new ModelFailure('invalid_response', new Error(`more than ${MAX_CALLS} tool calls`))
    }
    const isFree = id && !this.#calls.some((call) => call.id === id)
    const call = {
      serverId: id ?? '',
      id: isFree ? id : crypto.randomUUID(),
      name,
      input: '',
      extra: null,
      isStarted: false,
    }
    this.#calls.push(call)
    if (typeof index === 'number') {
      this.#byIndex ??= new Map()
      this.#byIndex.set(index, call)
    }
    return call
  }

  /** The name is shown once it is complete, which is when the input begins, or at the end. */
  #start(call: Call): void {
    if (call.isStarted) return
    call.isStarted = true
    this.#add({ type: 'tool-input-start', id: call.id, toolName: call.name })
  }
}

/** Returns whether a piece that seems to belong to a known call begins another one. */
function isAnother(known: Call, { id }: CallDelta, name: string, input: string): boolean {
  // A piece without a name continues the call even if its id is new, because some servers generate an id for each
  // piece.
  if (name === '') return false
  if (id && known.serverId !== '' && id !== known.serverId) return true
  return input !== '' && isWhole(known.input)
}

function isWhole(input: string): boolean {
  if (!input.endsWith('}')) return false
  try {
    JSON.parse(input)
    return true
  } catch {
    return false
  }
}

function inputOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

import type { JSONSchema7, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { FairPlaces } from '../../platform/concurrency/fair-shares.ts'
import { estimateTokens } from '../../platform/text/languages/language.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import type { Owner } from '../embeddings/embedding-use.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import { type ModelUse, modelUseOf, NO_TOKENS, type Purpose, type Tokens, tokensOf } from './call-use.ts'
import {
  type CallOptions,
  ModelCall,
  type Part,
  type Receiver,
  type ResolvedModel,
  WAS_REASONING,
  type Wire,
} from './model-call.ts'

/**
 * A question with a short text as its answer, or JSON of a schema; `longest` is in characters. `maxOutputTokens` is what
 * the text needs.
 */
type Ask = {
  system: string
  user: string
  schema?: JSONSchema7
  maxOutputTokens: number
  longest: number
  /** Receives the text so far, for callers that can use a part of it. */
  noteText?: (text: string) => void
  /** Receives the tokens that the provider says it has read and written; null for what it does not say. */
  noteUsage?: (inputTokens: number | null, outputTokens: number | null) => void
}

/** On whose behalf a model is asked something beside answers, and what for. */
export type Asker = Owner & {
  purpose: Exclude<Purpose, 'answer'>
  conversationId?: string
  /** The generation of the turn that the call belongs to. */
  generationId?: string
}

/** A call beside an answer that has ended. `told` are the parts that describe it, without content. */
export type SideCall = {
  asker: Asker
  model: ModelEntry
  use: ModelUse
  told: readonly Part[]
  /** null if it was answered. */
  error: unknown
  startedAt: number
}

/** Where calls beside answers wait for their turn, and are noted when they end. */
type Desk = { asking: FairPlaces; noteCall(call: SideCall): void }

/**
 * More tokens for models that think although they are told not to, since they may not be known as such. A text that is
 * too long ends earlier.
 */
const THINKING_TOKENS = 2_000

/**
 * Calls a model and yields its parts as they arrive, those of one network read in one array, ending with `finish`.
 * Nothing is sent before the first array is requested. The timeouts of the catalogue entry apply, and a call that fails
 * before its first content is retried if that may help. Throws ModelFailure for any error of the provider, for a
 * timeout, and when the signal aborts the call.
 */
export function streamModel(
  model: ResolvedModel,
  options: CallOptions,
  { signal }: { signal: AbortSignal },
): AsyncIterableIterator<Part[], undefined> {
  return new ModelCall(model, options, signal)
}

/**
 * Does the same as `askForText` on behalf of an account, whose calls share the places fairly with those of other
 * accounts. Waiting for a place is part of the call and ends with the signal.
 */
export async function askForAccount(
  desk: Desk,
  asker: Asker,
  model: ResolvedModel,
  ask: Ask,
  signal: AbortSignal,
): Promise<string | null> {
  const leave = await desk.asking.enter(asker.accountId, signal)
  try {
    return await askForText(desk, asker, model, ask, signal)
  } finally {
    leave()
  }
}

const promptOf = (system: string, user: string): LanguageModelV4Prompt => [
  { role: 'system', content: system },
  { role: 'user', content: [{ type: 'text', text: user }] },
]

/** Returns a model's complete answer, with as little reasoning as it can; null when it is too long. Throws like `streamModel`. */
export async function askForText(
  desk: Pick<Desk, 'noteCall'>,
  asker: Asker,
  model: ResolvedModel,
  { system, user, schema, maxOutputTokens, longest, noteText, noteUsage }: Ask,
  signal: AbortSignal,
): Promise<string | null> {
  const options: CallOptions = {
    prompt: promptOf(system, user),
    temperature: 0,
    reasoning: 'none',
    maxOutputTokens: maxOutputTokens + THINKING_TOKENS,
    ...(schema ? { responseFormat: { type: 'json', schema, name: 'answer' } } : {}),
  }
  const startedAt = Date.now()
  const told: Part[] = []
  let tokens: Tokens | null = null
  let error: unknown = null
  let [text, written] = ['', '']
  try {
    for await (const parts of new ModelCall(model, options, signal)) {
      for (const part of parts) {
        if ('delta' in part) written += part.delta
        if (part.type === 'text-delta') text += part.delta
        else if (part.type === 'raw' && part.rawValue === WAS_REASONING) text = ''
        else if (part.type === 'response-metadata' || part.type === 'finish') told.push(part)
        if (part.type !== 'finish') continue
        tokens = tokensOf(part.usage)
        noteUsage?.(tokens.inputTokens, tokens.outputTokens)
      }
      if (text.length > longest) return null
      noteText?.(text)
    }
    return text
  } catch (failure) {
    error = failure
    throw failure
  } finally {
    // A call that is ended, or breaks off, leaves the provider no time to say what it cost.
    const isCut =
      error === null ||
      written !== '' ||
      (error instanceof ModelFailure && (error.kind === 'aborted' || error.kind === 'timeout'))
    const estimated = (): Tokens => ({
      ...NO_TOKENS,
      inputTokens: estimateTokens(`${system}\n${user}`),
      outputTokens: estimateTokens(written),
    })
    const use = modelUseOf(model.entry, tokens ?? (isCut ? estimated() : NO_TOKENS))
    desk.noteCall({ asker, model: model.entry, use, told, error, startedAt })
  }
}

/** Returns the schema of an object that has all of these members and no other, as strict providers want it. */
export const objectOf = (properties: Record<string, JSONSchema7>): JSONSchema7 => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

/**
 * Parses the answer to a request with a schema. Servers that do not know schemas may put a code fence around it; null for
 * anything else than one object.
 */
export function jsonAnswer(text: string): Record<string, unknown> | null {
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  const around = from < 0 ? text : text.slice(0, from) + text.slice(to + 1)
  if (from < 0 || /[^\s`]/.test(around.replace(/json/i, ''))) return null
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 1))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? recordOf(value) : null
  } catch {
    return null
  }
}

const OPEN = /^<(think|thinking|thought|reasoning)>/i
const CLOSE = /<\/(think|thinking|thought|reasoning)>/i
const MAX_TAG_LENGTH = '</reasoning>'.length
const REASONING = 'tagged-reasoning'

/**
 * Returns a wire that reports the reasoning which a model writes into its text as reasoning. `isKnown` says whether the
 * model is known to write only the closing tag; otherwise that is learned from its first answer that does.
 */
export function separateReasoning(wire: Wire, isKnown: boolean): Wire {
  let isKnownNow = isKnown
  return (options, receiver, refused) => {
    const text = new TaggedReasoning((part) => receiver.add(part), {
      isKnown: isKnownNow,
      onLate() {
        isKnownNow = true
        receiver.add({ type: 'raw', rawValue: WAS_REASONING })
      },
    })
    const separating: Receiver = {
      limits: receiver.limits,
      add: (part) => text.take(part),
      alive: () => receiver.alive(),
      end: () => receiver.end(),
      fail: (...failure) => receiver.fail(...failure),
    }
    return wire(options, separating, refused)
  }
}

/**
 * Separates the reasoning that a model writes into its text from the answer: `<think>…</think>` at its beginning,
 * unclosed if the model was cut off. A chat template may contain the opening tag, so that only the closing one is
 * written. What comes before it can only be held back if the model is known to do this (`isKnown`); otherwise `onLate` is
 * called when the closing tag arrives outside of code, after the reasoning has been passed on as text.
 */
class TaggedReasoning {
  readonly #add: (part: Part) => void
  readonly #onLate: () => void
  #state: 'beginning' | 'undecided' | 'reasoning' | 'text'
  /** Whether no tag has to be looked for any more. */
  #isDecided = false
  /** Whether the text follows reasoning, so that it begins with its first word. */
  #isTrimmed = false
  #held = ''
  /** The text that was passed on, of which only the end and the code fences matter. */
  #said = ''
  #id = ''
  /** The start of the text until something of it is passed on. */
  #start: Extract<Part, { type: 'text-start' }> | null = null

  constructor(add: (part: Part) => void, { isKnown, onLate }: { isKnown: boolean; onLate: () => void }) {
    this.#add = add
    this.#onLate = onLate
    this.#state = isKnown ? 'undecided' : 'beginning'
  }

  /** Takes a part of the stream, and passes it on as what it is. */
  take(part: Part): void {
    if (part.type === 'text-start') {
      this.#start = part
      this.#id = part.id
      if (this.#state === 'text') this.#open()
    } else if (part.type === 'text-delta') this.#read(part.delta)
    else if (part.type === 'text-end') this.#end(part)
    else {
      // Text comes before the call that follows it.
      if (part.type === 'tool-input-start' || part.type === 'tool-call') this.#settle()
      this.#add(part)
    }
  }

  /** Passes on what is held, since no tag will be completed any more. */
  #settle(): void {
    if (this.#state === 'reasoning') {
      if (this.#held !== '') this.#add({ type: 'reasoning-delta', id: REASONING, delta: this.#held })
      this.#add({ type: 'reasoning-end', id: REASONING })
    } else this.#say(this.#held)
    this.#held = ''
    this.#state = 'text'
  }

  #read(delta: string): void {
    this.#held += delta
    if (this.#state === 'beginning' || this.#state === 'undecided') {
      const text = this.#held.trimStart()
      const tag = OPEN.exec(text)?.[0]
      if (tag !== undefined) {
        this.#think(text.slice(tag.length))
      } else if (this.#state === 'beginning' && !mayOpen(text)) this.#state = 'text'
    }
    if (this.#state === 'undecided') {
      const close = CLOSE.exec(this.#held)
      if (close) this.#think(this.#held)
    }
    if (this.#state === 'reasoning') this.#readReasoning()
    if (this.#state === 'text') this.#readText()
  }

  #think(text: string): void {
    this.#state = 'reasoning'
    this.#held = text
    this.#add({ type: 'reasoning-start', id: REASONING })
  }

  #readReasoning(): void {
    const close = CLOSE.exec(this.#held)
    const end = close ? close.index : safeLength(this.#held)
    if (end > 0) this.#add({ type: 'reasoning-delta', id: REASONING, delta: this.#held.slice(0, end) })
    this.#held = this.#held.slice(end + (close?.[0].length ?? 0))
    if (!close) return
    this.#add({ type: 'reasoning-end', id: REASONING })
    this.#state = 'text'
    this.#isDecided = true
    this.#isTrimmed = true
  }

  #readText(): void {
    const close = this.#isDecided ? null : CLOSE.exec(this.#held)
    if (close && !isInCode(this.#said + this.#held.slice(0, close.index))) {
      this.#held = this.#held.slice(close.index + close[0].length)
      this.#isDecided = true
      this.#isTrimmed = true
      this.#onLate()
    }
    if (this.#isTrimmed) this.#held = this.#held.trimStart()
    if (this.#held !== '') this.#isTrimmed = false
    const end = this.#isDecided ? this.#held.length : safeLength(this.#held)
    this.#say(this.#held.slice(0, end))
    this.#held = this.#held.slice(end)
  }

  #say(text: string): void {
    if (text === '') return
    this.#open()
    if (!this.#isDecided) this.#said += text
    this.#add({ type: 'text-delta', id: this.#id, delta: text })
  }

  #open(): void {
    if (!this.#start) return
    this.#add(this.#start)
    this.#start = null
  }

  #end(part: Extract<Part, { type: 'text-end' }>): void {
    this.#settle()
    // A text of which nothing was passed on did not begin.
    if (this.#start) this.#start = null
    else this.#add(part)
  }
}

/** Whether text may still become an opening tag. */
const mayOpen = (text: string): boolean => /^(?:<[a-z]{0,9})?$/i.test(text)

/** Returns how much of the text can be passed on: all of it, except the beginning of a tag at its end. */
function safeLength(text: string): number {
  const tag = text.lastIndexOf('<')
  return tag >= 0 && text.length - tag <= MAX_TAG_LENGTH && /^<\/?[a-z]*$/i.test(text.slice(tag))
    ? tag
    : text.length
}

/** Whether a text ends within a fenced block or a code span. */
function isInCode(text: string): boolean {
  const fences = text.split('```')
  if (fences.length % 2 === 0) return true
  const line = fences.at(-1)?.split('\n').at(-1) ?? ''
  return line.split('`').length % 2 === 0
}

import type {
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4StreamPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
} from '@ai-sdk/provider'
import type { Tool } from '../../actions/tools/tool.ts'
import { WAS_REASONING } from '../../ai/calls/model-call.ts'
import type { Citations } from '../../knowledge/search/answering/citations.ts'
import { newId } from '../../platform/db/ids.ts'
import type { AnswerOutcome, FinishReason } from '../../platform/db/tables/conversations.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { storable, storableJson } from '../../platform/http/bodies/storable.ts'
import { OutcomeReport } from '../prompt/outcome-report.ts'
import { type Call, hasWords } from '../records/parts.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import { sendFirstEvents } from './finish.ts'

/** The result of one model call. */
export type Step = {
  calls: Call[]
  finishReason: FinishReason
  /** The same content in the form that the model reads in the next step. */
  content: (LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart)[]
  outcome: AnswerOutcome | null
  /** The number of the forbidden topic that the model reported. */
  topic: number | null
  offer: 'person' | null
}

/**
 * The most calls in one step; further ones get an error, because nobody needs them and each may cause a request to
 * another service.
 */
const MAX_CALLS = 16
/** The longest tool name that every provider accepts in a history. */
const MAX_NAME_LENGTH = 64

type Surroundings = {
  process: Pick<ServiceProcess, 'isSure' | 'confirm'>
  /** Resolves when this many more events may be produced. Returns undefined when they may be produced now. */
  pace(events: number): Promise<void> | undefined
}

type Speaking = {
  tools: ReadonlyMap<string, Tool>
  live: LiveGeneration
  citations: Citations
  guard: SystemTextGuard
}

/** The most parts processed at once, because a fast model sends hundreds at a time. */
const PARTS_AT_ONCE = 32

/**
 * Converts a model's stream into events and parts of the reply as it arrives. Calls of procedures are internal and
 * appear in no event and no part. Throws what the stream throws.
 */
export async function speakStep(
  { process, pace }: Surroundings,
  stream: AsyncIterable<LanguageModelV4StreamPart[]>,
  { tools, live, citations, guard }: Speaking,
): Promise<Step> {
  const step: Step = {
    calls: [],
    finishReason: 'other',
    content: [],
    outcome: null,
    topic: null,
    offer: null,
  }
  const open = new OpenParts(live, tools, citations, guard, step)
  try {
    for await (const received of stream) {
      const parts = withJoinedText(received)
      for (const [i, part] of parts.entries()) {
        if (i % PARTS_AT_ONCE === 0) {
          const turn = pace(Math.min(PARTS_AT_ONCE, parts.length - i))
          if (turn) await turn
          if (!process.isSure()) await mayGoOn(process, live)
          if (i > 0) live.signal.throwIfAborted()
        }
        switch (part.type) {
          case 'text-start':
            noteReport(step, citations, part.providerMetadata?.parley as Partial<Report> | undefined)
            open.startText()
            break
          case 'text-delta':
            open.addText(part.delta)
            break
          case 'text-end':
            open.endText()
            break
          case 'raw':
            if (part.rawValue === WAS_REASONING) open.dropText()
            break
          case 'reasoning-start':
          case 'reasoning-delta':
          case 'reasoning-end':
            noteReasoning(step, part)
            break
          case 'tool-input-start':
            open.startCall(part.id, part.toolName)
            break
          case 'tool-input-delta':
            open.addInput(part.id, part.delta)
            break
          case 'tool-call': {
            const call = open.endCall(part, step.calls.length < MAX_CALLS)
            step.calls.push(call)
            step.content.push({
              type: 'tool-call',
              toolCallId: call.id,
              toolName: call.name,
              input: call.input,
              // Some providers later reject their own call if its signature is missing.
              ...(part.providerMetadata ? { providerOptions: part.providerMetadata } : {}),
            })
            break
          }
          case 'finish':
            step.finishReason =
              part.finishReason.unified === 'interrupted' ? 'other' : part.finishReason.unified
            break
          default:
          // Files and similar parts are not shown.
        }
      }
    }
  } finally {
    open.endText()
  }
  step.outcome ??= open.report.outcome
  step.topic = open.report.topic
  if (guard.isQuoted) step.finishReason = 'content-filter'
  return step
}

type ReasoningPiece = Extract<LanguageModelV4StreamPart, { type: `reasoning-${string}` }>

type Report = { cited: number[]; outcome: AnswerOutcome | null; offer: 'person' }

/** Notes what the built-in responder tells of its answer. Other models tell nothing. */
function noteReport(step: Step, citations: Citations, report: Partial<Report> = {}): void {
  citations.numberBy(report.cited ?? null)
  step.outcome = report.outcome ?? null
  step.offer = report.offer ?? null
}

/**
 * Keeps reasoning, which is never shown, for the next step, because some providers want it back, unchanged and with its
 * signature, in front of the calls that it led to.
 */
function noteReasoning({ content }: Step, piece: ReasoningPiece): void {
  if (piece.type === 'reasoning-start') content.push({ type: 'reasoning', text: '' })
  const kept = content.findLast((part) => part.type === 'reasoning')
  if (!kept) return
  if (piece.type === 'reasoning-delta') kept.text += piece.delta
  if (piece.providerMetadata) kept.providerOptions = piece.providerMetadata
}

/** A read that brings more parts than this comes from a model that is faster than anybody reads. */
const MANY_PARTS = 32
/** The most pieces of text that are joined. */
const JOINED = 8

/**
 * Joins neighbouring pieces of text when a model sends very many at a time, since each event costs the log, every
 * reader and every client.
 */
function withJoinedText(parts: LanguageModelV4StreamPart[]): LanguageModelV4StreamPart[] {
  if (parts.length <= MANY_PARTS) return parts
  const joined: LanguageModelV4StreamPart[] = []
  let pieces = 0
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === 'text-delta' && last?.type === 'text-delta' && last.id === part.id && pieces < JOINED) {
      last.delta += part.delta
      pieces++
    } else {
      // The piece that others are added to is a copy, since the part belongs to the provider.
      joined.push(part.type === 'text-delta' ? { ...part } : part)
      pieces = 1
    }
  }
  return joined
}

/** Throws when another process has closed the generation while this one was paused, so that nothing more is shown. */
async function mayGoOn(process: Pick<ServiceProcess, 'confirm'>, live: LiveGeneration): Promise<void> {
  await process.confirm()
  live.signal.throwIfAborted()
}

/** The text and the calls that are being received. */
class OpenParts {
  readonly live: LiveGeneration
  readonly tools: ReadonlyMap<string, Tool>
  /** Calls whose input is still being received, by the provider's id. */
  calls: Map<string, { id: string; shown: boolean }> | null = null
  /** Whether the model is writing a text, of which `held` has not been shown yet. */
  isOpen = false
  held = ''
  /** The id of the text that is being shown. */
  textId: string | null = null
  readonly report = new OutcomeReport()

  readonly citations: Citations
  readonly guard: SystemTextGuard
  readonly step: Step

  constructor(
    live: LiveGeneration,
    tools: ReadonlyMap<string, Tool>,
    citations: Citations,
    guard: SystemTextGuard,
    step: Step,
  ) {
    this.live = live
    this.tools = tools
    this.citations = citations
    this.guard = guard
    this.step = step
  }

  startText(): void {
    this.endText()
    this.isOpen = true
  }

  addText(delta: string): void {
    if (delta === '') return
    this.isOpen = true
    this.say(this.guard.push(this.report.push(delta)))
  }

  say(delta: string): void {
    if (delta === '') return
    this.show(this.citations.push(delta))
    // In its next step, the model reads the numbers that it wrote itself.
    const { content } = this.step
    const said = content.at(-1)
    if (said?.type === 'text') said.text += delta
    else content.push({ type: 'text', text: delta })
  }

  /** Shows text. As long as the answer has no words, it is held back, because it may be asked for again. */
  show(delta: string): void {
    this.held += delta
    if (this.held === '') return
    if (this.textId === null) {
      const parts = [...this.live.parts, { type: 'text' as const, text: this.held }]
      if (!hasWords({ parts })) return
      sendFirstEvents(this.live)
      this.live.parts.push({ type: 'text', text: '' })
      this.textId = `text-${this.live.parts.length}`
      this.live.emit({ type: 'text-start', id: this.textId })
    }
    const last = this.live.parts.at(-1)
    if (last?.type === 'text') last.text += this.held
    this.live.emit({ type: 'text-delta', id: this.textId, delta: this.held })
    this.held = ''
  }

  /** Drops the text so far, which turned out not to be part of the answer. Readers may have seen it. */
  dropText(): void {
    if (!this.isOpen) return
    this.report.reset()
    this.guard.flush()
    this.citations.flush()
    this.held = ''
    const last = this.live.parts.at(-1)
    if (this.textId !== null && last?.type === 'text') last.text = ''
    this.step.content = this.step.content.filter(({ type }) => type !== 'text')
  }

  endText(): void {
    if (!this.isOpen) return
    this.say(this.guard.push(this.report.flush()) + this.guard.flush())
    this.show(this.citations.flush())
    this.isOpen = false
    this.held = ''
    if (this.textId === null) return
    this.live.emit({ type: 'text-end', id: this.textId })
    const last = this.live.parts.at(-1)
    if (last?.type === 'text' && last.text === '') this.live.parts.pop()
    this.textId = null
  }

  startCall(providerId: string, name: string): { id: string; shown: boolean } {
    this.endText()
    const call = { id: newId(), shown: this.tools.get(name)?.type !== 'procedure' }
    this.calls ??= new Map()
    this.calls.set(providerId, call)
    if (!call.shown) return call
    sendFirstEvents(this.live)
    this.live.emit({ type: 'tool-input-start', toolCallId: call.id, toolName: name, ...this.mark(name) })
    return call
  }

  addInput(providerId: string, delta: string): void {
    const call = this.calls?.get(providerId)
    if (!call?.shown || delta === '') return
    this.live.emit({ type: 'tool-input-delta', toolCallId: call.id, inputTextDelta: delta })
  }

  endCall(
    { toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: string },
    hasRoom: boolean,
  ): Call {
    const { id, shown } = this.calls?.get(toolCallId) ?? this.startCall(toolCallId, toolName)
    this.calls?.delete(toolCallId)
    const name = toolName.replace(/[^\w-]/g, '_').slice(0, MAX_NAME_LENGTH) || 'unknown'
    const tool = this.tools.get(toolName) ?? null
    const call: Call = { id, name, tool, ...readInput(name, tool, input) }
    if (!hasRoom) call.problem = `At most ${MAX_CALLS} actions can be called at once.`
    if (!shown) return call
    // A call that cannot be run is answered here, whoever was supposed to run it.
    const mark = call.problem === null ? this.mark(toolName) : { providerExecuted: true as const }
    const shownCall = { toolCallId: id, toolName: name, input: call.input, ...mark }
    this.live.parts.push({ type: 'tool-call', ...shownCall })
    this.live.emit({ type: 'tool-input-available', ...shownCall })
    return call
  }

  /** Marks the calls that an application must not run. */
  mark(name: string): { providerExecuted?: true } {
    return this.tools.get(name)?.run === null ? {} : { providerExecuted: true }
  }
}

function readInput(
  name: string,
  tool: Tool | null,
  text: string,
): { input: unknown; problem: string | null } {
  let input: unknown
  try {
    input = storableJson(text.trim() === '' ? {} : (parseInput(text) ?? {}))
  } catch {
    return { input: { text: storable(text) }, problem: 'The input of the call is not valid JSON.' }
  }
  if (!tool) return { input: asObject(input), problem: `There is no action named ${name}.` }
  if (asObject(input) !== input) return { input: asObject(input), problem: 'The input must be an object.' }
  return { input, problem: tool.refuse(input) }
}

/** Parses the input of a call. Some models encode it twice. */
function parseInput(text: string): unknown {
  const input: unknown = JSON.parse(text)
  return typeof input === 'string' && input.trimStart().startsWith('{') ? JSON.parse(input) : input
}

/** Wraps a call's input in an object if it is none, because providers refuse such calls in a history. */
const asObject = (input: unknown): unknown =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { value: input }

/** So many letters in a row, which are about three words, may begin a quote. What follows them waits. */
const BEGINS = 16
/** The number of letters in a row that count as a quotation, because no answer repeats so many by chance. */
const QUOTED_LETTERS = 60

/**
 * Stops an answer that quotes the service's own instructions, as a model does that obeys an injection. The owner's
 * instructions are not guarded, because answers may quote them.
 */
export class SystemTextGuard {
  /** Every run of letters of the rules. */
  readonly #runs: ReadonlySet<string>
  /** The newest letters of the answer, and how many runs in a row stood in the rules. */
  #newest = ''
  #inARow = 0
  #held = ''
  #isQuoted = false

  constructor(rules: string) {
    const letters = lettersOf(rules)
    const count = Math.max(0, letters.length - BEGINS + 1)
    this.#runs = new Set(Array.from({ length: count }, (_, at) => letters.slice(at, at + BEGINS)))
  }

  /** Whether the rules were quoted. Nothing is shown from there on. */
  get isQuoted(): boolean {
    return this.#isQuoted
  }

  /** Returns what may be shown of a text that arrives in pieces. */
  push(delta: string): string {
    let shown = ''
    for (const character of delta) {
      for (const letter of lettersOf(character)) this.#read(letter)
      if (this.#isQuoted) break
      this.#held += character
      if (this.#inARow > 0) continue
      shown += this.#held
      this.#held = ''
    }
    return shown
  }

  /** Returns the rest of the text at its end. */
  flush(): string {
    const rest = this.#isQuoted ? '' : this.#held
    this.#held = ''
    return rest
  }

  #read(letter: string): void {
    this.#newest = (this.#newest + letter).slice(-BEGINS)
    this.#inARow = this.#runs.has(this.#newest) ? this.#inARow + 1 : 0
    this.#isQuoted ||= this.#inARow > QUOTED_LETTERS - BEGINS
  }
}

/** Returns what the service tells a model, without the texts of the owner. */
export function rulesIn(prompt: LanguageModelV4Prompt, ofOwner: readonly (string | null)[]): string {
  const told = prompt.map(({ role, content }) => (role === 'system' ? content : '')).join('\n')
  return ofOwner.reduce((rules: string, own) => (own ? rules.replaceAll(own, '') : rules), told)
}

/** Quotes differ in spaces, marks and how letters are written. */
const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

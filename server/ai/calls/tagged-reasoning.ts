import { type Part, type Receiver, WAS_REASONING, type Wire } from './model-call.ts'

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

/** Returns the length of the text that does not belong to a tag of which the rest is still to come. */
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

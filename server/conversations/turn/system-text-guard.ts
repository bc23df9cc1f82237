import type { LanguageModelV4Prompt } from '@ai-sdk/provider'

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

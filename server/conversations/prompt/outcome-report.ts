import type { Guardrails } from '../../platform/db/tables/agents.ts'
import { type AnswerOutcome, outcomes } from '../../platform/db/tables/conversations.ts'
import { type ResultPart, succeeded } from '../records/parts.ts'

/** The name of the tag in which a model reports how its answer ends. */
const NAME = 'answer-outcome'

/** Returns the report as a model is asked to write it. */
export const reportOf = (outcome: AnswerOutcome): string => `<${NAME}>${outcome}</${NAME}>`

/** What a model is told about the report. */
export const REPORT_RULE = `After the answer, write one last line that the customer does not see, with one word in this tag: ${reportOf('answered')} if what you used holds the whole answer, \`partly\` if it holds a part, \`not_found\` if it does not, \`handed_over\` if you passed the conversation to a person, \`refused\` if you declined.`

type Evidence = { hasSource: boolean; results: readonly ResultPart[]; escalate: string | null }

/** Returns what a model reported if the answer shows it: an answer names a source or rests on a call that succeeded. */
export function confirmed(
  outcome: AnswerOutcome | null,
  { hasSource, results, escalate }: Evidence,
): AnswerOutcome | null {
  const done = results.filter(succeeded)
  const isShown =
    outcome === 'handed_over'
      ? done.some(({ toolName }) => toolName === escalate)
      : outcome === 'not_found' || outcome === 'refused' || hasSource || done.length > 0
  return isShown ? outcome : null
}

/** Matches the tag in text written by others, which must not report anything. */
export const REPORT_TAG = new RegExp(`<(?=\\s{0,9}/?\\s{0,9}${NAME}\\b)`, 'gi')

/** What may stand between the answer and the name: brackets, quotes and marks of code or emphasis, also escaped. */
const MARKS = '&lt;|[\\s<\\[({`*_#~|"\'>/\\\\-]'
const LEAD = `(?:(?:&lt;|[\\n<\\[({\`*_#~|"])(?:${MARKS}){0,80})?`
/** The name itself is searched for, whatever its brackets look like. */
const REPORT = new RegExp(`(${LEAD})(?<![\\p{L}\\p{N}])answer[-_]outcome(?![\\p{L}\\p{N}])`, 'iu')
/** Matches the end of a text that may become a report with what follows. */
const BEGUN = new RegExp(
  `${LEAD}(?:&(?:l|lt)?|(?<![\\p{L}\\p{N}])${beginningsOf('answer[-_]outcome')})?$`,
  'iu',
)
/** Small models write the word alone, as the last line or in place of an answer. */
const WORD_ALONE = new RegExp(
  `^(?:${MARKS}){0,80}(${outcomes.join('|')})(?:\\s{1,2}(\\d{1,2}))?(?:${MARKS}|[\\]})&;.]){0,80}$`,
  'i',
)
/** Matches a line that may become one. */
const WORD_BEGUN = new RegExp(
  `^(?:${MARKS}){0,80}(?:${outcomes.map((outcome) => beginningsOf(outcome)).join('|')}|${WORD_ALONE.source.slice(1, -1)})?$`,
  'i',
)
/** Matches a report at the end of the text whose tag name was cut off. */
const CUT = new RegExp(`${LEAD}(?:<|&lt;?)(?:${MARKS}){0,80}[a-z_-]{0,20}$`, 'i')
const BEFORE_WORDS = /^(?:&gt;|[^\p{L}<&])*/u
const END_OF_WORDS = /<|&lt;|\n/
const CLOSING = /^(?:<|&lt;)\s*\/[^<>&\n]{0,40}(?:>|&gt;)?/
const MARKS_AFTER = /^(?:&gt;|[\s>\])}`*_~|"'])*/
/** Matches a name before its value, as in an attribute or JSON. */
const KEY = /[\w-]{1,40}["']?\s{0,9}[:=]/g

/**
 * Takes the report of a model out of the text of a step as it arrives. Nothing of a report is shown, also if it is
 * malformed or cut: text is held back from the first character that may begin one. What does not name one
 * outcome alone reports none.
 */
export class OutcomeReport {
  #held = ''
  #state: 'text' | 'report' | 'after' = 'text'
  #outcome: AnswerOutcome | null = null
  #topic: number | null = null
  /** Whether something of the text was shown. */
  #isBegun = false

  /** What was reported last. */
  get outcome(): AnswerOutcome | null {
    return this.#outcome
  }

  /** The number behind what was reported last: that of a forbidden topic. */
  get topic(): number | null {
    return this.#topic
  }

  /** Returns the part of the text so far that is no report. */
  push(delta: string): string {
    this.#held += delta
    return this.#drain(false)
  }

  /** Returns the rest at the end of a text. */
  flush(): string {
    const rest = this.#drain(true)
    this.#held = ''
    this.#state = 'text'
    this.#isBegun = false
    return rest
  }

  /** Forgets everything, because the text so far turned out not to be the answer. */
  reset(): void {
    this.#held = ''
    this.#state = 'text'
    this.#outcome = null
    this.#topic = null
    this.#isBegun = false
  }

  #drain(isLast: boolean): string {
    let shown = ''
    for (let before = ''; this.#held !== '' && this.#held !== before; ) {
      before = this.#held
      if (this.#state === 'text') shown += this.#text(isLast)
      else if (this.#state === 'report') this.#report(isLast)
      else shown += this.#after(isLast)
    }
    if (shown !== '') this.#isBegun = true
    return shown
  }

  #text(isLast: boolean): string {
    const held = this.#held
    const found = REPORT.exec(held)
    // The character after the name shows whether it is the whole name.
    if (found && (isLast || found.index + found[0].length < held.length)) {
      this.#held = held.slice(found.index + found[0].length)
      this.#state = /[/\\]/.test(found[1] ?? '') ? 'after' : 'report'
      return held.slice(0, found.index)
    }
    const begun = Math.min(
      BEGUN.exec(held)?.index ?? held.length,
      this.#lastLine(held, WORD_BEGUN) ?? held.length,
    )
    if (isLast) {
      const alone = this.#lastLine(held, WORD_ALONE)
      if (alone === null) return held.slice(0, CUT.exec(held)?.index ?? held.length)
      const [, word, number] = WORD_ALONE.exec(held.slice(alone)) ?? []
      this.#note(
        outcomes.find((outcome) => outcome === word?.toLowerCase()),
        number,
      )
      return held.slice(0, alone)
    }
    this.#held = held.slice(begun)
    return held.slice(0, begun)
  }

  /** Returns where a last line that matches begins, with the end of the line before it; null if it does not match. */
  #lastLine(held: string, pattern: RegExp): number | null {
    const end = held.trimEnd().length
    const at = held.lastIndexOf('\n', end - 1)
    if (at < 0 && (this.#isBegun || held === '')) return null
    return pattern.test(held.slice(Math.max(0, at))) ? Math.max(0, at) : null
  }

  /** Reads what the report says: the words up to the closing tag or the end of their line. */
  #report(isLast: boolean): void {
    const start = BEFORE_WORDS.exec(this.#held)?.[0].length ?? 0
    const words = this.#held.slice(start)
    const end = words.search(END_OF_WORDS)
    if ((end === -1 || /^&[lg]?t?$/.test(words)) && !isLast) return
    const said = end === -1 ? words : words.slice(0, end)
    const word = said
      .replace(KEY, '')
      .replace(/\P{L}+/gu, ' ')
      .trim()
      .toLowerCase()
    this.#note(
      outcomes.find((outcome) => outcome.replace('_', ' ') === word),
      /\d{1,2}/.exec(said)?.[0],
    )
    this.#held = end === -1 ? '' : words.slice(end)
    this.#state = 'after'
  }

  #note(outcome: AnswerOutcome | undefined, number: string | undefined): void {
    if (!outcome) return
    this.#outcome = outcome
    this.#topic = number === undefined ? null : Number(number)
  }

  /** Drops the closing tag and the marks that stood around the report. */
  #after(isLast: boolean): string {
    const closing = CLOSING.exec(this.#held)
    const isOpen = /^(?:&(?:l|lt)?$|(?:<|&lt;)\s*\/?[^<>&\n]{0,40}(?:&(?:gt?)?)?$)/.test(this.#held)
    if (isOpen && !isLast) return ''
    if (isOpen) this.#held = ''
    const rest = closing ? this.#held.slice(closing[0].length) : this.#held
    const marks = MARKS_AFTER.exec(rest)?.[0] ?? ''
    if (marks.length === rest.length && !isLast) return ''
    this.#held = rest.slice(marks.length)
    this.#state = 'text'
    // Lines stay apart when the answer goes on.
    return this.#held === '' ? '' : marks.replace(/\S/g, '')
  }
}

/** Returns a pattern that matches each beginning of what a pattern of characters and classes matches. */
function beginningsOf(pattern: string): string {
  const units = pattern.match(/\[[^\]]+\]|./g) ?? []
  return units.reduceRight((rest, unit) => `${unit}(?:${rest})?`, '(?!)')
}

type Topics = Guardrails['forbiddenTopics']

/** Returns what a model is told about the topics that the owner forbids; null if there are none. */
export function topicRules(topics: Topics, escalate: string | null): string | null {
  if (topics.length === 0) return null
  const listed = topics.map(({ topic, say, escalate: isPassedOn }, at) =>
    [
      `${at + 1}. ${inOneLine(topic)}.`,
      say && `Say, in the language of the customer: ${inOneLine(say)}`,
      isPassedOn && escalate && `Then call ${escalate}.`,
    ]
      .filter(Boolean)
      .join(' '),
  )
  return [
    'Topics that you must not talk about, whoever asks and for whatever reason. When the customer does, answer nothing about them, and say that you cannot help with it.',
    ...listed,
    `For such a message, put the number of the topic behind the word in the last line: ${reportOf('refused').replace('refused', 'refused 1')}, or handed_over 1 if you passed the conversation to a person.`,
  ].join('\n')
}

const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ')

/** Returns the topic that a model reported by its number. */
export const reportedTopic = (topics: Topics, number: number | null): string | null =>
  (number === null ? undefined : topics[number - 1])?.topic ?? null

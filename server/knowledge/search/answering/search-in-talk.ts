import { goesOn, opensWithMore } from '../../../text/languages/goes-on.ts'
import { guessLanguageOfWords } from '../../../text/languages/language.ts'
import { isStopWord, languagesOfStopWord } from '../../../text/languages/stop-words.ts'
import { splitWords } from '../../../text/words/words.ts'
import type { Passage } from '../passage.ts'
import type { SearchResult } from '../search-tables.ts'

/** The result and the query that produced it: the question alone, or together with the one it follows up on. */
export type Searched = { asked: string; found: SearchResult }

/** The number of characters of the earlier questions that are searched for. */
const MOST_EARLIER_CHARACTERS = 500
const MOST_CHARACTERS_LOOKED_AT = 4_000
/** From this confidence on, a question counts as complete, however short it is. */
const SURE = 0.776
/** The same for a question that refers back, which is only complete when the documents contain it literally. */
const SAME = 0.9
/** Raises the confidence of a combined query, since no passage matches the words of both questions. */
const TOGETHER = 2
/** Limits the confidence of a combined query, so that its passages are offered as the closest and not as the answer. */
const MOST = 0.5
/** The factor by which the earlier question has to raise the confidence of one that does not look like a follow-up. */
const GAIN = 1.2

/** The weights of the three searches in the reciprocal rank fusion; `PLACES` is its constant. */
const ALONE = 0.5
const BOTH = 1
const BEFORE = 0.7
const PLACES = 8
/** Bonuses for the sections that answered the earlier question, which the conversation is probably still about. */
const SECTIONS = 3
const SAME_SECTION = 0.05
const NEAR_SECTION = 0.03

/**
 * Searches for the last question of a conversation without a model. A follow-up such as "And for children?" finds nothing
 * by itself, so the results for it, for the question before it and for both together are fused into one ranking.
 */
export async function searchInTalk(
  search: (question: string) => Promise<SearchResult>,
  question: string,
  before: string | null,
): Promise<Searched> {
  const alone = { asked: question, found: await search(question) }
  const isFollowUp = looksLikeFollowUp(question)
  if (before === null || alone.found.confidence >= (isFollowUp ? completeFrom(question, alone.found) : SURE))
    return alone
  const earlier = before.slice(0, MOST_EARLIER_CHARACTERS)
  const asked = `${earlier} ${question}`
  const together = await search(asked)
  if (isFollowUp) return { asked, found: inOneOrder(alone.found, together, await search(earlier)) }
  return together.confidence > alone.found.confidence * GAIN ? { asked, found: together } : alone
}

/** Returns the confidence from which a message that looks like a follow-up is answered by itself. */
function completeFrom(question: string, { passages }: SearchResult): number {
  const words = splitWords(question.slice(0, MOST_CHARACTERS_LOOKED_AT))
  if (opensWithMore(words)) return Number.POSITIVE_INFINITY
  return goesOn(words) || lacksSubject(words, passages[0]) ? SAME : SURE
}

/**
 * Returns whether a question has a single significant word that is not the subject of the passage found for it. "Who
 * can join?" lacks its subject, while "What is Mumble?" names it. A word without any others is a new subject.
 */
function lacksSubject(words: readonly string[], first: Passage | undefined): boolean {
  const language = guessLanguageOfWords(words)
  const isCommon = (word: string): boolean =>
    language === 'other' ? languagesOfStopWord.has(word) : isStopWord(word, language)
  const telling = words.filter((word) => !isCommon(word))
  if (telling.length !== 1 || words.length === 1) return false
  return !splitWords(first?.headingPath.join(' ') ?? '').includes(telling[0]!)
}

function inOneOrder(alone: SearchResult, together: SearchResult, before: SearchResult): SearchResult {
  const known = new Map<string, { passage: Passage; score: number }>()
  const count = ({ passages }: SearchResult, weight: number): void => {
    for (const [place, passage] of passages.entries()) {
      const score = (known.get(passage.chunkId)?.score ?? 0) + weight / (PLACES + place)
      known.set(passage.chunkId, { passage, score })
    }
  }
  count(together, BOTH)
  count(alone, ALONE)
  count(before, BEFORE)
  const sections = before.passages.slice(0, SECTIONS)
  const own = new Set(sections.map((passage) => sectionOf(passage, 0)))
  const near = new Set(sections.map((passage) => sectionOf(passage, 1)))
  const scoreOf = ({ passage, score }: { passage: Passage; score: number }): number => {
    if (own.has(sectionOf(passage, 0))) return score + SAME_SECTION
    return near.has(sectionOf(passage, 1)) ? score + NEAR_SECTION : score
  }
  const ordered = [...known.values()].toSorted((a, b) => scoreOf(b) - scoreOf(a))
  const confidence = Math.min(MOST, Math.max(together.confidence * TOGETHER, alone.confidence))
  const most = Math.max(together.passages.length, alone.passages.length)
  return {
    passages: ordered.slice(0, most).map(({ passage }) => ({ ...passage, score: confidence })),
    confidence,
  }
}

/** Identifies the section of a passage by its headings, without the last `fewer` of them. */
const sectionOf = ({ sourceId, headingPath }: Passage, fewer: number): string =>
  JSON.stringify([sourceId, ...headingPath.slice(0, headingPath.length - fewer)])

/** A message of up to this many words more often than not depends on the messages before it. */
const FEW_WORDS = 4
const MANY_WORDS = 40
const MANY_CHARACTERS = 2_000

/** Returns whether a message probably cannot be understood without the messages before it. */
export function looksLikeFollowUp(message: string): boolean {
  if (message.length > MANY_CHARACTERS) return false
  const words = splitWords(message)
  if (words.length === 0 || words.length > MANY_WORDS) return false
  return words.length <= FEW_WORDS || goesOn(words)
}

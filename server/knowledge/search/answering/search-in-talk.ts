import { dictionaryWords, isDense } from '../../../text/languages/dense-script.ts'
import { goesOn, namesSubjectAlone, opensWithMore } from '../../../text/languages/goes-on.ts'
import { guessLanguageOfWords } from '../../../text/languages/language.ts'
import { createStemmer } from '../../../text/languages/stem.ts'
import { isStopWord, languagesOfStopWord } from '../../../text/languages/stop-words.ts'
import { termsOfWord } from '../../../text/words/terms.ts'
import { visibleText } from '../../../text/words/visible-text.ts'
import { foldText, splitWords } from '../../../text/words/words.ts'
import type { Passage } from '../knowledge.ts'
import { OFFERED_FROM } from '../ranking/offered-from.ts'
import type { SearchResult } from '../search-tables.ts'

/** The result and the query that produced it: the question alone, or together with the one it follows up on. */
export type Searched = { asked: string; found: SearchResult }

/** The number of characters of the earlier questions that are searched for. */
const MOST_EARLIER_CHARACTERS = 500
const MOST_CHARACTERS_LOOKED_AT = 4_000
/** From this confidence on, a question that lacks its subject counts as complete, however short it is. */
const SURE = 0.75
/** The same for a question that refers back, which is only complete when the documents contain it literally. */
const SAME = 0.99
/** The most significant words of a question that refers back; one with more has its own subject. */
const MOST_SIGNIFICANT = 3
/** Raises the confidence of a combined query, since no passage matches the words of both questions. */
const TOGETHER = 2
/** Limits the confidence of a combined query, so that its passages are offered as the closest and not as the answer. */
const MOST = 0.5
/**
 * If the earlier question was answered with at least the confidence ANSWERED, a follow-up may be answered from the same
 * passage, with the confidence GOES_ON: of 80 such follow-ups, 72 had their answer there.
 */
const ANSWERED = 0.7
const GOES_ON = 0.88

/** The weights of the rankings in the reciprocal rank fusion; `PLACES` is its constant. */
const BOTH = 1
const ALONE = 0.5
const BEFORE = 0.25
/** The weight of the passages for the question alone that are near the answer to the earlier question. */
const NEARBY = 0.75
const PLACES = 2

/** The number of passages for the question alone among which those near the earlier answer are looked for. */
const WIDE = 16

export type Search = (question: string, limit: number) => Promise<SearchResult>

/**
 * Searches for the last question of a conversation without a model. A follow-up such as "And for children?" finds nothing
 * by itself, so the results for it, for the question before it and for both together are fused into one ranking. A
 * question with its own subject is searched alone, because the earlier one may have been about something else.
 */
export async function searchInTalk(
  search: Search,
  question: string,
  before: string | null,
  limit: number,
): Promise<Searched> {
  if (before === null) return { asked: question, found: await search(question, limit) }
  const earlier = before.slice(0, MOST_EARLIER_CHARACTERS)
  const alone = await search(question, refersBack(question, earlier) ? Math.max(limit, WIDE) : limit)
  if (alone.confidence >= completeFrom(question, earlier, alone)) {
    return { asked: question, found: { ...alone, passages: alone.passages.slice(0, limit) } }
  }
  const asked = `${earlier} ${question}`
  const [together, previous] = [await search(asked, limit), await search(earlier, limit)]
  const [answered] = previous.passages
  if (answered && isAnsweredThere(question, earlier, answered, previous, together)) {
    const others = together.passages.slice(1, limit).map((passage) => ({ ...passage, score: OFFERED_FROM }))
    return { asked, found: { passages: [{ ...answered, score: GOES_ON }, ...others], confidence: GOES_ON } }
  }
  return { asked, found: inOneOrder(alone, together, previous, limit) }
}

/** Returns whether a question, by its words, lacks a subject that an earlier one may have named. */
export const refersBack = (question: string, earlier: string): boolean =>
  completeFrom(question, earlier, undefined) > 0

/** Returns the confidence from which a question is answered by itself; 0 for one with its own subject. */
function completeFrom(question: string, earlier: string, alone: SearchResult | undefined): number {
  const words = dictionaryWords(splitWords(question.slice(0, MOST_CHARACTERS_LOOKED_AT)))
  const earlierWords = splitWords(earlier.slice(0, MOST_EARLIER_CHARACTERS))
  if (words.length === 0) return 0
  if (opensWithMore(words, earlierWords)) return Number.POSITIVE_INFINITY
  const significant = significantWords(words, earlierWords)
  if (goesOn(words)) return significant.length <= MOST_SIGNIFICANT ? SAME : 0
  if (namesSubjectAlone(words)) return SURE
  // Significant words without any others are a new subject, like those typed into a search box.
  if (significant.length === words.length) return 0
  // "Who can join?" lacks its subject, while "What is Mumble?" names it.
  const heading = dictionaryWords(splitWords(alone?.passages[0]?.headingPath.join(' ') ?? ''))
  if (significant.length <= 1) return significant.some((word) => heading.includes(word)) ? SURE : SAME
  // "Does the order matter?" may lack its subject, unlike "Who wrote Hamlet?", about which the documents say nothing.
  const isShort = significant.length === 2 && words.length <= FEW_WORDS
  return isShort && (alone?.confidence ?? 0) >= OFFERED_FROM ? SURE : 0
}

/** The words of a question without stop words. The earlier words tell the language of a question that is too short to. */
function significantWords(words: readonly string[], earlier: readonly string[]): string[] {
  const told = guessLanguageOfWords(words)
  const language = told === 'other' ? guessLanguageOfWords(earlier) : told
  const isCommon = (word: string): boolean =>
    language === 'other' ? languagesOfStopWord.has(word) : isStopWord(word, language)
  return words.filter((word) => !isCommon(word))
}

const stem = createStemmer()

/**
 * Returns whether the passage that answers the earlier question also answers a follow-up such as "And in Vienna?": it is the
 * best for both questions together, and has all significant words of the follow-up, as other rows of a table do.
 */
function isAnsweredThere(
  question: string,
  earlier: string,
  answered: Passage,
  previous: SearchResult,
  together: SearchResult,
): boolean {
  if (previous.confidence < ANSWERED || together.passages[0]?.chunkId !== answered.chunkId) return false
  const words = dictionaryWords(splitWords(question.slice(0, MOST_CHARACTERS_LOOKED_AT)))
  const significant = significantWords(words, splitWords(earlier))
  const text = `${answered.headingPath.join(' ')} ${visibleText(answered.text)}`
  const said = splitWords(text)
  const language = guessLanguageOfWords(said)
  const forms = new Set(said.flatMap((word) => termsOfWord(word, language, stem)))
  const letters = foldText(text)
  const isSaid = (word: string): boolean =>
    isDense(word) ? letters.includes(word) : termsOfWord(word, language, stem).some((form) => forms.has(form))
  return significant.length > 0 && significant.every(isSaid)
}

function inOneOrder(
  alone: SearchResult,
  together: SearchResult,
  before: SearchResult,
  limit: number,
): SearchResult {
  const [answered] = before.passages
  const isNearby = (passage: Passage): boolean => answered !== undefined && areNear(passage, answered)
  const passages = fusePassages(
    [
      [together.passages, BOTH],
      [alone.passages, ALONE],
      [alone.passages.filter(isNearby), NEARBY],
      [before.passages, BEFORE],
    ],
    limit,
  )
  const confidence = Math.min(MOST, Math.max(together.confidence * TOGETHER, alone.confidence))
  return { passages: passages.map((passage) => ({ ...passage, score: confidence })), confidence }
}

/** Fuses rankings, each with its weight, by reciprocal rank. */
export function fusePassages(
  rankings: readonly (readonly [readonly Passage[], number])[],
  limit: number,
): Passage[] {
  const known = new Map<string, { passage: Passage; score: number }>()
  for (const [passages, weight] of rankings) {
    for (const [place, passage] of passages.slice(0, limit).entries()) {
      const score = (known.get(passage.chunkId)?.score ?? 0) + weight / (PLACES + place)
      known.set(passage.chunkId, { passage, score })
    }
  }
  const ordered = [...known.values()].toSorted((a, b) => b.score - a.score)
  return ordered.slice(0, limit).map(({ passage }) => passage)
}

/**
 * Returns whether two passages are in the same section, in neighbouring ones, one in a part of the other's, or in
 * sections with the same heading, such as "Ports" in the chapters of two programs.
 */
function areNear(one: Passage, other: Passage): boolean {
  const heading = other.headingPath.at(-1)
  if (heading !== undefined && heading === one.headingPath.at(-1)) return true
  const [own, parent] = [sectionOf(other, 0), sectionOf(other, 1)]
  return [sectionOf(one, 0), sectionOf(one, 1)].some((section) => section === own || section === parent)
}

/** Identifies the section of a passage by its headings, without the last `fewer` of them. */
const sectionOf = ({ sourceId, headingPath }: Passage, fewer: number): string =>
  JSON.stringify([sourceId, ...headingPath.slice(0, Math.max(0, headingPath.length - fewer))])

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

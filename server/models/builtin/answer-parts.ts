import type { WordVectors } from '../static/word-vectors.ts'
import { type ComposedAnswer, composeAnswer, languageOfInput, withPerson } from './compose-answer.ts'
import type { BuiltinInput } from './input.ts'
import { phrasesFor } from './phrases/phrases.ts'

const BANDS = ['answer', 'closest', 'decline', 'greeting'] as const

/** Answers each question of a message that asks several, and says which of them have no answer; null for one question. */
export function answerParts(input: BuiltinInput, words: WordVectors): ComposedAnswer | null {
  const { parts, passages } = input
  if (!parts || parts.length < 2) return null
  const phrases = phrasesFor(languageOfInput(input))
  const answers = parts.map(({ question, about, confidence, places }) => {
    // How to ask for a person is said once, after all answers.
    const own = {
      ...input,
      question,
      about,
      confidence,
      passages: places.map((place) => passages[place]!),
      mayOffer: false,
    }
    const answer = composeAnswer(own, words)
    // Among several questions, more than one passage that may answer is hard to read.
    return answer.band === 'closest'
      ? composeAnswer({ ...own, passages: own.passages.slice(0, 1) }, words)
      : answer
  })
  if (answers.every(({ band }) => band === 'decline')) return null
  const cited: number[] = []
  const texts = answers.map((answer, at) => {
    const { question: asked, places } = parts[at]!
    const question = asked.slice(0, 1).toUpperCase() + asked.slice(1)
    if (answer.band === 'decline') return phrases.noAnswerTo.replace('{question}', () => question)
    const markers = answer.cited.map((index) => markerOf(cited, places[index]!))
    const text = answer.text.replace(/\[(\d+)\]/g, (marker, number) => {
      const own = markers[Number(number) - 1]
      return own === undefined ? marker : `[${own}]`
    })
    return `**${question}**\n\n${text}`
  })
  const band = BANDS.find((one) => answers.some((answer) => answer.band === one))!
  const text = texts.join('\n\n')
  const isSure = answers.every((answer) => answer.band === 'answer')
  return {
    band,
    text: isSure ? text : withPerson(text, input, phrases),
    cited,
    score: band === 'answer' ? input.confidence : Math.max(...answers.map(({ score }) => score)),
  }
}

/** Returns the number of the marker of a passage, which is added to those that are cited. */
function markerOf(cited: number[], place: number): number {
  if (!cited.includes(place)) cited.push(place)
  return cited.indexOf(place) + 1
}

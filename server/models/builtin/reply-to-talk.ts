import { readMessage } from '../../text/talk/read-message.ts'
import { asTalkLanguage } from '../../text/talk/talk-language.ts'
import { TALK_WORDS } from '../../text/talk/talk-table.ts'
import type { WordVectors } from '../static/word-vectors.ts'
import {
  CLOSEST_FROM,
  type ComposedAnswer,
  composeAnswer,
  hasQuestion,
  sentences,
  withSubjects,
} from './compose-answer.ts'
import type { BuiltinInput } from './input.ts'
import type { Phrases } from './phrases/phrase-names.ts'
import { isClosest, languageEndingWith, phrasesFor } from './phrases/phrases.ts'

/** From this confidence on, the documents say what the agent is. */
const SURELY = 0.9

type Kind = NonNullable<BuiltinInput['message']>['kind']

/**
 * Returns the reply to a message that asks nothing of the documents: small talk, or the wish for a person when nobody
 * can be called. Returns null if the documents are to answer.
 */
export function replyToTalk(input: BuiltinInput, words: WordVectors): ComposedAnswer | null {
  const { message = readMessage(input.question), confidence, documents } = input
  if (message.kind === 'question' || hasQuestion(input)) return null
  if (!message.isSure && confidence >= CLOSEST_FROM) return null
  if (message.kind === 'identity' && confidence >= SURELY) return null
  const written = documents?.language && asTalkLanguage(documents.language)
  const language = message.language ?? written ?? 'en'
  const phrases = phrasesFor(language)
  if (message.kind === 'person') {
    return withoutPerson({ ...input, question: TALK_WORDS[language].contact }, words, phrases)
  }
  return { band: 'greeting', text: replyText(message.kind, input, phrases), cited: [], score: 1 }
}

function replyText(kind: Kind, input: BuiltinInput, phrases: Phrases): string {
  const { before = '', mayOffer = true, agentName = '', documents } = input
  // After an unsure answer, a "yes" is ambiguous, so it is answered with the question whether a person is wanted.
  const wasUnsure = languageEndingWith(before, 'sayPerson') !== null
  const wasAskedForMore = languageEndingWith(before, 'thanks') !== null
  const apology = sentences(phrases.sorry, mayOffer ? phrases.offer : phrases.rephrase)
  switch (kind) {
    case 'greeting':
      return phrases.hello
    case 'thanks':
    case 'goodbye':
    case 'help':
      return phrases[kind]
    case 'yes':
      if (wasUnsure && mayOffer) return phrases.offer
      return wasAskedForMore ? phrases.help : phrases.allRight
    case 'refusal':
      if (wasUnsure || isClosest(before)) return apology
      return wasAskedForMore ? phrases.goodbye : phrases.allRight
    case 'complaint':
      return apology
    case 'identity': {
      const named = phrases.identity.replace('{name}', () => agentName.trim() || 'Parley')
      return withSubjects(
        mayOffer ? sentences(named, phrases.sayPerson) : named,
        documents?.subjects,
        phrases,
      )
    }
    default:
      return phrases.allRight
  }
}

/** Matches an address for mail or a telephone number. */
const CONTACT = /[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?:\+|\b0|\()\d(?:[\s()/.-]*\d){5,}/

/** Says that nobody can be called, and quotes how to reach somebody if the documents tell. */
function withoutPerson(input: BuiltinInput, words: WordVectors, phrases: Phrases): ComposedAnswer {
  const place = input.passages.findIndex(({ text, score }) => score >= CLOSEST_FROM && CONTACT.test(text))
  const passage = input.passages[place]
  if (passage) {
    const quoted = composeAnswer({ ...input, passages: [passage], confidence: 1 }, words)
    if (quoted.band === 'answer' && CONTACT.test(quoted.text)) {
      const text = `${sentences(phrases.noPerson, phrases.reach)}\n\n${quoted.text}`
      return { band: 'answer', text, cited: [place], score: input.confidence }
    }
  }
  const text = withSubjects(phrases.noPerson, input.documents?.subjects, phrases)
  return { band: 'greeting', text, cited: [], score: 1 }
}

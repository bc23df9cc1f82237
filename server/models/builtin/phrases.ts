/** The only sentences of the responder's own. */
export type Phrases = {
  hello: string
  thanks: string
  goodbye: string
  closest: string
  decline: string
  quote: (text: string) => string
}

const ENGLISH: Phrases = {
  hello: 'Hello! What would you like to know?',
  thanks: 'You are welcome. Is there anything else you would like to know?',
  goodbye: 'Goodbye, and have a good day!',
  closest: 'I am not sure that this answers your question. The closest passages I found:',
  decline:
    'I could not find an answer to this in the documents I have. Would you like me to pass your question on to a human?',
  quote: (text) => `“${text}”`,
}

const GERMAN: Phrases = {
  hello: 'Hallo! Was möchten Sie wissen?',
  thanks: 'Gern geschehen. Möchten Sie noch etwas wissen?',
  goodbye: 'Auf Wiedersehen und einen schönen Tag!',
  closest: 'Ich bin nicht sicher, ob das Ihre Frage beantwortet. Am nächsten kommen diese Stellen:',
  decline:
    'Dazu habe ich in den vorliegenden Dokumenten keine Antwort gefunden. Soll ich Ihre Frage an einen Menschen weitergeben?',
  quote: (text) => `„${text}“`,
}

/** Wrapper phrases of a language; English where there are none. */
export function phrasesFor(language: 'en' | 'de' | 'other'): Phrases {
  return language === 'de' ? GERMAN : ENGLISH
}

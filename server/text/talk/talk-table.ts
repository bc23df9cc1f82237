import { EASTERN_WORDS } from './eastern-words.ts'
import { GERMANIC_WORDS } from './germanic-words.ts'
import { NORTHERN_WORDS } from './northern-words.ts'
import { ROMANCE_WORDS } from './romance-words.ts'
import { SLAVIC_WORDS } from './slavic-words.ts'
import type { TalkLanguage, TalkWords } from './talk-words.ts'

export const TALK_WORDS: Record<TalkLanguage, TalkWords> = {
  ...GERMANIC_WORDS,
  ...ROMANCE_WORDS,
  ...NORTHERN_WORDS,
  ...SLAVIC_WORDS,
  ...EASTERN_WORDS,
}

import type { TalkKind } from './compile-phrases.ts'

const SYMBOLS: [RegExp, TalkKind][] = [
  [/[👎😡🤬😠😤🙄💩]|(?:^|\s)(?::-?[(/]|>:\()/u, 'complaint'],
  [/[👋🤝]/u, 'greeting'],
  [/[🙏💐🌹]/u, 'thanks'],
  [/\p{Extended_Pictographic}|[:;]-?[)DdPp]|<3|\^\^|\p{Regional_Indicator}/u, 'acknowledgement'],
]

/** Returns what a message without a word is: "👍", ":)" or "?"; null when nothing is written. */
export function symbolsOf(text: string): TalkKind | null {
  if (text.trim() === '') return null
  return SYMBOLS.find(([symbols]) => symbols.test(text))?.[1] ?? 'help'
}

import EmailForwardParser from 'email-forward-parser'
import EmailReplyParser from 'email-reply-parser'

/** What well-known mail clients write in their languages, as two libraries know it. */

/** The libraries compare a text with many patterns, some of which take very long for a long one. */
const MAX_LENGTH = 300

type Fragment = { isQuoted(): boolean; isSignature(): boolean }

const fragmentsOf = (text: string): Fragment[] =>
  text.length > MAX_LENGTH ? [] : new EmailReplyParser().read(`x\n\n${text}`).getFragments()

/** Returns whether a client has written the text above what it quotes. */
export const isKnownQuoteHead = (text: string): boolean =>
  fragmentsOf(text).some((fragment) => fragment.isQuoted())

/** Returns whether the line is a signature that a client adds, or a closing formula alone. */
export const isKnownSignature = (line: string): boolean =>
  fragmentsOf(line).some((fragment) => fragment.isSignature())

/** Returns whether the subject is that of a forwarded mail. Clients differ in the case of its mark. */
export function isForwarded(subject: string): boolean {
  const [mark = ''] = /^\p{L}+/u.exec(subject.trim()) ?? []
  const rest = subject.trim().slice(mark.length)
  const written = [mark, mark.toUpperCase(), mark.slice(0, 1).toUpperCase() + mark.slice(1).toLowerCase()]
  return written.some((form) => new EmailForwardParser().read('', form + rest).forwarded)
}

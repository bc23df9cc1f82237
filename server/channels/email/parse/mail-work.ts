import type { ParsedMail } from './parsed-mail.ts'
import { readMail } from './read-mail.ts'

export type MailOrder = { raw: Uint8Array; cut: { bytes: number } | null }

/** What a child process does with a mail. */
export async function* work({ raw, cut }: MailOrder): AsyncGenerator<ParsedMail> {
  yield await readMail(raw, cut)
}

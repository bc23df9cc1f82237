import type { ParsedMail } from './parsed-mail.ts'
import { readMail } from './read-mail.ts'

export type MailOrder = { raw: Uint8Array; cut: { bytes: number } | null }

/** Runs in a child process; see createMailParser. */
export async function* work({ raw, cut }: MailOrder): AsyncGenerator<ParsedMail> {
  yield await readMail(raw, cut)
}

import { MAX_BYTES } from '../../../conversations/attachments/limits.ts'
import type { MailFile } from '../parse/parsed-mail.ts'

const MAX_FILES = 100
const MAX_NAMES = 20

/** Returns the files of a mail that fit into the size limit, and a note that names those left out. */
export function fittingFiles(wanted: MailFile[]): { files: MailFile[]; note: string } {
  const files: MailFile[] = []
  const tooLarge: string[] = []
  const tooMany: string[] = []
  let total = 0
  for (const file of wanted) {
    const sum = total + file.bytes.byteLength
    if (files.length >= MAX_FILES) tooMany.push(file.name)
    else if (sum > MAX_BYTES) tooLarge.push(file.name)
    else {
      total = sum
      files.push(file)
    }
  }
  const notes = [
    tooLarge.length > 0 ? `[Left out, because it is too large: ${listed(tooLarge)}]` : '',
    tooMany.length > 0 ? `[Left out, because a mail may have ${MAX_FILES} files: ${listed(tooMany)}]` : '',
  ]
  return { files, note: notes.filter(Boolean).join('\n') }
}

function listed(names: string[]): string {
  const more = names.length - MAX_NAMES
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

import { storable } from '../../../platform/http/bodies/storable.ts'
import { oneLine } from '../../../platform/mail/mail-address.ts'
import { isOwnReference } from '../connection/thread-marks.ts'
import type { Bounce, MailFile } from './parsed-mail.ts'

const MAX_PART_LENGTH = 64 * 1024
const MAX_REASON_LENGTH = 300

/**
 * Reads a delivery status notification (RFC 3464). Returns the mails that failed and the reason, or null when it is
 * another mail or reports only a delay or a success.
 */
export function readBounce(contentType: string, files: MailFile[]): Bounce | null {
  if (!/^\s*multipart\/report\b/i.test(contentType)) return null
  const textOf = (types: string[]): string | null => {
    const part = files.find(({ mediaType }) => types.includes(mediaType))
    return part ? storable(Buffer.from(part.bytes.subarray(0, MAX_PART_LENGTH)).toString('latin1')) : null
  }
  const status = textOf(['message/delivery-status', 'message/global-delivery-status'])
  const returned = textOf([
    'message/rfc822',
    'text/rfc822-headers',
    'message/global',
    'message/global-headers',
  ])
  if (status === null || returned === null || !/^action:\s*failed\b/im.test(status)) return null
  const unfolded = (text: string): string => text.replace(/\r?\n[ \t]+/g, ' ')
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:\\s*(.+)$`, 'im').exec(unfolded(status))?.[1]?.trim()
  const said =
    field('diagnostic-code')?.replace(/^[\w-]+;\s*/, '') ?? field('status') ?? 'no reason was given'
  const head = unfolded(headOf(returned))
  const idsIn = (pattern: RegExp): string[] => [...head.matchAll(pattern)].map(([, id = '']) => id)
  // The last reference of our mails names themselves, whatever became of their Message-ID.
  const references = idsIn(/^references:.*?(<[^<>\s]+>)[ \t]*$/gim).filter(isOwnReference)
  return {
    messageIds: [...idsIn(/^message-id:\s*(<[^<>\s]+>)/gim), ...references],
    reason: oneLine(`It could not be delivered: ${said}`, MAX_REASON_LENGTH),
  }
}

const headOf = (mail: string): string => mail.split(/\r?\n\r?\n/, 1)[0] ?? ''

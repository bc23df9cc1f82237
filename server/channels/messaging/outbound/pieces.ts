import { isId } from '../../../db/ids.ts'
import type { AttachmentNote } from '../../../db/tables/attachments.ts'
import type { DeliveryContent } from '../../../db/tables/deliveries.ts'
import { withNotice } from '../../../deliveries/enqueue-delivery.ts'
import { linksTo, withoutForeignLinks } from '../../../text/safety/foreign-links.ts'
import type { ProviderAdapter } from '../connection/provider-adapter.ts'
import { splitText } from './split-text.ts'

/** One message on the wire of the provider. */
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'file'; file: AttachmentNote }
  | { kind: 'template' }

/** The most characters of a delivery. A model that never ends would otherwise send hundreds of messages. */
const LONGEST = 100_000

/** Splits a delivery into messages of the provider. The result is always the same for the same content. */
export function piecesOf(
  adapter: Pick<ProviderAdapter, 'formatText' | 'longestText'>,
  { text, html, attachments = [], template, linkHosts, notice }: DeliveryContent,
): Piece[] {
  if (template) return [{ kind: 'template' }]
  // Only people write HTML, and their brackets are not citation markers.
  const written = adapter.formatText(text.slice(0, LONGEST).toWellFormed(), {
    dropCitations: html === undefined,
  })
  const answer = linkHosts ? withoutForeignLinks(written, linksTo(linkHosts)) : written
  const formatted = withNotice(answer, notice)
  return [
    ...splitText(formatted, adapter.longestText).map((piece): Piece => ({ kind: 'text', text: piece })),
    ...attachments.map((file): Piece => ({ kind: 'file', file })),
  ]
}

/** The provider returns it with each status of the message. */
export const callbackOf = (deliveryId: string, ordinal: number): string => `${deliveryId}.${ordinal}`

export function readCallback(callback: string): { deliveryId: string; ordinal: number } | null {
  const [, deliveryId, ordinal] = /^([0-9a-f-]{36})\.(\d{1,4})$/.exec(callback) ?? []
  return deliveryId && isId(deliveryId) ? { deliveryId, ordinal: Number(ordinal) } : null
}

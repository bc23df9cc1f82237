import { withNotice } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { isId } from '../../../platform/db/ids.ts'
import type { AttachmentNote } from '../../../platform/db/tables/attachments.ts'
import type { DeliveryContent } from '../../../platform/db/tables/deliveries.ts'
import { linksTo, withoutForeignLinks } from '../../../platform/text/safety/foreign-links.ts'
import { shorten } from '../../../platform/text/words/words.ts'
import type { ProviderAdapter } from '../connection/provider-adapter.ts'
import { splitText } from './split-text.ts'

/** One message on the wire of the provider. */
export type Piece =
  | { kind: 'text'; text: string; button?: { id: string; title: string } }
  | { kind: 'file'; file: AttachmentNote }
  | { kind: 'template' }

/** The most characters of a delivery. A model that never ends would otherwise send hundreds of messages. */
const MAX_LENGTH = 100_000

/** Splits a delivery into messages of the provider. The result is always the same for the same content. */
export function piecesOf(
  adapter: Pick<ProviderAdapter, 'formatText' | 'maxTextLength' | 'button'>,
  { text, html, attachments = [], template, linkHosts, notice, offer }: DeliveryContent,
): Piece[] {
  if (template) return [{ kind: 'template' }]
  // Only people write HTML, and their brackets are not citation markers.
  const written = adapter.formatText(text.slice(0, MAX_LENGTH).toWellFormed(), {
    dropCitations: html === undefined,
  })
  const answer = linkHosts ? withoutForeignLinks(written, linksTo(linkHosts)) : written
  const formatted = withNotice(answer, notice)
  const limits = offer ? adapter.button : null
  const texts = splitText(formatted, limits?.maxTextLength ?? adapter.maxTextLength)
  return [
    ...texts.map((piece, at): Piece => {
      if (!offer || !limits || at < texts.length - 1) return { kind: 'text', text: piece }
      const title = shorten(offer.title, limits.maxTitleLength)
      return { kind: 'text', text: piece, button: { id: pressOf(offer.answerId), title } }
    }),
    ...attachments.map((file): Piece => ({ kind: 'file', file })),
  ]
}

/** The id of the button that accepts the offer of an answer. */
const pressOf = (answerId: string): string => `person.${answerId}`

/** Returns the id of the answer whose offer is accepted by a button; null for another button. */
export function readPress(buttonId: string): string | null {
  const [, answerId] = /^person\.([0-9a-f-]{36})$/.exec(buttonId) ?? []
  return answerId && isId(answerId) ? answerId : null
}

/** The provider returns it with each status of the message. */
export const callbackOf = (deliveryId: string, ordinal: number): string => `${deliveryId}.${ordinal}`

export function readCallback(callback: string): { deliveryId: string; ordinal: number } | null {
  const [, deliveryId, ordinal] = /^([0-9a-f-]{36})\.(\d{1,4})$/.exec(callback) ?? []
  return deliveryId && isId(deliveryId) ? { deliveryId, ordinal: Number(ordinal) } : null
}

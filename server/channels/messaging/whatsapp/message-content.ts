import type { AwaitedFile, InboundContent } from '../../../platform/db/tables/channels.ts'
import { type JsonObject, objectOf, objectsIn, parseObject, text } from '../connection/untrusted-json.ts'

const UNSUPPORTED = '[unsupported message]'
const MAX_ABOUT_LENGTH = 1_000

/** Returns the text of a message of any type, what it refers to, and the files to be fetched. */
export function contentOf(message: JsonObject): InboundContent {
  const type = text(message.type)
  const part = objectOf(message[type])
  const file = fileOf(type, part)
  const about = aboutOf(message)
  const named = about.length > 0 ? { about } : {}
  if (file) return { text: text(part.caption).trim(), attachments: [], awaited: [file], ...named }
  const { words, silent } =
    type === 'contacts'
      ? { words: cardsOf(objectsIn(message.contacts)), silent: undefined }
      : wordsOf(type, part)
  const said = words.trim()
  if (said === '') {
    // The provider names the type of what it does not pass on.
    const unreadable = (text(objectOf(message.unsupported).type) || type || 'unknown').slice(0, 100)
    return { text: UNSUPPORTED, attachments: [], silent: true, unreadable, ...named }
  }
  return { text: said, attachments: [], ...(silent ? { silent } : {}), ...named }
}

/** The product or the advertisement that somebody writes about, for the agent and the team. */
function aboutOf({ context, referral }: JsonObject): string[] {
  const product = objectOf(objectOf(context).referred_product)
  const sku = text(product.product_retailer_id)
  const catalogue = text(product.catalog_id)
  const ad = objectOf(referral)
  const shown = [ad.headline, ad.body, ad.source_url].map((value) => text(value).trim()).filter(Boolean)
  const isPost = text(ad.source_type) === 'post'
  return [
    ...(sku ? [`[About the product ${sku}${catalogue ? ` of the catalogue ${catalogue}` : ''}]`] : []),
    ...(shown.length > 0
      ? [`[Written from ${isPost ? 'a post' : 'an advertisement'}: ${shown.join(' – ')}]`]
      : []),
  ].map((line) => line.replace(/\s+/g, ' ').slice(0, MAX_ABOUT_LENGTH))
}

function wordsOf(type: string, part: JsonObject): { words: string; silent?: true } {
  switch (type) {
    case 'text':
      return { words: text(part.body) }
    case 'button':
      return { words: text(part.text) }
    case 'interactive':
      return { words: answerOf(part) }
    case 'location':
      return { words: locationOf(part) }
    case 'order':
      return { words: orderOf(part) }
    case 'reaction':
      return {
        words: text(part.emoji) ? `[reaction: ${text(part.emoji)}]` : '[reaction removed]',
        silent: true,
      }
    case 'system':
      return { words: `[${text(part.body) || 'note of the channel'}]`, silent: true }
    case 'request_welcome':
      return { words: '[opened the chat]', silent: true }
    default:
      return { words: '' }
  }
}

/** A choice from buttons or a list, or a completed form. */
function answerOf({ button_reply, list_reply, nfm_reply }: JsonObject): string {
  const chosen = objectOf(button_reply ?? list_reply)
  const form = objectOf(nfm_reply)
  return [text(chosen.title), text(chosen.description), text(form.body), fieldsOf(text(form.response_json))]
    .filter(Boolean)
    .join('\n')
}

/** The fields of a completed form, in a line each. The token of the form says nothing to anybody. */
function fieldsOf(form: string): string {
  const { flow_token: _token, ...fields } = parseObject(new TextEncoder().encode(form)) ?? {}
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name}: ${text(value) || JSON.stringify(value)}`,
  )
  return lines.length > 0 ? text(lines.join('\n')) : ''
}

function locationOf({ name, address, latitude, longitude, url }: JsonObject): string {
  const place = [
    text(name),
    text(address),
    [text(latitude), text(longitude)].filter(Boolean).join(', '),
    text(url),
  ]
  const named = place.filter(Boolean).join('\n')
  return named && `Location:\n${named}`
}

function cardsOf(cards: JsonObject[]): string {
  const lines = cards.map(({ name, phones, emails, org }) =>
    [
      text(objectOf(name).formatted_name),
      text(objectOf(org).company),
      ...objectsIn(phones).map(({ phone }) => text(phone)),
      ...objectsIn(emails).map(({ email }) => text(email)),
    ]
      .filter(Boolean)
      .join(', '),
  )
  const named = lines.filter(Boolean).join('\n')
  return named && `Contact:\n${named}`
}

function orderOf({ text: note, product_items }: JsonObject): string {
  const items = objectsIn(product_items).map(
    (item) =>
      `${text(item.quantity) || '1'} × ${text(item.product_retailer_id)} (${text(item.item_price)} ${text(item.currency)})`,
  )
  return items.length > 0 ? ['Order:', ...items, text(note)].filter(Boolean).join('\n') : text(note)
}

const FILES = ['image', 'video', 'audio', 'voice', 'document', 'sticker']
const ENDINGS: Record<string, string> = {
  jpeg: 'jpg',
  mpeg: 'mp3',
  plain: 'txt',
  'svg+xml': 'svg',
  quicktime: 'mov',
}

function fileOf(type: string, part: JsonObject): AwaitedFile | null {
  const id = text(part.id)
  if (!FILES.includes(type) || !/^[\w.-]{1,200}$/.test(id)) return null
  const [mediaType = ''] = text(part.mime_type).toLowerCase().split(';')
  const known = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/.test(mediaType.trim())
    ? mediaType.trim()
    : 'application/octet-stream'
  const ending = known.split('/')[1] ?? ''
  const name =
    text(part.filename).trim().slice(0, 200).toWellFormed() || `${type}.${ENDINGS[ending] ?? ending}`
  return { id, name, type: known }
}

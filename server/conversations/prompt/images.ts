import type { LanguageModelV4FilePart } from '@ai-sdk/provider'
import { fileTypeFromBuffer } from 'file-type'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import {
  CUSTOMER_SENTENCES,
  type CustomerLanguage,
} from '../../platform/text/languages/customer-sentences.ts'
import { metadataOf } from '../records/present.ts'
import type { TranscriptMessage } from '../records/queries.ts'
import type { TurnNeeds } from '../turn/turn.ts'

/** The most images of one question. */
const MAX_IMAGES = 4
/** Models see no more than this many pixels a side. */
const SIDE = 1_568
/** Smaller pictures of a mail are logos and the like. */
const MIN_SIDE_IN_MAIL = 200
/** Pictures of telephones have up to this many pixels. */
const MAX_PIXELS = 64_000_000
/** The most bytes of one image that is sent; a JPEG of this size rarely has more than a quarter of them. */
const MAX_BYTES = 2_000_000
const QUALITY = 80
const DECODE_SECONDS = 10
/** What is decoded. Others are either documents that may refer to others, or cannot be read here. */
const READABLE = new Set([
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/tiff',
])

/** The pictures of a question: those that a model which sees is shown, and how many it is not, of `all`. */
export type Images = { seen: LanguageModelV4FilePart[]; unseen: number; all: number }

/** Returns what a model is shown that does not see. */
export const unseenIn = ({ all }: Images): Images => ({ seen: [], unseen: all, all })

/** Returns the notes of the pictures that belong to messages, newest last. */
export const picturesOf = (messages: readonly TranscriptMessage[]): AttachmentNote[] =>
  messages.flatMap((said) =>
    (metadataOf(said).attachments ?? []).filter(({ type }) => type.startsWith('image/')),
  )

/** Returns pictures that no model may see. Logos in mails, which are pictures as well, concern nobody. */
export function notRead(notes: readonly AttachmentNote[]): Images {
  const all = notes.filter(({ isPartOfMail }) => !isPartOfMail).length
  return { seen: [], unseen: all, all }
}

/** Reads pictures and converts them for models: the newest ones, small enough, without metadata, as JPEG. */
export async function readImages(
  { readAttachment, generations }: Pick<TurnNeeds, 'readAttachment' | 'generations'>,
  ref: AgentRef,
  notes: readonly AttachmentNote[],
  signal: AbortSignal,
): Promise<Images> {
  const { all } = notRead(notes)
  const images: Images = { seen: [], unseen: all, all }
  for (const note of notes.slice(-MAX_IMAGES)) {
    const leave = await generations.decoding.enter(ref.accountId, signal)
    const image = await readAttachment(ref, note.id)
      .then((file) => file && jpegOf(file.bytes, note.isPartOfMail ? MIN_SIDE_IN_MAIL : 1))
      .finally(leave)
    if (!image) continue
    images.seen.push({
      type: 'file',
      mediaType: 'image/jpeg',
      data: { type: 'data', data: image },
      // OpenAI's own types ask for it.
      providerOptions: { openai: { imageDetail: 'auto' } },
    })
    if (!note.isPartOfMail) images.unseen--
  }
  return images
}

/** Returns the picture as a JPEG without metadata; null if it cannot be read, or is smaller than `minSide`. */
async function jpegOf(bytes: Uint8Array, minSide: number): Promise<Uint8Array | null> {
  const type = (await fileTypeFromBuffer(bytes))?.mime ?? ''
  if (!READABLE.has(type)) return null
  // It is native code that most processes never need, so it is loaded on first use.
  const { default: sharp } = await import('sharp')
  try {
    const picture = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    const { width, height } = await picture.metadata()
    if (Math.min(width, height) < minSide) return null
    const jpeg = await picture
      .autoOrient()
      .resize(SIDE, SIDE, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .jpeg({ quality: QUALITY })
      .timeout({ seconds: DECODE_SECONDS })
      .toBuffer()
    return jpeg.byteLength <= MAX_BYTES ? jpeg : null
  } catch {
    return null
  }
}

/** Tells a model of the pictures that it cannot see. */
export function unseenLine(unseen: number, escalate: string | null): string | null {
  if (unseen === 0) return null
  const what = unseen === 1 ? 'a picture' : `${unseen} pictures`
  const told = 'The customer is told so in a sentence after your answer, so do not say it.'
  const then = escalate
    ? `Pass the conversation to the team with ${escalate}, which looks at it. ${told}`
    : `${told} Answer what their words ask.`
  return `The message of the customer has ${what} that you cannot see. ${then}`
}

/** Tells the customer, in the service's own words, and that the team looks at it where there is one to pass it to. */
export function unseenSentence(language: CustomerLanguage, hasTeam: boolean): string {
  const { unseenPicture, teamTold } = CUSTOMER_SENTENCES[language]
  return hasTeam ? `${unseenPicture} ${teamTold}` : unseenPicture
}

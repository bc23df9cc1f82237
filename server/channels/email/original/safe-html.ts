import { Parser } from 'htmlparser2'
import sanitizeHtml from 'sanitize-html'
import { tooComplex } from '../../../knowledge/documents/html/html-shape.ts'
import { bareText } from '../parse/bare-text.ts'

type Shown = {
  /** Whether pictures of other servers are loaded. */
  withImages: boolean
  /** Returns the address of a picture of the mail itself by its Content-ID. */
  pictureOf: (contentId: string) => string | null
}

const TAGS = [
  ...sanitizeHtml.defaults.allowedTags,
  ...['img', 'center', 'font', 'big', 'strike', 'del', 'ins', 'body'],
]
const LOOKS = ['style', 'align', 'valign', 'bgcolor', 'color', 'width', 'height', 'dir', 'lang', 'border']

/**
 * Returns the HTML of a mail without scripts, forms, frames and style sheets. What is left of its styles cannot load
 * anything, because the policy of the page forbids it. Of HTML that is nested too deeply, only the text is left.
 */
export function safeHtml(html: string, { withImages, pictureOf }: Shown): string {
  // The sanitiser's time grows with the square of the depth.
  if (tooComplex(html) !== null) return `<p style="white-space: pre-wrap">${textOnly(html)}</p>`
  return sanitizeHtml(html, {
    allowedTags: TAGS,
    allowedAttributes: {
      '*': LOOKS,
      a: ['href', 'target', 'rel', 'title'],
      img: ['src', 'alt', 'title'],
      table: ['cellpadding', 'cellspacing'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan'],
      font: ['face', 'size'],
    },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowedSchemesByTag: { img: ['http', 'https', 'data'] },
    allowedSchemesAppliedToAttributes: ['href', 'src'],
    allowProtocolRelative: false,
    nestingLimit: 100,
    transformTags: {
      a: sanitizeHtml.simpleTransform('a', { target: '_blank', rel: 'noopener noreferrer nofollow' }),
      img: (tagName, { src = '', ...attribs }) => {
        const own = /^cid:(.*)$/i.exec(src.trim())?.[1]
        if (own !== undefined) {
          const picture = pictureOf(own)
          // The address of a file of the service is relative where it has no public address.
          return { tagName, attribs: picture === null ? attribs : { ...attribs, src: picture } }
        }
        const isInside = /^data:image\/(?:png|jpe?g|gif|webp);/i.test(src.trim())
        return { tagName, attribs: isInside || withImages ? { ...attribs, src } : attribs }
      },
    },
  })
}

/** Entities stay as they are; a tag that is never closed is text. */
const textOnly = (html: string): string => bareText(html).replaceAll('<', '&lt;')

/** Returns whether pictures or backgrounds of other servers would be loaded. */
export function hasRemoteImages(html: string): boolean {
  if (tooComplex(html) !== null) return false
  let found = false
  const parser = new Parser({
    onopentag(tag, { src = '', style = '' }) {
      found ||= tag === 'img' && /^\s*https?:/i.test(src)
      // No two parts of it match the same spaces, so that the time grows with the length alone.
      found ||= /url\(\s*(?:["']\s*)?https?:/i.test(style)
    },
  })
  parser.end(html)
  return found
}

import { Marked, type RendererObject } from 'marked'
import sanitizeHtml from 'sanitize-html'
import { escapeHtml, textAsHtml } from '../../text/escape-html.ts'
import { stripHtml } from './strip-html.ts'

/** Only these lead anywhere: whatever else stands in a reply stays words. */
const isSafe = (target: string): boolean => /^(?:https?:\/\/|mailto:|tel:)\S/i.test(target)

const renderer: RendererObject = {
  html: () => '',
  link({ href, tokens }) {
    const words = this.parser.parseInline(tokens)
    return isSafe(href) && words !== '' ? `<a href="${escapeHtml(href)}">${words}</a>` : words
  },
  // Pictures from elsewhere tell their server who reads: they become links.
  image({ href, text }) {
    return isSafe(href) ? `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>` : escapeHtml(text)
  },
  checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
}

const marked = new Marked({ gfm: true, breaks: true, async: false, renderer })

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [
    ...HEADINGS,
    ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'a', 'blockquote', 'ul', 'ol', 'li'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  allowedAttributes: { a: ['href', 'target', 'rel'], ol: ['start'], code: ['class'] },
  allowedClasses: { code: [/^language-[\w+#.-]{1,40}$/] },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowProtocolRelative: false,
  nestingLimit: 30,
  transformTags: {
    a: sanitizeHtml.simpleTransform('a', { target: '_blank', rel: 'noopener noreferrer nofollow' }),
  },
}

/**
 * GitHub-flavoured Markdown as clean HTML (service-api, "POST …/messages"): single newlines are line breaks, HTML in
 * it is stripped.
 */
export function renderMarkdown(markdown: string): string {
  const text = stripHtml(markdown.replace(/\r\n?/g, '\n'))
  try {
    return sanitizeHtml(marked.parse(text) as string, ALLOWED).trim()
  } catch {
    // Nested thousands of times: more than the parser's stack holds.
    return textAsHtml(text)
  }
}

const INVISIBLE =
  /\s|\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]/gu

/** Whether the HTML shows a reader nothing. */
export const showsNothing = (html: string): boolean =>
  html.replace(/<[^>]*>/g, '').replace(INVISIBLE, '') === ''

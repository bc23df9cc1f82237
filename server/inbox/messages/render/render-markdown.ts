import MarkdownIt, { type StateInline, type Token } from 'markdown-it'
import sanitizeHtml from 'sanitize-html'
import { textAsHtml } from '../../../platform/text/safety/escape-html.ts'
import { type MayLink, withoutForeignLinks } from '../../../platform/text/safety/foreign-links.ts'
import { stripHtml } from './strip-html.ts'

/** The most characters that are rendered as Markdown. A longer text keeps only its lines and paragraphs. */
const MAX_LENGTH = 40_000

/** The schemes that links may have. Other links become text. */
const ANYWHERE: MayLink = () => true
const LEADS = /^(?:https?:\/\/|mailto:|tel:)\S/i

/** Matches what follows `www.`: a host and an optional path, without the punctuation of the sentence. */
const REST_OF_HOST =
  /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,9}(?:[/?#](?:[^\s<>"'`]{0,2000}[^\s<>"'`.,;:!?)\]*_~])?)?/uy

/** Marks a single tilde, which must not be paired with two. No character has this code, so nothing else uses it. */
const ONE_TILDE = 0x11_007e

// The time of this parser is linear in the length of the text. Deeper nesting stays text.
const parser = new MarkdownIt({ html: false, breaks: true, linkify: true, maxNesting: 60 })
// Links are checked when they are rendered. Otherwise the Markdown of refused ones would be shown.
parser.validateLink = () => true
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: true })
parser.linkify.add('www.', {
  validate(text, from) {
    REST_OF_HOST.lastIndex = from
    return REST_OF_HOST.exec(text)?.[0].length ?? 0
  },
  normalize(match) {
    match.url = `http://${match.url}`
  },
})
parser.renderer.rules.softbreak = () => '<br />'
parser.renderer.rules.hardbreak = () => '<br />'
// The library has no footnotes: it would take one for the address of a link, and its text would not be shown. The last
// rule is that of paragraphs.
const paragraph = parser.block.ruler.getRules('').at(-1)
parser.block.ruler.before('reference', 'footnote', (state, line, end, silent) => {
  const text = state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
  return /^\[\^[^\s\]]+\]:/.test(text) && (paragraph?.(state, line, end, silent) ?? false)
})
parser.inline.ruler.before('strikethrough', 'one_tilde', (state, silent) => {
  if (silent || state.src[state.pos] !== '~') return false
  const { length, can_open: open, can_close: close } = state.scanDelims(state.pos, true)
  if (length === 2) return false
  state.push('text', '', 0).content = '~'.repeat(length)
  // Three tildes and more are text.
  const token = state.tokens.length - 1
  if (length === 1) state.delimiters.push({ marker: ONE_TILDE, length: 0, token, end: -1, open, close })
  state.pos += length
  return true
})
parser.inline.ruler2.before('strikethrough', 'one_tilde', (state) => {
  strikeOut(state, state.delimiters)
  for (const meta of state.tokens_meta) strikeOut(state, meta?.delimiters ?? [])
  return true
})
// A style attribute would need an exception from the content security policy.
parser.core.ruler.push('alignment', ({ tokens }) => {
  for (const token of tokens) {
    const [, align] = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? '')) ?? []
    if (align) token.attrs = [['align', align]]
  }
})
parser.core.ruler.push('harmless', ({ tokens, Token: New, env }) => {
  const { mayLink } = env as { mayLink: MayLink }
  for (const token of tokens) if (token.children) token.children = harmless(token.children, New, mayLink)
})
parser.core.ruler.push('task_boxes', ({ tokens }) => {
  for (const [at, { type, children }] of tokens.entries()) {
    const first = children?.[0]
    if (type !== 'inline' || tokens[at - 2]?.type !== 'list_item_open' || first?.type !== 'text') continue
    first.content = first.content.replace(/^\[([ xX])\] /, (_, mark) => (mark === ' ' ? '☐ ' : '☑ '))
  }
})

function strikeOut({ tokens }: StateInline, delimiters: StateInline['delimiters']): void {
  for (const { marker, token, end } of delimiters) {
    if (marker !== ONE_TILDE || end === -1) continue
    Object.assign(tokens[token] ?? {}, { type: 's_open', tag: 's', nesting: 1, content: '' })
    Object.assign(tokens[delimiters[end]?.token ?? -1] ?? {}, {
      type: 's_close',
      tag: 's',
      nesting: -1,
      content: '',
    })
  }
}

type NewToken = new (type: string, tag: string, nesting: -1 | 0 | 1) => Token

/** Refused links become text. Images become links, because loading them would tell their server who reads. */
function harmless(tokens: Token[], New: NewToken, mayLink: MayLink): Token[] {
  const isSafe = (href: string): boolean => LEADS.test(href) && mayLink(href)
  const kept: Token[] = []
  let open: Token | null = null
  for (const token of tokens) {
    if (token.type === 'image') kept.push(...asLink(token, { isSafe, isInLink: open !== null, New }))
    else if (token.type === 'link_open') {
      open = token
      kept.push(token)
    } else if (token.type === 'link_close') {
      const isEmpty = kept.at(-1) === open
      if (isEmpty) kept.pop()
      else if (isSafe(hrefOf(open, 'href'))) kept.push(token)
      else kept.splice(open ? kept.lastIndexOf(open) : -1, 1)
      open = null
    } else kept.push(token)
  }
  return kept
}

const hrefOf = (token: Token | null, name: 'href' | 'src'): string => String(token?.attrGet(name) ?? '')

type Surroundings = { isSafe(href: string): boolean; isInLink: boolean; New: NewToken }

function asLink(image: Token, { isSafe, isInLink, New }: Surroundings): Token[] {
  const source = hrefOf(image, 'src')
  const words = image.content || (isSafe(source) ? source : '')
  const text = Object.assign(new New('text', '', 0), { content: words })
  if (isInLink || !isSafe(source)) return words === '' ? [] : [text]
  const open = Object.assign(new New('link_open', 'a', 1), { attrs: [['href', source]] })
  return [open, text, new New('link_close', 'a', -1)]
}

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const ALIGN = { name: 'align', values: ['left', 'center', 'right'] }
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [
    ...HEADINGS,
    ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'a', 'blockquote', 'ul', 'ol', 'li'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  allowedAttributes: {
    a: ['href', 'target', 'rel'],
    ol: ['start'],
    code: ['class'],
    th: [ALIGN],
    td: [ALIGN],
  },
  allowedClasses: { code: [/^language-[\w+#.-]{1,40}$/] },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowProtocolRelative: false,
  nestingLimit: 60,
  transformTags: {
    a: sanitizeHtml.simpleTransform('a', { target: '_blank', rel: 'noopener noreferrer nofollow' }),
    s: 'del',
  },
}

/**
 * GitHub-flavoured Markdown as clean HTML (service-api, "POST …/messages"): single newlines are line breaks, HTML in
 * it is stripped. Links that `mayLink` refuses are their words; the addresses of others stay readable, and lead nowhere.
 */
export function renderMarkdown(markdown: string, mayLink: MayLink = ANYWHERE): string {
  const written = markdown.replace(/\r\n?/g, '\n')
  const text = mayLink === ANYWHERE ? written : withoutForeignLinks(written, mayLink)
  if (text.length > MAX_LENGTH) return textAsHtml(text)
  try {
    return sanitizeHtml(parser.render(stripHtml(text), { mayLink }), ALLOWED).trim()
  } catch {
    // Thousands of nested elements overflow the stack of the parser.
    return textAsHtml(text)
  }
}

const INVISIBLE =
  /\s|\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]/gu

/** Returns whether the HTML renders as nothing. */
export const showsNothing = (html: string): boolean =>
  html.replace(/<[^<>]*>/g, '').replace(INVISIBLE, '') === ''

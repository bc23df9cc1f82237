import { emphasise, type Piece } from './emphasis.ts'
import { escapeHtml, escapeText } from './escape-html.ts'

/** Definitions of links that stand elsewhere, by their label in small letters. */
export type Links = ReadonlyMap<string, string>

const PUNCTUATION = /[!-/:-@[-`{-~]/
const SPECIAL = /[\\`*_~[\]!<\n]|https?:\/\/|www\.|[\w.+-]+@[\w-]+\.[\w.-]+/gi
const DEEPEST = 8

/** Markdown inside of a paragraph as HTML made only of the tags written in this folder. */
export function inline(text: string, links: Links, depth = 0): string {
  const pieces: Piece[] = []
  const add = (html: string): void => void pieces.push({ html })
  for (let at = 0; at < text.length; ) {
    SPECIAL.lastIndex = at
    const found = SPECIAL.exec(text)
    if (!found) {
      add(escapeText(text.slice(at)))
      break
    }
    if (found.index > at) add(escapeText(text.slice(at, found.index)))
    at = found.index
    const sign = text[at] ?? ''
    if (sign === '*' || sign === '_' || sign === '~') {
      const run = runOf(text, at, sign)
      pieces.push({ html: run, run: { sign, ...flanks(text, at, run.length), length: run.length } })
      at += run.length
      continue
    }
    const taken =
      sign === '\\'
        ? escaped(text, at)
        : sign === '`'
          ? code(text, at)
          : sign === '\n'
            ? { html: '<br>', length: 1 }
            : sign === '<'
              ? angled(text, at)
              : sign === '[' || (sign === '!' && text[at + 1] === '[')
                ? depth < DEEPEST && link(text, at, links, depth)
                : bare(text, at, found[0])
    if (taken) add(taken.html)
    else add(escapeHtml(sign))
    at += taken ? taken.length : 1
  }
  return emphasise(pieces)
}

type Taken = { html: string; length: number }

const runOf = (text: string, at: number, sign: string): string => {
  let end = at
  while (text[end] === sign) end++
  return text.slice(at, end)
}

/** CommonMark 0.31, 6.2: whether a run may begin or end emphasis. */
function flanks(text: string, at: number, length: number): { opens: boolean; closes: boolean } {
  const before = text[at - 1] ?? ' '
  const after = text[at + length] ?? ' '
  const isSpace = (sign: string) => /\s/.test(sign)
  const left = !isSpace(after) && (!PUNCTUATION.test(after) || isSpace(before) || PUNCTUATION.test(before))
  const right = !isSpace(before) && (!PUNCTUATION.test(before) || isSpace(after) || PUNCTUATION.test(after))
  if (text[at] !== '_') return { opens: left, closes: right }
  return {
    opens: left && (!right || PUNCTUATION.test(before)),
    closes: right && (!left || PUNCTUATION.test(after)),
  }
}

function escaped(text: string, at: number): Taken {
  const next = text[at + 1] ?? ''
  return PUNCTUATION.test(next) ? { html: escapeHtml(next), length: 2 } : { html: '\\', length: 1 }
}

function code(text: string, at: number): Taken {
  const run = runOf(text, at, '`')
  let end = text.indexOf(run, at + run.length)
  while (end !== -1 && text[end + run.length] === '`')
    end = text.indexOf(run, end + runOf(text, end, '`').length)
  if (end === -1) return { html: run, length: run.length }
  const inner = text.slice(at + run.length, end).replace(/\n/g, ' ')
  const bare = /^ .* $/.test(inner) && inner.trim() !== '' ? inner.slice(1, -1) : inner
  return { html: `<code>${escapeHtml(bare)}</code>`, length: end + run.length - at }
}

function angled(text: string, at: number): Taken | null {
  const [whole, target = ''] =
    /^<((?:https?:\/\/|mailto:)[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>/i.exec(text.slice(at, at + 2_100)) ?? []
  if (whole === undefined) return null
  return {
    html: anchor(target.includes(':') ? target : `mailto:${target}`, escapeHtml(target)),
    length: whole.length,
  }
}

/** An address that stands in the text as it is. */
function bare(text: string, at: number, found: string): Taken | null {
  if (found.includes('@')) {
    const address = found.replace(/[.-]+$/, '')
    return { html: anchor(`mailto:${address}`, escapeHtml(address)), length: address.length }
  }
  if (!/^(https?:|www)/i.test(found) || /\w/.test(text[at - 1] ?? ' ')) return null
  let address = /^[^\s<>"`]{1,2000}/.exec(text.slice(at, at + 2_000))?.[0] ?? ''
  address = address.replace(/[?!.,:;*_~'\])]+$/, (tail) =>
    tail.startsWith(')') && address.includes('(') ? ')' : '',
  )
  if (address.length <= found.length) return { html: escapeText(found), length: found.length }
  return {
    html: anchor(/^www/i.test(address) ? `https://${address}` : address, escapeHtml(address)),
    length: address.length,
  }
}

/** `[words](target)`, `[words][label]` or `[label]`; a picture becomes a link to it. */
function link(text: string, at: number, links: Links, depth: number): Taken | null {
  const isPicture = text[at] === '!'
  const start = at + (isPicture ? 2 : 1)
  const end = closingOf(text, start)
  if (end === -1) return null
  const words = text.slice(start, end)
  const [direct, inAngles, plain] =
    /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(
      text.slice(end + 1, end + 3_000),
    ) ?? []
  const [reference, label] = /^\[([^\]\n]{0,200})\]/.exec(text.slice(end + 1, end + 210)) ?? []
  const target =
    direct === undefined
      ? links.get((label || words).trim().toLowerCase())
      : (inAngles ?? plain ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1')
  if (target === undefined) return null
  const shown =
    words.trim() === '' ? (isPicture ? escapeHtml(target) : '') : inline(words, new Map(), depth + 1)
  const length = end + 1 - at + (direct ?? reference ?? '').length
  return { html: isSafe(target) ? anchor(target, withoutAnchors(shown)) : shown, length }
}

function closingOf(text: string, start: number): number {
  let open = 0
  for (let at = start; at < text.length && at < start + 2_000; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '[') open++
    else if (text[at] === ']' && open-- === 0) return at
  }
  return -1
}

const isSafe = (target: string): boolean => /^(?:https?:\/\/|mailto:|tel:)[^\s]/i.test(target)

/** Only these lead anywhere: whatever else stands in a reply stays words. */
const anchor = (target: string, html: string): string =>
  `<a href="${escapeHtml(target)}" target="_blank" rel="noopener noreferrer nofollow">${html}</a>`

const withoutAnchors = (html: string): string => html.replace(/<\/?a\b[^>]*>/g, '')

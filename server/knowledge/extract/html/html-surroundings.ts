import { hasContactData } from './contact-data.ts'
import { type HtmlElement, nameOf, SKIPPED, textOf } from './html-node.ts'

const FRAME = new Set(['HEADER', 'FOOTER', 'ASIDE', 'NAV', 'FORM', 'DIALOG'])
const FRAME_SELECTOR = [...FRAME, 'input', 'select', 'textarea', '[role]'].join(', ').toLowerCase()
const FRAME_ROLE = /^(?:banner|contentinfo|complementary|navigation|search|dialog|alertdialog|form|menu)$/
const FRAME_NAMED =
  /(?:^|[\s_-])(?:site-?)?(?:header|footer|nav(?:bar)?|menu|top-?bar|bottom-?bar|cookies?|consent|modal|popup|overlay|newsletter|subscribe|related|comments?|share|social|search|login|sidebar|breadcrumbs?|feedback)(?:$|[\s_-])/i
const FOOTER_NAMED = /(?:^|[\s_-])(?:site-?)?footer(?:$|[\s_-])/i
const SHORT_TEXT = 40
const LONGEST_COOKIE_NOTE = 600
/** A longer sidebar is that of the site. */
const LONGEST_BOX = 1_200
const NEWSLETTER_NAMED = /(?:^|[\s_-])(?:newsletter|subscribe|mailing-?list)(?:$|[\s_-])/i
/** Words for a newsletter, which a site offers on every page. */
const NEWSLETTER =
  /newsletter|mailing list|infolettre|nieuwsbrief|nyhedsbrev|nyhetsbrev|рассылк|bülten|メルマガ|ニュースレター|뉴스레터|订阅|訂閱|電子報/i
const MOST_ELEMENTS = 2_000

/**
 * What stands around the main part of a page: blocks of text before and after it, such as a notice, and the frames of
 * the site, such as headers, footers and sidebars.
 */
export type Surroundings = { before: HtmlElement[]; after: HtmlElement[]; frames: HtmlElement[] }

export function surroundingsOf(main: HtmlElement): Surroundings {
  const found: Surroundings = { before: [], after: [], frames: [] }
  let left = MOST_ELEMENTS
  const collect = (element: HtmlElement, blocks: HtmlElement[]): void => {
    left -= 1
    if (left < 0 || isUnseen(element)) return
    if (isBoxOfText(element)) blocks.push(element)
    else if (isFrame(element)) found.frames.push(element)
    else if (hasFrame(element)) for (const child of element.children) collect(child, blocks)
    else if (isText(element)) blocks.push(element)
  }
  for (const { siblings, at } of levelsAbove(main)) {
    const before: HtmlElement[] = []
    for (const sibling of siblings.slice(0, at)) collect(sibling, before)
    found.before.unshift(...before)
    for (const sibling of siblings.slice(at + 1)) collect(sibling, found.after)
  }
  return found
}

/** Returns the outermost headers and footers of a page whose main part is not marked. */
export function framesOf(root: HtmlElement): HtmlElement[] {
  const found: HtmlElement[] = []
  let left = MOST_ELEMENTS
  const visit = (element: HtmlElement): void => {
    left -= 1
    if (left < 0 || isUnseen(element) || /^(?:MAIN|ARTICLE)$/.test(nameOf(element))) return
    if (isFrame(element) && !element.querySelector('main, article')) found.push(element)
    else for (const child of element.children) visit(child)
  }
  for (const child of root.children) visit(child)
  return found
}

/** Returns for each element around `main`, from the inside out, its children and the place of the inner one. */
function levelsAbove(main: HtmlElement): { siblings: HtmlElement[]; at: number }[] {
  const levels: { siblings: HtmlElement[]; at: number }[] = []
  for (let inner = main; inner.parentElement; inner = inner.parentElement) {
    const siblings = [...inner.parentElement.children]
    levels.push({ siblings, at: siblings.indexOf(inner) })
  }
  return levels
}

const isUnseen = (element: HtmlElement): boolean =>
  SKIPPED.has(nameOf(element)) ||
  nameOf(element) === 'HEAD' ||
  element.hasAttribute('hidden') ||
  element.getAttribute('aria-hidden') === 'true' ||
  /display:\s*none/i.test(element.getAttribute('style') ?? '')

const isFrame = (element: HtmlElement): boolean =>
  FRAME.has(nameOf(element)) ||
  FRAME_ROLE.test(element.getAttribute('role') ?? '') ||
  isNamed(element, FRAME_NAMED)

/** Returns whether the class or the id of an element matches a pattern. */
const isNamed = (element: HtmlElement, pattern: RegExp): boolean =>
  pattern.test(element.getAttribute('class') ?? '') || pattern.test(element.id)

export const isFooter = (element: HtmlElement): boolean =>
  nameOf(element) === 'FOOTER' ||
  element.getAttribute('role') === 'contentinfo' ||
  isNamed(element, FOOTER_NAMED)

export const isSidebar = (element: HtmlElement): boolean =>
  nameOf(element) === 'ASIDE' || element.getAttribute('role') === 'complementary'

export const isHeader = (element: HtmlElement): boolean =>
  nameOf(element) === 'HEADER' || element.getAttribute('role') === 'banner'

export const isNewsletter = (element: HtmlElement): boolean => isNamed(element, NEWSLETTER_NAMED)

/** Returns whether a sidebar belongs to the page: it has sentences and no form, unlike lists of other pages. */
function isBoxOfText(element: HtmlElement): boolean {
  if (!isSidebar(element) || isNamed(element, FRAME_NAMED)) return false
  if (element.querySelector('form, input, select, textarea, nav')) return false
  const text = textOf(element)
  return text.length <= LONGEST_BOX && hasSentence(text) && isText(element) && !NEWSLETTER.test(text)
}

/** Returns whether a text contains the end of a sentence. A decimal point is not one. */
export const hasSentence = (text: string): boolean => /[.!?](?:["'”»)]|\s|$)|[。！？]/.test(text)

function hasFrame(element: HtmlElement): boolean {
  const marked = element.querySelectorAll(FRAME_SELECTOR)
  return [...marked].some((inner) => isFrame(inner) || /^(?:INPUT|SELECT|TEXTAREA)$/.test(nameOf(inner)))
}

/** Returns whether an element holds text of the page: a sentence or more, but no row of links and no note about cookies. */
function isText(element: HtmlElement): boolean {
  const text = textOf(element)
  const linked = [...element.querySelectorAll('a')].reduce((sum, link) => sum + textOf(link).length, 0)
  if (/\bcookies?\b/i.test(text) && text.length <= LONGEST_COOKIE_NOTE) return false
  // A breadcrumb is a row of links, too, and ends with the name of the page.
  const isSaid =
    /[.!?。！？]/.test(text) || (linked === 0 && text.length >= SHORT_TEXT && !/\s[»›>/→]\s/.test(text))
  return hasContactData(text) || (isSaid && linked * 2 <= text.length)
}

import { BLOCKS, type HtmlElement, nameOf, SKIPPED, textOf } from './html-node.ts'

const FRAME = /^(?:HEADER|FOOTER|ASIDE|NAV|FORM|DIALOG)$/
const FRAME_ROLE = /^(?:banner|contentinfo|complementary|navigation|search|dialog|alertdialog|form|menu)$/
const FRAME_NAMED =
  /(?:^|[\s_-])(?:site-?)?(?:header|footer|nav(?:bar)?|menu|top-?bar|bottom-?bar|cookies?|consent|modal|popup|overlay|newsletter|subscribe|related|comments?|share|social|search|login|sidebar|breadcrumbs?|feedback)(?:$|[\s_-])/i
const FOOTER_NAMED = /(?:^|[\s_-])(?:site-?)?footer(?:$|[\s_-])/i
const NAVIGATION_NAMED =
  /(?:^|[\s_-])(?:nav|navbar|navheader|navfooter|navigation|breadcrumbs?|pagination|pager|prev-next|toc|table-of-contents|skip-?link|edit-this-page)(?:$|[\s_-])/i
/** The lengths of a link or a line of links, of a paragraph, and of a sidebar that belongs to the page. */
const MAX_LINK_LENGTH = 60
const MAX_LINE_LENGTH = 300
const SHORT_TEXT = 40
const SHORT = 120
const MAX_BOX_LENGTH = 1_200
/** Looking at an element takes a part of a millisecond, and a page may have tens of thousands. */
const MAX_ELEMENTS = 2_000
const MAX_BOXES = 500

/** Returns the outermost parts of a page that belong to the site, such as headers, footers and sidebars. */
export function framesOf(root: HtmlElement, main: HtmlElement | null): HtmlElement[] {
  const found: HtmlElement[] = []
  let left = MAX_ELEMENTS
  const visit = (element: HtmlElement): void => {
    left -= 1
    if (left < 0 || element === main || SKIPPED.has(nameOf(element)) || nameOf(element) === 'HEAD') return
    if (isFrame(element) && !element.querySelector('main, [role=main], article')) {
      if (!isBoxOfText(element)) found.push(element)
    } else if (main || !/^(?:MAIN|ARTICLE)$/.test(nameOf(element)))
      for (const child of element.children) visit(child)
  }
  for (const child of root.children) visit(child)
  return found
}

const isFrame = (element: HtmlElement): boolean =>
  FRAME.test(nameOf(element)) ||
  FRAME_ROLE.test(element.getAttribute('role') ?? '') ||
  isNamed(element, FRAME_NAMED)

/** Returns whether the class or the id of an element matches a pattern. */
const isNamed = (element: HtmlElement, pattern: RegExp): boolean =>
  pattern.test(element.getAttribute('class') ?? '') || pattern.test(element.id)

export const isFooter = (element: HtmlElement): boolean =>
  nameOf(element) === 'FOOTER' ||
  element.getAttribute('role') === 'contentinfo' ||
  isNamed(element, FOOTER_NAMED)

/** Returns the name of a part of a page for its owner. */
export function placeOf(element: HtmlElement): string {
  if (isFooter(element)) return 'footer'
  if (isHeader(element)) return 'header'
  if (isNavigation(element)) return 'navigation'
  if (isSidebar(element)) return 'sidebar'
  return element.getAttribute('role') || element.id || nameOf(element).toLowerCase()
}

export const isHeader = (element: HtmlElement): boolean =>
  nameOf(element) === 'HEADER' || element.getAttribute('role') === 'banner'

const isSidebar = (element: HtmlElement): boolean =>
  nameOf(element) === 'ASIDE' || element.getAttribute('role') === 'complementary'

/** Returns whether a sidebar belongs to the page: it has sentences and no form, unlike lists of other pages. */
function isBoxOfText(element: HtmlElement): boolean {
  if (!isSidebar(element) || isNamed(element, FRAME_NAMED)) return false
  if (element.querySelector('form, input, select, textarea, nav')) return false
  const text = textOf(element)
  return text.length <= MAX_BOX_LENGTH && hasSentence(text) && !isMostlyLinks(element)
}

/** Returns whether a text contains the end of a sentence. A decimal point is not one. */
export const hasSentence = (text: string): boolean => /[.!?](?:["'”»)]|\s|$)|[。！？]/.test(text)

/** Returns whether a link opens a mail program or a telephone. */
export const isContactLink = (link: HtmlElement): boolean =>
  /^(?:tel|mailto|sms|whatsapp):/i.test(link.getAttribute('href') ?? '')

/**
 * Returns true for navigation: elements that are marked as such, and lines that consist of links only, such as
 * "Previous | Up | Next" or "Back to top". A list of links to other pages counts as content.
 */
export function isNavigation(element: HtmlElement): boolean {
  const name = nameOf(element)
  if (name === 'NAV' || element.getAttribute('role') === 'navigation') return true
  // The name of the chapter may be between "Previous" and "Next".
  if (isNamed(element, NAVIGATION_NAMED))
    return isMostlyLinks(element) || (element.querySelector('a') !== null && textOf(element).length < SHORT)
  if (name === 'P' || (name === 'DIV' && hasOnlyInline(element))) return isLineOfLinks(element)
  return (name === 'UL' || name === 'OL') && leadsOnlyInside(element)
}

/** Returns those of the elements that are boxes of text between the paragraphs of the page, such as a warning. */
export function boxesOfText(elements: Iterable<HtmlElement>): HtmlElement[] {
  return [...elements].slice(0, MAX_BOXES).filter((element) => {
    const parent = element.parentElement
    if (!parent || nameOf(parent) === 'BODY' || element.querySelector('form, input, nav')) return false
    const isAmongOthers = [...parent.children].some(
      (other) => other !== element && nameOf(other) === 'P' && textOf(other).length >= SHORT_TEXT,
    )
    return isAmongOthers && textOf(element).length >= SHORT_TEXT && !isMostlyLinks(element)
  })
}

function isMostlyLinks(element: HtmlElement): boolean {
  const linked = [...element.querySelectorAll('a')].reduce((sum, link) => sum + textOf(link).length, 0)
  return linked * 2 > textOf(element).length
}

function isLineOfLinks(element: HtmlElement): boolean {
  if ((element.textContent ?? '').length > MAX_LINE_LENGTH) return false
  const links = [...element.querySelectorAll('a')]
  if (links.length === 0 || links.some(isContactLink)) return false
  const texts = links.map(textOf)
  const rest = texts.reduce((left, text) => left.replace(text, ''), textOf(element))
  if (
    /[\p{L}\p{N}]/u.test(rest) ||
    texts.some((text) => text.length > MAX_LINK_LENGTH || /[.!?]$/.test(text))
  )
    return false
  return links.length > 1 || links.every(isInside)
}

/** Detects a table of contents, in which each entry links to a place on the same page. */
function leadsOnlyInside(list: HtmlElement): boolean {
  const links = [...list.querySelectorAll('a')]
  return links.length > 1 && links.every(isInside) && isMostlyLinks(list)
}

const isInside = (link: HtmlElement): boolean => /^#|^$/.test(link.getAttribute('href') ?? 'elsewhere')

const hasOnlyInline = (element: HtmlElement): boolean =>
  [...element.children].every(
    (child) => !BLOCKS.has(nameOf(child)) && !/^(ul|ol|pre|h\d)$/i.test(child.tagName),
  )

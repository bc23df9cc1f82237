import { isContactLink } from './contact-sections.ts'
import { BLOCKS, type HtmlElement, nameOf, textOf } from './html-node.ts'

const NAMED =
  /(?:^|[\s_-])(?:nav|navbar|navheader|navfooter|navigation|breadcrumbs?|pagination|pager|prev-next|toc|table-of-contents|skip-?link|edit-this-page)(?:$|[\s_-])/i
const LONGEST_LINK = 60
const LONGEST_LINE = 300
const SHORT = 120
const MOST_LINKS = 40
const SHORT_TEXT = 40
const MOST_BOXES = 500

/**
 * Returns true for navigation: elements that are marked as such, and lines that consist of links only, such as
 * "Previous | Up | Next" or "Back to top". A list of links to other pages counts as content.
 */
export function isNavigation(element: HtmlElement): boolean {
  const name = nameOf(element)
  if (name === 'NAV' || element.getAttribute('role') === 'navigation') return true
  if (!BLOCKS.has(name)) return false
  const isNamed = NAMED.test(element.getAttribute('class') ?? '') || NAMED.test(element.id)
  if (isNamed && name !== 'BODY' && name !== 'MAIN' && name !== 'ARTICLE') return isMostlyLinks(element)
  if (name === 'P' || (name === 'DIV' && hasOnlyInline(element))) return isLineOfLinks(element)
  return (name === 'UL' || name === 'OL') && leadsOnlyInside(element)
}

/**
 * Returns those of the elements that are boxes of text between the paragraphs of the page, such as the sidebars of a
 * manual or a warning. Sidebars of a site stand beside the text instead, and other boxes hold links or a form.
 */
export function boxesOfText(elements: Iterable<HtmlElement>): HtmlElement[] {
  // A page may have tens of thousands of boxes, and each look at one takes a fraction of a millisecond.
  const paragraphs = new Map<HtmlElement, HtmlElement[]>()
  return [...elements].slice(0, MOST_BOXES).filter((element) => {
    const parent = element.parentElement
    if (!parent || nameOf(parent) === 'BODY' || element.querySelector('form, input, nav')) return false
    const known = paragraphs.get(parent) ?? [...parent.children].filter(isParagraph).slice(0, 2)
    paragraphs.set(parent, known)
    const isAmongOthers = known.some((paragraph) => paragraph !== element)
    return isAmongOthers && textOf(element).length >= SHORT_TEXT && !isMostlyLinks(element)
  })
}

const isParagraph = (element: HtmlElement): boolean =>
  (nameOf(element) === 'P' || (nameOf(element) === 'DIV' && hasOnlyInline(element))) &&
  textOf(element).length >= SHORT_TEXT &&
  !isLineOfLinks(element)

function isMostlyLinks(element: HtmlElement): boolean {
  const linked = [...element.querySelectorAll('a')].reduce((sum, link) => sum + textOf(link).length, 0)
  const length = textOf(element).length
  // The name of the chapter may be between "Previous" and "Next".
  return linked * 2 > length || (linked > 0 && length < SHORT)
}

function isLineOfLinks(element: HtmlElement): boolean {
  if ((element.textContent ?? '').length > LONGEST_LINE) return false
  const links = [...element.querySelectorAll('a')]
  if (links.length === 0 || links.some(isContactLink)) return false
  const texts = links.map(textOf)
  const rest = texts.reduce((left, text) => left.replace(text, ''), textOf(element))
  if (/[\p{L}\p{N}]/u.test(rest) || texts.some((text) => text.length > LONGEST_LINK || /[.!?]$/.test(text)))
    return false
  return links.length > 1 || isInside(links[0]!)
}

/** Detects a table of contents, in which each entry links to a place on the same page. */
function leadsOnlyInside(list: HtmlElement): boolean {
  const links = [...list.querySelectorAll('a')].slice(0, MOST_LINKS)
  if (links.length < 2 || !links.every(isInside)) return false
  const linked = links.reduce((sum, link) => sum + textOf(link).length, 0)
  return linked * 1.2 > textOf(list).replace(/[,\s]/g, '').length
}

const isInside = (link: HtmlElement): boolean => /^#|^$/.test(link.getAttribute('href') ?? 'elsewhere')

function hasOnlyInline(element: HtmlElement): boolean {
  for (const child of element.children)
    if (BLOCKS.has(nameOf(child)) || /^(ul|ol|pre|h\d)$/i.test(child.tagName)) return false
  return true
}

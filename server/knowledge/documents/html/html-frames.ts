import { type HtmlElement, nameOf, SKIPPED, textOf } from './html-node.ts'

const FRAME = /^(?:HEADER|FOOTER|ASIDE|NAV|SEARCH|DIALOG)$/
const FRAME_ROLE = /^(?:banner|contentinfo|complementary|navigation|search|dialog|alertdialog|menu)$/
const NAVIGATION_NAMED =
  /(?:^|[\s_-])(?:nav|navbar|navheader|navfooter|navigation|breadcrumbs?|pagination|pager|prev-next|toc|table-of-contents|skip-?link|edit-this-page)(?:$|[\s_-])/i
/** The lengths of the name of a chapter between links, and of a sidebar that belongs to the page. */
const SHORT = 120
const MAX_BOX_LENGTH = 1_200
/** Looking at an element takes a part of a millisecond, and a page may have tens of thousands. */
const MAX_ELEMENTS = 2_000

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
  FRAME.test(nameOf(element)) || FRAME_ROLE.test(element.getAttribute('role') ?? '')

/** Returns whether the class or the id of an element matches a pattern. */
const isNamed = (element: HtmlElement, pattern: RegExp): boolean =>
  pattern.test(element.getAttribute('class') ?? '') || pattern.test(element.id)

export const isFooter = (element: HtmlElement): boolean =>
  nameOf(element) === 'FOOTER' || element.getAttribute('role') === 'contentinfo'

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
  if (!isSidebar(element)) return false
  if (element.querySelector('form, input, select, textarea, nav')) return false
  const text = textOf(element)
  return text.length <= MAX_BOX_LENGTH && hasSentence(text) && !isMostlyLinks(element)
}

/** Returns whether a text contains the end of a sentence. A decimal point is not one. */
export const hasSentence = (text: string): boolean => /[.!?](?:["'”»)]|\s|$)|[。！？]/.test(text)

/** Returns whether a link opens a mail program or a telephone. */
export const isContactLink = (link: HtmlElement): boolean =>
  /^(?:tel|mailto|sms|whatsapp):/i.test(link.getAttribute('href') ?? '')

/** Returns true for elements that are marked as navigation. A list of links to other pages counts as content. */
export function isNavigation(element: HtmlElement): boolean {
  if (nameOf(element) === 'NAV' || element.getAttribute('role') === 'navigation') return true
  // The name of the chapter may be between "Previous" and "Next".
  return (
    isNamed(element, NAVIGATION_NAMED) &&
    (isMostlyLinks(element) || (element.querySelector('a') !== null && textOf(element).length < SHORT))
  )
}

function isMostlyLinks(element: HtmlElement): boolean {
  const linked = [...element.querySelectorAll('a')].reduce((sum, link) => sum + textOf(link).length, 0)
  return linked * 2 > textOf(element).length
}

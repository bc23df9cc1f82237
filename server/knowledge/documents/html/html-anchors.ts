import { anchorIn, type HtmlElement, headingText } from './html-node.ts'

/**
 * The ids of a page's headings and terms by their text. When several have the same text, each id is used once, in
 * order.
 */
export type Anchors = { next(text: string): string | null }

export function anchorsOf(root: HtmlElement): Anchors {
  const ids = new Map<string, string[]>()
  for (const element of root.querySelectorAll('h1, h2, h3, h4, h5, h6, dt')) {
    const id = anchorIn(element) ?? anchorBefore(element)
    const text = headingText(element)
    if (id) ids.set(text, [...(ids.get(text) ?? []), id])
  }
  return {
    next(text) {
      const [id, ...others] = ids.get(text) ?? []
      if (others.length > 0) ids.set(text, others)
      return id ?? null
    },
  }
}

/** Many generators give the id to the section that a heading begins, or to an empty anchor before it. */
function anchorBefore(heading: HtmlElement): string | null {
  const before = heading.previousElementSibling
  if (before) return /^a$/i.test(before.tagName) ? before.id || before.getAttribute('name') : null
  const parent = heading.parentElement
  if (!parent || !/^(section|div|article|header)$/i.test(parent.tagName)) return null
  return parent.id || (/^header$/i.test(parent.tagName) ? (parent.parentElement?.id ?? null) : null) || null
}

import { posix } from 'node:path'
import { DOMParser } from 'linkedom'
import { ExtractFailure } from '../extract-failure.ts'
import type { HtmlElement } from '../html/html-node.ts'
import { exceededLimit } from '../html/html-shape.ts'

export type Parts = ReadonlyMap<string, Uint8Array>

/** The subset of the DOM that is used to change a part. */
export type XmlElement = Omit<HtmlElement, 'children' | 'parentElement'> & {
  children: Iterable<XmlElement>
  parentElement: XmlElement | null
  setAttribute(name: string, value: string): void
  append(...nodes: (XmlElement | string)[]): void
  prepend(node: XmlElement): void
  after(...nodes: XmlElement[]): void
  replaceWith(...nodes: XmlElement[]): void
  remove(): void
}

export type XmlDocument = XmlElement & { createElement(name: string): XmlElement; toString(): string }

/** Returns a part of an office file as XML: names keep their prefix and case, and any element may close itself. */
export function xmlOf(part: Uint8Array): XmlDocument {
  const text = Buffer.from(part).toString('utf8')
  if (exceededLimit(text, { elements: Number.POSITIVE_INFINITY, depth: DEEPEST, xmlMode: true }))
    throw new ExtractFailure(
      'broken',
      'The elements of this file are nested too deeply. Open it in the program it was made with, save it again and retry.',
    )
  const parsed: object = new DOMParser().parseFromString(text, 'text/xml')
  return parsed as XmlDocument
}

/** Files of office programs stay far below it, and functions that call themselves for each level above. */
const DEEPEST = 500

/**
 * Returns the outermost descendants of an element with these names, in order. What stands for them in older programs is
 * passed over, because it repeats them.
 */
export function named(root: XmlElement, ...names: string[]): XmlElement[] {
  const found: XmlElement[] = []
  const visit = (element: XmlElement): void => {
    for (const child of element.children) {
      if (names.includes(child.tagName)) found.push(child)
      else if (child.tagName !== 'mc:Fallback') visit(child)
    }
  }
  visit(root)
  return found
}

/** Returns all descendants of an element with these names, in order. */
export const allNamed = (root: XmlElement, ...names: string[]): XmlElement[] =>
  [...root.children].flatMap((child) => [
    ...(names.includes(child.tagName) ? [child] : []),
    ...allNamed(child, ...names),
  ])

export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element && [...element.children].find(({ tagName }) => tagName === name)

/** Returns the closest ancestor with a name. */
export function ancestorOf(element: XmlElement, name: string): XmlElement | null {
  const parent = element.parentElement
  return parent === null || parent.tagName === name ? parent : ancestorOf(parent, name)
}

/** Returns the value of a child element, such as `<w:start w:val="1"/>`, or null without the child. */
export function settingOf(element: XmlElement | undefined, name: string): string | null {
  const child = childOf(element, name)
  return child ? (child.getAttribute(`${name.split(':')[0]}:val`) ?? '') : null
}

/** Returns the targets of a part's relationships by their ids. */
export function targetsOf(parts: Parts, path: string): Map<string, { path: string; type: string }> {
  const rels = parts.get(posix.join(posix.dirname(path), '_rels', `${posix.basename(path)}.rels`))
  if (!rels) return new Map()
  return new Map(
    named(xmlOf(rels), 'Relationship').map((one) => {
      const target = one.getAttribute('Target') ?? ''
      const whole = target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(path), target)
      return [one.getAttribute('Id') ?? '', { path: whole, type: one.getAttribute('Type') ?? '' }]
    }),
  )
}

/** Returns whether a property that may be switched off is on: its value is null if it is not there. */
export const isOn = (value: string | null): boolean => value !== null && !/^(?:0|false|off)$/.test(value)

import type { GapCounter } from '../gaps.ts'
import { DRAWINGS, drawnLines, OBJECTS } from './drawing-text.ts'
import { partsOf } from './embedded-files.ts'
import { equationText } from './equation-text.ts'
import { listLabels } from './list-labels.ts'
import {
  allNamed,
  ancestorOf,
  childOf,
  isOn,
  named,
  type Parts,
  settingOf,
  type XmlDocument,
  type XmlElement,
  xmlOf,
} from './office-xml.ts'

const READ = /^word\/(?:document|footnotes|endnotes)\d*\.xml$/
/** Bookmarks with this name hold the label of a paragraph, because mammoth writes them into its HTML. */
export const LABEL = 'list-label:'

/**
 * Returns the parts of a Word file in which everything that a reader sees is text: the labels of numbered paragraphs,
 * equations, readings above words, chosen values, charts and diagrams. Hidden text is gone. mammoth does none of it. What
 * cannot be shown is counted.
 */
export function shownDocx(
  parts: Parts,
  missing: GapCounter,
  embedded: (string | null)[],
): Map<string, Uint8Array> {
  const hidden = hiddenStyles(parts)
  return new Map(
    [...parts].map(([name, part]) => {
      if (!READ.test(name)) return [name, part]
      const document = xmlOf(part)
      labelParagraphs(document, parts)
      for (const sign of allNamed(document, 'w:softHyphen')) sign.remove()
      for (const run of allNamed(document, 'w:r')) if (isHidden(run, hidden)) run.remove()
      embedded.push(...partsOf(parts, name, named(document, ...OBJECTS)))
      writeOut(document, parts, name, missing)
      return [name, Buffer.from(document.toString())]
    }),
  )
}

function labelParagraphs(document: XmlDocument, parts: Parts): void {
  const labelOf = listLabels(parts)
  const visit = (paragraph: XmlElement): void => {
    const label = labelOf(paragraph)
    if (label !== null) {
      const mark = document.createElement('w:bookmarkStart')
      mark.setAttribute('w:id', '0')
      mark.setAttribute('w:name', LABEL + label)
      const properties = childOf(paragraph, 'w:pPr')
      if (properties) properties.after(mark)
      else paragraph.prepend(mark)
    }
    // Boxes of text have paragraphs of their own.
    for (const inner of named(paragraph, 'w:p')) visit(inner)
  }
  for (const paragraph of named(document, 'w:p')) visit(paragraph)
}

function writeOut(document: XmlDocument, parts: Parts, name: string, missing: GapCounter): void {
  const element = (tag: string, ...children: (XmlElement | string)[]): XmlElement => {
    const made = document.createElement(tag)
    if (tag === 'w:t') made.setAttribute('xml:space', 'preserve')
    made.append(...children)
    return made
  }
  const run = (text: string): XmlElement => element('w:r', element('w:t', text))
  for (const ruby of allNamed(document, 'w:ruby')) {
    const [base = '', reading = ''] = ['w:rubyBase', 'w:rt'].map((tag) =>
      allNamed(childOf(ruby, tag) ?? ruby, 'w:t')
        .map(({ textContent }) => textContent)
        .join(''),
    )
    ruby.replaceWith(element('w:t', reading === '' ? base : `${base}（${reading}）`))
  }
  // mammoth reads no fields that are written in one element, such as those of a mail merge.
  for (const field of allNamed(document, 'w:fldSimple')) field.replaceWith(...field.children)
  for (const equation of allNamed(document, 'm:oMath')) equation.replaceWith(run(equationText(equation)))
  for (const group of allNamed(document, 'm:oMathPara')) group.replaceWith(...named(group, 'w:r'))
  for (const list of allNamed(document, 'w:ddList')) {
    const entries = named(list, 'w:listEntry')
    const chosen = entries[Number(settingOf(list, 'w:result') ?? 0)]?.getAttribute('w:val')
    if (chosen) ancestorOf(list, 'w:r')?.after(run(chosen))
  }
  for (const drawing of allNamed(document, ...DRAWINGS)) {
    const lines = drawnLines(parts, name, drawing)
    if (lines === null) missing.add('charts', '')
    ancestorOf(drawing, 'w:p')?.after(...(lines ?? []).map((line) => element('w:p', run(line))))
  }
}

/** Returns the styles whose text is hidden. */
function hiddenStyles(parts: Parts): Set<string | null> {
  const part = parts.get('word/styles.xml')
  const styles = part ? named(xmlOf(part), 'w:style') : []
  return new Set(
    styles
      .filter((style) => isOn(settingOf(childOf(style, 'w:rPr'), 'w:vanish')))
      .map((style) => style.getAttribute('w:styleId')),
  )
}

function isHidden(run: XmlElement, styles: ReadonlySet<string | null>): boolean {
  const properties = childOf(run, 'w:rPr')
  const own = settingOf(properties, 'w:vanish')
  if (own !== null) return isOn(own)
  const paragraph = childOf(ancestorOf(run, 'w:p') ?? undefined, 'w:pPr')
  return [settingOf(properties, 'w:rStyle'), settingOf(paragraph, 'w:pStyle')].some(
    (style) => style !== null && styles.has(style),
  )
}

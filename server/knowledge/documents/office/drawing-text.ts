import { tableRows } from '../table-rows.ts'
import { equationText } from './equation-text.ts'
import { named, type Parts, targetsOf, type XmlElement, xmlOf } from './office-xml.ts'

/** Elements that stand for a chart or a diagram, whose content is in another part. */
export const DRAWINGS: readonly string[] = ['c:chart', 'dgm:relIds', 'cx:chart']
/** Elements that stand for a file of another program. */
export const OBJECTS: readonly string[] = ['o:OLEObject', 'p:oleObj', 'w:altChunk']

/** Returns the paragraphs of DrawingML, such as those of a shape, each as one line. */
export function drawingLines(element: XmlElement): string[] {
  return named(element, 'a:p').flatMap((paragraph) => {
    const runs = named(paragraph, 'a:t', 'a:br', 'm:oMath').map((run) => {
      if (run.tagName === 'a:br') return ' '
      return run.tagName === 'm:oMath' ? equationText(run) : run.textContent
    })
    return runs.join('').replace(/\s+/g, ' ').trim() || []
  })
}

/**
 * Returns the lines of the chart or diagram for which an element of the part `path` stands, of a chart its titles alone
 * where its values stand beside it; null if its part is missing.
 */
export function drawnLines(
  parts: Parts,
  path: string,
  element: XmlElement,
  ofChart: 'all' | 'titles' = 'all',
): string[] | null {
  const isDiagram = element.tagName === 'dgm:relIds'
  const target = targetsOf(parts, path).get(element.getAttribute(isDiagram ? 'r:dm' : 'r:id') ?? '')
  const part = target && parts.get(target.path)
  if (!part) return null
  const drawing = xmlOf(part)
  if (isDiagram) return named(drawing, 'dgm:t').flatMap(drawingLines)
  const titles = named(drawing, 'c:title', 'cx:title').flatMap(drawingLines)
  return ofChart === 'titles' ? titles : [...titles, ...chartRows(drawing)]
}

/** Returns a row for each category of a chart with the values of all series. */
function chartRows(chart: XmlElement): string[] {
  const series = named(chart, 'c:ser').map((one) => ({
    name: pointsOf(one, 'c:tx').get('0') ?? '',
    categories: pointsOf(one, 'c:cat', 'c:xVal'),
    values: pointsOf(one, 'c:val', 'c:yVal'),
  }))
  // Newer charts, such as waterfalls, have their data apart from their series.
  const newer = named(chart, 'cx:data').map((one) => ({
    name: '',
    categories: pointsOf(one, 'cx:strDim'),
    values: pointsOf(one, 'cx:numDim'),
  }))
  const all = [...series, ...newer]
  const indexes = [
    ...new Set(all.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()])),
  ]
  const rows = indexes.map((index) => [
    all.map(({ categories }) => categories.get(index)).find(Boolean) ?? '',
    ...all.map(({ values }) => values.get(index) ?? ''),
  ])
  return tableRows([['', ...all.map(({ name }) => name)], ...rows], 1)
}

/** Returns the values that a program kept of the cells of a chart, by their index. */
function pointsOf(series: XmlElement, ...names: string[]): Map<string, string> {
  const [data] = [...series.children].filter(({ tagName }) => names.includes(tagName))
  const values = (data ? named(data, 'c:pt', 'cx:pt') : []).map((point): [string, string] => [
    point.getAttribute('idx') ?? '',
    (point.tagName === 'cx:pt' ? [point] : named(point, 'c:v'))
      .map(({ textContent }) => textContent ?? '')
      .join(' '),
  ])
  const [plain] = data && values.length === 0 ? named(data, 'c:v') : []
  return plain ? new Map([['0', plain.textContent ?? '']]) : new Map(values)
}

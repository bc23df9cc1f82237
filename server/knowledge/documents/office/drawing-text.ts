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

/** Returns the lines of the chart or diagram for which an element of the part `path` stands; none if its part is missing. */
export function drawnLines(parts: Parts, path: string, element: XmlElement): string[] {
  const isChart = element.tagName === 'c:chart'
  const target = targetsOf(parts, path).get(element.getAttribute(isChart ? 'r:id' : 'r:dm') ?? '')
  const part = target && parts.get(target.path)
  if (!part) return []
  return isChart ? chartLines(xmlOf(part)) : named(xmlOf(part), 'dgm:t').flatMap(drawingLines)
}

/** Returns the title of a chart, those of its axes, and a row for each category with the values of all series. */
function chartLines(chart: XmlElement): string[] {
  const titles = named(chart, 'c:title').flatMap(drawingLines)
  const series = named(chart, 'c:ser').map((one) => ({
    name: pointsOf(one, 'c:tx').get('0') ?? '',
    categories: pointsOf(one, 'c:cat', 'c:xVal'),
    values: pointsOf(one, 'c:val', 'c:yVal'),
  }))
  const indexes = [
    ...new Set(series.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()])),
  ]
  const rows = indexes.map((index) => [
    series.map(({ categories }) => categories.get(index)).find(Boolean) ?? '',
    ...series.map(({ values }) => values.get(index) ?? ''),
  ])
  return [...titles, ...tableRows([['', ...series.map(({ name }) => name)], ...rows], 1)]
}

/** Returns the values that a program kept of the cells of a chart, by their index. */
function pointsOf(series: XmlElement, ...names: string[]): Map<string, string> {
  const [data] = [...series.children].filter(({ tagName }) => names.includes(tagName))
  const values = (data ? named(data, 'c:pt') : []).map((point): [string, string] => [
    point.getAttribute('idx') ?? '',
    named(point, 'c:v')
      .map(({ textContent }) => textContent ?? '')
      .join(' '),
  ])
  const [plain] = data && values.length === 0 ? named(data, 'c:v') : []
  return plain ? new Map([['0', plain.textContent ?? '']]) : new Map(values)
}

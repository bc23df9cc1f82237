import { childOf, isOn, named, type Parts, settingOf, type XmlElement, xmlOf } from './office-xml.ts'

/** How one level of a list is numbered: `text` has "%1" to "%9" for the numbers of the levels. */
type Level = { start: number; format: string; text: string; isDecimal: boolean; style: string | null }
/** A list: its levels, the current number of each level, and the start numbers that override those of the levels. */
type List = { levels: Level[]; counters: (number | undefined)[]; starts: Map<number, number> }
type Place = { list: string; level: number }

const MAX_LEVELS = 9

/** Returns a function that gives the label of each next paragraph of a Word file as it is shown, such as "1.1" or "(a)". */
export function listLabels(parts: Parts): (paragraph: XmlElement) => string | null {
  const lists = listsOf(parts)
  const placeOfStyle = placesOfStyles(parts, lists)
  return (paragraph) => {
    const properties = childOf(paragraph, 'w:pPr')
    const own = placeIn(properties)
    const styled = placeOfStyle(settingOf(properties, 'w:pStyle'))
    const place = { list: own.list ?? styled.list, level: own.level ?? styled.level ?? 0 }
    const list = place.list === undefined ? undefined : lists.get(place.list)
    return list ? nextLabel(list, Math.min(place.level, MAX_LEVELS - 1)) : null
  }
}

function nextLabel({ levels, counters, starts }: List, at: number): string | null {
  const level = levels[at]
  if (!level) return null
  const start = starts.get(at)
  starts.delete(at)
  for (let above = 0; above < at; above += 1) counters[above] ??= levels[above]?.start ?? 1
  counters[at] = start ?? (counters[at] === undefined ? level.start : counters[at] + 1)
  counters.fill(undefined, at + 1)
  if (level.format === 'bullet') return null
  const label = level.text.replace(/%([1-9])/g, (_, digit: string) => {
    const number = counters[Number(digit) - 1] ?? 1
    const format = levels[Number(digit) - 1]?.format ?? 'decimal'
    return formatted(number, level.isDecimal ? 'decimal' : format)
  })
  return label.trim() || null
}

function listsOf(parts: Parts): Map<string, List> {
  const part = parts.get('word/numbering.xml')
  const root = part && xmlOf(part)
  if (!root) return new Map()
  // Lists of the same definition continue each other.
  const definitions = new Map(
    named(root, 'w:abstractNum').map((one) => [
      one.getAttribute('w:abstractNumId'),
      { levels: levelsOf(one), counters: Array<number | undefined>(MAX_LEVELS).fill(undefined) },
    ]),
  )
  return new Map(
    named(root, 'w:num').flatMap((one): [string, List][] => {
      const definition = definitions.get(settingOf(one, 'w:abstractNumId'))
      if (!definition) return []
      const overrides = named(one, 'w:lvlOverride')
      const starts = overrides.flatMap((override): [number, number][] => {
        const start = settingOf(override, 'w:startOverride')
        return start === null ? [] : [[Number(override.getAttribute('w:ilvl')), Number(start)]]
      })
      const levels = definition.levels.with(0, definition.levels[0] ?? NO_LEVEL)
      for (const [at, level] of overrides.flatMap((override) => [...levelsOf(override).entries()]))
        if (level) levels[at] = level
      return [[one.getAttribute('w:numId') ?? '', { ...definition, levels, starts: new Map(starts) }]]
    }),
  )
}

const NO_LEVEL: Level = { start: 1, format: 'bullet', text: '', isDecimal: false, style: null }

function levelsOf(definition: XmlElement): Level[] {
  const levels: Level[] = [NO_LEVEL]
  for (const level of named(definition, 'w:lvl')) {
    const at = Number(level.getAttribute('w:ilvl'))
    if (!Number.isInteger(at) || at < 0 || at >= MAX_LEVELS) continue
    levels[at] = {
      start: Number(settingOf(level, 'w:start') ?? 1),
      format: settingOf(level, 'w:numFmt') ?? 'decimal',
      text: settingOf(level, 'w:lvlText') ?? '',
      isDecimal: isOn(settingOf(level, 'w:isLgl')),
      style: settingOf(level, 'w:pStyle'),
    }
  }
  return levels
}

/** Returns the list and the level that properties of a paragraph name; the list "0" is none. */
function placeIn(properties: XmlElement | undefined): Partial<Place> {
  const numbering = childOf(properties, 'w:numPr')
  const [list, level] = [settingOf(numbering, 'w:numId'), settingOf(numbering, 'w:ilvl')]
  return {
    ...(list === null ? {} : { list }),
    ...(level === null ? {} : { level: Number(level) || 0 }),
  }
}

/** Returns a function that looks for the list of a style, and of those that it is based on. */
function placesOfStyles(
  parts: Parts,
  lists: ReadonlyMap<string, List>,
): (style: string | null) => Partial<Place> {
  const part = parts.get('word/styles.xml')
  const styles = new Map(
    (part ? named(xmlOf(part), 'w:style') : []).map((style) => [style.getAttribute('w:styleId'), style]),
  )
  const placeOf = (id: string | null, left: number): Partial<Place> => {
    const style = id === null ? undefined : styles.get(id)
    if (!style || left === 0) return {}
    const place = placeIn(childOf(style, 'w:pPr'))
    if (place.list === undefined) return { ...placeOf(settingOf(style, 'w:basedOn'), left - 1), ...place }
    const level = lists.get(place.list)?.levels.findIndex((one) => one?.style === id) ?? -1
    return level < 0 ? place : { list: place.list, level }
  }
  return (id) => placeOf(id, MAX_STYLES)
}

/** How many styles may be based on each other. */
const MAX_STYLES = 12

const ROMAN = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
})
const MAX_ROMAN = 4_000

function formatted(number: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
      return letterOf(number)
    case 'upperLetter':
      return letterOf(number).toUpperCase()
    case 'lowerRoman':
      return romanOf(number)
    case 'upperRoman':
      return romanOf(number).toUpperCase()
    case 'decimalZero':
      return String(number).padStart(2, '0')
    case 'none':
      return ''
    default:
      return String(number)
  }
}

/** After "z" follow "aa", "bb" and so on. */
const letterOf = (number: number): string =>
  number < 1
    ? String(number)
    : String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.min(Math.ceil(number / 26), 9))

function romanOf(number: number): string {
  if (number < 1 || number >= MAX_ROMAN) return String(number)
  let left = number
  let roman = ''
  for (const [letters, value] of ROMAN)
    while (left >= value) {
      roman += letters
      left -= value
    }
  return roman
}

import { settingOf, type XmlElement } from './office-xml.ts'

/**
 * Returns an equation of an office file in one line, as people type it: "E=mc^2", "(a+b)/2", "√(x)". No library that is
 * still kept reads these equations.
 */
export function equationText(equation: XmlElement): string {
  const inside = (element: XmlElement | undefined): string =>
    element ? [...element.children].map(equationText).join('') : ''
  const children = (name: string): XmlElement[] =>
    [...equation.children].filter(({ tagName }) => tagName === name)
  const text = (name: string): string => inside(children(name)[0])
  const kind = equation.tagName
  const properties = children(`${kind}Pr`)[0]
  const low = text('m:sub') && `_${grouped(text('m:sub'))}`
  const high = text('m:sup') && `^${grouped(text('m:sup'))}`
  switch (kind) {
    case 'm:t':
    case 'w:t':
      return equation.textContent ?? ''
    case 'm:f':
      return `${grouped(text('m:num'))}/${grouped(text('m:den'))}`
    case 'm:sSub':
    case 'm:sSup':
    case 'm:sSubSup':
      return `${grouped(text('m:e'))}${low}${high}`
    case 'm:sPre':
      return `${low}${high}${text('m:e')}`
    case 'm:limLow':
      return `${text('m:e')}_${grouped(text('m:lim'))} `
    case 'm:limUpp':
      return `${text('m:e')}^${grouped(text('m:lim'))} `
    case 'm:rad':
      return `${text('m:deg')}√(${text('m:e')})`
    case 'm:nary':
      return `${settingOf(properties, 'm:chr') ?? '∫'}${low}${high} ${text('m:e')}`
    case 'm:func':
      return `${text('m:fName').trim()} ${text('m:e')}`
    case 'm:acc':
      return text('m:e') + (settingOf(properties, 'm:chr') ?? '\u0302')
    case 'm:d': {
      const [open, between, close] = ['m:begChr', 'm:sepChr', 'm:endChr'].map((name) =>
        settingOf(properties, name),
      )
      return `${open ?? '('}${children('m:e')
        .map(inside)
        .join(between ?? '|')}${close ?? ')'}`
    }
    case 'm:m':
      return children('m:mr').map(equationText).join('; ')
    case 'm:mr':
      return children('m:e').map(inside).join(', ')
    case 'm:eqArr':
      return children('m:e').map(inside).join('; ')
    default:
      return inside(equation)
  }
}

/** Returns a term in parentheses if it consists of several. */
const grouped = (term: string): string =>
  /^[\p{L}\p{M}]$|^[\p{N}.,]*$|^\([^()]*\)$/u.test(term.trim()) ? term.trim() : `(${term.trim()})`

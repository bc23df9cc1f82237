import { ToolProblem } from '../tools/tool-problem.ts'
import { fill, piecesOf } from './template.ts'

type Templates = readonly (readonly [name: string, template: string])[]

// What HTTP lets stand in a value (RFC 9110, 5.5), which leaves out line breaks and NUL.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const OPEN = /^(content-type|accept|accept-language|user-agent)$/i
// A shorter piece of text would be found in answers by chance.
const SHORTEST_SECRET = 8

export const isHeaderValue = (value: string): boolean => VALUE.test(value)

export const contentTypeOf = (templates: Templates): string | undefined =>
  templates.find(([name]) => name.toLowerCase() === 'content-type')?.[1]

/** The headers with their slots filled; throws ToolProblem when a value cannot stand in a header. */
export function fillHeaders(templates: Templates, read: (slot: string) => string): Record<string, string> {
  const insert = (slot: string): string => {
    const value = read(slot)
    if (isHeaderValue(value)) return value
    throw new ToolProblem(`The input "${slot}" holds characters that cannot be sent in a header.`)
  }
  return Object.fromEntries(templates.map(([name, template]) => [name, fill(template, insert)]))
}

/** The texts of the headers that no answer may repeat, with and without a scheme like Bearer before them. */
export function secretsOf(templates: Templates): string[] {
  const texts = templates
    .filter(([name]) => !OPEN.test(name))
    .flatMap(([, template]) => piecesOf(template))
    .flatMap((piece) =>
      'text' in piece ? [piece.text.trim(), piece.text.trim().replace(/^\w+\s+/, '')] : [],
    )
  return [...new Set(texts)].filter((text) => text.length >= SHORTEST_SECRET)
}

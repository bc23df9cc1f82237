import { ToolProblem } from '../tools/tool-problem.ts'
import { fill, piecesOf } from './template.ts'

type Templates = readonly (readonly [name: string, template: string])[]

// The characters that HTTP permits in a value (RFC 9110, 5.5), which exclude line breaks and NUL.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const OPEN = /^(content-type|accept|accept-language|user-agent)$/i
// Shorter pieces of text would be found in responses by chance.
const MIN_SECRET_LENGTH = 8

export const isHeaderValue = (value: string): boolean => VALUE.test(value)

export const contentTypeOf = (templates: Templates): string | undefined =>
  templates.find(([name]) => name.toLowerCase() === 'content-type')?.[1]

/** Returns the headers with their slots filled. Throws ToolProblem when a value cannot be part of a header. */
export function fillHeaders(templates: Templates, read: (slot: string) => string): Record<string, string> {
  const insert = (slot: string): string => {
    const value = read(slot)
    if (isHeaderValue(value)) return value
    throw new ToolProblem(`The input "${slot}" contains characters that cannot be sent in a header.`)
  }
  return Object.fromEntries(templates.map(([name, template]) => [name, fill(template, insert)]))
}

/** Returns the header texts that must not appear in any result, with and without a scheme such as Bearer. */
export function secretsOf(templates: Templates): string[] {
  const texts = templates
    .filter(([name]) => !OPEN.test(name))
    .flatMap(([, template]) => piecesOf(template))
    .flatMap((piece) =>
      'text' in piece ? [piece.text.trim(), piece.text.trim().replace(/^\w+\s+/, '')] : [],
    )
  return [...new Set(texts)].filter((text) => text.length >= MIN_SECRET_LENGTH)
}

import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { InputPatterns } from './input-patterns.ts'

const FORMATS = ['date', 'time', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const
// A reference may lead to a pattern.
const PATTERN = /"(pattern|\$ref)":/

/** Creates an Ajv for schemas of action inputs, which have already been validated against the draft. */
export function newAjv(engine: InputPatterns['engine']): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    // Without this, an input that lacks a required `constructor` would pass, because every object inherits one.
    ownProperties: true,
    logger: false,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    verbose: true,
    code: { regExp: engine },
  })
  formats.default(ajv, [...FORMATS])
  refuseKeyword(ajv, 'patternProperties', () => true, 'Must not use patternProperties: name the properties.')
  refuseKeyword(
    ajv,
    'propertyNames',
    (schema) => PATTERN.test(JSON.stringify(schema)),
    'Must not use pattern or $ref in propertyNames: use enum or maxLength there.',
  )
  return ajv
}

/** Under these keywords, property names of an input are matched, and a caller may send any number of them. */
function refuseKeyword(
  ajv: Ajv2020,
  keyword: string,
  isRefused: (schema: unknown) => boolean,
  sentence: string,
): void {
  const known = ajv.getKeyword(keyword)
  if (typeof known !== 'object' || !('code' in known)) throw new Error(`Ajv has no keyword ${keyword}.`)
  ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword,
    type: 'object',
    schemaType: known.schemaType,
    code(context) {
      if (isRefused(context.schema)) throw new Error(sentence)
      known.code(context)
    },
  })
}

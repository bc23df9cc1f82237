import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifyReply } from 'fastify'
import type { TSchema } from 'typebox'
import { recordOf } from '../../unknown-values.ts'
import { unstorable } from '../bodies/storable.ts'
import { ApiError } from '../errors.ts'
import { isDate } from './dates.ts'

export type Details = Record<string, string>
/**
 * Checks a value, fills in its defaults in place, and returns a sentence for each field that fails. If a list is
 * passed for `ignored`, unknown members are removed from the value and their paths added to the list.
 */
type Validator = (value: unknown, ignored?: string[]) => Details
/**
 * A check that a schema cannot express: its keyword `rule`. It runs on values that the rest of the schema accepts,
 * apart from unknown members, and returns a sentence, one for each member that fails (by its path below the value),
 * or null.
 */
type Rule = (value: unknown) => string | Details | null
type RuleCheck = { rule: Rule; value: unknown; path: string }

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  discriminator: true,
  strict: false,
  verbose: true,
  // The rules that a check comes across go into the list that it is called on.
  passContext: true,
})
formats.default(ajv)
ajv.addFormat('day-or-time', isDate)
ajv.addKeyword({
  keyword: 'rule',
  validate(
    this: RuleCheck[],
    rule: Rule,
    value: unknown,
    _schema: unknown,
    place?: { instancePath: string },
  ) {
    this.push({ rule, value, path: pathIn(place?.instancePath ?? '').join('.') })
    return true
  },
})

export function bodyValidator(schema: TSchema): Validator {
  return validator(schema, 'body')
}

/** Checks the values of a path or a query, which arrive as text. */
export function textValidator(schema: TSchema): Validator {
  const check = validator(schema, 'query')
  const { properties: typed = {} }: { properties?: Record<string, { type?: string }> } = schema
  const properties = Object.entries(typed)
  return (value, ignored) => {
    const texts = recordOf(value)
    for (const [name, { type }] of properties) if (name in texts) texts[name] = readText(texts[name], type)
    return check(value, ignored)
  }
}

/** Reads a text as an integer or a boolean. One that is not written so stays text, which its schema refuses. */
function readText(text: unknown, type: string | undefined): unknown {
  if (type === 'integer' && typeof text === 'string' && /^-?\d+$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/**
 * Returns a validator that compiles its schema on first use, because compiling all endpoints takes a third of a
 * second at every start.
 */
function validator(schema: TSchema, whole: string): Validator {
  let check: ValidateFunction | undefined
  return (value, ignored) => {
    check ??= ajv.compile(schema)
    let asked: RuleCheck[] = []
    let errors = check.call(asked, value) ? [] : (check.errors ?? [])
    const unknown = ignored ? unknownIn(errors) : []
    if (ignored && unknown.length > 0) {
      for (const error of unknown) {
        removeUnknown(value, error)
        ignored.push(pathOf(error))
      }
      asked = []
      errors = check.call(asked, value) ? [] : (check.errors ?? [])
    }
    // Clients choose the field names, which may be those of Object.prototype.
    const found: Details = Object.create(null)
    for (const error of errors) found[pathOf(error) || whole] ??= sentence(error)
    const bad = unstorable(value)
    if (bad) found[bad.path || whole] ??= bad.sentence
    else {
      const wrong = errors.filter(({ keyword }) => keyword !== 'additionalProperties').map(pathOf)
      for (const each of asked) {
        if (!wrong.some((path) => isWithin(path, each.path))) {
          for (const [path, problem] of problemsOf(each)) found[path || whole] ??= problem
        }
      }
    }
    return found
  }
}

/**
 * Returns the members that are unknown to every alternative; for an `anyOf`, those unknown to the alternative that
 * fits best.
 */
function unknownIn(errors: ErrorObject[]): ErrorObject[] {
  const branchOf = ({ schemaPath }: ErrorObject) => /^(.*\/anyOf)\/(\d+)\//.exec(schemaPath)
  const isUnknown = ({ keyword }: ErrorObject): boolean => keyword === 'additionalProperties'
  /** The number of unknown members and of other errors of each alternative, for each `anyOf`. */
  const unions = new Map<string, Map<string, [others: number, unknown: number]>>()
  for (const error of errors) {
    const [, union = '', branch = ''] = branchOf(error) ?? []
    if (branch === '') continue
    const branches = unions.get(union) ?? new Map()
    const [others, unknown] = branches.get(branch) ?? [0, 0]
    unions.set(union, branches.set(branch, isUnknown(error) ? [others, unknown + 1] : [others + 1, unknown]))
  }
  const best = new Map(
    [...unions].map(([union, branches]) => [
      union,
      [...branches].sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1])[0]?.[0],
    ]),
  )
  return errors.filter((error) => {
    const [, union, branch] = branchOf(error) ?? []
    return isUnknown(error) && (union === undefined || best.get(union) === branch)
  })
}

function removeUnknown(value: unknown, { instancePath, params }: ErrorObject): void {
  const holder = pathIn(instancePath).reduce<unknown>((inside, name) => recordOf(inside)[name], value)
  if (typeof holder === 'object' && holder !== null)
    delete recordOf(holder)[String(params.additionalProperty)]
}

const isWithin = (path: string, place: string): boolean =>
  place === '' || path === place || path.startsWith(`${place}.`)

function problemsOf({ rule, value, path }: RuleCheck): [path: string, sentence: string][] {
  const problems = rule(value) ?? {}
  if (typeof problems === 'string') return [[path, problems]]
  return Object.entries(problems).map(([member, sentence]) => [
    path === '' ? member : `${path}.${member}`,
    sentence,
  ])
}

/** Throws 400 VALIDATION_INVALID_BODY with every failing field, if there is one. */
export function refuseInvalid(details: Details): void {
  if (Object.keys(details).length > 0) throw new ApiError('VALIDATION_INVALID_BODY', { details })
}

function pathOf(error: ErrorObject): string {
  const parts = pathIn(error.instancePath)
  if (error.keyword === 'required') parts.push(String(error.params.missingProperty))
  if (error.keyword === 'additionalProperties') parts.push(String(error.params.additionalProperty))
  if (error.keyword === 'discriminator') parts.push(String(error.params.tag))
  return parts.join('.')
}

const pathIn = (pointer: string): string[] => pointer.split('/').slice(1).map(unescapePointer)

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

function sentence(error: ErrorObject): string {
  const { keyword, params } = error
  const parent = error.parentSchema
  // Without a pattern, the sentence is about the type.
  const refused = ['pattern', 'format', ...(parent?.pattern ? [] : ['type'])]
  if (parent?.refusal && refused.includes(keyword)) return parent.refusal
  switch (keyword) {
    case 'required':
      return 'This field is required.'
    case 'additionalProperties':
      return 'This field is not known here. Remove it or check its spelling.'
    case 'type':
      return `Must be ${article([params.type].flat())}.`
    case 'enum':
      return `Must be one of: ${params.allowedValues.map(String).join(', ')}.`
    case 'const':
      return `Must be ${JSON.stringify(params.allowedValue)}.`
    case 'discriminator':
      return `Must be one of: ${tagsOf(error).join(', ')}.`
    case 'minLength':
      return params.limit === 1 ? 'Must not be empty.' : `Must have at least ${params.limit} characters.`
    case 'maxLength':
      return `Must have at most ${params.limit} characters.`
    case 'minItems':
      return `Must have at least ${params.limit} ${params.limit === 1 ? 'item' : 'items'}.`
    case 'maxItems':
      return `Must have at most ${params.limit} items.`
    case 'uniqueItems':
      return 'Must not contain the same item twice.'
    case 'minimum':
      return `Must be ${params.limit} or more.`
    case 'maximum':
      return `Must be ${params.limit} or less.`
    case 'pattern':
      return `Must match the pattern ${params.pattern}.`
    case 'format':
      return `Must be a valid ${params.format}.`
    default:
      return `Is not valid: ${error.message ?? keyword}.`
  }
}

function article(types: unknown[]): string {
  const named = types.map((type) =>
    type === 'null' ? 'null' : /^[aeio]/.test(String(type)) ? `an ${type}` : `a ${type}`,
  )
  return named.join(' or ')
}

function tagsOf(error: ErrorObject): string[] {
  const { oneOf = [], discriminator } = error.parentSchema ?? {}
  const tag: string = discriminator?.propertyName ?? ''
  return oneOf.map(
    ({ properties }: { properties: Record<string, { const: string }> }) => properties[tag]?.const ?? '?',
  )
}

/** The response header that names unknown fields of the body and the query, which were ignored. */
const IGNORED_FIELDS = 'x-parley-ignored-fields'

const MAX_COUNT = 20
const MAX_LENGTH = 100

/** Sets the response header with the ignored fields. The client chooses their names, so they may contain anything. */
export function nameIgnored(reply: FastifyReply, paths: readonly string[]): void {
  if (paths.length === 0) return
  const known = String(reply.getHeader(IGNORED_FIELDS) ?? '')
  const names = paths.map((path) => encodeURIComponent(path.slice(0, MAX_LENGTH).toWellFormed()))
  const all = [...known.split(',').filter((name) => name !== ''), ...names]
  reply.header(IGNORED_FIELDS, all.slice(0, MAX_COUNT).join(','))
}

/** An empty `cursor` requests the first page, because some clients send it for their first request. */
export function dropEmptyCursor(query: unknown): void {
  const values = recordOf(query)
  if (values.cursor === '') delete values.cursor
}

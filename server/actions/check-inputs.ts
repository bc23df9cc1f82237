import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { linearPattern } from './linear-pattern.ts'
import { refuseReferences } from './schema-references.ts'

/** Says in one sentence what is wrong with an input, or null. */
export type InputCheck = (input: unknown) => string | null

type Schema = Record<string, unknown>

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
const MOST_BYTES = 32_768
const FORMATS = ['date', 'time', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const

// Only checks schemas against the draft; it never sees one as its own.
const draft = new Ajv2020({ strict: false, logger: false })

/** Says why a schema cannot describe the inputs of an action, or null. */
export function refuseSchema(schema: Schema): string | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > MOST_BYTES) return 'Must have at most 32 KB.'
  if (schema.$schema !== undefined && schema.$schema !== DRAFT) return `$schema must be ${DRAFT}.`
  if (schema.type !== 'object') return 'Must describe an object: set "type" to "object".'
  const problem = refuseReferences(schema)
  if (problem) return problem
  if (!draft.validateSchema(schema)) {
    const [error] = draft.errors ?? []
    return `Is not a JSON Schema of draft 2020-12: ${error ? `${error.instancePath || 'it'} ${error.message}` : 'it does not match'}.`
  }
  try {
    createInputChecks()(schema)({})
    return null
  } catch (error) {
    const { message } = error as Error
    return message.endsWith('.') ? message : `Cannot be used: ${message}.`
  }
}

/**
 * Makes checks from schemas; each is compiled when it is first used and throws then if it cannot be. The checks
 * of one agent share what they need, and go together.
 */
export function createInputChecks(): (schema: Schema) => InputCheck {
  let ajv: Ajv2020 | null = null
  return (schema) => {
    let check: ValidateFunction | null = null
    return (input) => {
      ajv ??= newAjv()
      check ??= ajv.compile(schema)
      return check(input) ? null : sentence(check.errors?.[0])
    }
  }
}

function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    verbose: true,
    // The name is for generated code that is kept as a file, which this never is.
    code: { regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
  })
  ;(formats as unknown as (ajv: Ajv2020, names: readonly string[]) => void)(ajv, FORMATS)
  return ajv
}

function sentence(error: ErrorObject | undefined): string {
  if (!error) return 'The inputs are not valid.'
  const { keyword, params } = error
  const path = error.instancePath.split('/').slice(1).map(readPointer)
  const unknown = params.additionalProperty ?? params.unevaluatedProperty
  if (keyword === 'required') return `The input "${[...path, params.missingProperty].join('.')}" is required.`
  if (unknown !== undefined) return `The input "${[...path, unknown].join('.')}" is not known.`
  const name = path.length > 0 ? `The input "${path.join('.')}"` : 'The input'
  if (keyword === 'enum') return `${name} must be one of: ${(params.allowedValues as unknown[]).join(', ')}.`
  return `${name} ${error.message ?? 'is not valid'}.`
}

const readPointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

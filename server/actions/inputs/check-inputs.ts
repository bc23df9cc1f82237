import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { messageOf } from '../../platform/unknown-values.ts'
import { createInputPatterns } from './input-patterns.ts'
import { newAjv } from './new-ajv.ts'
import { refuseReferences } from './schema-references.ts'

/** Returns one sentence about what is wrong with an input, or null. */
export type InputCheck = (input: unknown) => string | null

type Schema = Record<string, unknown>

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
// Limits for a schema, and for the inputs of a call.
const MAX_BYTES = 32_768
const MAX_VALUES = 1_000

// This instance only validates schemas against the draft; it never compiles them.
const draft = new Ajv2020({ strict: false, logger: false })

/** Returns why a schema cannot describe the inputs of an action, or null. */
export function refuseSchema(schema: Schema): string | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) return 'Must have at most 32 KB.'
  if (schema.$schema !== undefined && schema.$schema !== DRAFT) return `$schema must be ${DRAFT}.`
  if (schema.type !== 'object') return 'Must describe an object: set "type" to "object".'
  const problem = refuseReferences(schema)
  if (problem) return problem
  if (!draft.validateSchema(schema)) {
    const [error] = draft.errors ?? []
    return `Is not a JSON Schema of draft 2020-12: ${error ? `${error.instancePath || 'it'} ${error.message}` : 'it does not match'}.`
  }
  try {
    createInputChecks({ bounded: true })(schema)({})
    return null
  } catch (error) {
    const message = messageOf(error)
    return message.endsWith('.') ? message : `Cannot be used: ${message}.`
  }
}

/**
 * Creates checks from schemas. Each is compiled at its first use, which throws if it cannot be compiled or, when
 * `bounded`, has more patterns than a schema may have. A check throws ToolProblem when its patterns would take too much
 * time for the inputs. The checks of one agent share memory and are released together.
 */
export function createInputChecks({ bounded } = { bounded: false }): (schema: Schema) => InputCheck {
  const patterns = createInputPatterns({ bounded })
  let ajv: Ajv2020 | null = null
  return (schema) => {
    let check: ValidateFunction | null = null
    return (input) =>
      refuseLarge(input) ??
      patterns.within(() => {
        ajv ??= newAjv(patterns.engine)
        check ??= ajv.compile(schema)
        return check(input) ? null : sentence(check.errors?.[0])
      })
  }
}

/** Rejects inputs larger than any call needs, which also bounds the time of a check. */
function refuseLarge(input: unknown): string | null {
  let values = 0
  try {
    const text = JSON.stringify(input, (_key, value: unknown) => {
      values += 1
      return value
    })
    if (values > MAX_VALUES) return 'The inputs must have at most 1,000 values.'
    return Buffer.byteLength(text) > MAX_BYTES ? 'The inputs must have at most 32 KB.' : null
  } catch {
    return 'The inputs are nested too deeply.'
  }
}

function sentence(error: ErrorObject | undefined): string {
  if (!error) return 'The inputs are not valid.'
  const { keyword, params } = error
  const path = error.instancePath.split('/').slice(1).map(readPointer)
  const unknown = params.additionalProperty ?? params.unevaluatedProperty
  if (keyword === 'required') return `The input "${[...path, params.missingProperty].join('.')}" is required.`
  if (unknown !== undefined) return `The input "${[...path, unknown].join('.')}" is not known.`
  const name = path.length > 0 ? `The input "${path.join('.')}"` : 'The input'
  if (keyword === 'enum') return `${name} must be one of: ${(params.allowedValues).join(', ')}.`
  return `${name} ${error.message ?? 'is not valid'}.`
}

const readPointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

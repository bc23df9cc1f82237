import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { Endpoint } from '../contract.ts'

const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true })
formats.default(ajv)

/**
 * Returns a function that throws when a response does not match the endpoint's contract, also because of undeclared
 * fields.
 */
export function responseChecker(endpoint: Endpoint): (answer: unknown) => void {
  let check: ValidateFunction | undefined
  return (answer) => {
    check ??= ajv.compile(endpoint.success.schema)
    // Check what the client receives: dates become text, and undefined members disappear.
    const seen: unknown = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
    if (check(seen)) return
    throw new Error(`The answer of ${endpoint.name} is not its contract's: ${ajv.errorsText(check.errors)}`)
  }
}

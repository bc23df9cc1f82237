import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { Endpoint } from '../contract.ts'

const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true })
;(formats as unknown as (ajv: Ajv) => void)(ajv)

/** Throws when an answer is not what the endpoint's contract declares, undeclared fields included. */
export function responseChecker(endpoint: Endpoint): (answer: unknown) => void {
  let check: ValidateFunction | undefined
  return (answer) => {
    check ??= ajv.compile(endpoint.success.schema)
    // As the client will see it: dates and absent members are text and nothing by then.
    const seen: unknown = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
    if (check(seen)) return
    throw new Error(`The answer of ${endpoint.name} is not its contract's: ${ajv.errorsText(check.errors)}`)
  }
}

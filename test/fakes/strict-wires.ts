import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import type { ModelRequest } from './reply.ts'

/** The protocols whose requests can be compared with the types of the provider's own package. */
type StrictWire = 'chat' | 'responses' | 'anthropic' | 'google'

const checks = new Map<StrictWire, ValidateFunction>()

/**
 * Returns why the provider's own types do not allow a request, with every unknown field; null if they do. The schemas are
 * those of `scripts/write-wire-schemas.ts`.
 */
export function refusalOf({ wire, body }: Pick<ModelRequest, 'wire' | 'body'>): string | null {
  if (wire === 'embeddings' || wire === 'rerank') return null
  const check = checks.get(wire) ?? compile(wire)
  checks.set(wire, check)
  if (check(body)) return null
  return (check.errors ?? [])
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('\n')
}

function compile(wire: StrictWire): ValidateFunction {
  const schema = JSON.parse(readFileSync(new URL(`../fixtures/wires/${wire}.json`, import.meta.url), 'utf8'))
  return new Ajv({ strict: false, allErrors: true }).compile(schema)
}

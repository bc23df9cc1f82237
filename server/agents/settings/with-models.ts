import { type Endpoint, OneOf } from '../../platform/http/contract.ts'

/**
 * Returns the endpoint with `model` limited to the catalogue of this installation. The contract cannot contain the
 * ids, because it is the same for every installation.
 */
export function withModels<E extends Endpoint & { body: object }>(endpoint: E, ids: string[]): E {
  const body = endpoint.body as { properties: object }
  return { ...endpoint, body: { ...body, properties: { ...body.properties, model: OneOf(ids) } } }
}

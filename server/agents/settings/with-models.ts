import { type Endpoint, OneOf } from '../../http/contract.ts'

/**
 * The endpoint as this deployment serves it: `model` is one of its catalogue. The contract itself cannot hold
 * the ids, as it is the same for every deployment.
 */
export function withModels<E extends Endpoint & { body: object }>(endpoint: E, ids: string[]): E {
  const body = endpoint.body as { properties: object }
  return { ...endpoint, body: { ...body, properties: { ...body.properties, model: OneOf(ids) } } }
}

import type { Static, TSchema } from 'typebox'
import type * as contract from '../../server/widget/contract.ts'

/** The contracts of the widget's API, as types only: contracts themselves would be most of the script. */
type Endpoint = (typeof contract)[keyof typeof contract]
type EndpointAt<M, P> = Extract<Endpoint, { method: M; path: P }>

export type Method = Endpoint['method']
export type PathOf<M> = Extract<Endpoint, { method: M }>['path']
/** The parameters of the path apart from the agent, which is the same for all requests. */
export type ParamsOf<M, P> = Omit<Static<EndpointAt<M, P>['params']>, 'agentId'>
export type BodyOf<M, P> = EndpointAt<M, P> extends { body: infer B extends TSchema } ? Static<B> : undefined
export type ResponseOf<M, P> = Static<EndpointAt<M, P>['success']['schema']>

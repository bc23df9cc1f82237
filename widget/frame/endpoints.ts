import type { Static, TSchema } from 'typebox'
import type * as contract from '../../server/channels/widget/contract.ts'

/** The contracts of the widget's API. Only their types are imported, because the schemas would enlarge the script. */
type Endpoint = (typeof contract)[keyof typeof contract]
/** Each path has one endpoint. */
type EndpointAt<P> = Extract<Endpoint, { path: P }>

export type Path = Endpoint['path']
export type MethodOf<P> = EndpointAt<P>['method']
/** The parameters of the path apart from the agent, which is the same for all requests. */
export type ParamsOf<P> = Omit<Static<EndpointAt<P>['params']>, 'agentId'>
export type BodyOf<P> = EndpointAt<P> extends { body: infer B extends TSchema } ? Static<B> : undefined
export type ResponseOf<P> = Static<EndpointAt<P>['success']['schema']>

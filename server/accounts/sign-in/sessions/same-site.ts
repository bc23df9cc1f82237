import type { FastifyRequest } from 'fastify'
import type { Config } from '../../../config.ts'
import { ApiError } from '../../../platform/http/errors.ts'

/** A header that pages of other sites cannot send without a CORS preflight. */
const SESSION_HEADER = 'x-parley-session'

const ownOrigins = (
  { protocol, host }: FastifyRequest,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): string[] => [`${protocol}://${host}`, ...(publicUrl === null ? [] : [new URL(publicUrl).origin])]

/** Throws AUTH_CROSS_SITE_REQUEST for a change that a page of another site may have made the browser send. */
export function refuseCrossSite(request: FastifyRequest, config: Pick<Config, 'publicUrl'>): void {
  const { origin, [SESSION_HEADER]: marked } = request.headers
  if (marked !== '1' || origin === undefined || !ownOrigins(request, config).includes(origin))
    throw new ApiError('AUTH_CROSS_SITE_REQUEST')
}

/** Returns the origin of the workspace, for links to it. */
export const workspaceOrigin = (
  { protocol, host }: FastifyRequest,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): string => publicUrl ?? `${protocol}://${host}`

/** Returns whether the browser uses HTTPS, as far as the service can tell. */
export const cameSecurely = (
  { protocol }: FastifyRequest,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): boolean => protocol === 'https' || (publicUrl?.startsWith('https:') ?? false)

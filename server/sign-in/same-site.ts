import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { ApiError } from '../http/errors.ts'

/** What pages of other sites cannot send without asking first. */
export const SESSION_HEADER = 'x-parley-session'

const ownOrigins = (
  { protocol, host }: FastifyRequest,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): string[] => [`${protocol}://${host}`, ...(publicUrl === null ? [] : [new URL(publicUrl).origin])]

/** Refuses a change that a page of another site may have made the browser send. */
export function refuseCrossSite(request: FastifyRequest, config: Pick<Config, 'publicUrl'>): void {
  const { origin, [SESSION_HEADER]: marked } = request.headers
  if (marked !== '1' || origin === undefined || !ownOrigins(request, config).includes(origin))
    throw new ApiError('AUTH_CROSS_SITE_REQUEST')
}

/** Where the workspace is, for the links that lead there. */
export const workspaceOrigin = (
  { protocol, host }: FastifyRequest,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): string => publicUrl ?? `${protocol}://${host}`

/** Whether the browser came by HTTPS, as far as the service can know. */
export const cameSecurely = (
  { protocol }: FastifyRequest,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): boolean => protocol === 'https' || (publicUrl?.startsWith('https:') ?? false)

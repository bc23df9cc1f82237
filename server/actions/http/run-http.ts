import type { HttpRequest } from '../../platform/db/tables/actions.ts'
import { FetchFailure, type FetchFailureCode } from '../../platform/fetch/failures/fetch-failure.ts'
import type { GuardedFetcher } from '../../platform/fetch/guard/guarded-fetcher.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { ActionRow } from '../definitions/action-queries.ts'
import { openHeaders } from '../definitions/check-request.ts'
import type { ToolOutput } from '../tools/tool.ts'
import { fillBody } from './body-template.ts'
import { contentTypeOf, fillHeaders, secretsOf } from './headers.ts'
import { readAnswer } from './read-answer.ts'
import { textOf } from './template.ts'
import { fillUrl } from './url-template.ts'

type Deps = { fetcher: Pick<GuardedFetcher, 'fetch'>; secrets: Pick<Secrets, 'decrypt'> }
type Input = Record<string, unknown>

// The most bytes that are read; 20 KB of them are kept.
const MAX_BYTES = 1_048_576

const failures: Partial<Record<FetchFailureCode, string>> = {
  blocked_address: 'The action was not run: its address is not on the public internet.',
  bad_url: 'The action was not run: its address is not valid.',
  bad_request: 'The action was not run: its request cannot be sent.',
  unsupported_scheme: 'The action was not run: its address is not valid.',
  dns_failed: 'The host of the action could not be found.',
  timeout: 'The service did not answer in time.',
  too_large: 'The response of the service is too large.',
  too_many_redirects: 'The service redirected too many times.',
  redirect_loop: 'The service redirects in a loop.',
  tls_failed: 'The service has no valid certificate.',
  bad_response: 'The response of the service cannot be read.',
  aborted: 'The action was cancelled.',
}

const REDIRECTED =
  'The service answered with a redirect, which is not followed for a request with a body. It is unknown whether the request had an effect.'

/** Sends the request of an http action. Throws ToolProblem for inputs that are not valid in their slots. */
export async function runHttp(
  { fetcher, secrets }: Deps,
  action: Pick<ActionRow, 'id'> & { http: HttpRequest },
  inputs: Input,
  input: Input,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const read = (slot: string): unknown => (Object.hasOwn(input, slot) ? input[slot] : defaultOf(inputs, slot))
  const { http } = action
  const headersInClear = await openHeaders(secrets, action)
  const templates = headersInClear.map(({ name, value }) => [name, value] as const)
  const contentType = contentTypeOf(templates)
  const headers = fillHeaders(templates, (slot) => textOf(read(slot)))
  const body = http.body === null ? undefined : fillBody(http.body, contentType, read)
  if (body !== undefined && contentType === undefined) headers['content-type'] = 'application/json'
  try {
    const answer = await fetcher.fetch(
      fillUrl(http.url, (slot) => textOf(read(slot))),
      {
        method: http.method,
        headers,
        body,
        maxBytes: MAX_BYTES,
        timeoutMs: http.timeoutMs,
        // Like headers, a body may contain secrets, and a redirect could send it to any host.
        maxRedirects: body === undefined ? undefined : 0,
        signal,
      },
    )
    return readAnswer(answer, secretsOf(templates))
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    if (body !== undefined && error.code === 'too_many_redirects')
      return { status: 'error', error: REDIRECTED }
    return { status: 'error', error: failures[error.code] ?? 'The service could not be reached.' }
  }
}

function defaultOf(inputs: Input, slot: string): unknown {
  const properties = (inputs.properties ?? {}) as Record<string, { default?: unknown } | boolean | undefined>
  const property = properties[slot]
  return typeof property === 'object' ? property.default : undefined
}

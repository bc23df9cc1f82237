import { type Dispatcher, fetch } from 'undici'
import { tooLong } from '../failures/model-failure.ts'
import type { CallLimits } from './model-call.ts'

const NEWLINE = 10

/**
 * A fetch for the providers' packages that uses our keep-alive connections. The packages buffer a line until it ends,
 * however long it is, so a body that exceeds the limits is cut off before they see it.
 */
export function boundedFetch(connections: Dispatcher, limits: CallLimits): typeof globalThis.fetch {
  const dispatcher = connections.compose((dispatch) => (options, handler) => {
    return dispatch(options, countBytes(handler, limits))
  })
  return ((input: string, init: object) => fetch(input, { ...init, dispatcher })) as never
}

function countBytes(handler: Dispatcher.DispatchHandler, limits: CallLimits): Dispatcher.DispatchHandler {
  let body = 0
  let line = 0
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData(controller, chunk) {
      body += chunk.length
      const end = chunk.lastIndexOf(NEWLINE)
      line = end === -1 ? line + chunk.length : chunk.length - end - 1
      if (line > limits.line) controller.abort(tooLong('a line of the stream'))
      else if (body > limits.body) controller.abort(tooLong('the stream'))
      else handler.onResponseData?.(controller, chunk)
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  }
}

import { type DestinationStream, type LogFn, type Logger, pino, stdTimeFunctions } from 'pino'
import pretty from 'pino-pretty'
import { DatabaseUnavailable } from './db/connections/database-errors.ts'
import { recordOf } from './unknown-values.ts'

const MAX_LEVELS = 6
const MAX_ERRORS = 10
const MAX_MESSAGE_LENGTH = 500

/** The properties of errors that only hold names defined by the program or the schema. */
const KEPT = [
  'code',
  'constraint',
  'table',
  'column',
  'routine',
  'severity',
  'syscall',
  'statusCode',
  'status',
] as const

type Described = { type: string; message: string; stack?: string } & Record<string, unknown>

export type LogFormat = 'json' | 'pretty'

/** Writes to standard error, either lines of JSON or human-readable lines. */
export function createLog(
  level: string,
  format: LogFormat = 'json',
  destination: DestinationStream = destinationOf(format),
): Logger {
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: describeError, req: describeRequest },
      hooks: { logMethod },
    },
    destination,
  )
}

function destinationOf(format: LogFormat): DestinationStream {
  if (format === 'json') return pino.destination(2)
  return pretty({
    destination: 2,
    sync: true,
    colorize: process.stderr.isTTY === true && !process.env.NO_COLOR,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
  })
}

/**
 * While the database is unavailable, one line has reported it, and errors that follow from it are left out. Without a
 * message of ours, pino and Fastify would log the error's own message unfiltered.
 */
const logMethod = function (this: Logger, args: Parameters<LogFn>, method: LogFn): undefined {
  const [first, sentence]: unknown[] = args
  const error = first instanceof Error ? first : recordOf(first)?.err
  if (isBecauseAway(error)) return
  if (error instanceof Error && (sentence === undefined || sentence === error.message)) {
    const line = first === error ? {} : recordOf(first)
    method.call(this, { ...line, err: error }, messageOf(error))
  } else {
    method.apply(this, args)
  }
}

function isBecauseAway(error: unknown, level = 1): boolean {
  if (error instanceof DatabaseUnavailable) return true
  if (!(error instanceof Error) || level === MAX_LEVELS) return false
  if (error instanceof AggregateError) return error.errors.every((each) => isBecauseAway(each, level + 1))
  return isBecauseAway(error.cause, level + 1)
}

/** Leaves out the URL, which may contain what somebody searches for. */
const describeRequest = ({ method, routeOptions }: { method?: string; routeOptions?: { url?: string } }) => ({
  method,
  route: routeOptions?.url,
})

/**
 * Describes an error without text that customers wrote. Databases, parsers and model providers put values into
 * messages, in quotation marks, and into their own properties (`detail`, `where`, `query`, `parameters`,
 * `requestBodyValues`).
 */
export function describeError(error: unknown): unknown {
  return describe(error, 1)
}

function describe(error: unknown, level: number): unknown {
  if (!(error instanceof Error)) return describeOther(error)
  const described: Described = { type: error.name, message: messageOf(error) }
  for (const name of KEPT) {
    const value = recordOf(error)[name]
    if (typeof value === 'string' ? value.length <= 100 : typeof value === 'number') described[name] = value
  }
  const stack = framesOf(error)
  if (stack) described.stack = stack
  if (level === MAX_LEVELS) return described
  if (error.cause !== undefined) described.cause = describe(error.cause, level + 1)
  if (error instanceof AggregateError)
    described.errors = error.errors.slice(0, MAX_ERRORS).map((each) => describe(each, level + 1))
  return described
}

/**
 * Describes other thrown values. The queue reports errors as plain objects; for anything else, only the type is known
 * to be harmless.
 */
function describeOther(thrown: unknown): unknown {
  const { message, stack, code } = recordOf(thrown)
  if (typeof message !== 'string') return { type: typeof thrown }
  const error = Object.assign(new Error(message), { code })
  if (typeof stack === 'string') error.stack = stack
  return describe(error, MAX_LEVELS)
}

/**
 * Removes everything up to the last quotation mark, since a value may contain quotation marks itself. An apostrophe
 * inside a word does not count.
 */
function messageOf(error: Error): string {
  const { message } = error
  // Errors of the operating system name files and addresses, which operators need.
  if (recordOf(error).syscall !== undefined) return message
  return message.replace(/(?<!\w)["'`“‘«].*["'`”’»](?!\w)/su, '…').slice(0, MAX_MESSAGE_LENGTH)
}

/** The stack begins with the message, whose lines may look like stack frames. */
function framesOf({ message, stack = '' }: Error): string {
  const at = stack.indexOf(message)
  const frames = at < 0 ? stack : stack.slice(at + message.length)
  return frames
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .join('\n')
}

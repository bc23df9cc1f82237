import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type Dispatcher, EnvHttpProxyAgent, interceptors, request } from 'undici'
import { codeOf, messageOf } from '../../platform/unknown-values.ts'
import { GetFailure } from './get-failure.ts'

export type FileToFetch = { url: string; target: string; bytes: number; sha256: string }

/** Attempts in a row that bring nothing. One that brings bytes begins the count anew. */
const TRIES = 5
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000
/** A connection that brings nothing for so long is given up. */
const SILENCE_MS = 30_000
const MAX_REDIRECTS = 5

const CONTINUE =
  'What has been fetched is kept, and the next attempt continues there. Without internet, fetch the model on another machine and run: models get --from FOLDER.'

/**
 * Fetches a file, and continues what an earlier attempt has left. The target exists only when it is whole and has the
 * expected SHA-256; until then the bytes are beside it. `onBytes` is told how many bytes of it are there. Throws GetFailure.
 */
export async function downloadFile(
  wanted: FileToFetch,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
  pauseMs = FIRST_PAUSE_MS,
): Promise<void> {
  const { target, bytes } = wanted
  const part = partOf(target)
  if (existsSync(target)) {
    if ((await hashOfFile(target)) === wanted.sha256) return onBytes(bytes)
    rmSync(target)
  }
  mkdirSync(dirname(target), { recursive: true })
  const connections = new EnvHttpProxyAgent().compose(
    interceptors.redirect({ maxRedirections: MAX_REDIRECTS }),
  )
  try {
    for (let attempt = 1; sizeOf(part) !== bytes; attempt++) {
      const before = sizeOf(part)
      try {
        await fetchRest(wanted, part, connections, onBytes, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof GetFailure) throw error
        if (isOfDisk(error)) throw unwritable(error)
        if (sizeOf(part) > before) attempt = 0
        const pause = error instanceof Refusal ? error.retryAfterMs : null
        if (attempt === TRIES) throw unreachable(wanted, error)
        await wait(pause ?? pauseMs * 2 ** Math.max(0, attempt - 1), undefined, { signal })
      }
    }
  } finally {
    await connections.close()
  }
  await acceptFile(part, wanted)
}

/** Moves a whole file to its target if it has the expected SHA-256; otherwise removes it and throws GetFailure. */
export async function acceptFile(
  path: string,
  { url, target, sha256 }: Pick<FileToFetch, 'url' | 'target' | 'sha256'>,
): Promise<void> {
  const found = await hashOfFile(path)
  if (found !== sha256) {
    rmSync(path)
    throw new GetFailure(
      `${url} is not the file that was published: its SHA-256 is ${found}, and must be ${sha256}. It has been removed. Try again; if that does not help, check where the files come from (HF_ENDPOINT).`,
    )
  }
  renameSync(path, target)
}

export const partOf = (target: string): string => `${target}.part`

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

async function fetchRest(
  { url, bytes }: FileToFetch,
  part: string,
  connections: Dispatcher,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const from = sizeOf(part) < bytes ? sizeOf(part) : 0
  const { statusCode, headers, body } = await request(url, {
    dispatcher: connections,
    headers: from > 0 ? { range: `bytes=${from}-` } : {},
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    signal,
  })
  if (statusCode !== 200 && statusCode !== 206) {
    await body.dump()
    // There is nothing beyond what has been fetched, so its file is shorter.
    if (statusCode === 416) throw otherSize(url, bytes, part)
    throw refusal(url, statusCode, headers['retry-after']?.toString())
  }
  // A server that ignores the range sends the file from its beginning.
  const isRest = statusCode === 206 && headers['content-range']?.toString().startsWith(`bytes ${from}-`)
  const start = isRest ? from : 0
  const length = headers['content-length']
  if (length !== undefined && start + Number(length) !== bytes) {
    body.on('error', () => {}).destroy()
    throw otherSize(url, bytes, part)
  }
  await pipeline(
    counted(body, start, (done) => {
      if (done > bytes) throw otherSize(url, bytes, part)
      onBytes(done)
    }),
    createWriteStream(part, { flags: start > 0 ? 'a' : 'w' }),
    { signal },
  )
  if (sizeOf(part) < bytes) throw new Error('the connection ended early')
}

async function* counted(
  body: Readable,
  start: number,
  onBytes: (done: number) => void,
): AsyncGenerator<Buffer> {
  let done = start
  for await (const piece of body) {
    done += piece.length
    onBytes(done)
    yield piece
  }
}

function otherSize(url: string, bytes: number, part: string): GetFailure {
  rmSync(part, { force: true })
  return new GetFailure(
    `${url} is not the file that was published: its size is not ${bytes} bytes. What was fetched of it has been removed. Check where the files come from (HF_ENDPOINT).`,
  )
}

/** A response that another attempt may change. */
class Refusal extends Error {
  readonly retryAfterMs: number | null
  constructor(status: number, retryAfter: string | undefined) {
    super(`status ${status}`)
    const seconds = Number(retryAfter)
    this.retryAfterMs = seconds > 0 ? Math.min(seconds * 1_000, MAX_PAUSE_MS) : null
  }
}

const refusal = (url: string, status: number, retryAfter: string | undefined): Error =>
  status === 429 || status >= 500
    ? new Refusal(status, retryAfter)
    : new GetFailure(
        `${url} cannot be fetched: its server answers with ${status}. Check HF_ENDPOINT, if it is set, or fetch the model on another machine and run: models get --from FOLDER.`,
      )

const isOfDisk = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO'].includes(codeOf(error) ?? '')

/** The failure of a write into the data folder. */
export const unwritable = (error: unknown): GetFailure =>
  new GetFailure(
    `DATA_DIR: the model cannot be written there (${messageOf(error)}). Make room, or make the folder writable for the user of the service, then try again.`,
    { cause: error },
  )

function unreachable({ url }: FileToFetch, error: unknown): GetFailure {
  return new GetFailure(`${url} cannot be reached (${codeOf(error) ?? messageOf(error)}). ${CONTINUE}`, {
    cause: error,
  })
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path, { highWaterMark: 1_048_576 })) hash.update(piece)
  return hash.digest('hex')
}

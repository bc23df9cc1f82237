import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { createFairPlaces, type FairPlaces, PlacesFull } from '../../concurrency/fair-shares.ts'
import type { DiskSpace } from '../../db/upkeep/disk-space.ts'
import { codeOf } from '../../unknown-values.ts'
import { ApiError } from '../errors.ts'
import type { Details } from '../input/validate.ts'
import { breakOff, cutWhenSlow, isBroken, overloaded, PACE, type Pace, tenantOf } from './admit-bodies.ts'

/** An uploaded file on disk. */
export type Upload = {
  filename: string
  size: number
  /** Where the file is; a caller that keeps the file moves it away from here. */
  path: string
  /** Calls `use` with the whole content. Only a few files are in memory at a time. */
  whole<T>(use: (bytes: Buffer<ArrayBuffer>) => T | Promise<T>): Promise<T>
}

/** A multipart body: text fields, and a file under the name that the endpoint expects. */
export type Form = {
  fields: Record<string, unknown>
  file: Upload | null
  /** The names of file fields that the endpoint does not know. */
  strangers: string[]
  /** What is wrong with the parts of the body, by field. */
  problems: Details
  /** The SHA-256 hash of the file; null when there is no file. */
  hash: string | null
}

type Expected = { file: string; maxBytes: number }

type Spooled = { maxBytes: number; see(piece: Buffer): void }

/** Receives request bodies straight to disk. */
export type Uploads = {
  /**
   * Waits for a free place, reads the body of a request and calls `use` with it. Files that `use` has not moved away
   * are removed afterwards. Throws VALIDATION_INVALID_BODY for a body that is cut short, malformed, or has more parts
   * than any form, VALIDATION_BODY_TOO_LARGE, and SERVICE_OVERLOADED.
   */
  receive<T>(request: FastifyRequest, expected: Expected, use: (form: Form) => Promise<T>): Promise<T>
  /**
   * Streams a body that is a single file to disk, calls `see` with every chunk, and then `use` with the path of the
   * file, which is removed afterwards. Throws VALIDATION_BODY_TOO_LARGE, and VALIDATION_INVALID_BODY for a body that
   * is cut short.
   */
  spool<T>(body: Readable, expected: Spooled, use: (path: string) => Promise<T>): Promise<T>
  /** Removes files left behind by a process that died. Returns their number. */
  sweep(olderThanMs: number): Promise<number>
}

/** How many uploads are read at once, in all and for one account. */
const AT_ONCE = 16
const OF_ACCOUNT = 8
const MAX_WAITING = 1_000
const MAX_WAIT_MS = 60_000
const IN_MEMORY = 2

/** Bodies are refused with STORAGE_FULL while the disk of the folder has no room. */
export function createUploads(folder: string, space: DiskSpace, pace: Pace = PACE): Uploads {
  const refuseWhenFull = (): void => {
    if (space.isFull()) throw new ApiError('STORAGE_FULL')
  }
  const reading = createFairPlaces({ places: AT_ONCE, share: OF_ACCOUNT, maxWaiting: MAX_WAITING })
  const inMemory = createFairPlaces({ places: IN_MEMORY })
  return {
    async receive(request, expected, use) {
      refuseWhenFull()
      const tenant = tenantOf(request)
      const paths: string[] = []
      const save = async (part: MultipartFile) => {
        const path = join(folder, randomBytes(12).toString('hex'))
        paths.push(path)
        return { path, ...(await savePart(part, path)) }
      }
      try {
        const leave = await place(reading, tenant)
        const { raw } = request
        const slow = new Error('The body arrives too slowly.')
        cutWhenSlow(raw, pace, () => breakOff(raw, slow))
        const form = await mkdir(folder, { recursive: true, mode: 0o700 })
          .then(() => readForm(request, expected, save))
          .finally(leave)
        const file: Upload | null = form.file && {
          ...form.file,
          async whole(look) {
            const done = await inMemory.enter(tenant)
            return readFile(form.file?.path ?? '')
              .then((bytes) => look(bytes as Buffer<ArrayBuffer>))
              .finally(done)
          },
        }
        return await use({ ...form, file })
      } finally {
        await Promise.all(paths.map((path) => rm(path, { force: true })))
      }
    },
    async spool(body, { maxBytes, see }, use) {
      refuseWhenFull()
      const path = join(folder, randomBytes(12).toString('hex'))
      let size = 0
      const watched = new Transform({
        transform(piece: Buffer, _encoding, next) {
          size += piece.length
          if (size > maxBytes) return next(new ApiError('VALIDATION_BODY_TOO_LARGE'))
          see(piece)
          next(null, piece)
        },
      })
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await pipeline(body, watched, createWriteStream(path, { mode: 0o600, flush: true })).catch(
          (error: unknown) => {
            throw asApiError(error)
          },
        )
        return await use(path)
      } finally {
        await rm(path, { force: true })
      }
    },
    sweep: (olderThanMs) => sweep(folder, olderThanMs),
  }
}

async function sweep(folder: string, olderThanMs: number): Promise<number> {
  let removed = 0
  for (const name of await readdir(folder).catch(() => [])) {
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs < olderThanMs) continue
    await rm(join(folder, name), { force: true })
    removed++
  }
  return removed
}

async function place(places: FairPlaces, tenant: string): Promise<() => void> {
  const patience = AbortSignal.timeout(MAX_WAIT_MS)
  return places.enter(tenant, patience).catch((error: unknown) => {
    throw error instanceof PlacesFull || patience.aborted ? overloaded() : error
  })
}

type Saved = { path: string; size: number; hash: string }

async function readForm(
  request: FastifyRequest,
  { file: name, maxBytes }: Expected,
  save: (part: MultipartFile) => Promise<Saved>,
) {
  const fields: Record<string, unknown> = Object.create(null)
  const problems: Details = Object.create(null)
  const strangers: string[] = []
  let file: (Omit<Saved, 'hash'> & { filename: string }) | null = null
  let hash: string | null = null
  const limits = { fileSize: maxBytes, files: 5, fields: 20, fieldSize: 10_000, parts: 25 }
  try {
    if (request.raw.destroyed || isBroken(request.raw)) throw new Error('The client has left.')
    for await (const part of request.parts({ limits })) {
      // A part may have no name, although its type says otherwise.
      if ((part.fieldname as string | undefined) === undefined) throw new Error('A part has no name.')
      if (part.type === 'field') {
        if (Object.hasOwn(fields, part.fieldname)) problems[part.fieldname] = 'Must be sent once.'
        fields[part.fieldname] = part.value
        continue
      }
      if (part.fieldname === name && file === null) {
        const { path, size, hash: sum } = await save(part)
        file = { filename: part.filename, path, size }
        hash = sum
        continue
      }
      if (part.fieldname === name) problems[name] = 'Only one file can be sent.'
      else strangers.push(part.fieldname)
      // The file is read all the same, because the rest of the body follows it.
      for await (const _ of part.file);
    }
  } catch (error) {
    throw asApiError(error)
  }
  return { fields, file, strangers, problems, hash }
}

async function savePart({ file }: MultipartFile, path: string): Promise<Omit<Saved, 'path'>> {
  const sha256 = createHash('sha256')
  let size = 0
  const counting = new Transform({
    transform(piece: Buffer, _encoding, next) {
      size += piece.length
      sha256.update(piece)
      next(null, piece)
    },
  })
  await pipeline(file, counting, createWriteStream(path, { mode: 0o600, flush: true }))
  if (file.truncated) throw new ApiError('VALIDATION_BODY_TOO_LARGE')
  return { size, hash: sha256.digest('base64url') }
}

const DISK = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'ENOENT'])

function asApiError(error: unknown): unknown {
  const code = codeOf(error) ?? ''
  if (error instanceof ApiError || code === 'FST_REQ_FILE_TOO_LARGE' || DISK.has(code)) return error
  if (code === 'FST_PROTO_VIOLATION') {
    const message = 'A part of the multipart body has a name that no field has here, such as constructor.'
    return new ApiError('VALIDATION_INVALID_BODY', { message, cause: error })
  }
  const message = 'The body is malformed, cut short, or has too many parts.'
  return new ApiError('VALIDATION_INVALID_BODY', { message, cause: error })
}

/** Moves an uploaded file to where it is kept. */
export async function moveFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rename(from, to).catch(async (error: unknown) => {
    // The folders are on different disks, so the file is copied. The original is removed with the request.
    if (codeOf(error) !== 'EXDEV') throw error
    await copyFile(from, to)
  })
}

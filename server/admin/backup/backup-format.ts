import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { recordOf } from '../../platform/unknown-values.ts'
import { CommandFailure } from '../command.ts'

/**
 * A backup is gzipped lines of JSON: a header, the rows by table, files in pieces, and a last line with the hash of
 * everything before it. It does not depend on the database engine, so it can be moved between the embedded database and
 * PostgreSQL.
 */
export type Line =
  | { kind: 'head'; format: 1; createdAt: string; migrations: Record<string, string>; account?: AccountLine }
  | { kind: 'rows'; table: string; rows: Record<string, unknown>[] }
  | { kind: 'file'; path: string; data: string }
  | { kind: 'end'; rows: number; files: number; sha256: string }

/** The account that the file holds, if it is not a backup of everything. */
export type AccountLine = { id: string; name: string }

/** Reads a backup line by line. Throws a sentence when it is damaged, truncated, or not a backup. */
export async function* readBackup(file: string): AsyncGenerator<Line> {
  const hash = createHash('sha256')
  try {
    for await (const text of linesOf(file)) {
      const line: Line = JSON.parse(text)
      if (line.kind === 'end') {
        if (line.sha256 !== hash.digest('hex')) throw new Error('the hash differs')
        return
      }
      hash.update(text).update('\n')
      yield line
    }
    throw new Error('the last line is missing')
  } catch (cause) {
    const { code, syscall } = recordOf(cause)
    if (code === 'ENOENT') throw new CommandFailure(`There is no file ${file}.`)
    if (syscall) throw new CommandFailure(`${file} cannot be read (${code}); nothing was changed.`)
    throw new CommandFailure(`${file} is damaged, truncated, or not a backup of Parley; nothing was changed.`)
  }
}

/** Reads lines and reports errors of the file and of gzip, which node:readline does not. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const source = createReadStream(file)
  const unpacked = createGunzip()
  source.on('error', (error) => unpacked.destroy(error))
  source.pipe(unpacked)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of unpacked) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { codeOf, recordOf } from '../../platform/unknown-values.ts'
import { CommandFailure } from '../command.ts'

/** Writes a file piece by piece; it appears once it is complete. Throws CommandFailure when it cannot be written. */
export async function writeWhole(file: string, pieces: AsyncGenerator<string>): Promise<void> {
  const unfinished = `${file}.tmp`
  try {
    await pipeline(Readable.from(pieces), createWriteStream(unfinished, { mode: 0o600, flush: true }))
    await rename(unfinished, file)
  } catch (error) {
    if (String(recordOf(error).path).startsWith(file))
      throw new CommandFailure(`The file ${file} cannot be written (${codeOf(error)}).`)
    throw error
  } finally {
    await rm(unfinished, { force: true })
  }
}

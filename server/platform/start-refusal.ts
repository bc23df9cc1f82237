import { DatabaseRefused, DatabaseUnreachable } from './db/connections/server-version.ts'
import { FolderInUse, FolderUnusable } from './db/embedded/folder-lock.ts'
import { MemoryTooSmall } from './db/embedded/memory.ts'
import { DatabaseDamaged, StorageFull } from './db/embedded/unopenable.ts'
import { MigrationRefused } from './db/upkeep/migrate.ts'
import { SecretRefused } from './secrets/secret-key.ts'
import { codeOf, messageOf, recordOf } from './unknown-values.ts'

/** The environment is invalid (sysexits.h EX_CONFIG). */
const CONFIG = 78
/** The database, the data folder or the port is not available (EX_UNAVAILABLE). */
const UNAVAILABLE = 69

const CONFIG_ERRORS = [SecretRefused, FolderUnusable, DatabaseDamaged, MemoryTooSmall]

/** Describes a failure that an operator can fix as one line with an exit code; null for any other error. */
export function startRefusal(error: unknown): { line: string; code: number } | null {
  const line = messageOf(error)
  if (CONFIG_ERRORS.some((kind) => error instanceof kind)) return { line, code: CONFIG }
  if (error instanceof FolderInUse || error instanceof DatabaseUnreachable || error instanceof StorageFull)
    return { line, code: UNAVAILABLE }
  if (error instanceof MigrationRefused || error instanceof DatabaseRefused) return { line, code: 1 }
  if (isDamage(error))
    return {
      line: `The database is damaged: ${line}. Restore a backup as docs/operations/running.md describes.`,
      code: 1,
    }
  return systemRefusal(recordOf(error))
}

/** PostgreSQL's data_corrupted and index_corrupted. */
const isDamage = (error: unknown): boolean => /^XX00[12]$/.test(codeOf(error) ?? '')

function systemRefusal({ code, address, port, path, hostname }: Record<string, unknown>) {
  switch (code) {
    case 'EADDRINUSE':
      return {
        line: `${address}:${port} is in use by another program. Stop it, or set PORT.`,
        code: UNAVAILABLE,
      }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return { line: `HOST: ${address ?? hostname ?? 'it'} is not an address of this machine.`, code: CONFIG }
    case 'EACCES':
    case 'EROFS':
    case 'EPERM':
      return port === undefined
        ? { line: `${path ?? 'A file'} cannot be written to. Check its owner and permissions.`, code: CONFIG }
        : { line: `This user may not use the port ${port}. Set PORT to one above 1023.`, code: CONFIG }
    default:
      return null
  }
}

import { ConfigError } from './config.ts'
import { FolderInUse } from './db/folder-lock.ts'
import { MigrationRefused } from './db/migrate.ts'
import { DatabaseRefused } from './db/server-version.ts'
import { SecretRefused } from './secrets/secret-key.ts'

/** The environment is at fault (sysexits.h EX_CONFIG). */
const CONFIG = 78
/** The database or the data folder cannot be had (EX_UNAVAILABLE). */
const UNAVAILABLE = 69

/** Why a start failed, as lines for the operator, and the exit code. */
export function startRefusal(error: unknown): { lines: string[]; code: number } {
  if (error instanceof ConfigError) return { lines: error.problems, code: CONFIG }
  if (error instanceof SecretRefused) return { lines: [error.message], code: CONFIG }
  if (error instanceof FolderInUse) return { lines: [error.message], code: UNAVAILABLE }
  if (error instanceof MigrationRefused || error instanceof DatabaseRefused)
    return { lines: [error.message], code: 1 }
  const { code, address, port, path, message } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  switch (code) {
    case 'EADDRINUSE':
      return {
        lines: [`${address}:${port} is in use by another program. Stop it, or set PORT.`],
        code: UNAVAILABLE,
      }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      if (port !== undefined || address !== undefined) {
        return {
          lines: [
            `${address ?? 'HOST'} is no address of this machine or no known host. Check HOST and DATABASE_URL.`,
          ],
          code: CONFIG,
        }
      }
      break
    case 'EACCES':
    case 'EROFS':
    case 'EPERM':
      return {
        lines: [`${path ?? 'A file'} cannot be written. Check DATA_DIR (or PORT) and its owner.`],
        code: CONFIG,
      }
    case 'ECONNREFUSED':
    case 'ETIMEDOUT':
    case 'ECONNRESET':
    case '28P01':
    case '28000':
    case '3D000':
    case '57P03':
      return {
        lines: [`The database of DATABASE_URL cannot be used: ${message || code}.`],
        code: UNAVAILABLE,
      }
  }
  return { lines: [`Parley could not start: ${(error as Error).stack ?? String(error)}`], code: 1 }
}

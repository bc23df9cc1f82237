import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { indexAllWords } from '../../knowledge/search/index-words.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { asAccountId } from '../../platform/db/tables/columns.ts'
import { preparePgvector } from '../../platform/db/upkeep/pgvector.ts'
import { CommandFailure } from '../command.ts'
import type { ScopedTable } from './account-scope.ts'
import { accountTables } from './account-scope.ts'
import { type AccountLine, readBackup } from './backup-format.ts'
import { leaveMissingSpaces, restoreVectors, VECTORS } from './backup-vectors.ts'
import { currentKeyIds, type Locked, withoutForeignSecrets } from './foreign-secrets.ts'
import { refuseForeignNames, refuseForeignPath, refuseForeignRows } from './refuse-foreign.ts'
import { insertRows, placeFile, refuseOtherVersion, removeAll, writePiece } from './restore-backup.ts'
import type { Counts } from './write-backup.ts'

type Imported = Counts & { account: AccountLine; locked: Locked; withoutVectors: number }

/**
 * Adds the account of an export to this installation, in one transaction, with its files. Anything that only the secret
 * key of the old installation decrypts is left out and counted. When it throws CommandFailure, nothing has changed.
 */
export async function importAccount(db: Db, filesDir: string, file: string): Promise<Imported> {
  const account = await checkExport(file)
  const staged = `${filesDir}.importing`
  const files = new Set<string>()
  const placed = new Set<string>()
  const counts: Counts = { rows: 0, files: 0 }
  const locked: Locked = { actions: 0, rows: 0 }
  let withoutVectors = 0
  await preparePgvector(db)
  let isCommitting = false
  await rm(staged, { recursive: true, force: true })
  await mkdir(staged, { recursive: true, mode: 0o700 })
  try {
    await db.transaction().execute(async (trx) => {
      await refuseKnown(trx, account)
      const tables = new Map<string, ScopedTable>(
        (await accountTables(trx)).map((table) => [table.name, table]),
      )
      const keyIds = await currentKeyIds(trx)
      for await (const line of readBackup(file)) {
        if (line.kind === 'rows' && line.table === VECTORS) {
          refuseForeignRows(line, 'account_id', account)
          const restored = await restoreVectors(trx, line)
          counts.rows += restored.rows
          withoutVectors += restored.withoutVectors
        } else if (line.kind === 'rows') {
          const table = tables.get(line.table)
          if (!table) throw new CommandFailure(`The export has an unknown table ${line.table}.`)
          refuseForeignRows(line, table.owner, account)
          const rows = table.encrypted ? withoutForeignSecrets(line, keyIds, locked) : line.rows
          counts.rows += await insertRows(trx, { ...line, rows })
        }
        if (line.kind === 'file') {
          refuseForeignPath(line.path, account)
          files.add(line.path)
          await writePiece(staged, line)
        }
      }
      await leaveMissingSpaces(trx)
      await refuseForeignNames(trx, [...tables.values()], account)
      for (const path of files) {
        placed.add(path)
        await placeFile(join(staged, path), join(filesDir, path))
      }
      isCommitting = true
    })
  } catch (error) {
    // A commit whose response was lost may have happened; then the files have to stay.
    if (!isCommitting) await removeAll(filesDir, placed)
    throw error
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  // If the command is interrupted here, the service indexes the rest when it starts.
  await indexAllWords(db)
  counts.files = files.size
  return { ...counts, account, locked, withoutVectors }
}

/** Reads the whole file once, so that damage is found before anything is changed. */
async function checkExport(file: string): Promise<AccountLine> {
  let account: AccountLine | undefined
  let isFirst = true
  for await (const line of readBackup(file)) {
    if (isFirst) refuseOtherVersion(line)
    if (isFirst && line.kind === 'head') account = line.account
    isFirst = false
  }
  if (!account || !isId(account.id))
    throw new CommandFailure(
      `${file} is not an export of an account; use restore for a backup. Nothing was changed.`,
    )
  return account
}

async function refuseKnown(trx: Trx, { id, name }: AccountLine): Promise<void> {
  const known = await trx
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', asAccountId(id))
    .executeTakeFirst()
  if (known)
    throw new CommandFailure(`The account ${id} ("${name}") already exists here; nothing was changed.`)
}

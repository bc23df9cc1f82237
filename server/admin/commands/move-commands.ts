import { recordAudit } from '../../accounts/audit/audit.ts'
import { importAccount } from '../backup/import-account.ts'
import { writeBackup } from '../backup/write-backup.ts'
import type { Command } from '../command.ts'
import { findAccount } from './find-account.ts'

export const exportAccount: Command = {
  name: 'export',
  usage: 'ACCOUNT FILE',
  summary: 'Writes one account, with its uploaded files, into a file for import elsewhere',
  options: {},
  positionals: { count: 2, paths: [1] },
  async run({ db, filesDir }, { positionals: [id = '', file = ''] }) {
    const account = await findAccount(db, id)
    const counts = await writeBackup(db, filesDir, file, { id: account.id, name: account.name })
    await recordAudit(db, { accountId: null, actor: 'operator', action: 'account.export', target: id })
    return { file, account: account.id, ...counts }
  },
  print: ({ file, account, rows, files }) =>
    `${file}: account ${account}, ${rows} rows and ${files} files. Encrypted values need the same SECRET_KEY where the account is imported.`,
}

export const importCommand: Command = {
  name: 'import',
  usage: 'FILE',
  summary: 'Adds the account of an export to those that already exist',
  options: {},
  positionals: { count: 1, paths: true },
  async run({ db, filesDir, resume }, { positionals: [file = ''] }) {
    const { account, locked, ...counts } = await importAccount(db, filesDir, file)
    await recordAudit(db, {
      accountId: null,
      actor: 'operator',
      action: 'account.import',
      target: account.id,
    })
    await resume()
    return { file, account: account.id, ...counts, disabledActions: locked.actions, leftOut: locked.rows }
  },
  print: ({ account, rows, files, disabledActions, leftOut, withoutVectors }) =>
    [
      `Account ${account} was imported: ${rows} rows and ${files} files.`,
      disabledActions
        ? `${disabledActions} actions were disabled: their headers were encrypted with another key and have to be entered again.`
        : '',
      leftOut ? `${leftOut} connections were encrypted with another key and have to be set up again.` : '',
      withoutVectors
        ? `${withoutVectors} vectors were left out, because the database has no pgvector: documents are found by their words. Vectors are made again when it is there.`
        : '',
    ]
      .filter((line) => line !== '')
      .join('\n'),
}

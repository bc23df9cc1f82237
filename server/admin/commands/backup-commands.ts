import { recordAudit } from '../../accounts/audit/audit.ts'
import { checkBackup, restoreBackup } from '../backup/restore-backup.ts'
import { writeBackup } from '../backup/write-backup.ts'
import { type Command, CommandFailure } from '../command.ts'
import { maintenanceIsOn } from './maintenance-commands.ts'

export const backup: Command = {
  name: 'backup',
  usage: 'FILE',
  summary: 'Writes all data and uploaded files into one file',
  options: {},
  positionals: { count: 1, paths: true },
  async run({ db, filesDir }, { positionals: [file = ''] }) {
    return { file, ...(await writeBackup(db, filesDir, file)) }
  },
  print: ({ file, rows, files }) =>
    `${file}: ${rows} rows and ${files} files. The secret key is not in it: keep SECRET_KEY or secret.key yourself.`,
}

export const restore: Command = {
  name: 'restore',
  usage: 'FILE [--without-secrets]',
  summary: 'Replaces all data with that of a backup, while no service is running on it',
  options: { 'without-secrets': { type: 'boolean' } },
  positionals: { count: 1, paths: true },
  createIfLost: true,
  async run({ db, filesDir, isServed, setMaintenance, resume }, { values, positionals: [file = ''] }) {
    const wasOn = await maintenanceIsOn(db)
    if (!wasOn && (await isServed())) {
      await checkBackup(file)
      throw new CommandFailure(
        'A service is running on this data, and a restore would replace all of it: stop the service, or switch it to maintenance with "maintenance on" first. Nothing was changed.',
      )
    }
    await setMaintenance(true)
    try {
      const { locked, ...counts } = await restoreBackup(db, filesDir, file, {
        withoutSecrets: Boolean(values['without-secrets']),
      })
      await recordAudit(db, { accountId: null, actor: 'operator', action: 'restore', target: file })
      await resume()
      return { file, ...counts, disabledActions: locked.actions, leftOut: locked.rows }
    } finally {
      await setMaintenance(wasOn)
    }
  },
  print: ({ file, rows, files, disabledActions, leftOut, withoutVectors }) =>
    [
      `${file} is restored: ${rows} rows and ${files} files.`,
      disabledActions
        ? `${disabledActions} actions were disabled: their headers were encrypted and have to be entered again.`
        : '',
      leftOut ? `${leftOut} connections were encrypted and have to be set up again.` : '',
      withoutVectors
        ? `${withoutVectors} vectors were left out, because the database has no pgvector: documents are found by their words. Vectors are made again when it is there.`
        : '',
    ]
      .filter((line) => line !== '')
      .join('\n'),
}

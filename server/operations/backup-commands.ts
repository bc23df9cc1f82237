import { recordAudit } from '../accounts/audit.ts'
import type { Command } from './command.ts'
import { maintenanceIsOn } from './maintenance-commands.ts'
import { restoreBackup } from './restore-backup.ts'
import { writeBackup } from './write-backup.ts'

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
  usage: 'FILE',
  summary: 'Replaces all data by that of a backup',
  options: {},
  positionals: { count: 1, paths: true },
  async run({ db, filesDir, setMaintenance, resume }, { positionals: [file = ''] }) {
    const wasOn = await maintenanceIsOn(db)
    await setMaintenance(true)
    try {
      const counts = await restoreBackup(db, filesDir, file)
      await recordAudit(db, { accountId: null, actor: 'operator', action: 'restore', target: file })
      await resume()
      return { file, ...counts }
    } finally {
      await setMaintenance(wasOn)
    }
  },
  print: ({ file, rows, files }) => `${file} is restored: ${rows} rows and ${files} files.`,
}

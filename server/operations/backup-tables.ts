/** Every table of the application with its primary key, referenced tables first. */
export const backupTables = [
  { name: 'accounts', key: ['id'] },
  { name: 'members', key: ['id'] },
  { name: 'api_keys', key: ['id'] },
  { name: 'credit_entries', key: ['id'] },
  { name: 'credit_usage', key: ['owner_id', 'month'] },
  { name: 'settings', key: ['name'] },
  { name: 'audit_log', key: ['id'] },
  { name: 'agents', key: ['id'] },
  { name: 'sources', key: ['id'] },
  { name: 'chunks', key: ['id'] },
  { name: 'conversations', key: ['id'] },
  { name: 'messages', key: ['id'] },
  { name: 'generations', key: ['id'] },
] as const

export type BackupTable = (typeof backupTables)[number]

/** Belongs to an installation, not to its data: the check of the secret key, and the switch. */
export const settingsLeftOut = ['secret-check', 'maintenance']

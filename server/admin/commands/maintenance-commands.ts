import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Command } from '../command.ts'

export async function maintenanceIsOn(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'maintenance')
    .executeTakeFirst()
  return row?.value === true
}

const maintenance = (name: string, on: boolean): Command => ({
  name,
  usage: '',
  summary: on ? 'Refuses every request with 503' : 'Ends maintenance',
  options: {},
  async run({ db, setMaintenance }) {
    await setMaintenance(on)
    await recordAudit(db, {
      accountId: null,
      actor: 'operator',
      action: 'maintenance',
      target: on ? 'on' : 'off',
    })
    return { maintenance: on }
  },
  print: () => `Maintenance is ${on ? 'on' : 'off'}.`,
})

export const maintenanceOn = maintenance('maintenance on', true)
export const maintenanceOff = maintenance('maintenance off', false)

export const maintenanceStatus: Command = {
  name: 'maintenance status',
  usage: '',
  summary: 'Shows whether the service is under maintenance',
  options: {},
  async run({ db }) {
    return { maintenance: await maintenanceIsOn(db) }
  },
  print: ({ maintenance: on }) => `Maintenance is ${on ? 'on' : 'off'}.`,
}

import { accountCreate, accountIdle, accountList, accountPlan } from './account-commands.ts'
import { backup, restore } from './backup-commands.ts'
import type { Command } from './command.ts'
import { conversationsExport } from './conversation-commands.ts'
import { evaluate } from './evaluate-command.ts'
import { keysCreate, keysRevoke } from './key-commands.ts'
import { maintenanceOff, maintenanceOn, maintenanceStatus } from './maintenance-commands.ts'
import { exportAccount, importCommand } from './move-commands.ts'
import { creditsGrant, creditsShow, memberCreate, reconcileCommand } from './other-commands.ts'
import { retentionSet, retentionShow, userErase, userExport } from './privacy-commands.ts'

/** Every command, in the order of the help. */
export const commands: Command[] = [
  accountCreate,
  accountList,
  accountPlan,
  accountIdle,
  keysCreate,
  keysRevoke,
  creditsShow,
  creditsGrant,
  memberCreate,
  maintenanceOn,
  maintenanceOff,
  maintenanceStatus,
  backup,
  restore,
  exportAccount,
  importCommand,
  conversationsExport,
  userExport,
  userErase,
  retentionShow,
  retentionSet,
  reconcileCommand,
  evaluate,
]

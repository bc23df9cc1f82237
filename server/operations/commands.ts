import { accountCreate, accountIdle, accountList, accountPlan } from './account-commands.ts'
import { auditCommand } from './audit-command.ts'
import { backup, restore } from './backup-commands.ts'
import type { Command } from './command.ts'
import { conversationsExport } from './conversation-commands.ts'
import { doctor } from './doctor-command.ts'
import { evaluate } from './evaluate-command.ts'
import { insightsAnalyse } from './insights-command.ts'
import { keysCreate, keysList, keysRevoke } from './key-commands.ts'
import { maintenanceOff, maintenanceOn, maintenanceStatus } from './maintenance-commands.ts'
import { memberCreate, memberList, memberRemove, memberResetLink, setUpLink } from './member-commands.ts'
import { exportAccount, importCommand } from './move-commands.ts'
import { creditsGrant, creditsShow, reconcileCommand } from './other-commands.ts'
import { retentionSet, retentionShow, userErase, userExport } from './privacy-commands.ts'
import { secretsFinish, secretsRotate } from './secret-commands.ts'

/** Every command, in the order of the help. */
export const commands: Command[] = [
  accountCreate,
  accountList,
  accountPlan,
  accountIdle,
  keysCreate,
  keysList,
  keysRevoke,
  creditsShow,
  creditsGrant,
  setUpLink,
  memberCreate,
  memberList,
  memberRemove,
  memberResetLink,
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
  doctor,
  evaluate,
  insightsAnalyse,
  auditCommand,
  secretsRotate,
  secretsFinish,
]

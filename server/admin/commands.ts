import type { Command, LocalCommand } from './command.ts'
import {
  accountCreate,
  accountIdle,
  accountList,
  accountPlan,
  usageExport,
} from './commands/account-commands.ts'
import { auditCommand } from './commands/audit-command.ts'
import { backup, restore } from './commands/backup-commands.ts'
import { conversationsExport } from './commands/conversation-commands.ts'
import { doctor } from './commands/doctor-command.ts'
import { evaluate } from './commands/evaluate-command.ts'
import { explainCommand } from './commands/explain-command.ts'
import { insightsAnalyse } from './commands/insights-command.ts'
import { keysCreate, keysList, keysRevoke } from './commands/key-commands.ts'
import { maintenanceOff, maintenanceOn, maintenanceStatus } from './commands/maintenance-commands.ts'
import {
  memberCreate,
  memberList,
  memberRemove,
  memberRemoveIdentity,
  memberRemoveSecondFactor,
  memberResetLink,
  setUpLink,
} from './commands/member-commands.ts'
import { modelsGet } from './commands/models-command.ts'
import { exportAccount, importCommand } from './commands/move-commands.ts'
import { ocrGet } from './commands/ocr-command.ts'
import { creditsGrant, creditsShow, reconcileCommand } from './commands/other-commands.ts'
import { retentionSet, retentionShow, userErase, userExport } from './commands/privacy-commands.ts'
import { secretsFinish, secretsRotate } from './commands/secret-commands.ts'
import {
  spacesCancel,
  spacesIndex,
  spacesList,
  spacesRebuild,
  spacesResume,
} from './commands/space-commands.ts'
import { upgradeCommand } from './commands/upgrade-command.ts'

/** The commands that need the data, in the order of the help. */
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
  usageExport,
  setUpLink,
  memberCreate,
  memberList,
  memberRemove,
  memberResetLink,
  memberRemoveIdentity,
  memberRemoveSecondFactor,
  maintenanceOn,
  maintenanceOff,
  maintenanceStatus,
  upgradeCommand,
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
  spacesList,
  spacesCancel,
  spacesResume,
  spacesIndex,
  spacesRebuild,
  insightsAnalyse,
  explainCommand,
  auditCommand,
  secretsRotate,
  secretsFinish,
]

/** The commands that need no data. */
export const localCommands: LocalCommand[] = [modelsGet, ocrGet]

import * as accounts from '../accounts/contract.ts'
import * as agents from '../agents/contract.ts'
import * as conversations from '../conversations/contract.ts'
import * as health from '../health/contract.ts'
import type { Endpoint } from '../http/contract.ts'
import * as knowledge from '../knowledge/contract.ts'

/** Every contract of version 2, in the order of the reference. */
export const contracts: Endpoint[] = [health, accounts, agents, knowledge, conversations].flatMap((feature) =>
  Object.values(feature),
)

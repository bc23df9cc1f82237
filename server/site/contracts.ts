import * as accounts from '../accounts/contract.ts'
import * as actions from '../actions/contract.ts'
import * as agents from '../agents/contract.ts'
import * as email from '../channels/email/contract.ts'
import * as messaging from '../channels/messaging/contract.ts'
import * as citing from '../conversations/citing/contract.ts'
import * as conversations from '../conversations/contract.ts'
import * as exports from '../exports/contract.ts'
import * as health from '../health/contract.ts'
import * as helpdesk from '../helpdesk/contract.ts'
import * as desk from '../helpdesk/desk/contract.ts'
import * as team from '../helpdesk/team/contract.ts'
import type { Endpoint } from '../http/contract.ts'
import * as insights from '../insights/contract.ts'
import * as topics from '../insights/topics/contract.ts'
import * as unanswered from '../insights/unanswered/contract.ts'
import * as knowledge from '../knowledge/contract.ts'
import * as sourceDetails from '../knowledge/details/contract.ts'
import * as evaluations from '../knowledge/evaluations/contract.ts'
import * as pagesConnection from '../knowledge/notion/contract.ts'
import * as ticketKnowledge from '../knowledge/tickets/contract.ts'
import * as members from '../members/contract.ts'
import * as people from '../people/contract.ts'
import * as privacy from '../privacy/contract.ts'
import * as search from '../search/contract.ts'
import * as signIn from '../sign-in/contract.ts'
import * as chat1 from '../v1/chat/contract.ts'
import * as chatbots1 from '../v1/chatbots/contract.ts'
import * as pictures1 from '../v1/chatbots/pictures-contract.ts'
import * as attributes1 from '../v1/contacts/attributes-contract.ts'
import * as contacts1 from '../v1/contacts/contract.ts'
import * as lists1 from '../v1/lists/contract.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Every contract of version 2: features in this order, inside one by path and method. */
export const contracts: Endpoint[] = listed([
  health,
  accounts,
  agents,
  knowledge,
  sourceDetails,
  evaluations,
  pagesConnection,
  ticketKnowledge,
  actions,
  conversations,
  citing,
  helpdesk,
  team,
  desk,
  messaging,
  email,
  people,
  search,
  exports,
  insights,
  topics,
  unanswered,
  privacy,
  signIn,
  members,
])

/** Every contract of version 1. */
export const version1Contracts: Endpoint[] = listed([
  chat1,
  chatbots1,
  pictures1,
  lists1,
  contacts1,
  attributes1,
])

function listed(features: Record<string, Endpoint>[]): Endpoint[] {
  return features.flatMap((feature) =>
    Object.values(feature).sort(
      (a, b) => compare(a.path, b.path) || METHODS.indexOf(a.method) - METHODS.indexOf(b.method),
    ),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

import { widgetRoutes } from '../server/channels/widget/routes.ts'
import type { Context } from '../server/context.ts'
import { contracts } from '../server/features.ts'
import type { Endpoint } from '../server/platform/http/contract.ts'
import { version1Routes } from '../server/v1/routes.ts'
import { type Schema, sampleOf } from './sample.ts'

/** An endpoint of version 2, version 1 or the widget's API, with the prefix of its path. */
export type Operation = { prefix: '/api/v2' | '/api/v1' | '/api/widget'; endpoint: Endpoint }

export const operationsOf = (ctx: Context): Operation[] => [
  ...contracts.map((endpoint) => ({ prefix: '/api/v2', endpoint }) as const),
  ...version1Routes(ctx).map(({ endpoint }) => ({ prefix: '/api/v1', endpoint }) as const),
  ...widgetRoutes(ctx).map(({ endpoint }) => ({ prefix: '/api/widget', endpoint }) as const),
]

export const titleOf = ({ prefix, endpoint }: Operation): string =>
  `${endpoint.method} ${prefix}${endpoint.path}`

export const pathOf = ({ prefix, endpoint }: Operation, ids: Record<string, string>): string =>
  prefix + endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'none'))

export const parametersOf = ({ endpoint }: Operation): string[] =>
  [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

/** Bodies for the endpoints that do not accept the smallest body that the schema accepts. */
const BODIES: Record<string, Record<string, unknown>> = {
  '/api/v2 chat': { message: 'x', stream: false },
  '/api/v2 runPlayground': { message: 'x', stream: false },
  '/api/v2 takeOverConversation': { memberEmail: 'ann@example.com' },
  '/api/v2 replyToTicket': { type: 'reply', content: 'x', authorEmail: 'ann@example.com' },
  '/api/v2 discardHeldAnswer': { authorEmail: 'ann@example.com' },
  '/api/v2 blockSender': { sender: 'spam.example' },
  '/api/v2 addTicketNote': { content: 'x', authorEmail: 'ann@example.com' },
  '/api/v2 writeMail': {
    to: ['eve@example.org'],
    subject: 'x',
    content: 'x',
    authorEmail: 'ann@example.com',
  },
  '/api/v2 forwardTicket': { to: ['eve@example.org'], authorEmail: 'ann@example.com' },
  '/api/v2 holdReply': { content: 'x', holdSeconds: 10, authorEmail: 'ann@example.com' },
  '/api/v2 holdMail': {
    to: ['eve@example.org'],
    subject: 'x',
    content: 'x',
    authorEmail: 'ann@example.com',
  },
  '/api/v2 holdForward': { to: ['eve@example.org'], authorEmail: 'ann@example.com' },
  '/api/v2 fillCannedReply': { ticketNumber: 1, authorEmail: 'ann@example.com' },
  '/api/v2 createInboxView': { name: 'x', owner: 'all', query: {} },
  '/api/v2 updateInboxView': { name: 'x', owner: 'all', query: {} },
  '/api/v2 eraseUser': { userId: 'nobody' },
  '/api/v2 exportUser': { userId: 'nobody' },
  '/api/v2 retry': { messageId: 'x', stream: false },
  '/api/v2 createAnswerCase': { name: 'x', messages: ['x'], expect: { holds: ['x'] } },
  '/api/v2 importAnswerCases': {
    format: 'json',
    content: JSON.stringify([{ name: 'x', messages: ['x'], expect: {} }]),
  },
  '/api/v2 updateAnswerCase': { name: 'x' },
  '/api/v2 reviewAnswer': { caseId: 'x', repetition: 1, judgement: 'answer', agrees: true },
  '/api/v2 createEvaluation': { question: 'x', expectedAnswer: 'x' },
  '/api/v2 updateEvaluation': { question: 'x', expectedAnswer: 'x' },
  '/api/v1 chat': { chatbotId: 'x', messages: [{ role: 'user', content: 'x' }] },
}

/** Returns a body of required fields that the endpoint accepts, or undefined if it takes no body. */
export function bodyOf({ prefix, endpoint }: Operation): Record<string, unknown> | undefined {
  const known = BODIES[`${prefix} ${endpoint.name}`]
  if (known) return structuredClone(known)
  return endpoint.body ? (sampleOf(endpoint.body as Schema) as Record<string, unknown>) : undefined
}

export const propertiesOf = (schema: unknown): Record<string, Schema> =>
  (schema as Schema | undefined)?.properties ?? {}

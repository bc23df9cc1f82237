import * as accounts from './accounts/contract.ts'
import { accountRecurringJobs } from './accounts/jobs.ts'
import * as members from './accounts/members/contract.ts'
import { memberRoutes } from './accounts/members/routes.ts'
import { accountRoutes } from './accounts/routes.ts'
import * as signIn from './accounts/sign-in/contract.ts'
import { signInJobs, signInRecurringJobs } from './accounts/sign-in/jobs.ts'
import * as provider from './accounts/sign-in/provider/contract.ts'
import { providerRoutes } from './accounts/sign-in/provider/serve-provider.ts'
import { signInRoutes } from './accounts/sign-in/routes.ts'
import * as actions from './actions/contract.ts'
import { actionRecurringJobs } from './actions/jobs.ts'
import { actionRoutes } from './actions/routes.ts'
import * as health from './admin/health/contract.ts'
import { healthRoutes } from './admin/health/routes.ts'
import * as site from './admin/static/pages/contract.ts'
import { describe } from './admin/static/pages/described.ts'
import { referenceRoutes } from './admin/static/pages/reference.ts'
import { docsRoutes } from './admin/static/pages/serve-docs.ts'
import { statusRoutes } from './admin/static/pages/status-page.ts'
import * as workspace from './admin/static/workspace/contract.ts'
import { workspaceRoutes } from './admin/static/workspace/serve-workspace.ts'
import * as agents from './agents/contract.ts'
import * as guardrails from './agents/guardrails/contract.ts'
import { agentJobs } from './agents/jobs.ts'
import * as pictures from './agents/pictures/contract.ts'
import { pictureRoutes } from './agents/pictures/serve-pictures.ts'
import { agentRoutes } from './agents/routes.ts'
import * as email from './channels/email/contract.ts'
import * as mailDomain from './channels/email/domain/contract.ts'
import { domainRoutes } from './channels/email/domain/routes.ts'
import { mailWebhookRoutes } from './channels/email/inbound/webhook.ts'
import * as mailWebhook from './channels/email/inbound/webhook-contract.ts'
import * as mailSignIn from './channels/email/oauth/contract.ts'
import { mailSignInRoutes } from './channels/email/oauth/routes.ts'
import * as originals from './channels/email/original/contract.ts'
import * as originalPage from './channels/email/original/page-contract.ts'
import { originalPages, originalRoutes } from './channels/email/original/routes.ts'
import { emailRoutes } from './channels/email/routes.ts'
import { channelJobs, channelRecurringJobs } from './channels/jobs.ts'
import * as messaging from './channels/messaging/contract.ts'
import { messagingWebhookRoutes } from './channels/messaging/inbound/webhook.ts'
import * as messagingWebhook from './channels/messaging/inbound/webhook-contract.ts'
import { messagingRoutes } from './channels/messaging/routes.ts'
import { notificationJobs, notificationRecurringJobs } from './channels/notifications/jobs.ts'
import * as channels from './channels/registry/contract.ts'
import { channelRoutes } from './channels/registry/routes.ts'
import * as identity from './channels/widget/identity/contract.ts'
import { identityRoutes } from './channels/widget/identity/routes.ts'
import { widgetRecurringJobs } from './channels/widget/jobs.ts'
import * as widgetPage from './channels/widget/page/contract.ts'
import { widgetPageRoutes } from './channels/widget/page/serve-widget.ts'
import type { Context } from './context.ts'
import * as attachments from './conversations/attachments/contract.ts'
import { attachmentRecurringJobs } from './conversations/attachments/jobs.ts'
import { attachmentRoutes } from './conversations/attachments/serve-attachments.ts'
import * as citing from './conversations/citations/contract.ts'
import { citingRoutes } from './conversations/citations/routes.ts'
import * as conversations from './conversations/contract.ts'
import * as explanations from './conversations/explanations/contract.ts'
import { explanationRoutes } from './conversations/explanations/routes.ts'
import * as exports from './conversations/exports/contract.ts'
import { exportRoutes } from './conversations/exports/routes.ts'
import * as insights from './conversations/insights/contract.ts'
import { insightJobs, insightRecurringJobs } from './conversations/insights/jobs.ts'
import { insightRoutes } from './conversations/insights/routes.ts'
import * as topics from './conversations/insights/topics/contract.ts'
import * as unanswered from './conversations/insights/unanswered/contract.ts'
import { conversationRecurringJobs } from './conversations/jobs.ts'
import * as answerProposals from './conversations/playground/answer-tests/cases/proposals/contract.ts'
import { proposalRoutes } from './conversations/playground/answer-tests/cases/proposals/routes.ts'
import * as answerTests from './conversations/playground/answer-tests/contract.ts'
import { answerTestRoutes } from './conversations/playground/answer-tests/routes.ts'
import { runAnswerTests } from './conversations/playground/answer-tests/run-tests.ts'
import * as playground from './conversations/playground/contract.ts'
import * as drafts from './conversations/playground/drafts/contract.ts'
import { draftRoutes } from './conversations/playground/drafts/routes.ts'
import { conversationRoutes } from './conversations/routes.ts'
import * as runs from './conversations/runs/contract.ts'
import * as search from './conversations/search/contract.ts'
import { searchRecurringJobs } from './conversations/search/jobs.ts'
import { searchRoutes } from './conversations/search/routes.ts'
import * as helpdesk from './inbox/contract.ts'
import { helpdeskJobs, helpdeskRecurringJobs } from './inbox/jobs.ts'
import * as deskMail from './inbox/mail/contract.ts'
import { helpdeskRoutes } from './inbox/routes.ts'
import * as desk from './inbox/settings/contract.ts'
import * as spam from './inbox/spam/contract.ts'
import * as surveys from './inbox/survey/contract.ts'
import { surveyRoutes } from './inbox/survey/serve-surveys.ts'
import * as team from './inbox/team/contract.ts'
import * as inbox from './inbox/views/contract.ts'
import * as knowledge from './knowledge/contract.ts'
import * as evaluations from './knowledge/evaluations/contract.ts'
import { knowledgeJobs, knowledgeRecurringJobs } from './knowledge/jobs.ts'
import * as connectedPages from './knowledge/notion/contract.ts'
import { sourceRoutes } from './knowledge/routes.ts'
import * as sourceDetails from './knowledge/sources/details/contract.ts'
import * as sourceFiles from './knowledge/sources/files-contract.ts'
import { sourceFileRoutes } from './knowledge/sources/serve-source-files.ts'
import * as ticketKnowledge from './knowledge/tickets/contract.ts'
import * as people from './people/contacts/contract.ts'
import { peopleRoutes } from './people/contacts/routes.ts'
import * as privacy from './people/privacy/contract.ts'
import { privacyJobs, privacyRecurringJobs } from './people/privacy/jobs.ts'
import { privacyRoutes } from './people/privacy/routes.ts'
import * as testCases from './people/privacy/test-cases/contract.ts'
import { testCaseRoutes } from './people/privacy/test-cases/routes.ts'
import { type Endpoint, V2 } from './platform/http/contract.ts'
import { openApiDocument } from './platform/http/openapi/openapi.ts'
import type { RawEndpoint } from './platform/http/raw-endpoint.ts'
import type { Route } from './platform/http/route.ts'
import type { RawRoute } from './platform/http/server/serve-raw.ts'
import type { Task } from './platform/jobs/jobs.ts'
import type { RecurringJob } from './platform/jobs/recurring-jobs.ts'
import { agentReactions } from './reactions.ts'
import * as chat1 from './v1/chat/contract.ts'
import * as chatbots1 from './v1/chatbots/contract.ts'
import * as pictures1 from './v1/chatbots/pictures-contract.ts'
import * as attributes1 from './v1/contacts/attributes-contract.ts'
import * as contacts1 from './v1/contacts/contract.ts'
import * as lists1 from './v1/lists/contract.ts'

type Contracts = Record<string, Endpoint>
/** A module of contracts may also export constants. */
type RawContracts = Record<string, RawEndpoint | string | number>

/** What a feature adds to the service. */
type Feature = {
  /** The modules with its contracts of version 2. Each contract has one route in `routes`. */
  contracts?: Contracts[]
  routes?(ctx: Context): Route[]
  /** The modules with the contracts of what it serves outside of the API: files, pages and webhooks. */
  raw?: RawContracts[]
  rawRoutes?(ctx: Context): RawRoute[]
  jobs?(ctx: Context): Task<never>[]
  duties?(ctx: Context): RecurringJob[]
}

/** Every feature, in the order of the OpenAPI document. */
export const features: Feature[] = [
  { contracts: [health], routes: healthRoutes },
  { contracts: [accounts], routes: accountRoutes, duties: accountRecurringJobs },
  {
    contracts: [agents, guardrails],
    routes: (ctx) => agentRoutes(ctx, agentReactions(ctx)),
    raw: [pictures],
    rawRoutes: pictureRoutes,
    jobs: agentJobs,
  },
  {
    contracts: [knowledge, sourceDetails, evaluations, connectedPages, ticketKnowledge],
    routes: sourceRoutes,
    raw: [sourceFiles],
    rawRoutes: sourceFileRoutes,
    jobs: knowledgeJobs,
    duties: knowledgeRecurringJobs,
  },
  { contracts: [actions], routes: actionRoutes, duties: actionRecurringJobs },
  {
    contracts: [conversations, citing, explanations, playground, runs, answerTests, answerProposals, drafts],
    routes: (ctx) => [
      ...conversationRoutes(ctx),
      ...citingRoutes(ctx),
      ...explanationRoutes(ctx),
      ...answerTestRoutes(ctx),
      ...proposalRoutes(ctx),
      ...draftRoutes(ctx),
    ],
    jobs: (ctx) => [runAnswerTests(ctx)],
    duties: conversationRecurringJobs,
  },
  {
    contracts: [helpdesk, deskMail, spam, team, desk, inbox],
    routes: helpdeskRoutes,
    raw: [surveys],
    rawRoutes: surveyRoutes,
    jobs: helpdeskJobs,
    duties: helpdeskRecurringJobs,
  },
  { raw: [attachments], rawRoutes: attachmentRoutes, duties: attachmentRecurringJobs },
  {
    contracts: [messaging],
    routes: messagingRoutes,
    raw: [messagingWebhook],
    rawRoutes: messagingWebhookRoutes,
  },
  {
    contracts: [email, mailDomain, mailSignIn, originals],
    routes: (ctx) => [
      ...emailRoutes(ctx),
      ...domainRoutes(ctx),
      ...mailSignInRoutes(ctx),
      ...originalRoutes(ctx),
    ],
    raw: [mailWebhook, originalPage],
    rawRoutes: (ctx) => [...mailWebhookRoutes(ctx), ...originalPages(ctx)],
  },
  { contracts: [channels], routes: channelRoutes, jobs: channelJobs, duties: channelRecurringJobs },
  { contracts: [people], routes: peopleRoutes },
  { contracts: [search], routes: searchRoutes, duties: searchRecurringJobs },
  { contracts: [exports], routes: exportRoutes },
  {
    contracts: [insights, topics, unanswered],
    routes: insightRoutes,
    jobs: insightJobs,
    duties: insightRecurringJobs,
  },
  {
    contracts: [privacy, testCases],
    routes: (ctx) => [...privacyRoutes(ctx), ...testCaseRoutes(ctx)],
    jobs: privacyJobs,
    duties: privacyRecurringJobs,
  },
  {
    contracts: [signIn],
    routes: signInRoutes,
    raw: [provider],
    rawRoutes: providerRoutes,
    jobs: signInJobs,
    duties: signInRecurringJobs,
  },
  { contracts: [members], routes: memberRoutes },
  { jobs: notificationJobs, duties: notificationRecurringJobs },
  {
    contracts: [identity],
    routes: identityRoutes,
    raw: [widgetPage],
    rawRoutes: widgetPageRoutes,
    duties: widgetRecurringJobs,
  },
  {
    raw: [site],
    rawRoutes: (ctx) => [
      ...docsRoutes(ctx),
      ...statusRoutes(ctx, V2),
      ...referenceRoutes(() =>
        openApiDocument(describe(contracts, version1Contracts, rawContracts), ctx.config.publicUrl ?? ''),
      ),
    ],
  },
  { raw: [workspace], rawRoutes: workspaceRoutes },
]

/** The contracts of version 2, in the order of the features and, within each, by path and method. */
export const contracts: Endpoint[] = listed<Endpoint>(features.flatMap((feature) => feature.contracts ?? []))

/** Every contract of what is served outside of the APIs. */
export const rawContracts: RawEndpoint[] = listed<RawEndpoint>(
  features.flatMap(({ raw = [] }) =>
    raw.map((module) => Object.fromEntries(Object.entries(module).filter(isRawEndpoint))),
  ),
)

/** Every contract of version 1, which has no features of its own. */
export const version1Contracts: Endpoint[] = listed<Endpoint>([
  chat1,
  chatbots1,
  pictures1,
  lists1,
  contacts1,
  attributes1,
])

/** Every kind of background job. */
export const jobKinds = (ctx: Context): Task<never>[] => features.flatMap(({ jobs }) => jobs?.(ctx) ?? [])

/** The recurring jobs of a process in this role. */
export function duties(ctx: Context, role: 'api' | 'worker' | 'all'): RecurringJob[] {
  const every = features.flatMap((feature) => feature.duties?.(ctx) ?? [])
  return role === 'api' ? every.filter(({ processes }) => processes === 'all') : every
}

function isRawEndpoint(entry: [string, unknown]): entry is [string, RawEndpoint] {
  return typeof entry[1] === 'object'
}

function listed<E extends Endpoint | RawEndpoint>(modules: Record<string, E>[]): E[] {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  return modules.flatMap((contracts) =>
    Object.values(contracts).sort(
      (a, b) => compare(a.path, b.path) || methods.indexOf(a.method) - methods.indexOf(b.method),
    ),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

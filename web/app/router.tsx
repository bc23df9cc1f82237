import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent as lazyOfRouter,
  Navigate,
  Outlet,
} from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Filters } from '../conversations/filters.ts'
import { prefetchConversations } from '../conversations/list-conversations.ts'
import { Compass } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { Empty, Problem } from '../ui/state.tsx'
import { base } from './base.ts'
import { loadCode } from './load-code.ts'
import { lastAgent, takePlace, useAgents } from './session.ts'
import { Shell, Waiting } from './shell.tsx'

const lazyRouteComponent: typeof lazyOfRouter = (load, name) => lazyOfRouter(() => loadCode(load), name)

/** The URL's query holds the filters and the open item, as text. */
type Search = Record<string, string | undefined>

const root = createRootRoute({
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
  component: Outlet,
  notFoundComponent: () => (
    <Page title="Nothing is here">
      <Empty icon={Compass} title="This page does not exist" action={<Link to="/agents">All agents</Link>} />
    </Page>
  ),
  errorComponent: ({ error, reset }) => <Problem error={error} onRetry={reset} />,
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

type Code = Record<string, unknown>

const outside = <const P extends string, C extends Code>(
  path: P,
  load: () => Promise<C>,
  name: keyof C & string,
) => createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, name) })
const inside = <const P extends string, C extends Code>(
  path: P,
  load: () => Promise<C>,
  name: keyof C & string,
) => createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load, name) })

const gate = () => import('../sign-in/sign-in-page.tsx')
const reset = () => import('../sign-in/reset-pages.tsx')

const conversations = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$agentId/conversations',
  component: lazyRouteComponent(() => import('../conversations/conversations-page.tsx'), 'ConversationsPage'),
  loaderDeps: ({ search: { open: _open, ...filters } }) => filters,
  loader: ({ params: { agentId }, deps }) => prefetchConversations(agentId, deps as Filters),
})

const routes = root.addChildren([
  outside('/sign-in', gate, 'SignInPage'),
  outside('/setup', () => import('../sign-in/set-up-page.tsx'), 'SetUpPage'),
  outside('/invite', () => import('../sign-in/invite-page.tsx'), 'InvitePage'),
  outside('/forgot', reset, 'ForgotPage'),
  outside('/reset', reset, 'ResetPage'),
  shell.addChildren([
    createRoute({ getParentRoute: () => shell, path: '/', component: Home }),
    inside('/agents', () => import('../agents/agents-page.tsx'), 'AgentsPage'),
    inside('/agents/new', () => import('../agents/new-agent-page.tsx'), 'NewAgentPage'),
    inside('/agents/$agentId', () => import('../agents/overview-page.tsx'), 'OverviewPage'),
    inside('/agents/$agentId/start', () => import('../agents/start-page.tsx'), 'StartPage'),
    inside(
      '/agents/$agentId/playground',
      () => import('../playground/playground-page.tsx'),
      'PlaygroundPage',
    ),
    inside('/agents/$agentId/sources', () => import('../sources/sources-page.tsx'), 'SourcesPage'),
    inside('/agents/$agentId/sources/$sourceId', () => import('../sources/source-page.tsx'), 'SourcePage'),
    inside('/agents/$agentId/actions', () => import('../actions/actions-page.tsx'), 'ActionsPage'),
    inside('/agents/$agentId/actions/$actionId', () => import('../actions/action-page.tsx'), 'ActionPage'),
    inside(
      '/agents/$agentId/procedures',
      () => import('../procedures/procedures-page.tsx'),
      'ProceduresPage',
    ),
    inside(
      '/agents/$agentId/procedures/$procedureId',
      () => import('../procedures/procedure-page.tsx'),
      'ProcedurePage',
    ),
    inside(
      '/agents/$agentId/evaluations',
      () => import('../evaluations/evaluations-page.tsx'),
      'EvaluationsPage',
    ),
    conversations,
    inside('/agents/$agentId/inbox', () => import('../inbox/inbox-page.tsx'), 'InboxPage'),
    inside(
      '/agents/$agentId/instructions',
      () => import('../instructions/instructions-page.tsx'),
      'InstructionsPage',
    ),
    inside('/agents/$agentId/draft', () => import('../drafts/draft-page.tsx'), 'DraftPage'),
    inside('/agents/$agentId/deploy', () => import('../deploy/deploy-page.tsx'), 'DeployPage'),
    inside('/mailbox-sign-in', () => import('../deploy/mailbox-sign-in-page.tsx'), 'MailboxSignInPage'),
    inside('/agents/$agentId/insights', () => import('../insights/insights-page.tsx'), 'InsightsPage'),
    inside('/agents/$agentId/contacts', () => import('../contacts/contacts-page.tsx'), 'ContactsPage'),
    inside('/agents/$agentId/search', () => import('../search/search-page.tsx'), 'SearchPage'),
    inside('/agents/$agentId/settings', () => import('../settings/settings-page.tsx'), 'SettingsPage'),
    inside('/workspace', () => import('../workspace/workspace-page.tsx'), 'WorkspacePage'),
    inside('/workspace/account', () => import('../workspace/account-page.tsx'), 'AccountPage'),
  ]),
])

/** Redirects to the agent that this browser opened last if it still exists, otherwise to the list of agents. */
function Home() {
  const { data } = useAgents()
  const [place] = useState(takePlace)
  useEffect(() => {
    if (place) location.replace(place)
  }, [place])
  if (!data || place) return null
  const agentId = lastAgent()
  if (agentId && data.data.some(({ id }) => id === agentId)) {
    return <Navigate to="/agents/$agentId" params={{ agentId }} replace />
  }
  return <Navigate to="/agents" replace />
}

export const router = createRouter({
  routeTree: routes,
  basepath: base || '/',
  defaultPreload: 'intent',
  defaultPendingComponent: Waiting,
  defaultPendingMinMs: 0,
  // All query parameters are plain text; none of them is parsed as JSON.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) =>
        value === undefined || value === '' ? [] : [[name, String(value)]],
      ),
    ).toString()
    return text && `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

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

type Component = ReturnType<typeof lazyRouteComponent>

const outside = <const P extends string>(path: P, component: Component) =>
  createRoute({ getParentRoute: () => root, path, component })
const inside = <const P extends string>(path: P, component: Component | typeof Home) =>
  createRoute({ getParentRoute: () => shell, path, component })

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
  outside('/sign-in', lazyRouteComponent(gate, 'SignInPage')),
  outside(
    '/setup',
    lazyRouteComponent(() => import('../sign-in/set-up-page.tsx'), 'SetUpPage'),
  ),
  outside(
    '/invite',
    lazyRouteComponent(() => import('../sign-in/invite-page.tsx'), 'InvitePage'),
  ),
  outside('/forgot', lazyRouteComponent(reset, 'ForgotPage')),
  outside('/reset', lazyRouteComponent(reset, 'ResetPage')),
  shell.addChildren([
    inside('/', Home),
    inside(
      '/agents',
      lazyRouteComponent(() => import('../agents/agents-page.tsx'), 'AgentsPage'),
    ),
    inside(
      '/agents/new',
      lazyRouteComponent(() => import('../agents/new-agent-page.tsx'), 'NewAgentPage'),
    ),
    inside(
      '/agents/$agentId',
      lazyRouteComponent(() => import('../agents/overview-page.tsx'), 'OverviewPage'),
    ),
    inside(
      '/agents/$agentId/start',
      lazyRouteComponent(() => import('../agents/start-page.tsx'), 'StartPage'),
    ),
    inside(
      '/agents/$agentId/playground',
      lazyRouteComponent(() => import('../playground/playground-page.tsx'), 'PlaygroundPage'),
    ),
    inside(
      '/agents/$agentId/sources',
      lazyRouteComponent(() => import('../sources/sources-page.tsx'), 'SourcesPage'),
    ),
    inside(
      '/agents/$agentId/sources/$sourceId',
      lazyRouteComponent(() => import('../sources/source-page.tsx'), 'SourcePage'),
    ),
    inside(
      '/agents/$agentId/actions',
      lazyRouteComponent(() => import('../actions/actions-page.tsx'), 'ActionsPage'),
    ),
    inside(
      '/agents/$agentId/actions/$actionId',
      lazyRouteComponent(() => import('../actions/action-page.tsx'), 'ActionPage'),
    ),
    inside(
      '/agents/$agentId/procedures',
      lazyRouteComponent(() => import('../procedures/procedures-page.tsx'), 'ProceduresPage'),
    ),
    inside(
      '/agents/$agentId/procedures/$procedureId',
      lazyRouteComponent(() => import('../procedures/procedure-page.tsx'), 'ProcedurePage'),
    ),
    inside(
      '/agents/$agentId/evaluations',
      lazyRouteComponent(() => import('../evaluations/evaluations-page.tsx'), 'EvaluationsPage'),
    ),
    conversations,
    inside(
      '/agents/$agentId/inbox',
      lazyRouteComponent(() => import('../inbox/inbox-page.tsx'), 'InboxPage'),
    ),
    inside(
      '/agents/$agentId/instructions',
      lazyRouteComponent(() => import('../instructions/instructions-page.tsx'), 'InstructionsPage'),
    ),
    inside(
      '/agents/$agentId/deploy',
      lazyRouteComponent(() => import('../deploy/deploy-page.tsx'), 'DeployPage'),
    ),
    inside(
      '/agents/$agentId/insights',
      lazyRouteComponent(() => import('../insights/insights-page.tsx'), 'InsightsPage'),
    ),
    inside(
      '/agents/$agentId/contacts',
      lazyRouteComponent(() => import('../contacts/contacts-page.tsx'), 'ContactsPage'),
    ),
    inside(
      '/agents/$agentId/search',
      lazyRouteComponent(() => import('../search/search-page.tsx'), 'SearchPage'),
    ),
    inside(
      '/agents/$agentId/settings',
      lazyRouteComponent(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
    ),
    inside(
      '/workspace',
      lazyRouteComponent(() => import('../workspace/workspace-page.tsx'), 'WorkspacePage'),
    ),
    inside(
      '/workspace/account',
      lazyRouteComponent(() => import('../workspace/account-page.tsx'), 'AccountPage'),
    ),
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

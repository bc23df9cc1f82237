import type { Scope } from '../../server/platform/http/contract.ts'
import type { LucideIcon } from '../ui/icon.tsx'
import {
  BookOpen,
  ChartColumn,
  ContactRound,
  Inbox,
  LayoutDashboard,
  ListChecks,
  ListOrdered,
  MessagesSquare,
  PencilRuler,
  Rocket,
  Search,
  Settings,
  SlidersHorizontal,
  Sparkles,
  Zap,
} from '../ui/icons.ts'

type NavigationItem = { to: string; label: string; icon: LucideIcon; scope: Scope; exact?: boolean }

/** The pages of an agent, in groups. Members without a page's scope do not see it. */
export const agentPlaces: { label: string; places: NavigationItem[] }[] = [
  {
    label: 'Agent',
    places: [
      { to: '/agents/$agentId', label: 'Overview', icon: LayoutDashboard, scope: 'agents:read', exact: true },
      { to: '/agents/$agentId/playground', label: 'Playground', icon: Sparkles, scope: 'agents:write' },
      { to: '/agents/$agentId/sources', label: 'Sources', icon: BookOpen, scope: 'sources:read' },
      { to: '/agents/$agentId/search', label: 'Search test', icon: Search, scope: 'sources:read' },
      {
        to: '/agents/$agentId/instructions',
        label: 'Instructions',
        icon: SlidersHorizontal,
        scope: 'agents:write',
      },
      { to: '/agents/$agentId/draft', label: 'Draft', icon: PencilRuler, scope: 'agents:write' },
      { to: '/agents/$agentId/actions', label: 'Actions', icon: Zap, scope: 'actions:read' },
      { to: '/agents/$agentId/procedures', label: 'Procedures', icon: ListOrdered, scope: 'actions:read' },
      { to: '/agents/$agentId/evaluations', label: 'Evaluations', icon: ListChecks, scope: 'sources:read' },
    ],
  },
  {
    label: 'People',
    places: [
      { to: '/agents/$agentId/inbox', label: 'Inbox', icon: Inbox, scope: 'helpdesk:read' },
      {
        to: '/agents/$agentId/conversations',
        label: 'Conversations',
        icon: MessagesSquare,
        scope: 'conversations:read',
      },
      { to: '/agents/$agentId/contacts', label: 'Contacts', icon: ContactRound, scope: 'conversations:read' },
      { to: '/agents/$agentId/insights', label: 'Insights', icon: ChartColumn, scope: 'conversations:read' },
    ],
  },
  {
    label: 'Set-up',
    places: [
      { to: '/agents/$agentId/deploy', label: 'Deploy', icon: Rocket, scope: 'agents:write' },
      { to: '/agents/$agentId/settings', label: 'Settings', icon: Settings, scope: 'agents:write' },
    ],
  },
]

/** The sections of an agent's settings. */
export const settingsSections = [
  'General',
  'Keeping current',
  'Notice of AI',
  'Spam',
  'Countries',
  'Daily emails',
  'How long conversations are kept',
  'Delete the agent',
]

type Tab = { id: string; label: string; scope: Scope }

/** The tabs of an agent's page for deploying it. */
export const deployTabs = [
  { id: 'widget', label: 'Website', scope: 'agents:write' },
  { id: 'page', label: 'Page', scope: 'agents:write' },
  { id: 'api', label: 'API', scope: 'agents:write' },
  { id: 'messaging', label: 'Messaging (WhatsApp)', scope: 'messaging:read' },
  { id: 'mail', label: 'Mail', scope: 'messaging:read' },
] as const satisfies Tab[]

/** The tabs of the workspace's settings. */
export const workspaceTabs = [
  { id: 'members', label: 'Members', scope: 'members:read' },
  { id: 'keys', label: 'API keys', scope: 'keys:read' },
  { id: 'usage', label: 'Plan and usage', scope: 'account:read' },
  { id: 'models', label: 'Models', scope: 'agents:read' },
  { id: 'audit', label: 'Audit log', scope: 'audit:read' },
  { id: 'general', label: 'Name and data', scope: 'members:write' },
] as const satisfies Tab[]

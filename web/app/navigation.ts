import {
  BookOpen,
  ChartColumn,
  ContactRound,
  Inbox,
  LayoutDashboard,
  ListChecks,
  ListOrdered,
  type LucideIcon,
  MessagesSquare,
  Rocket,
  Search,
  Settings,
  SlidersHorizontal,
  Sparkles,
  Zap,
} from 'lucide-react'
import type { Scope } from '../../server/http/contract.ts'

type Place = { to: string; label: string; icon: LucideIcon; scope: Scope; exact?: boolean }

/** The pages of an agent, in groups. Members without a page's scope do not see it. */
export const agentPlaces: { label: string; places: Place[] }[] = [
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

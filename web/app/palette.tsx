import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { nameOf } from '../inbox/ticket-words.ts'
import {
  Bot,
  ContactRound,
  Inbox,
  Moon,
  Plus,
  Rocket,
  Settings,
  ShieldCheck,
  Sun,
  Users,
} from '../ui/icons.ts'
import { anchorOf } from '../ui/page.tsx'
import { type Entry, Picker } from '../ui/picker.tsx'
import { call, reading } from './api.ts'
import { agentPlaces, deployTabs, settingsSections, workspaceTabs } from './navigation.ts'
import { lastAgent, useAgentId, useAgents, useCan } from './session.ts'
import { chooseTheme } from './theme.ts'

/** The command palette: finds a page, a setting, an agent, a ticket or a contact by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  return (
    <Picker
      title="Go to"
      label="Go to a page, an agent, a ticket or a contact"
      listLabel="Results"
      entries={useEntries(text.trim() !== '')}
      {...useFound(text.trim())}
      onText={setText}
      onClose={onClose}
    />
  )
}

const TICKETS = '/agents/{agentId}/helpdesk/tickets'
const TYPED_MS = 200
const MIN_LENGTH = 2
const MAX_FOUND = 6

/** Searches the tickets and the contacts of the agent, a moment after the last letter. */
function useFound(text: string): { found: Entry[]; isSearching: boolean } {
  const navigate = useNavigate()
  const can = useCan()
  const agentId = useHere()?.id ?? ''
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text])
  const params = { agentId }
  const isAsked = agentId !== '' && asked.length >= MIN_LENGTH && asked === text
  const tickets = useQuery({
    queryKey: [TICKETS, params, 'search', asked, MAX_FOUND],
    queryFn: () => call('POST', `${TICKETS}/search`, { params, body: { query: asked, limit: MAX_FOUND } }),
    enabled: isAsked && can('helpdesk:read'),
  })
  const contacts = useQuery({
    ...reading('/agents/{agentId}/contacts', { params, query: { query: asked, limit: MAX_FOUND } }),
    enabled: isAsked && can('conversations:read'),
  })
  const isWaiting = agentId !== '' && text.length >= MIN_LENGTH && asked !== text
  if (!isAsked) return { found: [], isSearching: isWaiting }
  const found = [
    ...(tickets.data?.data ?? []).map(({ ticketNumber, subject, customer }) => ({
      id: `ticket ${ticketNumber}`,
      label: `#${ticketNumber} ${subject ?? 'Without a subject'}`,
      group: `Ticket of ${nameOf(customer)}`,
      icon: Inbox,
      run: () =>
        void navigate({
          to: '/agents/$agentId/inbox',
          params,
          search: { ticket: String(ticketNumber) },
        }),
    })),
    ...(contacts.data?.data ?? []).map(({ id, name, email, phoneNumber, externalId }) => ({
      id: `contact ${id}`,
      label: name ?? email ?? phoneNumber ?? externalId,
      group: 'Contact',
      icon: ContactRound,
      run: () => void navigate({ to: '/agents/$agentId/contacts', params, search: { contact: id } }),
    })),
  ]
  return { found, isSearching: tickets.isLoading || contacts.isLoading }
}

/** Returns the agent of the page, or the one that was opened last. */
function useHere() {
  const { data } = useAgents()
  const agents = data?.data ?? []
  const here = useAgentId() || lastAgent() || agents[0]?.id
  return agents.find(({ id }) => id === here)
}

/** Returns the pages and agents; what a page consists of only for a text, since it would make the list long. */
function useEntries(isAsked: boolean): Entry[] {
  const navigate = useNavigate()
  const can = useCan()
  const { data } = useAgents()
  const agents = data?.data ?? []
  const agent = useHere()
  const pages = agent
    ? agentPlaces
        .flatMap(({ places }) => places)
        .filter(({ scope }) => can(scope))
        .map(({ to, label, icon }) => ({
          id: to,
          label,
          icon,
          group: agent.name,
          run: () => void navigate({ to, params: { agentId: agent.id } }),
        }))
    : []
  const others = agents.map(({ id, name }) => ({
    id,
    label: name,
    icon: Bot,
    group: 'Agents',
    run: () => void navigate({ to: '/agents/$agentId', params: { agentId: id } }),
  }))
  const parts =
    agent && can('agents:write')
      ? [
          ...settingsSections.map((title) => ({
            id: `settings ${title}`,
            label: title,
            icon: Settings,
            group: `Settings of ${agent.name}`,
            run: () =>
              void navigate({
                to: '/agents/$agentId/settings',
                params: { agentId: agent.id },
                hash: anchorOf(title),
              }),
          })),
          ...deployTabs
            .filter(({ scope }) => can(scope))
            .map(({ id, label }) => ({
              id: `deploy ${id}`,
              label,
              icon: Rocket,
              group: `Deploy ${agent.name}`,
              run: () =>
                void navigate({
                  to: '/agents/$agentId/deploy',
                  params: { agentId: agent.id },
                  search: { tab: id },
                }),
            })),
        ]
      : []
  const tabs = workspaceTabs
    .filter(({ scope }) => can(scope))
    .map(({ id, label }) => ({
      id: `workspace ${id}`,
      label,
      icon: Users,
      group: 'Workspace',
      run: () => void navigate({ to: '/workspace', search: { tab: id } }),
    }))
  return [...pages, ...others, ...tabs, ...useFixedEntries(), ...(isAsked ? parts : [])]
}

/** Returns the entries that are the same on every page. */
function useFixedEntries(): Entry[] {
  const navigate = useNavigate()
  const can = useCan()
  const go = (to: string) => () => void navigate({ to })
  const entries: (Entry & { hidden?: boolean })[] = [
    { id: 'agents', label: 'All agents', icon: Bot, group: 'Workspace', run: go('/agents') },
    {
      id: 'new',
      label: 'New agent',
      icon: Plus,
      group: 'Workspace',
      run: go('/agents/new'),
      hidden: !can('agents:write'),
    },
    {
      id: 'account',
      label: 'Password and sessions',
      icon: ShieldCheck,
      group: 'Your account',
      run: go('/workspace/account'),
    },
    { id: 'light', label: 'Light looks', icon: Sun, group: 'Looks', run: () => chooseTheme('light') },
    { id: 'dark', label: 'Dark looks', icon: Moon, group: 'Looks', run: () => chooseTheme('dark') },
  ]
  return entries.filter(({ hidden }) => !hidden)
}

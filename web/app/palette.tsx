import { useNavigate } from '@tanstack/react-router'
import { Bot, Moon, Plus, Sun, Users } from 'lucide-react'
import { type Entry, Picker } from '../ui/picker.tsx'
import { agentPlaces } from './navigation.ts'
import { lastAgent, useAgentId, useAgents, useCan } from './session.ts'
import { chooseTheme } from './theme.ts'

/** The command palette: finds a page or an agent by a few letters of its name. */
export const Palette = ({ onClose }: { onClose: () => void }) => (
  <Picker
    title="Go to"
    label="Go to a page or an agent"
    listLabel="Pages and agents"
    entries={useEntries()}
    onClose={onClose}
  />
)

function useEntries(): Entry[] {
  const navigate = useNavigate()
  const can = useCan()
  const { data } = useAgents()
  const agents = data?.data ?? []
  const here = useAgentId() || lastAgent() || agents[0]?.id
  const agent = agents.find(({ id }) => id === here)
  const pages = agent
    ? agentPlaces
        .flatMap(({ places }) => places)
        .filter(({ scope }) => can(scope))
        .map(({ to, label, icon }) => ({
          id: to,
          label,
          icon,
          group: agent.name,
          run: () => void navigate({ to, params: { agentId: agent.id } as never }),
        }))
    : []
  const others = agents.map(({ id, name }) => ({
    id,
    label: name,
    icon: Bot,
    group: 'Agents',
    run: () => void navigate({ to: '/agents/$agentId', params: { agentId: id } }),
  }))
  const go = (to: string) => () => void navigate({ to })
  const rest: (Entry & { hidden?: boolean })[] = [
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
      id: 'workspace',
      label: 'Members, keys and usage',
      icon: Users,
      group: 'Workspace',
      run: go('/workspace'),
      hidden: !can('members:read'),
    },
    { id: 'light', label: 'Light looks', icon: Sun, group: 'Looks', run: () => chooseTheme('light') },
    { id: 'dark', label: 'Dark looks', icon: Moon, group: 'Looks', run: () => chooseTheme('dark') },
  ]
  return [...pages, ...others, ...rest.filter(({ hidden }) => !hidden)]
}

import { useNavigate } from '@tanstack/react-router'
import { Bot, type LucideIcon, Moon, Plus, Sun, Users } from 'lucide-react'
import { type KeyboardEvent, useId, useState } from 'react'
import { Modal, ModalOverlay, Dialog as Pane } from 'react-aria-components'
import { agentPlaces } from './navigation.ts'
import classes from './palette.module.css'
import { lastAgent, useAgentId, useAgents, useCan } from './session.ts'
import { chooseTheme } from './theme.ts'

type Entry = { id: string; label: string; group: string; icon: LucideIcon; run: () => void }

/** The command palette: finds a page or an agent by a few letters of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const words = text.toLowerCase().split(/\s+/)
  const found = useEntries().filter(({ label, group }) =>
    words.every((word) => `${group} ${label}`.toLowerCase().includes(word)),
  )
  const chosen = Math.min(at, found.length - 1)
  const run = (entry: Entry | undefined): void => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') run(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(open) => !open && onClose()}
      className={classes.overlay}
    >
      <Modal className={classes.modal}>
        <Pane aria-label="Go to" className={classes.pane}>
          <input
            // biome-ignore lint/a11y/noAutofocus: users open the palette to type into this field
            autoFocus
            className={classes.input}
            role="combobox"
            aria-label="Go to a page or an agent"
            aria-expanded
            aria-controls={listId}
            aria-activedescendant={found[chosen] && `${listId}-${chosen}`}
            placeholder="Go to a page or an agent"
            value={text}
            onChange={({ target }) => {
              setText(target.value)
              setAt(0)
            }}
            onKeyDown={onKeyDown}
          />
          {/* The field keeps the focus and refers to the selected entry (aria-activedescendant). */}
          <div id={listId} role="listbox" aria-label="Pages and agents" className={classes.list}>
            {found.map((entry, index) => (
              <button
                type="button"
                tabIndex={-1}
                key={entry.id}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === chosen}
                className={classes.option}
                onClick={() => run(entry)}
                onPointerMove={() => setAt(index)}
                ref={(node) => {
                  if (index === chosen) node?.scrollIntoView({ block: 'nearest' })
                }}
              >
                <entry.icon size={16} aria-hidden />
                <span>{entry.label}</span>
                <small>{entry.group}</small>
              </button>
            ))}
          </div>
          {found.length === 0 && <p className={classes.none}>Nothing is called that.</p>}
        </Pane>
      </Modal>
    </ModalOverlay>
  )
}

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

import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useLayoutEffect, useState } from 'react'
import { ParleyError } from '../../client/parley-error.ts'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { LucideIcon } from '../ui/icon.tsx'
import { Bot, ChevronsUpDown, LifeBuoy, Menu as Lines, Plus, Search, Users } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Problem, Skeleton } from '../ui/state.tsx'
import { Toasts, takeOffer } from '../ui/toast.tsx'
import { AccountMenu } from './account-menu.tsx'
import { base } from './base.ts'
import { useConflict } from './conflicts.ts'
import { LeaveGuard } from './leave-guard.tsx'
import { useIsUnreachable } from './load-code.ts'
import { agentPlaces } from './navigation.ts'
import { useOnline } from './online.ts'
import { Palette } from './palette.tsx'
import { rememberAgent, useAgent, useAgentId, useAgents, useCan, useMe } from './session.ts'
import { isSignedOut, useSessionEnd } from './session-end.ts'
import classes from './shell.module.css'
import { useShortcuts } from './shortcuts.ts'
import { keepFor } from './use-kept.ts'

const ConflictDialog = lazy(() =>
  import('./conflict-dialog.tsx').then(({ ConflictDialog: one }) => ({ default: one })),
)
const Help = lazy(() => import('./help.tsx').then(({ Help: one }) => ({ default: one })))

/** The layout around every page that requires sign-in. */
export function Shell() {
  const me = useMe()
  if (!me.data) {
    if (isSignedOut(me.error)) return <ToSignIn />
    if (me.error) return <Problem error={me.error} onRetry={() => void me.refetch()} />
    return <Waiting />
  }
  if (me.data.member) keepFor(me.data.member.id)
  return <Frame />
}

/** Redirects to the sign-in page, once: the address changes before that page has been loaded. */
function ToSignIn() {
  const navigate = useNavigate()
  const { publicHref } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address at first is where the person was going
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { to: publicHref }, replace: true })
  }, [])
  return <Waiting />
}

function Frame() {
  const [open, setOpen] = useState<'palette' | 'help' | 'menu' | null>(null)
  const agentId = useAgentId()
  const isUnknown = useIsUnknown(agentId)
  const hasEnded = useSessionEnd()
  const isOnline = useOnline()
  const conflict = useConflict()
  const { pathname } = useLocation()
  const current = useAgent(agentId).data
  const known = current?.id
  useEffect(() => {
    if (known) rememberAgent(known)
  }, [known])
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigating to another page closes the menu
  useLayoutEffect(() => setOpen(null), [pathname])
  useShortcuts([
    { keys: 'mod+k', does: 'Go to a page or an agent', group: 'Everywhere', run: () => setOpen('palette') },
    { keys: 'z', does: 'Undo what was just done', group: 'Everywhere', run: takeOffer },
    { keys: '?', does: 'Show these keys', group: 'Everywhere', run: () => setOpen('help') },
  ])
  const close = () => setOpen(null)
  const side = (
    <Side
      agentId={isUnknown ? '' : agentId}
      onSearch={() => setOpen('palette')}
      onHelp={() => setOpen('help')}
    />
  )
  return (
    <div className={classes.shell}>
      <a href="#page" className={classes.skip}>
        Skip to the page
      </a>
      <p role="status" className={classes.offline}>
        {!isOnline && 'You are offline. The workspace continues when the connection is back.'}
      </p>
      <header className={classes.top}>
        <IconButton icon={Lines} label="Menu" onClick={() => setOpen('menu')} />
        <Link to={current ? '/agents/$agentId' : '/agents'} params={{ agentId }} className={classes.brand}>
          {current?.name ?? 'Parley'}
        </Link>
        <IconButton icon={Search} label="Search" hint="Ctrl K" onClick={() => setOpen('palette')} />
      </header>
      <aside className={classes.side}>{side}</aside>
      <main id="page" className={classes.main} tabIndex={-1}>
        <Suspense fallback={<Waiting />}>{isUnknown ? <NoAgent /> : <Outlet />}</Suspense>
      </main>
      <Dialog title="Parley" isOpen={open === 'menu'} onClose={close} drawer="left">
        <div className={classes.drawer}>{side}</div>
      </Dialog>
      {open === 'palette' && <Palette onClose={close} />}
      <Suspense>{open === 'help' && <Help onClose={close} />}</Suspense>
      <LeaveGuard />
      <Suspense>
        {conflict && <ConflictDialog conflict={conflict.conflict} onChoose={conflict.choose} />}
      </Suspense>
      {hasEnded && <SignInAgain />}
      <Toasts />
    </div>
  )
}

/** Whether no agent with this id exists for this member. */
function useIsUnknown(agentId: string): boolean {
  const { error } = useAgent(agentId)
  return agentId !== '' && error instanceof ParleyError && error.code === 'AGENT_NOT_FOUND'
}

function NoAgent() {
  return (
    <Page title="No such agent">
      <Empty icon={Bot} title="This agent does not exist" action={<Link to="/agents">All agents</Link>}>
        It was deleted, or it belongs to agents that your role does not include.
      </Empty>
    </Page>
  )
}

export function Waiting() {
  const isOnline = useOnline()
  const isUnreachable = useIsUnreachable()
  if (isUnreachable || !isOnline) {
    return (
      <>
        <h1 className="visually-hidden">Parley</h1>
        <Problem error={null} />
      </>
    )
  }
  return (
    <div className={classes.waiting}>
      <Skeleton />
    </div>
  )
}

type SideProps = { agentId: string; onSearch: () => void; onHelp: () => void }

function Side({ agentId, onSearch, onHelp }: SideProps) {
  const can = useCan()
  return (
    <nav className={classes.nav} aria-label="Workspace">
      <AgentSwitch agentId={agentId} />
      <button type="button" className={classes.search} onClick={onSearch}>
        <Search size={16} aria-hidden />
        <span>Go to…</span>
        <kbd>{navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      {agentId &&
        agentPlaces.map(({ label, places }) => {
          const shown = places.filter(({ scope }) => can(scope))
          if (shown.length === 0) return null
          return (
            <section key={label} aria-label={label} className={classes.group}>
              <h2>{label}</h2>
              {shown.map(({ to, label: name, icon, exact }) => (
                <NavLink key={to} to={to} params={{ agentId }} icon={icon} exact={exact}>
                  {name}
                </NavLink>
              ))}
            </section>
          )
        })}
      <div className={classes.foot}>
        <NavLink to="/agents" icon={Bot} exact>
          All agents
        </NavLink>
        {can('members:read') && (
          <NavLink to="/workspace" icon={Users} exact>
            Workspace
          </NavLink>
        )}
        <a href={`${base}/docs`} target="_blank" rel="noreferrer" className={classes.link}>
          <LifeBuoy size={18} aria-hidden />
          Guide
        </a>
        <AccountMenu onHelp={onHelp} />
      </div>
    </nav>
  )
}

type NavLinkProps = {
  to: string
  params?: Record<string, string>
  icon: LucideIcon
  exact?: boolean | undefined
  children: ReactNode
}

const NavLink = ({ to, params, icon: Icon, exact = false, children }: NavLinkProps) => (
  <Link
    to={to}
    params={params as never}
    className={classes.link}
    activeOptions={{ exact, includeSearch: false }}
    activeProps={{ className: `${classes.link} ${classes.active}`, 'aria-current': 'page' }}
  >
    <Icon size={18} aria-hidden />
    {children}
  </Link>
)

function AgentSwitch({ agentId }: { agentId: string }) {
  const { data } = useAgents()
  const can = useCan()
  const navigate = useNavigate()
  const agents = data?.data ?? []
  const current = agents.find(({ id }) => id === agentId)
  return (
    <Menu
      label={current ? `Agent: ${current.name}` : 'Choose an agent'}
      className={classes.switch}
      isNamed
      choices={[
        ...agents.slice(0, 12).map(({ id, name }) => ({
          id,
          label: name,
          chosen: id === agentId,
          onChoose: () => void navigate({ to: '/agents/$agentId', params: { agentId: id } }),
        })),
        ...(can('agents:write')
          ? [
              {
                id: 'new',
                label: 'New agent',
                icon: Plus,
                onChoose: () => void navigate({ to: '/agents/new' }),
              },
            ]
          : []),
      ]}
    >
      <span className={classes.mark} aria-hidden>
        {(current?.name ?? 'P').slice(0, 1).toUpperCase()}
      </span>
      <span className={classes.name}>{current?.name ?? 'Parley'}</span>
      <ChevronsUpDown size={16} aria-hidden />
    </Menu>
  )
}

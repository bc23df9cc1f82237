import { useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown, Keyboard, LogOut, Monitor, Moon, ShieldCheck, Sun } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { call } from './api.ts'
import { base } from './base.ts'
import { queries } from './queries.ts'
import { useMe } from './session.ts'
import classes from './shell.module.css'
import { chooseTheme, useTheme } from './theme.ts'
import { useMutation } from './use-mutation.ts'

/** The menu of the signed-in member: account, theme, keyboard shortcuts and sign-out. */
export function AccountMenu({ onHelp }: { onHelp: () => void }) {
  const { data } = useMe()
  const theme = useTheme()
  const navigate = useNavigate()
  const signOut = useMutation({
    mutationFn: () => call('POST', '/sign-out'),
    onSuccess: () => {
      queries.clear()
      // What was kept for a reload is for this member only.
      sessionStorage.clear()
      location.assign(`${base}/sign-in`)
    },
  })
  const name = data?.member?.name ?? ''
  const looks = (id: 'system' | 'light' | 'dark', label: string, icon: typeof Sun) => ({
    id,
    label,
    icon,
    chosen: theme === id,
    onChoose: () => chooseTheme(id),
  })
  return (
    <Menu
      label={`Account of ${name}`}
      className={classes.account}
      isNamed
      choices={[
        {
          id: 'account',
          label: 'Password and sessions',
          icon: ShieldCheck,
          onChoose: () => void navigate({ to: '/workspace/account' }),
        },
        looks('system', 'Same as the system', Monitor),
        looks('light', 'Light', Sun),
        looks('dark', 'Dark', Moon),
        { id: 'keys', label: 'Keyboard shortcuts', icon: Keyboard, onChoose: onHelp },
        { id: 'out', label: 'Sign out', icon: LogOut, onChoose: () => signOut.mutate() },
      ]}
    >
      <span className={classes.face} aria-hidden>
        {name
          .split(' ')
          .map((part) => part[0])
          .slice(0, 2)
          .join('')}
      </span>
      <span className={classes.who}>
        {name}
        <small>{data?.account.name}</small>
      </span>
      <ChevronsUpDown size={16} aria-hidden />
    </Menu>
  )
}

import { type ReactNode, useEffect, useRef } from 'react'
import { ParleyError } from '../../client/parley-error.ts'
import { StillOpen } from '../app/conflicts.ts'
import { useOnline } from '../app/online.ts'
import { CutOff } from '../app/save-file.ts'
import { isSignedOut } from '../app/session-end.ts'
import { Button } from './button.tsx'
import type { LucideIcon } from './icon.tsx'
import { CircleAlert, Lock, WifiOff } from './icons.ts'
import classes from './state.module.css'

/**
 * A placeholder of grey lines while content loads. It appears after 150 ms, so that fast responses cause no flicker.
 */
export function Skeleton({ lines = 4, tall }: { lines?: number | undefined; tall?: boolean }) {
  return (
    <div className={classes.skeleton} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all lines are the same
        <span key={at} className={tall ? classes.tall : undefined} />
      ))}
    </div>
  )
}

type EmptyProps = { icon: LucideIcon; title: string; children?: ReactNode; action?: ReactNode; role?: string }

/** Shows that a list is empty, and offers one action. */
export function Empty({ icon: Icon, title, children, action, role }: EmptyProps) {
  return (
    <div className={classes.empty} role={role}>
      <span className={classes.badge}>
        <Icon size={22} aria-hidden />
      </span>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const told = error instanceof ParleyError ? error : null
  const isOnline = useOnline()
  const wasOnline = useRef(isOnline)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is tried again when the network is back
  useEffect(() => {
    if (isOnline && !wasOnline.current) onRetry?.()
    wasOnline.current = isOnline
  }, [isOnline])
  if (told?.status === 403) {
    return (
      <Empty icon={Lock} title="This is not yours to see">
        Your role does not include it. An owner or admin of the workspace can change that under Members.
      </Empty>
    )
  }
  const retry = onRetry && <Button onClick={onRetry}>Try again</Button>
  if (!told) {
    return (
      <Empty
        icon={WifiOff}
        title={isOnline ? 'The service cannot be reached' : 'You are offline'}
        action={retry}
        role="alert"
      >
        {isOnline
          ? 'Check your connection. Nothing was lost.'
          : 'This page is shown as soon as the connection is back.'}
      </Empty>
    )
  }
  return (
    <Empty icon={CircleAlert} title="That did not work" action={retry} role="alert">
      {isSignedOut(error) ? SIGNED_OUT : told.message}
    </Empty>
  )
}

type QueryState<T> = { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown }

/** Renders the data of a query, or its loading or error state. */
export function Loaded<T>({
  of: { data, error, refetch },
  lines,
  children,
}: {
  of: QueryState<T>
  lines?: number
  children: (data: T) => ReactNode
}) {
  if (data !== undefined) return <>{children(data)}</>
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  return <Skeleton lines={lines} />
}

const SIGNED_OUT = 'You are signed out. Sign in, and try again: nothing was lost.'

/** The details of a refused value are sentences; those of other errors are names. */
const sentenceOfService = ({ code, message, details = {} }: ParleyError): string =>
  (code.startsWith('VALIDATION_') && Object.values(details)[0]) || message

/** Returns one sentence about what went wrong. */
export const sentenceOf = (error: unknown): string =>
  isSignedOut(error)
    ? SIGNED_OUT
    : error instanceof ParleyError
      ? sentenceOfService(error)
      : error instanceof CutOff || error instanceof StillOpen
        ? error.message
        : navigator.onLine
          ? 'The service cannot be reached. Check your connection and try again.'
          : 'You are offline. Try again when the connection is back.'

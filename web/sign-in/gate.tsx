import type { ReactNode } from 'react'
import { base } from '../app/base.ts'
import { useTitle } from '../ui/page.tsx'
import { Toasts } from '../ui/toast.tsx'
import classes from './gate.module.css'

/** The layout of the pages for users who are not signed in. */
export function Gate({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  useTitle(title)
  return (
    <main className={classes.gate}>
      <div className={classes.card}>
        <p className={classes.brand}>
          <span aria-hidden>P</span> Parley
        </p>
        <div>
          <h1>{title}</h1>
          {about && <p className={classes.about}>{about}</p>}
        </div>
        {children}
      </div>
      <p className={classes.foot}>
        <a href={`${base}/docs`}>Guide</a> <a href={`${base}/reference`}>API reference</a>{' '}
        <a href={`${base}/status`}>Status</a>
      </p>
      <Toasts />
    </main>
  )
}

/** Returns the token in the URL's fragment, which browsers never send to the server. */
export const tokenOfLink = (): string => location.hash.slice(1)

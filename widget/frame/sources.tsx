import { Icon } from './icon.tsx'
import { safeHref } from './parse-inline.ts'
import type { Source } from './types.ts'

/** What the answer stands on; with an address as a link. */
export function Sources({ sources }: { sources: Source[] }) {
  const named = sources.flatMap(({ id, name, url }) => {
    const href = url === null || !/^https?:/i.test(url) ? null : safeHref(url)
    const label = name || (href && shortAddress(href))
    return label ? [{ key: `${id} ${url}`, label, href }] : []
  })
  if (named.length === 0) return null
  return (
    <ul class="sources" aria-label="Sources">
      {named.map(({ key, label, href }) => (
        <li key={key}>
          {href ? (
            <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
              <Icon name="link" />
              <span dir="auto">{label}</span>
            </a>
          ) : (
            <span class="source">
              <span dir="auto">{label}</span>
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function shortAddress(href: string): string {
  const { host, pathname } = new URL(href)
  return pathname === '/' ? host : host + pathname
}

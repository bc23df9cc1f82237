import { ToolProblem } from '../tools/tool-problem.ts'
import { fill } from './template.ts'

const ORIGIN = /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i
// A URL parser takes %2e for a dot as well.
const DOTS = /^(\.|%2e){1,2}$/i

/** Says why the template of a URL cannot be used, or null: scheme, host and port must stand there as they are. */
export function refuseUrl(template: string): string | null {
  const origin = ORIGIN.exec(template)?.[0]
  if (!origin || !URL.canParse(origin)) {
    return 'Must begin with http:// or https:// and a host. Inputs may stand in path, query and fragment only.'
  }
  const { username, password } = new URL(origin)
  if (username || password) return 'Must not contain a user name or password. Send them in a header.'
  const sample = fill(template, () => 'x')
  if (/[\s\p{Cc}\\]/u.test(sample)) return 'Must not contain spaces, control characters or backslashes.'
  if (
    splitUrl(sample)
      .path.split('/')
      .some((segment) => DOTS.test(segment))
  ) {
    return 'Must not contain the path segments "." and "..".'
  }
  return null
}

/** scheme://host:port of a template that refuseUrl accepts. */
export const originOf = (template: string): string => new URL(ORIGIN.exec(template)?.[0] ?? '').origin

/**
 * The URL with its slots filled. A value stays one component: what would end it is percent-encoded, and a value
 * that makes another path of it (nothing, or dots) throws ToolProblem.
 */
export function fillUrl(template: string, read: (slot: string) => string): string {
  const insert = (slot: string): string => encodeURIComponent(read(slot))
  const { path, rest } = splitUrl(template)
  const segments = path.split('/').map((segment) => {
    const filled = fill(segment, insert)
    if (filled !== segment && (filled === '' || DOTS.test(filled))) {
      throw new ToolProblem(`The input for ${segment} cannot stand in a URL: it is empty or holds only dots.`)
    }
    return filled
  })
  const url = segments.join('/') + fill(rest, insert)
  if (URL.parse(url)?.origin !== originOf(template)) {
    throw new ToolProblem('The inputs do not make a valid URL.')
  }
  return url
}

function splitUrl(url: string): { path: string; rest: string } {
  const end = url.search(/[?#]/)
  return end === -1 ? { path: url, rest: '' } : { path: url.slice(0, end), rest: url.slice(end) }
}

import { ToolProblem } from '../tools/tool-problem.ts'
import { fill } from './template.ts'

const ORIGIN = /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i
// URL parsers also treat %2e as a dot.
const DOTS = /^(\.|%2e){1,2}$/i

/** Returns why a URL template cannot be used, or null. Scheme, host and port must be literal text. */
export function refuseUrl(template: string): string | null {
  const origin = ORIGIN.exec(template)?.[0]
  if (!origin || !URL.canParse(origin)) {
    return 'Must begin with http:// or https:// and a host. Inputs are only allowed in path, query and fragment.'
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

/** Returns scheme://host:port of a template that refuseUrl accepts. */
export const originOf = (template: string): string => new URL(ORIGIN.exec(template)?.[0] ?? '').origin

/**
 * Returns the URL with its slots filled. A value remains a single component: characters that would end it are
 * percent-encoded, and a value that would change the path (an empty one, or dots) throws ToolProblem.
 */
export function fillUrl(template: string, read: (slot: string) => string): string {
  const insert = (slot: string): string => encodeURIComponent(read(slot))
  const { path, rest } = splitUrl(template)
  const segments = path.split('/').map((segment) => {
    const filled = fill(segment, insert)
    if (filled !== segment && (filled === '' || DOTS.test(filled))) {
      throw new ToolProblem(
        `The input for ${segment} cannot be part of a URL: it is empty or consists of dots.`,
      )
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

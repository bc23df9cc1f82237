/** The rules of a robots.txt for one crawler. */
export type Robots = {
  isAllowed(url: URL): boolean
  /** The delay between two requests, or null when the file has none. */
  delayMs: number | null
}

type Rule = { pattern: string; allows: boolean }
type Group = { agents: string[]; rules: Rule[]; delayMs: number | null }

export const allowAll: Robots = { isAllowed: () => true, delayMs: null }

// The most rules that are read, as a protection against files that are made to be expensive.
const MAX_RULES = 2_000
/** The most bytes of a file that are read. RFC 9309 demands at least 500 KiB. */
export const MAX_ROBOTS = 512 * 1_024
/** A longer rule is dropped, because no URL is as long. */
const MAX_RULE_LENGTH = 2_000

/**
 * Parses a robots.txt (RFC 9309). The groups with this crawler's name apply together; without any, those of "*" do.
 * Of the rules that match a path, the longest decides, and if there are two of the same length, the one that allows.
 */
export function parseRobots(text: string, crawler: string): Robots {
  const groups = groupsOf(text)
  const mine = (name: string) => groups.filter(({ agents }) => agents.includes(name))
  const named = mine(crawler.toLowerCase())
  const chosen = named.length > 0 ? named : mine('*')
  const rules = chosen
    .flatMap((group) => group.rules)
    .slice(0, MAX_RULES)
    .map(({ pattern, allows }) => ({ pattern: normalised(pattern), allows }))
  const delays = chosen.flatMap(({ delayMs }) => (delayMs === null ? [] : [delayMs]))
  return {
    delayMs: delays.length > 0 ? Math.max(...delays) : null,
    isAllowed({ pathname, search }) {
      const path = normalised(pathname + search)
      let best: Rule | null = null
      for (const rule of rules) {
        if (!matches(rule.pattern, path)) continue
        const isStronger =
          !best ||
          rule.pattern.length > best.pattern.length ||
          (rule.pattern.length === best.pattern.length && rule.allows)
        if (isStronger) best = rule
      }
      return best?.allows ?? true
    },
  }
}

function groupsOf(text: string): Group[] {
  const groups: Group[] = []
  let open: Group | null = null
  let isNaming = false
  for (const [line] of text.slice(0, MAX_ROBOTS).matchAll(/[^\r\n]+/g)) {
    const colon = line.indexOf(':')
    const field = line.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    const [said = ''] = line.slice(colon + 1).split('#', 1)
    const value = said.trim()
    if (field === 'user-agent') {
      if (!open || !isNaming) {
        open = { agents: [], rules: [], delayMs: null }
        groups.push(open)
      }
      // A product token ends at its version.
      open.agents.push(value.toLowerCase().split(/[/\s]/, 1)[0] ?? '')
      isNaming = true
    } else if (open && (field === 'allow' || field === 'disallow')) {
      isNaming = false
      if (value && value.length <= MAX_RULE_LENGTH)
        open.rules.push({ pattern: value, allows: field === 'allow' })
    } else if (open && field === 'crawl-delay') {
      isNaming = false
      const seconds = Number(value)
      if (value && seconds >= 0) open.delayMs = seconds * 1_000
    }
  }
  return groups
}

/** `*` matches anything, and `$` the end. Each piece is searched once, so the time is linear. */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$')
  const [first = '', ...rest] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*')
  if (!path.startsWith(first)) return false
  let at = first.length
  const last = isAnchored ? rest.pop() : undefined
  for (const piece of rest) {
    const found = path.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  if (!isAnchored) return true
  if (last === undefined) return at === path.length
  return path.endsWith(last) && path.length - last.length >= at
}

/** Returns the normal form of a path: only necessary characters are escaped, in upper case. */
function normalised(path: string): string {
  return path
    .toWellFormed()
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16))
      return /[\w.~-]/.test(letter) ? letter : code.toUpperCase()
    })
    .replace(/[^\u0021-\u007e]+/g, encodeURIComponent)
}

import type { FastifyInstance } from 'fastify'

const DEEPEST = 100

/**
 * Finds what PostgreSQL cannot store: NUL characters and unpaired surrogates in text, and excessive nesting. It uses
 * a stack of its own, because the sender controls the depth of the nesting.
 */
export function unstorable(root: unknown): { path: string; sentence: string } | null {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }]
  for (let item = open.pop(); item; item = open.pop()) {
    const { value, path, depth } = item
    if (typeof value === 'string') {
      const sentence = badText(value)
      if (sentence) return { path, sentence }
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= DEEPEST)
        return { path: path.slice(0, 60), sentence: `Is nested more than ${DEEPEST} levels deep.` }
      for (const [key, member] of Object.entries(value)) {
        if (badText(key))
          return { path, sentence: 'Contains a field name with a character that cannot be stored.' }
        open.push({ value: member, path: path ? `${path}.${key}` : key, depth: depth + 1 })
      }
    }
  }
  return null
}

function badText(text: string): string | null {
  if (text.includes('\0')) return 'Must not contain the NUL character.'
  if (!text.isWellFormed()) return 'Must not contain half of a surrogate pair (broken Unicode).'
  return null
}

/** Returns text from outside (a model, a document) without the characters that PostgreSQL cannot store. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

/** Returns a JSON value from outside with all its text made storable. Values nested too deeply are left out. */
export function storableJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storable(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST) return null
  if (Array.isArray(value)) return value.map((member) => storableJson(member, depth + 1))
  const members = Object.entries(value).map(([key, member]) => [
    storable(key),
    storableJson(member, depth + 1),
  ])
  return Object.fromEntries(members)
}

/** Accepts JSON bodies only. An empty body with a JSON type counts as no body, because many clients send that. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // `__proto__` is treated like any other name, which the contract refuses.
  const parse = app.getDefaultJsonParser('ignore', 'ignore')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parse(request, body.toString(), done)
  })
}

import { messageOf, recordOf } from '../../platform/unknown-values.ts'

const OTHER_NAMES = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']
// The most subschemas after every reference is replaced by its target, which bounds the time to compile and to check.
const MAX_SIZE = 1_000
// This keyword compares every item with every other one.
const UNIQUE_ITEMS = 50

const TOO_LARGE =
  'Is too large: it has more than 1,000 parts when every $ref is replaced by what it names (uniqueItems counts as 50).'

type Node = Record<string, unknown> | unknown[]

/**
 * Returns why the references of a schema cannot be used, or null. They may only point to parts of the schema itself,
 * must not form a cycle, and must not expand beyond the limit.
 */
export function refuseReferences(root: Record<string, unknown>): string | null {
  const sizes = new Map<unknown, number>()
  const open = new Set<unknown>()

  const sizeOf = (node: unknown): number => {
    if (typeof node !== 'object' || node === null) return 0
    const known = sizes.get(node)
    if (known !== undefined) return known
    if (open.has(node)) throw new Error('Must not refer to itself: a $ref leads back to its own position.')
    open.add(node)
    let size = recordOf(node).uniqueItems === true ? UNIQUE_ITEMS : 1
    for (const member of Object.values(node)) size += sizeOf(member)
    if (!Array.isArray(node)) size += sizeOf(targetOf(root, recordOf(node)))
    open.delete(node)
    sizes.set(node, size)
    return size
  }

  try {
    return sizeOf(root) > MAX_SIZE ? TOO_LARGE : null
  } catch (error) {
    return error instanceof RangeError ? 'Is nested too deeply.' : messageOf(error)
  }
}

function targetOf(root: Node, node: Record<string, unknown>): unknown {
  const strange = OTHER_NAMES.find((name) => typeof node[name] === 'string' || node[name] === true)
  if (strange) throw new Error(`Must not use ${strange}. Refer to its own parts by path, as "#/$defs/name".`)
  if (node.$async === true) throw new Error('Must not use $async.')
  const reference = node.$ref
  if (typeof reference !== 'string') return undefined
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new Error(
      `Must not refer to ${JSON.stringify(reference)}: only to its own parts by path, as "#/$defs/name".`,
    )
  }
  let target: unknown = root
  for (const step of reference.slice(1).split('/').slice(1).map(readStep)) {
    target = isNode(target) && Object.hasOwn(target, step) ? recordOf(target)[step] : null
  }
  if (target === null) throw new Error(`Refers to ${JSON.stringify(reference)}, which is not there.`)
  return target
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

function readStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}

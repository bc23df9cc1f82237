import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import { SyntaxKind } from 'typescript/unstable/ast'
import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isNamedImports,
  isNewExpression,
  isStringLiteral,
} from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'
import { LAYERS, layerOf } from './layers.ts'

/**
 * `node scripts/check-imports.ts [ROOT]` checks, on the syntax tree of every file:
 *
 * - Imports below server/ run one way: a file may import from its own folder and from lower ones.
 * - No file imports itself through others. Types count; so do dynamic imports and imports for their side effects.
 * - Contracts and schemas, `client/` and `widget/` reach nothing that a browser does not have: no module of Node, and no
 *   package but those listed here. `client/` imports nothing else of the project, because users copy it. `web/` has
 *   packages of its own, and the same rule holds for what it takes from the rest of the project.
 */

/** Files directly in server/ assemble the application and may import everything below server/. */
const TOP = LAYERS.length

/** The packages that code for browsers, contracts and schemas may load. */
const PORTABLE_PACKAGES = new Set(['libphonenumber-js', 'preact', 're2js', 'typebox'])

type Import = {
  target: string
  /** `worker` is a file that another thread or process runs, so it is not part of the importing file's program. */
  kind: 'value' | 'type' | 'worker'
}
type File = { name: string; imports: Import[]; packages: string[] }

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const files = readFiles()
const problems = [
  ...[...files.values()].flatMap(upward),
  ...circles(),
  ...[...files.values()].filter(isPortable).flatMap(unportable),
  ...[...files.values()].filter(({ name }) => name.startsWith('client/')).flatMap(leavesClient),
]
for (const problem of problems) console.error(problem)
console.log(`${files.size} files, ${problems.length} imports against the rules`)
process.exitCode = problems.length > 0 ? 1 : 0

/** Reads the sources of all programs. Tests are not checked and may import anything. */
function readFiles(): Map<string, File> {
  const api = new API({ cwd: root })
  const projects = ['tsconfig.json', 'widget/tsconfig.json', 'web/tsconfig.json']
    .map((name) => join(root, name))
    .filter(existsSync)
  const found = new Map<string, File>()
  for (const project of api.updateSnapshot({ openProjects: projects }).getProjects()) {
    for (const path of project.program.getSourceFileNames()) {
      const name = relative(root, path)
      if (!/^(server|client|widget|web)\/.*(?<!\.test|\.d)\.tsx?$/.test(name) || found.has(name)) continue
      const source = project.program.getSourceFile(path)
      if (source) found.set(name, readFile(name, source))
    }
  }
  api.close()
  return found
}

function readFile(name: string, source: SourceFile): File {
  const file: File = { name, imports: [], packages: [] }
  const add = (specifier: string, kind: Import['kind']): void => {
    if (specifier.startsWith('.'))
      file.imports.push({ target: relative(root, resolve(root, dirname(name), specifier)), kind })
    else if (kind === 'value') file.packages.push(specifier)
  }
  const visit = (node: Node): void => {
    if ((isImportDeclaration(node) || isExportDeclaration(node)) && node.moduleSpecifier) {
      if (isStringLiteral(node.moduleSpecifier))
        add(node.moduleSpecifier.text, isTypeOnly(node) ? 'type' : 'value')
    } else if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments
      if (specifier && isStringLiteral(specifier)) add(specifier.text, 'value')
    } else if (isNewExpression(node) && node.expression.getText() === 'URL') {
      const [address, base] = node.arguments ?? []
      if (
        address &&
        isStringLiteral(address) &&
        /\.tsx?$/.test(address.text) &&
        base?.getText() === 'import.meta.url'
      )
        add(address.text, 'worker')
    }
    node.forEachChild(visit)
  }
  source.forEachChild(visit)
  return file
}

function isTypeOnly(node: Node): boolean {
  if (isExportDeclaration(node)) return node.isTypeOnly
  if (!isImportDeclaration(node)) return false
  const clause = node.importClause
  if (!clause) return false
  if (clause.phaseModifier === SyntaxKind.TypeKeyword) return true
  const names = clause.namedBindings
  return (
    !clause.name &&
    names !== undefined &&
    isNamedImports(names) &&
    names.elements.every((one) => one.isTypeOnly)
  )
}

function layerOfFile(name: string): number {
  const path = name.slice('server/'.length)
  if (!path.includes('/')) return TOP
  const layer = layerOf(path)
  if (layer === null) throw new Error(`${name} has no layer in scripts/layers.ts.`)
  return layer
}

/**
 * Whether an import is of the context's type. Routes and jobs refer to it, although the context is built from
 * everything below it.
 */
function isContextType({ target, kind }: Import): boolean {
  return kind === 'type' && /^server\/(context|config)\.ts$/.test(target)
}

function upward({ name, imports }: File): string[] {
  if (!name.startsWith('server/')) return []
  return imports.flatMap((one) => {
    if (!one.target.startsWith('server/'))
      return [`${name} imports ${one.target}, which is outside of server/`]
    if (isContextType(one) || layerOfFile(one.target) <= layerOfFile(name)) return []
    return [`${name} imports upward: ${one.target}`]
  })
}

/** Returns one line for each group of files that all reach each other, using Tarjan's algorithm. */
function circles(): string[] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const found: string[] = []
  const enter = (name: string): void => {
    order.set(name, order.size)
    let low = order.size - 1
    path.push(name)
    for (const { target, kind } of files.get(name)?.imports ?? []) {
      if (kind === 'worker' || !files.has(target)) continue
      if (!order.has(target)) enter(target)
      if (path.includes(target)) low = Math.min(low, lowest.get(target) ?? order.get(target) ?? low)
    }
    lowest.set(name, low)
    if (low !== order.get(name)) return
    const circle = path.splice(path.indexOf(name))
    if (circle.length > 1)
      found.push(`these files import each other in a circle: ${circle.toSorted().join(', ')}`)
  }
  for (const name of files.keys()) if (!order.has(name)) enter(name)
  return found
}

function isPortable({ name }: File): boolean {
  return /^(client|widget|web)\//.test(name) || /\/([a-z-]+-)?(contract|schema)\.ts$/.test(name)
}

/**
 * Returns a problem for each module that the file loads, directly or through others, and that does not exist in a
 * browser.
 */
function unportable({ name }: File): string[] {
  const reached = new Set([name])
  for (const one of reached)
    for (const { target, kind } of files.get(one)?.imports ?? []) if (kind === 'value') reached.add(target)
  return [...reached].flatMap((one) =>
    (files.get(one)?.packages ?? [])
      .filter(
        (specifier) => !isPortablePackage(specifier) && !(one.startsWith('web/') && !isBuiltin(specifier)),
      )
      .map((specifier) => `${name} must work in a browser, but ${one} imports ${specifier}`),
  )
}

function isPortablePackage(specifier: string): boolean {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  return PORTABLE_PACKAGES.has(name)
}

function leavesClient({ name, imports }: File): string[] {
  return imports
    .filter(({ target }) => !target.startsWith('client/'))
    .map(({ target }) => `${name} imports ${target}, which users who copy client/ do not have`)
}

import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import {
  isArrowFunction,
  isAsExpression,
  isFunctionExpression,
  isFunctionLikeDeclaration,
  isNonNullExpression,
  isPropertyAssignment,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'

/**
 * `node scripts/check-code.ts [ROOT] [--list]` checks, on the syntax tree of every product file, that type assertions
 * (`as X` and `!`, but not `as const`) are few over all, that none goes through `unknown`, and that functions and files
 * are short: a function is measured without the functions in it that have names, which are measured themselves. With
 * `--list`, it also prints every assertion and the counts of each folder.
 */

const MAX_ASSERTIONS_PER_1000_LINES = 3
const MAX_FUNCTION_LINES = 80
/** With the functions in it that have names and are measured on their own, as the methods of a class are. */
const MAX_LINES_WITH_INNER = 150
const MAX_FILE_LINES = 500

const words = process.argv.slice(2).filter((word) => word !== '--list')
const root = resolve(words[0] ?? join(import.meta.dirname, '..'))
const problems: string[] = []
const assertions: string[] = []
const rooms = new Map<string, { lines: number; assertions: number }>()
readFiles()

const lines = [...rooms.values()].reduce((sum, room) => sum + room.lines, 0)
const rate = (1000 * assertions.length) / Math.max(1, lines)
if (rate > MAX_ASSERTIONS_PER_1000_LINES)
  problems.push(
    `${assertions.length} type assertions; at most ${MAX_ASSERTIONS_PER_1000_LINES} per 1,000 lines`,
  )
if (process.argv.includes('--list')) {
  for (const one of assertions) console.log(one)
  console.table(Object.fromEntries([...rooms].sort()))
}
for (const problem of problems) console.error(problem)
console.log(`${lines} lines, ${rate.toFixed(2)} type assertions per 1,000, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

function readFiles(): void {
  const api = new API({ cwd: root })
  const projects = ['tsconfig.json', 'widget/tsconfig.json', 'web/tsconfig.json']
    .map((name) => join(root, name))
    .filter(existsSync)
  const seen = new Set<string>()
  for (const { program } of api.updateSnapshot({ openProjects: projects }).getProjects()) {
    for (const path of program.getSourceFileNames()) {
      const name = relative(root, path)
      const isProduct = /^(server|client|widget|web)\/.*(?<!\.test|\.d|\/for-tests)\.tsx?$/.test(name)
      const source = isProduct && !seen.has(name) ? program.getSourceFile(path) : undefined
      seen.add(name)
      if (source) checkFile(name, source)
    }
  }
  api.close()
}

function checkFile(name: string, source: SourceFile): void {
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const length = lineOf(source.text.trimEnd().length)
  const key = /^server\/[^/]+\/[^/]+(?=\/)|^[^/]+/.exec(name)?.[0] ?? name
  const room = rooms.get(key) ?? { lines: 0, assertions: 0 }
  rooms.set(key, room)
  room.lines += length
  if (length > MAX_FILE_LINES) problems.push(`${name} has ${length} lines; at most ${MAX_FILE_LINES}`)
  const visit = (node: Node): void => {
    const place = `${name}:${lineOf(node.getStart(source))}`
    const text = isAsExpression(node) ? node.type.getText(source) : undefined
    if (isNonNullExpression(node) || (text !== undefined && text !== 'const')) {
      assertions.push(`${place} ${node.getText(source).replace(/\s+/g, ' ').slice(-100)}`)
      room.assertions += 1
    }
    if (text === 'unknown' && node.parent && isAsExpression(node.parent))
      problems.push(`${place} asserts a type through unknown`)
    const span = lineOf(node.end) - lineOf(node.getStart(source)) + 1
    if (isFunctionLikeDeclaration(node)) {
      const own = span - linesOfInner(node)
      if (own > MAX_FUNCTION_LINES)
        problems.push(`${place} is a function of ${own} lines; at most ${MAX_FUNCTION_LINES}`)
      else if (span > MAX_LINES_WITH_INNER)
        problems.push(
          `${place} is a function of ${span} lines with those inside; at most ${MAX_LINES_WITH_INNER}`,
        )
    }
    node.forEachChild(visit)
  }
  const linesOfInner = (outer: Node): number => {
    let sum = 0
    outer.forEachChild((node) => {
      const isInner = isFunctionLikeDeclaration(node) && hasName(node)
      sum += isInner ? lineOf(node.end) - lineOf(node.getStart(source)) + 1 : linesOfInner(node)
    })
    return sum
  }
  visit(source)
}

function hasName(node: Node): boolean {
  const isExpression = isArrowFunction(node) || isFunctionExpression(node)
  return !isExpression || isVariableDeclaration(node.parent) || isPropertyAssignment(node.parent)
}

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { randomOf } from '../test/hostile-body.ts'

/**
 * Changes one place of the server at a time and says whether tests notice:
 *
 *     node scripts/mutate.ts [--seed 1] [--count 40] [--under server/platform/http] -- npm test
 *
 * The places are random, and the same for the same seed and the same code. The file is restored after each run.
 */
const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    under: { type: 'string', default: 'server' },
    list: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

type Mutation = { file: string; line: number; before: string; after: string }

/** What may be replaced in a line, and by what. An empty replacement removes the statement. */
const CHANGES: [RegExp, (found: string) => string][] = [
  [/ === /g, () => ' !== '],
  [/ !== /g, () => ' === '],
  [/ (?:<=?|>=?) (?=\w+[\w.()]*(?: |\)|$|,))/g, (found) => OPPOSITE[found.trim()] ?? found],
  [/ && /g, () => ' || '],
  [/ \|\| /g, () => ' && '],
  [/\b(?:true|false)\b/g, (found) => String(found !== 'true')],
  [/(?<![\w.'"`])\d+(?![\w.'"`])/g, (found) => String(Number(found) + 1)],
  [/'[<>]=?'|'='/g, (found) => (found === "'='" ? "'!='" : "'='")],
  [/^ +(?:await )?[\w.]+\(.*\)$/g, () => ''],
  [/^ +if \(.*\) (?:return|throw|continue).*$/g, () => ''],
]
const OPPOSITE: Record<string, string> = { '<': ' >= ', '<=': ' > ', '>': ' <= ', '>=': ' < ' }

/** Lines that have no effect when the program runs. */
const WITHOUT_EFFECT = /^\s*(?:\*|\/\/|\/\*|import |export type|type |\} from )/

const files = globSync(`${values.under}/**/*.ts`)
  .filter((name) => !/\.test\.ts$|\.d\.ts$|for-tests|\/fixtures\//.test(name))
  .sort()
const mutations = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, line) =>
      WITHOUT_EFFECT.test(text)
        ? []
        : CHANGES.flatMap(([pattern, change]) =>
            Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({
              file,
              line,
              before: text,
              after: text.slice(0, index) + change(found) + text.slice(index + found.length),
            })),
          ),
    ),
)
const random = randomOf(Number(values.seed))
const chosen = Array.from(
  { length: Number(values.count) },
  () => mutations[Math.floor(random() * mutations.length)],
).filter((one) => one !== undefined)

let restore = (): void => {}
process.on('exit', () => restore())
process.on('SIGINT', () => process.exit(130))

const say = ({ file, line, before, after }: Mutation): string =>
  `${file}:${line + 1}\n  - ${before.trim()}\n  + ${after.trim() || '(removed)'}`

/** Returns whether the command fails with the mutation. */
function isCaught({ file, line, after }: Mutation): boolean {
  const text = readFileSync(file, 'utf8')
  restore = () => writeFileSync(file, text)
  const lines = text.split('\n')
  lines[line] = after
  writeFileSync(file, lines.join('\n'))
  const [program = 'npm', ...args] = positionals
  const { status } = spawnSync(program, args, { stdio: 'ignore' })
  restore()
  restore = () => {}
  return status !== 0
}

let caught = 0
for (const mutation of chosen) {
  if (values.list) console.log(say(mutation))
  else if (isCaught(mutation)) {
    caught++
    console.log(`caught: ${say(mutation)}`)
  } else console.log(`SURVIVED: ${say(mutation)}`)
}
console.log(`${mutations.length} places in ${files.length} files; ${caught} of ${chosen.length} caught`)

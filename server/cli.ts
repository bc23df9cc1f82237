import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Command,
  CommandFailure,
  type Input,
  type LocalCommand,
  sentenceOf,
  usageFailure,
} from './admin/command.ts'
import { commands, localCommands } from './admin/commands.ts'
import { executeCommand } from './admin/execute-command.ts'
import { ConfigError, readConfig } from './config.ts'
import { startRefusal } from './platform/start-refusal.ts'
import { messageOf } from './platform/unknown-values.ts'
import { VERSION } from './platform/version.ts'

/** What is created belongs to its owner alone. */
const OWNER_ONLY = 0o077

const everyCommand = [...commands, ...localCommands]

/** `npm run -s parley -- COMMAND …`: runs one command of the operating interface. */
process.umask(OWNER_ONLY)
try {
  process.stdout.write(await runCommand(process.argv.slice(2)))
} catch (error) {
  const { message, exitCode } = failureOf(error)
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

async function runCommand(typed: string[]): Promise<string> {
  // --json may stand before the command as well as after it.
  const words = typed[0] === '--json' ? [...typed.slice(1), '--json'] : typed
  if (words[0] === '--version') return `${VERSION}\n`
  const wantsHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
  const command = commandOf(words)
  if (wantsHelp) return help(words)
  if (!command) {
    throw usageFailure(`There is no command "${words.slice(0, 2).join(' ')}"; --help lists the commands.`)
  }
  const { json, input } = inputOf(command, words.slice(command.name.split(' ').length))
  const result = await executeCommand(readConfig(process.env), command, input, (line) =>
    process.stderr.write(`${line}\n`),
  )
  if ('isFailure' in command && command.isFailure?.(result)) process.exitCode = 1
  return `${json ? JSON.stringify(result) : command.print(result)}\n`
}

function commandOf(words: string[]): Command | LocalCommand | undefined {
  return everyCommand.find(({ name }) => name.split(' ').every((word, place) => words[place] === word))
}

function inputOf(command: Command | LocalCommand, words: string[]): { json: boolean; input: Input } {
  const options = { ...command.options, json: { type: 'boolean' as const } }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: words, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usageFailure(
      `${messageOf(error)
        .split(/\n|\. /)[0]
        ?.replace(/\.$/, '')}. Usage: ${command.name} ${command.usage}`,
    )
  }
  const { count, most = count, paths } = command.positionals ?? { count: 0, paths: false }
  if (parsed.positionals.length < count || parsed.positionals.length > most)
    throw usageFailure(`Usage: ${command.name} ${command.usage}`.trim())
  const { json, ...values } = parsed.values
  return {
    json: json === true,
    input: {
      values: Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          // Relative paths are resolved against the directory in which the command was typed.
          name.endsWith('-file') ? resolve(String(value)) : String(value),
        ]),
      ),
      positionals: parsed.positionals.map((word, i) =>
        paths === true || (paths ? paths.includes(i) : false) ? resolve(word) : word,
      ),
    },
  }
}

function help(words: string[]): string {
  const group = words.find((word) => !word.startsWith('-'))
  const shown = everyCommand.filter(({ name }) => group === undefined || name.split(' ')[0] === group)
  const lines = (shown.length > 0 ? shown : everyCommand).map(
    ({ name, usage, summary }) => `  ${`${name} ${usage}`.trim()}\n      ${summary}`,
  )
  return `Usage: npm run -s parley -- COMMAND [--json] | --version\n\n${lines.join('\n')}\n`
}

function failureOf(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CommandFailure) return error
  if (error instanceof ConfigError) return { message: error.problems.join(' '), exitCode: 64 }
  const refusal = startRefusal(error)
  if (!refusal) return { message: sentenceOf(error), exitCode: 1 }
  return { message: refusal.line, exitCode: refusal.code === 69 ? 69 : 1 }
}

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * `node scripts/write-wire-schemas.ts` writes the schemas of providers' requests into test/fixtures/wires. They come from
 * the types of the providers' own packages, which are too large to be dependencies, and refuse unknown fields.
 */
const TYPES = {
  chat: ['openai', '7.55.0', 'resources/chat/completions', 'ChatCompletionCreateParamsStreaming'],
  responses: ['openai', '7.55.0', 'resources/responses/responses', 'ResponseCreateParamsStreaming'],
  anthropic: ['@anthropic-ai/sdk', '1.10.0', 'resources/messages', 'MessageCreateParamsStreaming'],
} as const
const GOOGLE = '@google-ai/generativelanguage'
const GOOGLE_VERSION = '3.7.1'

const out = join(import.meta.dirname, '../test/fixtures/wires')
const folder = mkdtempSync(join(tmpdir(), 'wire-schemas-'))
const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { cwd: folder, stdio: 'inherit' })
}
const write = (wire: string, source: string, schema: object): void =>
  writeFileSync(join(out, `${wire}.json`), `${JSON.stringify({ $comment: source, ...schema })}\n`)

try {
  const packages = new Set(Object.values(TYPES).map(([name, version]) => `${name}@${version}`))
  run('npm', 'init', '-y')
  run('npm', 'install', ...packages, `${GOOGLE}@${GOOGLE_VERSION}`, 'ts-json-schema-generator@2.4.0')
  const options = {
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: [],
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['types.ts'] }),
  )
  for (const [wire, [name, version, path, type]] of Object.entries(TYPES)) {
    const imported = `import type { ${type} } from '${name}/${path}'\nexport type Request = ${type}\n`
    writeFileSync(join(folder, 'types.ts'), imported)
    const files = ['--path', 'types.ts', '--tsconfig', 'tsconfig.json', '--out', 'schema.json']
    run(
      'npx',
      'ts-json-schema-generator',
      ...files,
      '--type',
      'Request',
      '--no-type-check',
      '--jsDoc',
      'none',
    )
    write(wire, `${name} ${version} ${type}`, JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8')))
  }
  const protos = join(folder, 'node_modules', GOOGLE, 'build/protos/protos.json')
  write('google', `${GOOGLE} ${GOOGLE_VERSION} v1beta.GenerateContentRequest`, googleSchema(protos))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

type Proto = {
  nested?: Record<string, Proto>
  fields?: Record<string, { type: string; rule?: string; keyType?: string }>
  values?: Record<string, number>
}

/** Converts the published protocol buffers to a schema of their JSON form. */
function googleSchema(path: string): object {
  const root = JSON.parse(readFileSync(path, 'utf8')) as Proto
  const messages = root.nested!.google!.nested!.ai!.nested!.generativelanguage!.nested!.v1beta!.nested!
  const definitions: Record<string, object> = {}
  const NUMBERS = /^(?:u?int32|u?int64|float|double)$/
  const refer = (type: string, around: Proto[]): object => {
    if (type === 'string' || type === 'bytes') return { type: 'string' }
    if (type === 'bool') return { type: 'boolean' }
    if (NUMBERS.test(type)) return { type: 'number' }
    const owner = around.find(({ nested }) => nested?.[type])
    const proto = type
      .split('.')
      .reduce<Proto | undefined>((one, name) => one?.nested?.[name], owner ?? { nested: messages })
    // What is left are structures of any form, such as google.protobuf.Struct.
    if (!proto) return {}
    if (proto.values) return { enum: Object.keys(proto.values) }
    if (!definitions[type]) {
      const properties: Record<string, object> = {}
      definitions[type] = { type: 'object', properties, additionalProperties: false }
      // The API documents the level, but this package does not have it yet.
      if (type === 'ThinkingConfig') properties.thinkingLevel = { type: 'string' }
      for (const [name, field] of Object.entries(proto.fields ?? {})) {
        const of = refer(field.type, [proto, ...around])
        const many = field.rule === 'repeated' ? { type: 'array', items: of } : of
        properties[name] = field.keyType ? { type: 'object', additionalProperties: of } : many
      }
    }
    return { $ref: `#/definitions/${type}` }
  }
  return { ...refer('GenerateContentRequest', []), definitions }
}

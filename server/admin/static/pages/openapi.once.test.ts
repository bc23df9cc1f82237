import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import spectralCore, { type ISpectralDiagnostic } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import rulesets from '@stoplight/spectral-rulesets'
import { type Service, startService } from '../../../../test/start.ts'
import { contracts, rawContracts, version1Contracts } from '../../../features.ts'
import { openApiDocument } from '../../../platform/http/openapi/openapi.ts'
import { describe } from './described.ts'
import { lintExceptions } from './lint-exceptions.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../..')
const bin = (path: string): string => join(root, 'node_modules', path)

let service: Service
let folder: string

before(async () => {
  service = await startService()
  folder = await mkdtemp(join(tmpdir(), 'parley-client-'))
})
after(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

test('the document follows the rules of Spectral and OWASP, and every exception is needed', async () => {
  const spectral = new spectralCore.Spectral()
  const owaspRules = 'default' in owasp ? owasp.default : owasp
  spectral.setRuleset({
    extends: [
      [rulesets.oas, 'all'],
      [owaspRules, 'all'],
    ],
  } as never)
  const found: ISpectralDiagnostic[] = await spectral.run(
    openApiDocument(describe(contracts, version1Contracts, rawContracts)),
  )
  const used = new Set<string>()
  const left = found.filter(({ code, path }) => {
    const place = path.join(' ')
    const exception = lintExceptions.find(({ rule, where }) => rule === code && (where?.test(place) ?? true))
    if (exception) used.add(exception.rule)
    return !exception
  })
  assert.deepEqual(
    left.map(({ code, path, message }) => `${code} ${path.join('.')} ${message}`),
    [],
  )
  assert.deepEqual(
    lintExceptions.map(({ rule }) => rule).filter((rule) => !used.has(rule)),
    [],
    'exceptions that are not needed',
  )
})

test('docs/openapi.json is the document of these contracts', async () => {
  const committed = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8'))
  const document = openApiDocument(describe(contracts, version1Contracts, rawContracts))
  assert.deepEqual(JSON.parse(JSON.stringify(document)), committed, 'run npm run openapi')
})

test('the document is compressed for those who accept it', async () => {
  const read = async (encoding: string) => {
    const headers = { 'accept-encoding': encoding }
    const response = await fetch(`${service.url}/openapi.json`, { headers })
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal(response.headers.get('vary'), 'accept-encoding')
    return { encoding: response.headers.get('content-encoding'), document: await response.json() }
  }
  const packed = await read('gzip, deflate, br')
  const plain = await read('identity')
  assert.deepEqual([packed.encoding, plain.encoding], ['gzip', null])
  assert.deepEqual(packed.document, plain.document)
})

test('every operation declares what is refused before it, and its error codes', () => {
  type Named = { description: string; headers: object; content: Record<string, { schema: Schema }> }
  type Schema = { allOf?: [unknown, { properties: { error: { properties: { code: { enum: string[] } } } } }] }
  const document = openApiDocument(describe(contracts, version1Contracts, rawContracts)) as {
    paths: Record<string, Record<string, { responses?: Record<string, { $ref?: string } & Named> }>>
    components: { responses: Record<string, Named> }
  }
  const early = { 408: 'REQUEST_TIMEOUT', 417: 'EXPECTATION_FAILED', 431: 'REQUEST_HEADERS_TOO_LARGE' }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      responses ? [{ name: `${method} ${path}`, responses }] : [],
    ),
  )
  assert.ok(operations.length > 200)
  for (const { name, responses } of operations)
    for (const [status, code] of Object.entries(early)) {
      const { $ref, description } = responses[status] ?? ({} as Named & { $ref?: string })
      const said = $ref ? document.components.responses[$ref.split('/').at(-1) ?? ''] : { description }
      assert.equal(said?.description, `\`${code}\``, `${name} ${status}`)
    }
  for (const [name, { description, headers, content }] of Object.entries(document.components.responses)) {
    assert.equal('Retry-After' in headers, name.split('.')[1] === '429', name)
    const codes = content['application/json']?.schema.allOf?.[1].properties.error.properties.code.enum
    if (name.startsWith('v2')) assert.deepEqual(codes?.map((code) => `\`${code}\``).join(', '), description)
  }
})

test('a client generated from the document compiles and works with the service', async () => {
  const { key } = await service.account()
  const document = await (await fetch(`${service.url}/openapi.json`)).text()
  await writeFile(join(folder, 'openapi.json'), document)
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await run(process.execPath, [bin('oazapfts/dist/cli.js'), 'openapi.json', 'api.ts'], { cwd: folder })
  await copyFile(join(root, 'test/generated-client/journey.ts'), join(folder, 'journey.ts'))
  const compilerOptions = {
    strict: true,
    target: 'es2023',
    module: 'nodenext',
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['journey.ts'] }))
  const compiled = await run(process.execPath, [bin('typescript/bin/tsc'), '-p', '.'], { cwd: folder }).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  )
  assert.equal(compiled.stdout, '')
  const { stdout } = await run(process.execPath, ['journey.ts', service.url, key], { cwd: folder })
  assert.equal(stdout, 'done\n')
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import spectralCore, { type ISpectralDiagnostic } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import rulesets from '@stoplight/spectral-rulesets'
import { type Service, startService } from '../../test/start.ts'
import { contracts, rawContracts, version1Contracts } from '../features.ts'
import { openApiDocument } from '../http/openapi/openapi.ts'
import { describe } from './described.ts'
import { lintExceptions } from './lint-exceptions.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
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

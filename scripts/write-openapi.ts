import { readFileSync, writeFileSync } from 'node:fs'
import { describe } from '../server/admin/static/pages/described.ts'
import { contracts, rawContracts, version1Contracts } from '../server/features.ts'
import { openApiDocument } from '../server/platform/http/openapi/openapi.ts'

/** Writes docs/openapi.json; with --check it only says whether the committed one is current. */
const file = new URL('../docs/openapi.json', import.meta.url)
const text = `${JSON.stringify(openApiDocument(describe(contracts, version1Contracts, rawContracts)), null, 2)}\n`
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error('docs/openapi.json is not current: run npm run openapi and commit it.')
  process.exitCode = 1
}

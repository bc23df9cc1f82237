import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const manifest = readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')

export const VERSION: string = (JSON.parse(manifest) as { version: string }).version

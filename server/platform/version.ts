import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const manifest = readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')

const { version }: { version: string } = JSON.parse(manifest)

export const VERSION = version

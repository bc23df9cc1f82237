import { spawnSync } from 'node:child_process'
import { preparePostgres } from './postgres.ts'
const pg = await preparePostgres()
if (pg.url === null) throw new Error(pg.reason)
const [mode, ...args] = process.argv.slice(2)
const env = { ...process.env, TEST_DATABASE_URL: pg.url }
const cmd = mode === 'test' ? ['--test', '--test-concurrency=1', ...args] : [...args, pg.url]
spawnSync(process.execPath, cmd, { stdio: 'inherit', env })
await pg.stop()

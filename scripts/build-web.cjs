// Runs after `npm ci`: builds the workspace with the pinned runtime, so that no start and no request waits for it. Where
// the sources are not there yet, as in a container that installs first, the build is a step of its own.
const { existsSync } = require('node:fs')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..')
const node = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
if (existsSync(join(root, 'web/app/main.tsx')) && existsSync(node)) {
  const { status } = spawnSync(node, [join(root, 'scripts/build-web.ts')], { stdio: 'inherit' })
  // Without it the first request builds.
  if (status !== 0)
    console.warn('The workspace was not built; the service builds it when it is first asked for.')
}

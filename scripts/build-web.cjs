// Runs after `npm ci` and builds the workspace with the pinned runtime, so that no start and no request has to wait for
// the build. If the sources are not there yet, as in a container that installs dependencies first, the build is a
// separate step.
const { existsSync } = require('node:fs')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..')
const node = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
if (existsSync(join(root, 'web/app/main.tsx')) && existsSync(node)) {
  const { status } = spawnSync(node, [join(root, 'scripts/build-web.ts')], { stdio: 'inherit' })
  // If this build fails, the first request builds the workspace.
  if (status !== 0)
    console.warn('The workspace was not built; the service builds it when it is first asked for.')
}

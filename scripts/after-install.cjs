// Runs after `npm ci`, on the Node that the installation has put into node_modules/.bin.
const { existsSync, globSync, mkdirSync, readdirSync, rmSync, symlinkSync } = require('node:fs')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..')
const packages = join(root, 'node_modules')
const runtime = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Parley runs on Node 24 or newer. No package of it was installed (${runtime}), and this is Node ${process.versions.node}. Install Node 24 from https://nodejs.org and repeat "npm ci".`,
  )
  process.exit(1)
}

// Half of the rest of the installation is read by nobody: headers to compile extensions with, tests of packages, bundles
// for browsers, source maps, sources in TypeScript, which Node refuses in packages, and, without the type checker, their
// declarations.
const folders = [join(runtime, 'include'), '{*,@*/*}/test', 'officeparser/dist/*.browser.*']
for (const path of globSync(folders, { cwd: packages })) rmSync(join(packages, path), { recursive: true })
const unread = existsSync(join(packages, 'typescript'))
  ? /\.map$|(?<!\.d)\.[cm]?tsx?$/
  : /\.(?:map|[cm]?tsx?)$/
for (const path of readdirSync(packages, { recursive: true }))
  if (unread.test(path)) rmSync(join(packages, path))

// Service units of installations of version 0.1 start this path.
const former = join(packages, 'node/bin')
if (process.platform !== 'win32' && existsSync(join(packages, runtime)) && !existsSync(former)) {
  mkdirSync(former, { recursive: true })
  symlinkSync(`../../${runtime}/bin/node`, join(former, 'node'))
}

// No start and no request has to wait for the build. In a container that installs dependencies first, the sources are
// not there yet, and the build is a separate step.
if (existsSync(join(root, 'web/app/main.tsx'))) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build-web.ts')], { stdio: 'inherit' })
  if (status !== 0)
    console.warn('The workspace was not built; the service builds it when it is first asked for.')
}

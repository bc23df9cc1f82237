// Runs after `npm ci`, with the Node that runs npm. The package `node` installs its binary by a nested installation that
// the lockfile does not cover. This replaces it with the same binary from a package whose integrity npm has verified.
const { copyFileSync, existsSync, renameSync } = require('node:fs')
const { dirname, join } = require('node:path')

const systems = { linux: 'linux', win32: 'win' }
const program = process.platform === 'win32' ? 'node.exe' : 'node'
const modules = join(dirname(__dirname), 'node_modules')
const checked = join(modules, `node-${systems[process.platform]}-${process.arch}`, 'bin', program)
const used = join(modules, 'node', 'bin', program)
if (existsSync(checked) && existsSync(dirname(used))) {
  // The binary may be running right now, so it is replaced by a rename and not overwritten.
  copyFileSync(checked, `${used}.new`)
  renameSync(`${used}.new`, used)
}

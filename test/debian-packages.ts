import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Installs packages of Debian that tests need, if this is Debian and the process may do so; otherwise it does nothing.
 * Services of the packages are not started, because tests start their own.
 */
export function installPackages(names: string[]): void {
  if (names.length === 0 || process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  process.stdout.write(`\nInstalling ${names.join(', ')} from the Debian packages …\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const apt = (...args: string[]) => spawnSync('apt-get', [...args, '-qq'], { stdio: 'ignore', env })
  apt('update')
  // One by one, so that a package that cannot be installed does not keep out the others.
  for (const name of names) apt('install', '-y', '--no-install-recommends', name)
}

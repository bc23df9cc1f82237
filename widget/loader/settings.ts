import type { LauncherSettings } from '../../server/widget/launcher-settings.ts'

/** Throws when there is no such public agent, or this site may not show it. */
export async function loadSettings(server: string, agentId: string): Promise<LauncherSettings> {
  const response = await fetch(`${server}/widget/${encodeURIComponent(agentId)}/launcher.json`)
  if (response.status === 404) {
    throw new Error(`Agent ${agentId} is not public, or ${location.host} is not among its allowed domains.`)
  }
  if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
  return response.json()
}

import type { LauncherSettings } from '../../server/widget/launcher-settings.ts'
import type { PageMessage } from '../page-messages.ts'
import { linkFrame } from './frame-link.ts'
import { createLauncher } from './launcher.ts'
import type { PageTools } from './page-tools.ts'
import { followKeyboard, isPhone } from './phone.ts'
import { addStyle } from './style.ts'
import { createVisit } from './visit.ts'

export type Panel = {
  show(options: { takeFocus: boolean }): void
  hide(): void
}

type Options = { server: string; agentId: string; settings: LauncherSettings; tools: PageTools }

/** The button and the panel with the chat, out of the page's flow. The chat is loaded when it is first shown. */
export function createPanel({ server, agentId, settings, tools }: Options): Panel {
  const host = document.createElement('parley-chat')
  const root = host.attachShadow({ mode: 'open' })
  addStyle(root)
  const launcher = createLauncher(server, settings)
  const box = document.createElement('div')
  box.className = settings.align
  box.style.setProperty('--surface', settings.theme === 'dark' ? '#16181d' : '#fff')
  root.append(box, launcher.button)
  document.body.append(host)

  const visit = createVisit(agentId)
  let isShown = false
  let takeFocus = false
  let send: ((message: PageMessage) => void) | null = null

  const loadFrame = (): void => {
    const frame = document.createElement('iframe')
    frame.title = `Chat with ${settings.name}`
    frame.allow = 'microphone; clipboard-write; autoplay'
    frame.src = `${server}/widget/${encodeURIComponent(agentId)}`
    const post = linkFrame(frame, server, tools, {
      onReady() {
        send = post
        // Only now can the chat close itself, and may cover the button.
        box.classList.toggle('ready', isShown)
        tell()
      },
      onClose: hide,
      onUnread: launcher.setUnread,
    })
    box.append(frame)
    followKeyboard(box)
  }
  const tell = (): void => {
    if (!send) return
    send({ parley: 'shown', isShown, takeFocus })
    if (takeFocus) box.querySelector('iframe')?.focus()
    takeFocus = false
  }
  const change = (next: boolean): void => {
    isShown = next
    visit.remember(next)
    box.classList.toggle('open', next)
    box.classList.toggle('ready', next && send !== null)
    launcher.setOpen(next)
    if (next && !box.firstChild) loadFrame()
    tell()
  }
  function show(options: { takeFocus: boolean }): void {
    takeFocus = options.takeFocus
    if (!isShown) change(true)
    else tell()
  }
  function hide(): void {
    if (!isShown) return
    const hadFocus = root.activeElement !== null
    change(false)
    if (hadFocus) launcher.button.focus()
  }

  launcher.button.onclick = () => (isShown ? hide() : show({ takeFocus: true }))
  root.addEventListener('keydown', (event) => {
    if ((event as KeyboardEvent).key === 'Escape') hide()
  })
  if (visit.wasOpen()) show({ takeFocus: false })
  const seconds = isPhone() ? settings.mobileAutoOpenAfter : settings.autoOpenAfter
  if (seconds !== null) {
    setTimeout(() => {
      if (!isShown && !visit.wasUsed()) show({ takeFocus: false })
    }, seconds * 1_000)
  }
  return { show, hide }
}

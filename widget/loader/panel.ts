import type { LauncherSettings } from '../../server/channels/widget/page/launcher-settings.ts'
import { coverPage } from './cover.ts'
import { createFrame } from './frame.ts'
import { createLauncher } from './launcher.ts'
import type { PageTools } from './page-tools.ts'
import { followKeyboard, isPhone, onPhoneChange } from './phone.ts'
import { addStyle } from './style.ts'
import { createVisit } from './visit.ts'

type Panel = {
  show(options: { takeFocus: boolean }): void
  hide(): void
}

/** The token of the visitor whom the site has signed in, if any. */
export type Identity = { token: string | null; onChange: () => void }

type Options = {
  server: string
  agentId: string
  settings: LauncherSettings
  tools: PageTools
  identity: Identity
  /** Aborting it removes the button and the panel. */
  signal: AbortSignal
}

/**
 * Creates the button and the panel with the chat, outside the page's flow. The chat is loaded when it is first shown.
 */
export function createPanel({ server, agentId, settings, tools, identity, signal }: Options): Panel {
  const { words, stage } = settings
  const host = document.createElement('parley-chat')
  const root = host.attachShadow({ mode: 'open' })
  addStyle(root, settings.style)
  const visit = createVisit(agentId)
  const isNew = !visit.wasUsed()
  const launcher = createLauncher(server, settings, isNew ? (stage?.count ?? null) : null)
  const box = createBox(settings)
  // The backdrop of a chat in the middle of the page. It is invisible unless the settings contain styles for it.
  const veil = create('span', 'veil')
  if (stage?.closesOutside) veil.onclick = () => hide()
  root.append(veil, box, launcher.button)
  // The hint next to the button, shown until the chat is opened. Pressing it opens the chat.
  const hint = create('button', `hint ${settings.align}`)
  hint.onclick = () => show({ takeFocus: true })
  hint.textContent = stage?.message ?? ''
  if (isNew && hint.textContent) root.append(hint)
  // The host is not added to the body, because pages that navigate without a reload may replace the body.
  document.documentElement.append(host)
  followKeyboard(box, signal)

  let isShown = false
  let takeFocus = false
  let uncover: (() => void) | null = null

  const frame = createFrame(
    box,
    { words, server, agentId, tools, signal },
    {
      onReady() {
        refresh()
        tell()
      },
      onClose: hide,
      onUnread: launcher.setUnread,
    },
  )
  const tell = (): void => {
    if (!frame.isReady()) return
    const language = document.documentElement.lang
    const address = location.origin + location.pathname
    const { token } = identity
    frame.send({
      parley: 'shown',
      isShown,
      takeFocus,
      isPhone: isPhone(),
      language,
      identity: token,
      address,
    })
    if (takeFocus) box.querySelector('iframe')?.focus()
    takeFocus = false
  }
  identity.onChange = tell
  const refresh = (): void => {
    box.classList.toggle('open', isShown)
    veil.classList.toggle('open', isShown)
    // Only a loaded chat can close itself, so only then may it cover the button.
    box.classList.toggle('ready', isShown && frame.isReady())
    cover(isShown && (isPhone() || stage !== null))
  }
  const cover = (isCovering: boolean): void => {
    if (isCovering === (uncover !== null)) return
    const role = { role: 'dialog', 'aria-modal': 'true', 'aria-label': words.open }
    for (const [name, value] of Object.entries(role)) {
      if (isCovering) box.setAttribute(name, value)
      else box.removeAttribute(name)
    }
    uncover?.()
    uncover = isCovering ? coverPage(host) : null
  }
  const change = (next: boolean): void => {
    isShown = next
    visit.remember(next)
    hint.remove()
    launcher.setOpen(next)
    frame.setShown(next)
    refresh()
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
  onPhoneChange(() => {
    refresh()
    tell()
  }, signal)
  if (visit.wasOpen()) show({ takeFocus: false })
  const seconds = isPhone() ? settings.mobileAutoOpenAfter : settings.autoOpenAfter
  const timer =
    seconds === null
      ? undefined
      : setTimeout(() => {
          if (!isShown && !visit.wasUsed()) show({ takeFocus: false })
        }, seconds * 1_000)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    uncover?.()
    host.remove()
  })
  return { show, hide }
}

function createBox({ align, theme, stage }: LauncherSettings): HTMLElement {
  const isDark = theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
  const box = create('div', stage ? `stage ${stage.width}` : align)
  box.style.setProperty('--surface', isDark ? '#16181d' : '#fff')
  box.style.setProperty('--soft', isDark ? '#a6adb9' : '#565f6e')
  return box
}

function create(tag: string, className: string): HTMLElement {
  return Object.assign(document.createElement(tag), { className })
}

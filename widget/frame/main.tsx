import { render } from 'preact'
import { App } from './app.tsx'
import { type Chat, createChat } from './chat.ts'
import { connectPage, sayProblem } from './page.ts'
import { onSystemTheme, paint } from './paint.ts'
import { createVoice } from './voice.ts'
import { speakLanguage } from './words.ts'

const root = document.getElementById('chat')
const { agent } = document.documentElement.dataset
if (root && agent) {
  const page = connectPage()
  const chat = createChat(agent, page)
  const voice = createVoice(chat)
  // In a panel, the embedding page reports the screen size, because the panel itself is always small.
  if (!page.isEmbedded) followScreen(chat)
  speakLanguage(null)
  document.documentElement.dataset.place = page.isEmbedded ? 'panel' : 'page'
  page.onShown(({ isPhone, language }) => {
    speakLanguage(language)
    chat.store.set({ isPhone, language })
    void chat.identify()
    if (page.isShown()) {
      page.setUnread(false)
      void chat.look()
    } else voice.end()
  })
  onSystemTheme(() => {
    const { appearance } = chat.store.get()
    if (appearance) paint(appearance)
  })
  let painted: object | null = null
  chat.store.subscribe(() => {
    const { appearance } = chat.store.get()
    if (!appearance || appearance === painted) return
    painted = appearance
    paint(appearance)
  })
  if (page.isEmbedded) showDrafts(chat)
  render(<App chat={chat} voice={voice} />, root)
  void chat.start()
} else sayProblem()

/**
 * Applies unsaved appearance settings, which the workspace sends for its preview. The workspace has the same origin
 * as the chat.
 */
function showDrafts({ store }: Chat): void {
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== window.parent || data?.parley !== 'preview') return
    const { appearance } = store.get()
    if (!appearance) return
    const name = data.chat.displayName || appearance.name
    store.set({ appearance: { ...appearance, name, chat: { ...appearance.chat, ...data.chat } } })
  })
}

function followScreen({ store }: Chat): void {
  const phone = matchMedia('(max-width: 480px), (max-height: 480px)')
  const note = (): void => store.set({ isPhone: phone.matches })
  phone.addEventListener('change', note)
  note()
}

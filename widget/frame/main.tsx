import { render } from 'preact'
import { App } from './app.tsx'
import { type Chat, createChat } from './chat.ts'
import { connectPage, sayProblem } from './page.ts'
import { paint } from './paint.ts'
import { createVoice } from './voice.ts'

const root = document.getElementById('chat')
const { agent } = document.documentElement.dataset
if (root && agent) {
  const page = connectPage()
  const chat = createChat(agent, page)
  const voice = createVoice(chat)
  // Inside of a panel the page around it knows; the panel itself is always small.
  if (!page.isEmbedded) followScreen(chat)
  page.onShown(({ isPhone, language }) => {
    chat.store.set({ isPhone, language })
    if (page.isShown()) {
      page.setUnread(false)
      void chat.look()
    } else voice.end()
  })
  let painted: object | null = null
  chat.store.subscribe(() => {
    const { appearance } = chat.store.get()
    if (!appearance || appearance === painted) return
    painted = appearance
    paint(appearance.chat)
  })
  render(<App chat={chat} voice={voice} />, root)
  void chat.start()
} else sayProblem()

function followScreen({ store }: Chat): void {
  const phone = matchMedia('(max-width: 480px), (max-height: 480px)')
  const note = (): void => store.set({ isPhone: phone.matches })
  phone.addEventListener('change', note)
  note()
}

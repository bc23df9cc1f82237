import { render } from 'preact'
import { App } from './app.tsx'
import { createChat } from './chat.ts'
import { connectPage } from './page.ts'
import { paint } from './paint.ts'
import { createVoice } from './voice.ts'

const root = document.getElementById('chat')
const { agent } = document.documentElement.dataset
if (root && agent) {
  const page = connectPage()
  const chat = createChat(agent, page)
  const voice = createVoice(chat)
  page.onShown(() => {
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
}

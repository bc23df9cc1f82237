import type { LauncherSettings } from '../../server/channels/widget/page/launcher-settings.ts'

const SVG = 'http://www.w3.org/2000/svg'
const BUBBLE =
  'M20 11.5a7.8 7.8 0 0 1-8.2 7.4 9 9 0 0 1-3.2-.6L4 20l1.2-3.7a6.9 6.9 0 0 1-1.6-4.8A7.8 7.8 0 0 1 11.8 4 7.8 7.8 0 0 1 20 11.5Z'
const CROSS = 'M6 6l12 12M18 6 6 18'

type Launcher = {
  button: HTMLButtonElement
  setOpen(isOpen: boolean): void
  setUnread(isUnread: boolean): void
}

/** Creates the button that opens the chat. It shows the number `count` until the chat is opened. */
export function createLauncher(server: string, settings: LauncherSettings, count: number | null): Launcher {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = settings.align
  button.style.setProperty('--color', settings.color)
  button.style.setProperty('--text', settings.textColor)
  const close = drawing(CROSS)
  close.setAttribute('class', 'x')
  const dot = document.createElement('i')
  button.append(settings.icon ? picture(server + settings.icon, button) : drawing(BUBBLE), close, dot)

  let isOpen = false
  let isUnread = false
  const describe = (): void => {
    button.setAttribute('aria-expanded', String(isOpen))
    const { close, unread, open } = settings.words
    button.setAttribute('aria-label', isOpen ? close : isUnread ? unread : open)
    dot.className = count === null ? '' : 'count'
    dot.textContent = `${count ?? ''}`
    button.classList.toggle('unread', isUnread && !isOpen)
  }
  describe()
  return {
    button,
    setOpen(next) {
      isOpen = next
      count = null
      describe()
    },
    setUnread(next) {
      isUnread = next
      describe()
    },
  }
}

function picture(address: string, button: HTMLButtonElement): HTMLImageElement {
  const image = new Image()
  image.alt = ''
  button.classList.add('picture')
  image.onerror = () => {
    button.classList.remove('picture')
    image.replaceWith(drawing(BUBBLE))
  }
  image.src = address
  return image
}

function drawing(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(SVG, 'path')
  line.setAttribute('d', path)
  svg.append(line)
  return svg
}

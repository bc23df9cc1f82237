/** Makes everything behind the panel inert and keeps it from scrolling. Returns a function that undoes this. */
export function coverPage(host: HTMLElement): () => void {
  const behind = [...(host.parentElement?.children ?? [])].filter(
    (one) => one !== host && !one.hasAttribute('inert'),
  )
  for (const one of behind) one.setAttribute('inert', '')
  const root = document.documentElement
  const hadStyle = root.hasAttribute('style')
  const before = ['overflow-x', 'overflow-y'].map(
    (name) => [name, root.style.getPropertyValue(name), root.style.getPropertyPriority(name)] as const,
  )
  for (const [name] of before) root.style.setProperty(name, 'hidden', 'important')
  return () => {
    for (const one of behind) one.removeAttribute('inert')
    for (const [name, value, priority] of before) root.style.setProperty(name, value, priority)
    if (!hadStyle && root.style.length === 0) root.removeAttribute('style')
  }
}

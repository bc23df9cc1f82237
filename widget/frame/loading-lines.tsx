/**
 * A placeholder while content loads. Without a label it is hidden from screen readers, because another element
 * announces the loading.
 */
export function LoadingLines({ label }: { label?: string }) {
  const spoken = label ? ({ role: 'status', 'aria-label': label } as const) : { 'aria-hidden': true }
  return (
    <div class="loading-lines" {...spoken}>
      <span />
      <span />
      <span />
    </div>
  )
}

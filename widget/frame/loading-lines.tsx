/** Where something will stand in a moment. Without a label it is said elsewhere. */
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

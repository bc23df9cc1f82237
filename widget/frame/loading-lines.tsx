/** Where something will stand in a moment. */
export function LoadingLines({ label }: { label: string }) {
  return (
    <div class="loading-lines" role="status" aria-label={label}>
      <span />
      <span />
      <span />
    </div>
  )
}

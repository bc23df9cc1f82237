import { dateOf, formatAgo, formatTime } from './format.ts'

export const Ago = ({ at }: { at: string | number }) => (
  <time dateTime={dateOf(at).toISOString()} title={formatTime(at)}>
    {formatAgo(at)}
  </time>
)

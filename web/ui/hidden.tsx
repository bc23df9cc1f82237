/** A text for screen readers alone, such as the heading of a column of buttons. */
export const Hidden = ({ children }: { children: string }) => (
  <span className="visually-hidden">{children}</span>
)

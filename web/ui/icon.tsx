import type { ComponentProps, JSX } from 'react'

export type LucideIcon = (props: ComponentProps<'svg'> & { size?: number }) => JSX.Element

/** Makes a component of the name of an icon, which the build replaces with what it draws. */
export const icon =
  (drawing: string): LucideIcon =>
  ({ size = 24, ...props }) => (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden={props['aria-label'] === undefined}
      {...props}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: it comes from the package of the icons, at the build.
      dangerouslySetInnerHTML={{ __html: drawing }}
    />
  )

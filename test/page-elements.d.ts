/** The members of page elements that tests use. React's types declare these interfaces without members. */
interface PageElement {
  readonly textContent: string
  matches(selectors: string): boolean
}
interface HTMLElement extends PageElement {}
interface SVGElement extends PageElement {}

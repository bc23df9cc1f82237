/** What tests ask of elements inside of a page; the types of React declare these without members. */
interface PageElement {
  readonly textContent: string
  matches(selectors: string): boolean
}
interface HTMLElement extends PageElement {}
interface SVGElement extends PageElement {}

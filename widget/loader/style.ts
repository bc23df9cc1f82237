/**
 * The styles of the button; those of the panel come with the settings. The page's styles do not apply inside the
 * shadow root. `all` and `!important` keep the page from restyling the host element.
 */
const rules = `
:host{all:initial!important;position:fixed!important;z-index:2147483000!important;inset:auto 0 0 auto!important;width:0!important;height:0!important}
*{box-sizing:border-box}
button{position:fixed;bottom:20px;bottom:max(20px,env(safe-area-inset-bottom));width:56px;height:56px;padding:0;border:0;border-radius:50%;display:grid;place-items:center;cursor:pointer;color:var(--text);background:var(--color);box-shadow:0 1px 3px #0003,0 6px 20px #0003;transition:transform .18s cubic-bezier(.2,.8,.2,1),box-shadow .18s;-webkit-tap-highlight-color:transparent}
button:hover{transform:translateY(-2px);box-shadow:0 2px 4px #0003,0 10px 28px #00000040}
button:active{transform:scale(.96)}
button:focus-visible{outline:3px solid #fff;outline-offset:0;box-shadow:0 0 0 6px #1d4ed8}
button>*{grid-area:1/1;transition:opacity .18s,transform .18s}
img{width:56px;height:56px;border-radius:50%;object-fit:cover}
svg{width:26px;height:26px;fill:none;stroke:currentColor;stroke-width:1.9;stroke-linecap:round;stroke-linejoin:round}
.x{opacity:0;transform:rotate(-45deg)}
.picture .x{color:#fff;background:#111827d9;width:56px;height:56px;padding:15px;border-radius:50%}
[aria-expanded=true] .x{opacity:1;transform:none}
[aria-expanded=true]>:first-child{opacity:0}
.right{right:20px;right:max(20px,env(safe-area-inset-right))}
.left{left:20px;left:max(20px,env(safe-area-inset-left))}
i{position:absolute;top:1px;right:1px;width:14px;height:14px;border-radius:50%;background:#dc2626;border:2px solid #fff;transform:scale(0)}
.unread i{transform:none}
@media (prefers-reduced-motion:reduce){*{transition:none!important}}
@media print{:host{display:none!important}}
`

/**
 * Adds the styles by script, which works even if the page's content security policy forbids inline styles. Old
 * browsers support only a style element.
 */
export function addStyle(root: ShadowRoot, more: string): void {
  try {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(rules + more)
    root.adoptedStyleSheets = [sheet]
  } catch {
    const style = document.createElement('style')
    style.textContent = rules + more
    root.append(style)
  }
}

/** The page's own rules do not reach in here; `all` and the important ones keep it from moving the host element. */
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
div{position:fixed;bottom:92px;width:400px;height:min(720px,100vh - 112px);max-width:calc(100vw - 40px);border-radius:16px;overflow:hidden;background:var(--surface);box-shadow:0 0 0 1px #0000000f,0 12px 48px #00000038;opacity:0;visibility:hidden;transform:translateY(12px) scale(.985);transform-origin:bottom right;transition:opacity .2s,transform .22s cubic-bezier(.2,.8,.2,1),visibility 0s .22s}
div.left{transform-origin:bottom left}
div.open{opacity:1;visibility:visible;transform:none;transition-delay:0s}
iframe{position:relative;display:block;width:100%;height:100%;border:0;color-scheme:normal;visibility:hidden}
.there{visibility:inherit}
p{position:absolute;inset:0;margin:0;display:flex;flex-direction:column;gap:14px;align-items:center;justify-content:center;font:15px/1.5 system-ui,sans-serif;color:var(--soft)}
p[hidden]{display:none}
b{width:28px;height:28px;border-radius:50%;border:3px solid;border-right-color:#0000;animation:turn .9s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
@media (max-width:480px),(max-height:480px){
div{inset:0;width:100%;max-width:none;height:100vh;height:100dvh;border-radius:0}
.ready+button{visibility:hidden}
}
@media (prefers-reduced-motion:reduce){*{transition:none!important}b{animation-duration:4s}}
@media print{:host{display:none!important}}
`

/** By script, so that a page's policy against inline styles does not matter; old browsers know the element only. */
export function addStyle(root: ShadowRoot): void {
  try {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(rules)
    root.adoptedStyleSheets = [sheet]
  } catch {
    const style = document.createElement('style')
    style.textContent = rules
    root.append(style)
  }
}

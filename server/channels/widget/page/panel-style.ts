/**
 * The style of the panel, for the script on the owner's page. It is sent with the settings, without which nothing is
 * shown, to keep the script small.
 */
export const PANEL_STYLE = `
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
@media (prefers-reduced-motion:reduce){b{animation-duration:4s}}
`

/** The style of a chat in the middle of the page. */
export const STAGE_STYLE = `
div.stage{inset:50% auto auto 50%;height:min(760px,100vh - 64px);transform:translate(-50%,-48%) scale(.985);transform-origin:center}
div.stage.open{transform:translate(-50%,-50%)}
.small{width:360px}.medium{width:420px}.large{width:520px}
.veil{position:fixed;inset:0;background:#00000066;opacity:0;visibility:hidden;transition:opacity .2s,visibility 0s .2s}
.veil.open{opacity:1;visibility:visible;transition-delay:0s}
i.count{top:-4px;right:-4px;width:auto;min-width:22px;height:22px;padding:0 5px;border-radius:11px;font:600 12px/18px system-ui,sans-serif;color:#fff;transform:none}
[aria-expanded=true] .count{display:none}
button.hint{width:auto;height:auto;bottom:88px;bottom:calc(max(20px,env(safe-area-inset-bottom)) + 68px);max-width:min(280px,100vw - 40px);padding:12px 16px;border-radius:14px;font:15px/1.4 system-ui,sans-serif;text-align:start;color:var(--soft);background:var(--surface);overflow-wrap:anywhere}
@media (max-width:480px),(max-height:480px){div.stage,div.stage.open{inset:0;width:100%;height:100vh;height:100dvh;transform:none}}
`

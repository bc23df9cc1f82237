import { Dialog } from '../ui/dialog.tsx'
import classes from '../ui/picker.module.css'
import { base } from './base.ts'
import { shortcutsNow } from './shortcuts.ts'

/** Lists the keyboard shortcuts that are available on the current page. */
export function Help({ onClose }: { onClose: () => void }) {
  const groups = Map.groupBy(shortcutsNow(), ({ group }) => group)
  return (
    <Dialog title="Keyboard" isOpen onClose={onClose}>
      <div className={classes.help}>
        {[...groups].map(([group, shortcuts]) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {shortcuts.map(({ keys, does }) => (
                <div key={keys}>
                  <dt>
                    <kbd>{keys.replace('mod+', navigator.platform.startsWith('Mac') ? '⌘ ' : 'Ctrl ')}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p>
          More is in the{' '}
          <a href={`${base}/docs`} target="_blank" rel="noreferrer">
            guide
          </a>
          .
        </p>
      </div>
    </Dialog>
  )
}

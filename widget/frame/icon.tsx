/** The paths of the icons, in a 24 by 24 view box, drawn with strokes in the colour of the text. */
const PATHS = {
  send: 'M12 19V5M5.5 11.5 12 5l6.5 6.5',
  stop: 'M7.5 7.5h9v9h-9z',
  close: 'M6 6l12 12M18 6 6 18',
  down: 'M12 5v14M5.5 12.5 12 19l6.5-6.5',
  back: 'M19 12H5M11 5.5 4.5 12l6.5 6.5',
  plus: 'M12 5v14M5 12h14',
  history: 'M3.5 12a8.5 8.5 0 1 0 2.6-6.1L3.5 8.3M3.5 3.8v4.5H8M12 7.5V12l3 2',
  person:
    'M12 11.5a3.75 3.75 0 1 0 0-7.5 3.75 3.75 0 0 0 0 7.5ZM4.5 20c.6-3.6 3.6-5.5 7.5-5.5s6.9 1.9 7.5 5.5',
  mail: 'M4 6h16v12H4zM4.5 7l7.5 6 7.5-6',
  up: 'M7 11v8.5H4.5V11zM7 11l4-7.5c1.4 0 2.3 1 2.1 2.4L12.7 9h5.1c1.3 0 2.2 1.2 1.9 2.4l-1.5 6.4a2.2 2.2 0 0 1-2.1 1.7H7',
  downThumb:
    'M17 13V4.5h2.5V13zM17 13l-4 7.5c-1.4 0-2.3-1-2.1-2.4l.4-3.1H6.2c-1.3 0-2.2-1.2-1.9-2.4l1.5-6.4a2.2 2.2 0 0 1 2.1-1.7H17',
  copy: 'M9 9h10.5v10.5H9zM15 9V4.5H4.5V15H9',
  check: 'M5 12.5 10 17.5 19.5 7',
  attach:
    'M19.5 11.5 12 19a4.6 4.6 0 0 1-6.5-6.5l7.8-7.8a3.1 3.1 0 0 1 4.4 4.4l-7.7 7.7a1.5 1.5 0 0 1-2.2-2.2l7-7',
  file: 'M6.5 3.5h7l4 4v13h-11zM13.5 3.5v4h4',
  mic: 'M12 14.5a3 3 0 0 0 3-3V6.5a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3',
  voice: 'M4 10v4M8 7v10M12 4v16M16 7v10M20 10v4',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5',
  warning:
    'M12 8v5M12 16.5v.01M10.3 4.2 2.9 17.2A2 2 0 0 0 4.6 20h14.8a2 2 0 0 0 1.7-2.8L13.7 4.2a2 2 0 0 0-3.4 0Z',
  out: 'M9 6H5.5v12.5H18V15M13 5.5h5.5V11M18 6l-7.5 7.5',
  chevron: 'M9 5.5 15.5 12 9 18.5',
}

/** Icons that point in the reading direction and are mirrored for right-to-left text. */
const FLIPPED = new Set<string>(['back', 'chevron', 'out'])

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class={`icon ${FLIPPED.has(name) ? 'flips' : ''}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
